package agents

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/childproc"
)

func toy(name string, args ...string) fyllo.CustomAgent {
	return fyllo.CustomAgent{Name: name, Command: os.Args[0], Args: append([]string{"agent"}, args...)}
}

func TestConcurrentCallersShareOneProcess_R_AGT_050(t *testing.T) {
	p, _ := realPool(t, Config{})
	id := add(t, p, toy("Toy"))
	var wg sync.WaitGroup
	got := make([]*Process[*toyConn], 8)
	for i := range got {
		wg.Go(func() { got[i], _ = p.Connect(t.Context(), id) })
	}
	wg.Wait()
	for _, x := range got {
		if x == nil || x != got[0] {
			t.Fatalf("different processes: %v", got)
		}
	}
	if a := describe(t, p, id); a.State != fyllo.AgentReady || a.PID != got[0].child.PID() || a.Generation != got[0].Generation() || a.Version != "1.2" {
		t.Errorf("state: %+v", a)
	}
	if got[0].Agent().ID != id || got[0].Info().Name != "toy" {
		t.Error("the process does not know its Agent")
	}
}

func TestEnvironmentOfTheChild_R_AGT_051(t *testing.T) {
	p, _ := realPool(t, Config{Env: env("INHERITED=yes")})
	c := toy("Toy")
	c.Env = map[string]string{"TOY_MODE": "fast", "INHERITED": "overridden"}
	x := connect(t, p, add(t, p, c))
	for name, want := range map[string]string{"TOY_MODE": "fast", "INHERITED": "overridden", "PATH": "/usr/bin:/bin"} {
		if got, _ := x.Conn().ask(t.Context(), "env "+name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	temp, _ := x.Conn().ask(t.Context(), "env TMPDIR")
	if info, err := os.Stat(temp); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("private TMPDIR %q: %v", temp, err)
	}
	if err := p.Stop(t.Context(), x.Agent().ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("TMPDIR is left")
	}
}

func TestFailedStartSaysWhy_R_AGT_056(t *testing.T) {
	p, _ := realPool(t, Config{Env: env("MY_API_TOKEN=core-secret-1")})
	c := toy("Toy", "exit")
	c.Env = map[string]string{"TOY_KEY": "hunter2 core-secret-1"}
	id := add(t, p, c)
	_, err := p.Connect(t.Context(), id)
	wantCode(t, err, fyllo.CodeAgentStartFailed)
	if want := "cannot start Toy: its process exited with status 3: Error: no key ***"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	a := describe(t, p, id)
	if a.State != fyllo.AgentStopped || a.Problem == nil || a.Problem.Code != fyllo.CodeAgentStartFailed || a.PID != 0 {
		t.Errorf("state: %+v", a)
	}
	// It may be started again at once, up to five exits in a row.
	for range 4 {
		_, err = p.Connect(t.Context(), id)
		wantCode(t, err, fyllo.CodeAgentStartFailed)
	}
	_, err = p.Connect(t.Context(), id)
	wantCode(t, err, fyllo.CodeACPGiveUp)
	wantCode(t, p.Retry(t.Context(), id), fyllo.CodeAgentStartFailed)
}

// The end of the process may be known before the end of its output, which another process can hold open.
func TestExitBeforeTheEndOfOutputIsAFailedStart_R_AGT_056(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) {
			_, _ = bufio.NewReader(c.inR).ReadString('\n')
			c.exit, c.stderr = childproc.Exit{Status: 3}, "no key"
			time.AfterFunc(2*time.Second, func() { c.outR.Close() })
			_, c.outW = io.Pipe() // what is closed in its place when the process has ended
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		check, err := p.Check(t.Context(), id)
		if err != nil || check.OK || check.Problem.Code != fyllo.CodeAgentStartFailed || check.StderrTail != "no key" {
			t.Errorf("%+v, %v", check.Problem, err)
		}
		if want := "cannot start Toy: its process exited with status 3: no key"; check.Problem.Message != want {
			t.Errorf("got  %s\nwant %s", check.Problem.Message, want)
		}
	})
}

