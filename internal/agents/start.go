package agents

import (
	"context"
	"io"

	"fyllocode.dev/fyllo/internal/childproc"
)

// starter is the process edge of this package: what it needs of childproc.Host.
type starter interface {
	Start(childproc.Spec) (child, error)
	// Close stops all children in parallel and refuses new ones.
	Close(context.Context) error
}

// child is what this package needs of childproc.Proc.
type child interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	StderrTail() string
	PID() int
	Exited() <-chan struct{}
	Exit() childproc.Exit
	Stop(context.Context) error
}

type host struct{ *childproc.Host }

// Start hides the concrete type.
func (h host) Start(s childproc.Spec) (child, error) {
	p, err := h.Host.Start(s)
	if err != nil {
		return nil, err // a nil *Proc must not become a child
	}
	return p, nil
}
