package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/cli"
	"fyllocode.dev/fyllo/internal/acp"
	"fyllocode.dev/fyllo/internal/agents"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/files"
	"fyllocode.dev/fyllo/internal/httpd"
	"fyllocode.dev/fyllo/internal/mcphost"
	"fyllocode.dev/fyllo/internal/media"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/records/spawned"
	"fyllocode.dev/fyllo/internal/search"
	"fyllocode.dev/fyllo/internal/session"
	"fyllocode.dev/fyllo/internal/spawn"
	"fyllocode.dev/fyllo/internal/stream"
	"fyllocode.dev/fyllo/internal/workspace"
	"fyllocode.dev/fyllo/web"
)

// The steps of the shutdown in their order, with the exit code of each one that does not end in time. The times
// are above what each package promises by itself, so that only a bug reaches them.
const (
	exitSessions = 81 + iota // running turns are told as interrupted and stored; Agents still run
	exitHTTP                 // windows and commands are let go
	exitAgents               // all children end
	exitRecords              // the data root is given up
	exitSpawn                // spawned turns are told as interrupted and stored, first of all (R-SPAWN-092)

	spawnLimit    = 5 * time.Second
	sessionsLimit = 5 * time.Second
	httpLimit     = 5 * time.Second
	agentsLimit   = 5 * time.Second
	recordsLimit  = 2 * time.Second
)

// warmDelay is how long after the start the Agents are warmed; the first page goes before.
const warmDelay = 2 * time.Second

// shutdownLimit is how long a whole shutdown may take.
func shutdownLimit() time.Duration {
	return spawnLimit + sessionsLimit + httpLimit + agentsLimit + recordsLimit
}

// pool is the process pool of ACP Agents.
type pool = agents.Pool[*acp.Conn]

// core is one running Core: everything that owns the data root.
type core struct {
	options  cli.CoreOptions
	token    string // of the command line
	lock     *records.CoreLock
	store    *records.Store
	listener net.Listener
	pool     *pool
	sessions *session.Manager
	spawn    *spawn.Engine
	spawned  *spawned.Store
	mcp      *mcphost.Host
	files    *files.Finder
	server   *httpd.Server

	asked    chan struct{} // closed when the Core shall end
	askOnce  sync.Once
	done     chan struct{} // closed when it has ended
	err      error         // of the shutdown; read after done
	services []*service    // in the order of their end
	warm     *time.Timer   // nil when nothing is to be warmed
	feed     *restingFeed  // what sessions publish to
}

// startCore starts a Core and returns when it accepts requests. Errors: CORE_ALREADY_RUNNING, HOME_NOT_WRITABLE,
// PORT_IN_USE, or what is wrong with the data.
func startCore(o cli.CoreOptions) (*core, error) {
	c := &core{options: o, token: rand.Text(), asked: make(chan struct{}), done: make(chan struct{})}
	limitMemory()
	var err error
	if c.lock, err = records.Lock(o.Root); err != nil {
		return nil, err
	}
	if err = c.build(); err != nil {
		return nil, errors.Join(err, c.abandon())
	}
	c.serve()
	info := records.LockInfo{Address: c.listener.Addr().String()}
	if err = c.lock.Publish(info, c.token); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// build makes all parts; none of them runs yet.
func (c *core) build() error {
	var err error
	if c.listener, err = listen(c.options.Port); err != nil {
		return err
	}
	if c.store, err = records.Open(c.options.Root, c.options.Log); err != nil {
		return err
	}
	spaces, err := workspace.New(c.store, time.Now)
	if err != nil {
		return err
	}
	feed := httpd.NewFeed(stream.Options{})
	if c.pool, err = c.newPool(feed); err != nil {
		return err
	}
	c.feed = newRestingFeed(feed)
	c.newSpawn(spaces)
	c.files = files.New()
	c.sessions = session.New(session.Deps{
		Store: sessionStore{c.store}, Agents: liveAgents{c.pool}, Workspaces: spaces, Mentions: c.files, Publisher: c.feed,
		Decoder: decoder{}, Settings: c.store.Settings, Servers: lender{c.mcp}, Children: c.spawn, Log: c.options.Log,
	})
	return c.newServer(feed, spaces)
}

func (c *core) newPool(feed *httpd.Feed) (*pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own program: %w", err)
	}
	log := c.options.Log
	return agents.New(agents.Config{
		Root: c.options.Root, Self: []string{self, tourCommand}, Guard: []string{self, guardCommand}, Log: log,
		HideTour: c.store.Settings().HideTour, Registry: registryURL(),
		OnChange: func(all []fyllo.Agent) {
			feed.Publish(fyllo.Event{Type: fyllo.EventAgents, Data: fyllo.AgentsEvent{Agents: all, Registry: c.pool.Registry()}})
		},
	}, func(stdin io.WriteCloser, stdout io.Reader, ended func() error) *acp.Conn {
		return acp.NewConn(stdin, stdout, acp.Options{
			Ended: ended, Log: log, Client: acp.ClientInfo{Version: programVersion()},
		})
	})
}

// registryURL is where the list of Agents comes from; FYLLO_REGISTRY_URL replaces the official one, and an empty value
// means that there is none (R-AGT-004).
func registryURL() string {
	if from, set := os.LookupEnv("FYLLO_REGISTRY_URL"); set {
		return from
	}
	return agents.DefaultRegistry
}

