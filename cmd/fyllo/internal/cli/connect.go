package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"syscall"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/internal/records"
)

// lockPatience is how long a command waits for a Core that holds the data root but does not answer: one that is
// starting, or one that is about to be gone.
const lockPatience = 10 * time.Second

// link is a command's way to a Core.
type link struct {
	client *coreapi.Client
	core   Core // nil when the Core is another process's
}

// close ends the connection and, when the Core is the command's own, the Core: not before the turns have ended
// that others run in it meanwhile, unless ctx ends.
func (l *link) close(ctx context.Context, a *app) error {
	defer l.client.Close()
	if l.core == nil {
		return nil
	}
	l.linger(ctx, a)
	return l.core.Close()
}

// linger waits while a turn runs. The command's own has ended, so it is of another command or of a window.
func (l *link) linger(ctx context.Context, a *app) {
	for told := false; ; told = true {
		status, err := l.client.Status(ctx)
		if err != nil || status.Sessions.Running == 0 {
			return
		}
		if !told {
			a.notice("waiting for %d turn(s) that others run in this Core; Ctrl-C ends them", status.Sessions.Running)
		}
		select {
		case <-l.core.Done():
			return
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// withCore runs do with a client of the Core of the data root, see connect. do runs again with the next Core when
// the one it had was ending and had not begun anything; do must allow that.
func (a *app) withCore(ctx context.Context, do func(*coreapi.Client) error) error {
	return a.withLink(ctx, func(l *link) error { return do(l.client) })
}

// withLink is withCore for commands that must know whether the Core is their own.
func (a *app) withLink(ctx context.Context, do func(*link) error) error {
	deadline := time.Now().Add(lockPatience)
	for {
		l, err := a.connect(ctx)
		if err != nil {
			return err
		}
		err = do(l)
		if closed := l.close(ctx, a); err == nil {
			err = closed
		}
		if !ending(err) || l.core != nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// ending reports whether err says that a Core took nothing because it ends or has ended. One that ends answers what it
// has read and cuts the other connections.
func ending(err error) bool {
	var told *toldError
	if errors.As(err, &told) {
		return false
	}
	return fyllo.CodeOf(err) == fyllo.CodeShuttingDown || errors.Is(err, syscall.ECONNREFUSED) || coreapi.Cut(err)
}

// connect returns a link to the Core of the data root; when none runs, to one that it starts inside the command
// and that ends with the link.
func (a *app) connect(ctx context.Context) (*link, error) {
	return patiently(ctx, func() (*link, error) {
		c, err := a.running(ctx)
		if err != nil {
			return nil, err
		}
		if c != nil {
			return &link{client: c}, nil
		}
		return a.embed(ctx)
	})
}

// find returns a client of the Core of the data root, nil when none runs.
func (a *app) find(ctx context.Context) (*coreapi.Client, error) {
	return patiently(ctx, func() (*coreapi.Client, error) { return a.running(ctx) })
}

// patiently repeats do while another process holds the data root and does not answer: it is starting, or about to
// be gone, or took the lock between two looks.
func patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	deadline := time.Now().Add(lockPatience)
	for {
		got, err := do()
		if ctx.Err() != nil || fyllo.CodeOf(err) != fyllo.CodeAlreadyRunning || time.Now().After(deadline) {
			return got, err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return got, err
		}
	}
}

// embed starts a Core inside the command.
func (a *app) embed(ctx context.Context) (*link, error) {
	// Only what is broken is worth a line between those of the command.
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	core, err := a.start(ctx, CoreOptions{Root: a.root, Log: log})
	if err != nil {
		return nil, err
	}
	c, err := a.running(ctx)
	if err == nil && c == nil {
		err = fyllo.Errorf(fyllo.CodeInternal, "Core: it ended right after its start")
	}
	if err != nil {
		return nil, errors.Join(err, core.Close())
	}
	return &link{client: c, core: core}, nil
}

// running returns a client of the Core that holds the data root, nil without an error when none does. The error
// is CORE_ALREADY_RUNNING when the Core does not answer (yet, or any more).
func (a *app) running(ctx context.Context) (*coreapi.Client, error) {
	info, ok := records.ReadLock(a.root)
	if !ok {
		return nil, nil
	}
	silent := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := fyllo.Errorf(fyllo.CodeAlreadyRunning, "Core: process %d holds the data root %s but does not answer", info.PID, a.root)
		e.Details, e.Err = info, err
		return e.WithHint("Try again, or end that process.")
	}
	if info.Address == "" {
		return nil, silent(nil)
	}
	c, err := a.clientOf(info.Address)
	if err != nil {
		return nil, silent(err)
	}
	probe, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := c.Call(probe, http.MethodGet, "/api/settings", nil, nil); err != nil {
		c.Close()
		return nil, silent(err)
	}
	return c, nil
}

// clientOf returns a client with the token in the data root.
func (a *app) clientOf(address string) (*coreapi.Client, error) {
	token, err := records.ReadToken(a.root)
	if err != nil {
		return nil, err
	}
	return coreapi.New(address, token), nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
