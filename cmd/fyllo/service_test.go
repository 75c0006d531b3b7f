package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepThatIsStuckIsNamedByTheExitCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := startService("http", 5*time.Second, exitHTTP, func(context.Context) error {
			<-release
			return nil
		})
		fine := startService("agents", 5*time.Second, exitAgents, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		start := time.Now()
		err := errors.Join(stuck.stop(), fine.stop())
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("the stop took %s", got)
		}
		if codeIn(err) != exitHTTP || err.Error() != `shutdown: the step "http" did not end within 5s` {
			t.Errorf("exit %d: %v", codeIn(err), err)
		}
		close(release)
	})
}

func TestServiceThatFailsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		s := startService("records", time.Second, exitRecords, func(context.Context) error { return boom })
		<-s.ended
		if err := s.stop(); !errors.Is(err, boom) || codeIn(err) != 0 || err.Error() != "records: boom" {
			t.Errorf("exit %d: %v", codeIn(err), err)
		}
	})
}

// codeIn returns the exit code that an error brings, 0 for none.
func codeIn(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 0
}
