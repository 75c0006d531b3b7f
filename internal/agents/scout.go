package agents

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/installed"
	"fyllocode.dev/fyllo/internal/agents/internal/registry"
	"fyllocode.dev/fyllo/internal/childproc"
)

// DefaultRegistry is the URL of the official registry (R-AGT-004).
const DefaultRegistry = registry.DefaultURL

const (
	detectEvery = time.Minute     // what is installed is not looked at more often, unless a person asks
	retryFetch  = 5 * time.Minute // nor is a registry asked again that failed
	maxOutput   = 4 << 20         // bytes of what a program prints
)

// scout keeps what is known of the registry and of what is installed of it. Its goroutine does the work, one cycle at a
// time, so that nobody who asks for the catalogue waits for a process or the network.
type scout struct {
	source   *registry.Source   // nil = there is no registry
	detector installed.Detector // of the goroutine alone
	file     string             // installed.json
	asked    chan struct{}      // there is something to do

	// The rest belongs to Pool.mu.
	list       registry.Snapshot // of FetchedAt zero: there is none
	found      map[fyllo.AgentID]installed.Detection
	records    installed.Records
	damaged    bool // the file cannot be read, so it is not written over
	fetch      bool // the next cycle may fetch
	force      bool // the next cycle fetches and looks whatever is known
	pending    bool // a cycle was asked for that has not begun
	looking    bool
	problem    *fyllo.Error // of the last fetch
	failedAt   time.Time    // of that fetch
	detectedAt time.Time
}

// newScout reads what was known at the end of the last run, so that the catalogue is there at once and without a
// network (R-AGT-005, 034).
func (p *Pool[C]) newScout() {
	s := &p.scout
	s.asked = make(chan struct{}, 1)
	if p.cfg.Registry == "" {
		return
	}
	s.source = registry.NewSource(p.cfg.Registry, filepath.Join(p.cfg.Root, "acp", "registry.json"), p.log)
	s.file = filepath.Join(p.cfg.Root, "acp", "installed.json")
	s.detector = installed.Detector{
		Platform: registry.Platform(runtime.GOOS, runtime.GOARCH),
		Find:     func(command string) string { return p.lookup.find(command, p.lookup.known()) },
		Run:      p.output,
	}
	s.list, _ = s.source.Kept()
	records, err := installed.ReadRecords(s.file)
	if err != nil {
		p.log.Warn("what is installed is looked for anew", "error", err)
		s.damaged, records = true, installed.Records{}
	}
	s.records, s.found = records, map[fyllo.AgentID]installed.Detection{}
	for id, r := range records {
		s.found[id] = installed.Detection{Method: r.InstallMethod, Path: r.InstallPath, Version: r.InstalledVersion}
	}
}

// Look has the registry fetched, when it is older than a day or there is none, and what is installed of it looked at, in
// the background; OnChange tells of what was found. force is a person's wish, which counts whatever is known
// (R-AGT-005, 034). Without a registry, or when everything is fresh, nothing happens; before
// Serve runs it waits. This is the only thing that makes
// a Pool go out.
func (p *Pool[C]) Look(force bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.scout
	if s.source == nil || p.closing {
		return
	}
	now := time.Now()
	fetch := force || !s.list.Fresh(now) && now.Sub(s.failedAt) >= retryFetch
	if !fetch && now.Sub(s.detectedAt) < detectEvery {
		return
	}
	s.fetch, s.force = s.fetch || fetch, s.force || force
	p.wakeScoutLocked()
}

func (p *Pool[C]) wakeScoutLocked() {
	p.scout.pending = true
	if !p.scout.looking {
		p.scout.looking = true
		poke(p.dirty)
	}
	poke(p.scout.asked)
}

// Registry tells where the registry comes from and how it stands; nil when there is none.
func (p *Pool[C]) Registry() *fyllo.RegistryState {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.scout
	if s.source == nil {
		return nil
	}
	state := &fyllo.RegistryState{Source: s.source.URL(), Looking: s.looking}
	if at := s.list.FetchedAt; !at.IsZero() {
		state.FetchedAt = &at
	}
	if s.problem != nil {
		state.Problem = fyllo.FailureOf(s.problem)
	}
	return state
}

// runScout does what Look asks for until ctx ends.
func (p *Pool[C]) runScout(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.scout.asked:
		}
		p.lookup.effective() // what is installed depends on it
		p.mu.Lock()
		s := &p.scout
		fetch, known := s.fetch, len(s.list.Agents) > 0
		detect := known && (s.force || time.Since(s.detectedAt) >= detectEvery)
		s.fetch, s.force, s.pending = false, false, false
		p.mu.Unlock()
		if detect {
			p.detect(ctx)
		}
		if fetch && p.fetchRegistry(ctx) {
			p.detect(ctx)
		}
		p.mu.Lock()
		s.looking = s.pending
		p.mu.Unlock()
		poke(p.dirty)
	}
}

// fetchRegistry reports whether there is a new document. A failure keeps the old one (R-AGT-005).
func (p *Pool[C]) fetchRegistry(ctx context.Context) bool {
	list, err := p.scout.source.Fetch(ctx)
	if ctx.Err() != nil {
		return false
	}
	p.mu.Lock()
	s := &p.scout
	if err != nil {
		s.failedAt = time.Now()
		s.problem = fyllo.Errorf(fyllo.CodeRegistry, "%w", err)
		p.mu.Unlock()
		p.log.Warn("the list of Agents was not fetched", "error", err)
		return false
	}
	s.list, s.problem, s.failedAt = list, nil, time.Time{}
	p.mu.Unlock()
	p.refresh(false) // they are known now, before it is clear which are installed
	return true
}