// newSpawn builds the engine of delegated work and its door for Agents.
func (c *core) newSpawn(spaces *workspace.Registry) {
	log := c.options.Log
	c.spawned = spawned.New(c.store, log)
	c.spawn = spawn.New(spawn.Deps{
		Store: spawnStore{c.spawned}, Agents: spawnAgents{c.pool}, Parents: parents{c}, Workspaces: spaces,
		Decoder: decoder{}, Log: log,
		Changed: func(o fyllo.SpawnOwner, id fyllo.SessionID) { c.spawnedChanged(o, fyllo.SpawnedEvent{SessionID: id}) },
		Grew: func(o fyllo.SpawnOwner, id fyllo.SessionID) {
			c.spawnedChanged(o, fyllo.SpawnedEvent{SessionID: id, Live: true})
		},
		Inactivity: shorter("FYLLO_TEST_SPAWN_INACTIVITY", fyllo.SpawnInactivity, log),
		CancelTime: shorter("FYLLO_TEST_CANCEL_GRACE", fyllo.SpawnCancelTime, log),
	})
	c.mcp = mcphost.New(mcphost.Config{
		Address: c.listener.Addr().String(), Spawner: c.spawn, Ready: c.spawn.Ready(), Version: programVersion(),
		Disabled: os.Getenv("FYLLO_DISABLE_BUNDLED_MCP") == "1", Log: log,
	})
}

// spawnedChanged tells windows and commands that a Session's delegated work has changed.
func (c *core) spawnedChanged(o fyllo.SpawnOwner, e fyllo.SpawnedEvent) {
	c.feed.Publish(fyllo.Event{Workspace: o.Workspace, SessionID: o.Parent, Type: fyllo.EventSpawned, Data: e})
}

// shorter reads a limit for tests from the environment; it can only be shortened (R-CLI-012).
func shorter(name string, limit time.Duration, log *slog.Logger) time.Duration {
	text := os.Getenv(name)
	if text == "" {
		return limit
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		log.Warn("ignored: it is not a duration such as 2s", "variable", name)
		return limit
	}
	return min(d, limit)
}

func (c *core) newServer(feed *httpd.Feed, spaces *workspace.Registry) error {
	address, err := netip.ParseAddrPort(c.listener.Addr().String())
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = c.options.Root // the launcher begins somewhere
	}
	library := media.New(c.sessions, c.store)
	c.server, err = httpd.New(httpd.Config{
		Addr: address, Token: c.token, Version: programVersion(), Home: home, UI: web.FS(),
		Feed: feed, Sessions: c.sessions, Media: library,
		Attachments: &attachments.Library{Store: c.store, Files: library, Agents: c.pool, Sessions: c.sessions},
		Search:      search.New(c.sessions, transcripts{c.store}), Files: c.files, Workspaces: spaces, Agents: c.pool, Store: c.store,
		Stop: c.ask, Doctor: c.doctor, Log: c.options.Log, MCP: c.mcp, Children: children{c.spawn, c.spawned},
		Spawned:    func() int { return c.spawn.Counts().Running },
		OnSettings: func(s fyllo.Settings) { c.pool.SetHideTour(s.HideTour) },
	})
	return err
}

// listen opens a listener on loopback.
func listen(port int) (net.Listener, error) {
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fyllo.Errorf(fyllo.CodePortInUse, "port %d: another program uses it", port).
			WithHint("Choose another one with --port, or none to let the system choose.")
	case err != nil:
		return nil, fyllo.Errorf(fyllo.CodeInternal, "port %d: %w", port, err)
	}
	return ln, nil
}

// serve runs all parts. The order of the list is the order of their end; nothing depends on the order of the
// start, since each part waits for what it needs.
func (c *core) serve() {
	c.services = []*service{
		startService("spawned work", spawnLimit, exitSpawn, c.spawn.Serve),
		startService("sessions", sessionsLimit, exitSessions, c.sessions.Serve),
		startService("http", httpLimit, exitHTTP, func(ctx context.Context) error {
			defer c.mcp.Close()
			return c.server.Serve(ctx, c.listener)
		}),
		startService("agents", agentsLimit, exitAgents, c.pool.Serve),
	}
	if c.options.Warm {
		c.warm = time.AfterFunc(warmDelay, func() { c.pool.Warm() })
	}
	go c.run() // ends with the shutdown
}

// run waits until the Core shall end, by request or because a part has failed, and ends it.
func (c *core) run() {
	defer close(c.done)
	if c.warm != nil {
		defer c.warm.Stop()
	}
	select {
	case <-c.asked:
	case <-c.services[0].ended:
	case <-c.services[1].ended:
	case <-c.services[2].ended:
	case <-c.services[3].ended:
	}
	c.ask()
	c.err = c.shutdown()
}

// shutdown is the one place where the order of the end is written. A step that is stuck does not keep the others
// from running.
func (c *core) shutdown() error {
	var failures []error
	for _, s := range c.services {
		failures = append(failures, s.stop())
	}
	c.feed.close()
	release := startService("records", recordsLimit, exitRecords, func(context.Context) error { return c.lock.Release() })
	failures = append(failures, release.stop())
	return errors.Join(failures...)
}

// abandon gives back what a failed start took.
func (c *core) abandon() error {
	if c.listener != nil {
		_ = c.listener.Close() // nobody has connected
	}
	return c.lock.Release()
}

// ask tells the Core to end and returns at once.
func (c *core) ask() { c.askOnce.Do(func() { close(c.asked) }) }

// Close ends the Core in order and returns when nothing of it is left.
func (c *core) Close() error {
	c.ask()
	<-c.done
	return c.err
}

// Done is closed when the Core has ended.
func (c *core) Done() <-chan struct{} { return c.done }