func TestCommandThatCannotRun(t *testing.T) {
	p, _ := realPool(t, Config{})
	gone := add(t, p, fyllo.CustomAgent{Name: "Gone", Command: "no-such-agent-anywhere"})
	_, err := p.Connect(t.Context(), gone)
	wantCode(t, err, fyllo.CodeAgentNotInstalled)
	if a := describe(t, p, gone); a.Installed || a.Problem == nil || a.Problem.Code != fyllo.CodeAgentNotInstalled {
		t.Errorf("%+v", a)
	}
	script := t.TempDir() + "/script"
	writeFile(t, script, "#!/no/such/interpreter\n", 0o700)
	_, err = p.Connect(t.Context(), add(t, p, fyllo.CustomAgent{Name: "Script", Command: script}))
	if e := wantCode(t, err, fyllo.CodeAgentStartFailed); !strings.Contains(e.Message, "interpreter") {
		t.Error(e)
	}
	_, err = p.Connect(t.Context(), "custom-nobody-00000000")
	wantCode(t, err, fyllo.CodeAgentNotFound)
}

func TestCrashIsReportedAndRestarted_R_AGT_055_056(t *testing.T) {
	p, _ := realPool(t, Config{})
	id := add(t, p, toy("Toy"))
	x := connect(t, p, id)
	fmt.Fprintln(x.Conn().in, "crash")
	<-x.Conn().Done()
	e := wantCode(t, x.Conn().reason, fyllo.CodeAgentExited)
	if e.Message != "Toy stopped working: its process exited with status 7: about to fail" {
		t.Error(e)
	}
	y := connect(t, p, id) // joins the restart, whose delay is 0
	for y == x {           // the supervisor may hear of the end a moment after the connection
		y = connect(t, p, id)
	}
	if y.Generation() <= x.Generation() {
		t.Errorf("generations %d, %d", x.Generation(), y.Generation())
	}
}

// A process that closes its output but goes on running is a dead Agent.
func TestHangUpIsAnEnd_R_AGT_056(t *testing.T) {
	p, _ := realPool(t, Config{})
	x := connect(t, p, add(t, p, toy("Toy")))
	fmt.Fprintln(x.Conn().in, "hangup")
	<-x.Conn().Done()
	if e := wantCode(t, x.Conn().reason, fyllo.CodeAgentExited); !strings.Contains(e.Message, "closed its output") {
		t.Error(e)
	}
	<-x.child.Exited()
}

func TestShutdownStopsAll_R_AGT_058(t *testing.T) {
	p, stop := realPool(t, Config{})
	var xs []*Process[*toyConn]
	for i := range 4 {
		xs = append(xs, connect(t, p, add(t, p, toy(fmt.Sprint("Toy ", i), "stubborn", fmt.Sprint(i)))))
	}
	began := time.Now()
	stop()
	if d := time.Since(began); d > serveLimit {
		t.Errorf("took %v", d)
	}
	for _, x := range xs {
		if err := syscall.Kill(x.child.PID(), 0); err == nil {
			t.Errorf("%d survived", x.child.PID())
		}
		wantCode(t, x.Conn().reason, fyllo.CodeShuttingDown)
	}
	_, err := p.Connect(context.Background(), xs[0].entry.id)
	wantCode(t, err, fyllo.CodeShuttingDown)
}

