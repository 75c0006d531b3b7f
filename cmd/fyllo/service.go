package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// service is a part of Core that runs until it is told to end.
type service struct {
	name   string
	limit  time.Duration // how long its end may take
	code   int           // exit code when it takes longer
	cancel context.CancelFunc
	ended  chan struct{} // closed when serve has returned
	err    error         // of serve; read after ended
}

// startService runs serve on a goroutine that ends when stop cancels its context.
func startService(name string, limit time.Duration, code int, serve func(context.Context) error) *service {
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{name: name, limit: limit, code: code, cancel: cancel, ended: make(chan struct{})}
	go func() { // ends with serve; stop waits for it as long as its limit allows
		defer close(s.ended)
		s.err = serve(ctx)
	}()
	return s
}

// stop ends the service and returns its error, or a stepError.
func (s *service) stop() error {
	s.cancel()
	timer := time.NewTimer(s.limit)
	defer timer.Stop()
	select {
	case <-s.ended:
		if s.err != nil && !errors.Is(s.err, context.Canceled) {
			return fmt.Errorf("%s: %w", s.name, s.err)
		}
		return nil
	case <-timer.C:
		return &stepError{name: s.name, limit: s.limit, code: s.code}
	}
}

// stepError is a step of the shutdown that did not end in time.
type stepError struct {
	name  string
	limit time.Duration
	code  int
}

func (e *stepError) Error() string {
	return fmt.Sprintf("shutdown: the step %q did not end within %s", e.name, e.limit)
}

// ExitCode names the step.
func (e *stepError) ExitCode() int { return e.code }
