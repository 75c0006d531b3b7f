package tour

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// EnvPace is the environment variable that makes the tour speak without pauses when it is "0", for tests.
const EnvPace = "FYLLO_TOUR_PACE"

// Main is the Agent on this process's standard input and output. It returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		return 1
	}
	return 0
}

// Run is the Agent on any pair of streams. It returns when in ends or ctx is done, with all turns ended; in the
// latter case a Read of in may still be waiting.
func Run(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &agent{ctx: ctx, sessions: map[string]*session{}, now: time.Now, hurry: os.Getenv(EnvPace) == "0"}
	a.mu.Lock() // the first request may come before conn is set
	a.conn = jsonrpc.New(in, out, jsonrpc.Handler{Request: a.request, Notify: a.notify}, jsonrpc.Options{})
	a.mu.Unlock()
	select {
	case <-a.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	a.turns.Wait()
	return a.conn.Close()
}