func TestWantedStopIsNoFailure_R_AGT_057(t *testing.T) {
	p, _ := realPool(t, Config{})
	id := add(t, p, toy("Toy"))
	x := connect(t, p, id)
	if err := p.Stop(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	<-x.Conn().Done()
	wantCode(t, x.Conn().reason, fyllo.CodeAgentStopped)
	if a := describe(t, p, id); a.State != fyllo.AgentStopped || a.Problem != nil || a.PID != 0 {
		t.Errorf("%+v", a)
	}
	if y := connect(t, p, id); y == x {
		t.Error("the old process was handed out")
	}
	wantCode(t, p.Stop(t.Context(), "custom-nobody-00000000"), fyllo.CodeAgentNotFound)
}

func TestRestartDelaysAndGivingUp_R_AGT_056(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(n int, c *fakeChild) {
			if n <= 5 {
				c.live(time.Second)
			} else {
				c.live(time.Hour)
			}
		}}
		p, id := fakePool(t, h, Config{})
		stop := serve(t, p)
		defer stop()
		connect(t, p, id)
		// Each process lives one second; the next begins after its delay.
		for i, delay := range restartDelays {
			time.Sleep(time.Second - time.Millisecond)
			synctest.Wait()
			if h.started() != i+1 {
				t.Fatalf("before exit %d: %d starts", i+1, h.started())
			}
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			switch {
			case delay == 0:
			case delay <= joinDelay:
				connect(t, p, id)
			default:
				_, err := p.Connect(t.Context(), id)
				wantCode(t, err, fyllo.CodeACPNotReady)
				if a := describe(t, p, id); a.State != fyllo.AgentRestarting || a.Problem == nil {
					t.Errorf("%+v", a)
				}
				time.Sleep(delay - 2*time.Millisecond)
				synctest.Wait()
				if h.started() != i+1 {
					t.Fatalf("start %d came early", i+2)
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
			if h.started() != i+2 {
				t.Fatalf("start %d did not come after %v", i+2, delay)
			}
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		_, err := p.Connect(t.Context(), id)
		wantCode(t, err, fyllo.CodeACPGiveUp)
		if a := describe(t, p, id); a.State != fyllo.AgentFailed || a.Problem.Code != fyllo.CodeACPGiveUp {
			t.Errorf("%+v", a)
		}
		time.Sleep(time.Hour)
		if h.started() != 5 {
			t.Errorf("started after giving up: %d", h.started())
		}
		if err := p.Retry(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if a := describe(t, p, id); a.State != fyllo.AgentReady || a.Problem != nil {
			t.Errorf("%+v", a)
		}
	})
}

func TestStableRunResetsTheCount_R_AGT_056(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) { c.live(11 * time.Second) }}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		connect(t, p, id)
		time.Sleep(20*11*time.Second + time.Second)
		synctest.Wait()
		if h.started() != 21 {
			t.Errorf("%d starts, want one after the other without delay", h.started())
		}
	})
}

func TestStopCancelsRestart_R_AGT_057(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(n int, c *fakeChild) {
			if n < 4 {
				c.live(time.Millisecond)
			} else {
				c.live(time.Hour)
			}
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		connect(t, p, id)
		time.Sleep(time.Second) // two exits and the third: now 2 s are waited
		synctest.Wait()
		if a := describe(t, p, id); a.State != fyllo.AgentRestarting || h.started() != 3 {
			t.Fatalf("%+v, %d starts", a, h.started())
		}
		if err := p.Stop(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if a := describe(t, p, id); a.State != fyllo.AgentStopped || a.Problem != nil || h.started() != 3 {
			t.Fatalf("%+v, %d starts", a, h.started())
		}
		connect(t, p, id)
	})
}

func TestStopDuringStartAnswersTheCallers_R_AGT_057(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) {
			go func() { _, _ = bufio.NewReader(c.inR).ReadString('\n') }()
			<-c.kill
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		result := make(chan error)
		go func() { _, err := p.Connect(context.Background(), id); result <- err }()
		synctest.Wait()
		if a := describe(t, p, id); a.State != fyllo.AgentStarting {
			t.Fatalf("%+v", a)
		}
		go func() { _ = p.Stop(context.Background(), id) }()
		wantCode(t, <-result, fyllo.CodeAgentStopped)
	})
}

func TestInitializeIsLimited_R_AGT_053(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) {
			go func() { _, _ = bufio.NewReader(c.inR).ReadString('\n') }()
			<-c.kill
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		began := time.Now()
		_, err := p.Connect(t.Context(), id)
		wantCode(t, err, fyllo.CodeAgentTimeout)
		if d := time.Since(began); d < initLimit || d > initLimit+5*time.Second {
			t.Errorf("after %v", d)
		}
		time.Sleep(time.Minute)
		if h.started() != 1 {
			t.Error("it was started again by itself")
		}
	})
}

func TestOtherProtocolVersionIsAReason_R_AGT_053(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) {
			_, _ = bufio.NewReader(c.inR).ReadString('\n')
			fmt.Fprintln(c.outW, `{"protocolVersion":99}`)
			<-c.kill
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		for range 7 { // never counted as exits
			_, err := p.Connect(t.Context(), id)
			wantCode(t, err, fyllo.CodeAgentProtocol)
		}
		if a := describe(t, p, id); a.Problem == nil || a.Problem.Code != fyllo.CodeAgentProtocol {
			t.Errorf("%+v", a)
		}
	})
}