// detect looks at what is installed and keeps it (R-AGT-031, 032).
func (p *Pool[C]) detect(ctx context.Context) {
	p.mu.Lock()
	s := &p.scout
	list, records, was := s.list.Agents, s.records, s.found
	p.mu.Unlock()
	look := s.detector.Detect(ctx, list, records, was)
	if ctx.Err() != nil {
		return // half a look is none
	}
	for method, err := range look.Failed {
		p.log.Warn("a tool did not tell what is installed", "tool", method, "error", err)
	}
	ids := make([]fyllo.AgentID, len(list))
	for i, a := range list {
		ids[i] = a.ID
	}
	next, found := installed.Reconcile(records, look.Found, ids, time.Now())
	p.mu.Lock()
	s.records, s.found, s.detectedAt = next, found, time.Now()
	write := !s.damaged && !maps.Equal(next, records)
	p.mu.Unlock()
	if write {
		if err := next.Write(s.file); err != nil {
			p.log.Warn("what is installed was not kept", "file", s.file, "error", err)
		}
	}
	p.refresh(false)
}

// output runs a program to its end, at the latest that of ctx, as a child that dies with Core. What it printed is
// returned with an error, too; a failing exit is one.
func (p *Pool[C]) output(ctx context.Context, path string, args ...string) ([]byte, error) {
	env := p.environment(entry{}, p.lookup.known())
	return capturedRun(ctx, p.start, childproc.Spec{Path: path, Args: args, Dir: p.workDir(), Env: env})
}

func capturedRun(ctx context.Context, host starter, spec childproc.Spec) ([]byte, error) {
	c, err := host.Start(spec)
	if err != nil {
		return nil, err
	}
	c.Stdin().Close()
	var out []byte
	read := make(chan struct{})
	go func() { // ends with the output, at the latest when the program is stopped below
		defer close(read)
		out, _ = io.ReadAll(io.LimitReader(c.Stdout(), maxOutput)) // a part is as good as nothing
	}()
	for _, over := range []<-chan struct{}{read, c.Exited()} {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Stop(now) // one that cannot be killed changes nothing here
	c.Stdout().Close()
	<-read
	if ctx.Err() != nil {
		return out, fmt.Errorf("%s did not end in time", filepath.Base(spec.Path))
	}
	if exit := c.Exit(); exit.Status != 0 || exit.Signal != 0 {
		return out, fmt.Errorf("%s %v", filepath.Base(spec.Path), exit)
	}
	return out, nil
}

// listing is what the registry and the look at this machine say of an entry.
type listing struct {
	registry.Agent
	installed.Detection // zero when it is not installed
	managedBy           fyllo.ManagedBy
	platform            string
}

// update reports whether the registry has a newer version than the one that is installed (R-AGT-033).
func (l *listing) update() bool { return registry.Newer(l.Agent.Version, l.Detection.Version) }

// registryEntries are the members of the catalogue that come from the registry, in its order (R-AGT-001, 051).
func (p *Pool[C]) registryEntries(path string) []entry {
	p.mu.Lock()
	s := &p.scout
	list, found, records, platform := s.list.Agents, s.found, s.records, s.detector.Platform
	p.mu.Unlock()
	out := make([]entry, 0, len(list))
	for _, a := range list {
		e := entry{id: a.ID, name: a.Name, source: fyllo.SourceRegistry}
		l := &listing{Agent: a, platform: platform}
		d, there := found[a.ID]
		launch, ok := a.Launch(d.Method, platform, d.Path)
		if there = there && ok; !there {
			if methods := a.Methods(platform); len(methods) > 0 {
				launch, _ = a.Launch(methods[0], platform, "")
			}
		}
		e.command, e.args, e.env = launch.Command, launch.Args, withNeeded(a.ID, launch.Env)
		if there {
			e.path = p.lookup.find(e.command, path)
		}
		if e.path != "" {
			l.Detection, l.managedBy = d, records[a.ID].ManagedBy
		}
		e.listed = l
		out = append(out, e)
	}
	return out
}

// describe adds what is told of registry Agents only (R-AGT-030).
func (l *listing) describe(a *fyllo.Agent) {
	a.Description, a.LatestVersion = l.Description, l.Agent.Version
	a.InstallMethod, a.ManagedBy = l.Method, l.managedBy
	a.UpdateAvailable = a.Installed && l.update()
	if a.Installed && l.Detection.Version != "" {
		a.Version = l.Detection.Version // so that it can be compared with the newest
	}
	if !a.Installed || a.UpdateAvailable {
		a.InstallWays = l.Ways(l.platform)
		if a.UpdateAvailable { // the way it came
			a.InstallWays = slices.DeleteFunc(a.InstallWays, func(w fyllo.InstallWay) bool { return w.Method != l.Method })
		}
	}
}

func (l *listing) same(o *listing) bool {
	if l == nil || o == nil {
		return l == o
	}
	return l.Agent.Version == o.Agent.Version && l.Description == o.Description && l.Detection == o.Detection && l.managedBy == o.managedBy
}