func TestGenerationsDifferAcrossRuns_R_AGT_055(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last uint64
		for range 3 {
			h := &fakeHost{play: func(_ int, c *fakeChild) { c.live(time.Hour) }}
			p, id := fakePool(t, h, Config{})
			stop := serve(t, p)
			g := connect(t, p, id).Generation()
			if g <= last {
				t.Errorf("%d after %d", g, last)
			}
			last = g
			stop()
			time.Sleep(10 * time.Millisecond)
		}
	})
}

func TestWarmUpTwoAtATime_R_AGT_065(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		h := &fakeHost{}
		h.play = func(n int, c *fakeChild) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			if h.argsOf(n) == "1" { // one that fails hinders nobody; by name, since the queue has no order
				c.exit = childproc.Exit{Status: 1}
				return
			}
			c.live(time.Hour)
		}
		p, first := fakePool(t, h, Config{Self: []string{os.Args[0], "tour"}})
		ids := []fyllo.AgentID{first}
		for i := range 5 {
			ids = append(ids, add(t, p, fyllo.CustomAgent{Name: fmt.Sprint(i), Args: []string{fmt.Sprint(i)}}))
		}
		p.Warm() // before Serve: kept
		defer serve(t, p)()
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		connect(t, p, ids[5]) // does not wait for the queue
		if d := time.Since(began); d > 1100*time.Millisecond {
			t.Errorf("a caller waited %v", d)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		ready := 0
		for _, a := range p.List() {
			if a.State == fyllo.AgentReady {
				ready++
			}
			if a.ID == fyllo.TourAgent && a.State != fyllo.AgentStopped {
				t.Error("the Tour was warmed")
			}
		}
		if ready != 5 || most > 3 || h.started() != 6 { // two, and the caller's
			t.Errorf("%d ready, %d at once, %d starts", ready, most, h.started())
		}
	})
}

func TestCheckReportsAndRetries_R_CLI_005(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(n int, c *fakeChild) {
			if n <= 6 {
				c.stderr = "broken\n"
				return
			}
			time.Sleep(250 * time.Millisecond)
			c.live(time.Hour)
		}}
		p, id := fakePool(t, h, Config{})
		defer serve(t, p)()
		for range 5 {
			_, _ = p.Connect(t.Context(), id)
		}
		_, err := p.Connect(t.Context(), id)
		wantCode(t, err, fyllo.CodeACPGiveUp)
		r, err := p.Check(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if r.OK || r.Problem.Code != fyllo.CodeAgentStartFailed || r.StderrTail != "broken\n" {
			t.Errorf("%+v", r)
		}
		for range 2 { // starts it, then takes the running process
			r, err = p.Check(t.Context(), id)
			if err != nil || !r.OK || r.StartMillis != 250 || r.Problem != nil || r.StderrTail != "" {
				t.Fatalf("%+v, %v", r, err)
			}
			if r.Info.Version != "1.2" || len(r.Info.AuthMethods) != 1 || r.Info.Capabilities.Image != fyllo.Supported {
				t.Errorf("%+v", r.Info)
			}
		}
		if h.started() != 7 {
			t.Errorf("%d starts", h.started())
		}
		_, err = p.Check(t.Context(), "custom-nobody-00000000")
		wantCode(t, err, fyllo.CodeAgentNotFound)
	})
}

func TestChangesAreToldWithoutLocks(t *testing.T) {
	var mu sync.Mutex
	var states []fyllo.AgentState
	var p *toyPool
	cfg := Config{OnChange: func(list []fyllo.Agent) {
		_, _ = p.Describe(list[0].ID) // would block for ever under the lock
		_ = p.List()
		mu.Lock()
		defer mu.Unlock()
		states = append(states, list[0].State)
	}}
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{play: func(_ int, c *fakeChild) {
			time.Sleep(time.Second)
			c.live(time.Hour)
		}}
		var id fyllo.AgentID
		p, id = fakePool(t, h, cfg)
		defer serve(t, p)()
		synctest.Wait()
		connect(t, p, id)
		synctest.Wait()
		_ = p.Stop(t.Context(), id)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		text := fmt.Sprint(states)
		if !strings.Contains(text, "starting ready stopped") {
			t.Error(text)
		}
	})
}
