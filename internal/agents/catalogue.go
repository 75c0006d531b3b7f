package agents

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/jsonobject"
)

// entry is a member of the catalogue. It is never changed once it is in Pool.entries.
type entry struct {
	id      fyllo.AgentID
	name    string
	source  fyllo.AgentSource
	command string
	args    []string
	env     map[string]string
	path    string   // the executable as last detected; "" = not installed (R-AGT-023)
	listed  *listing // of a registry Agent; nil for others
}

// sameLaunch reports whether a process started for e would be the same for o (R-AGT-024).
func (e entry) sameLaunch(o entry) bool {
	return e.command == o.command && slices.Equal(e.args, o.args) && maps.Equal(e.env, o.env)
}

func (e entry) missing() *fyllo.Error {
	if e.listed != nil {
		missing := fyllo.Errorf(fyllo.CodeAgentNotInstalled, "cannot use %s: it is not installed", e.name)
		if ways := e.listed.Ways(e.listed.platform); len(ways) > 0 {
			return missing.WithHint("Settings → Agents tells how to install it, for example: %s", ways[0].Text)
		}
		return missing.WithHint("There is no version of it for this computer.")
	}
	return fyllo.Errorf(fyllo.CodeAgentNotInstalled, "cannot use %s: its command %q was not found", e.name, e.command).
		WithHint("Install it, or correct its command in the settings.")
}

// version is that of the installation, "" when it is unknown, as that of a custom Agent always is.
func (e entry) version() string {
	if e.listed == nil {
		return ""
	}
	return e.listed.Detection.Version
}

// List returns the catalogue with the state of every Agent: those of the registry, custom ones, the Tour. It never waits: what it shows is
// looked at again in the background when it is older than 2 s, and OnChange tells of a difference.
func (p *Pool[C]) List() []fyllo.Agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.lookedAt) > statusMaxAge {
		poke(p.stale)
	}
	out := make([]fyllo.Agent, 0, len(p.entries))
	for _, e := range p.entries {
		out = append(out, p.describeLocked(e))
	}
	return out
}

// Describe returns one member of the catalogue; false when there is none of that id.
func (p *Pool[C]) Describe(id fyllo.AgentID) (fyllo.Agent, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.entryLocked(id); ok {
		return p.describeLocked(e), true
	}
	return fyllo.Agent{}, false
}

// Missing says why an id is not in the catalogue: there is no such Agent, or the file of custom Agents, in which it
// may stand, cannot be used.
func (p *Pool[C]) Missing(id fyllo.AgentID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notFoundLocked(id)
}

// CustomProblem says why the file of custom Agents is not used, nil when it is. The entries of its last good form
// stay in the catalogue while the Pool lives (R-AGT-020).
func (p *Pool[C]) CustomProblem() *fyllo.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.customErr
}

func (p *Pool[C]) entryLocked(id fyllo.AgentID) (entry, bool) {
	for _, e := range p.entries {
		if e.id == id {
			return e, true
		}
	}
	return entry{}, false
}

func (p *Pool[C]) describeLocked(e entry) fyllo.Agent {
	a := fyllo.Agent{
		ID: e.id, Name: e.name, Source: e.source, Kind: kindOf(e.id), Installed: e.path != "",
		State: fyllo.AgentStopped, Capabilities: unknownCapabilities(),
	}
	if e.source == fyllo.SourceCustom {
		a.Command, a.Args = e.command, slices.Clone(e.args)
		a.EnvNames = slices.Sorted(maps.Keys(e.env))
	}
	if c, ok := p.cache[e.id]; ok && (e.listed == nil || c.usable(e.version())) {
		a.Capabilities, a.AuthMethods = c.capabilities(), c.authMethods()
	}
	var problem *fyllo.Error
	if e.path == "" && e.listed == nil { // that a registry Agent is not installed is nothing wrong
		problem = e.missing()
	}
	if s := p.slots[e.id]; s != nil {
		a.State, a.PID = s.state, s.pid
		if s.problem != nil && e.path != "" {
			problem = s.problem
		}
		if s.current != nil {
			info := s.current.info
			a.Generation, a.Version = s.current.generation, info.Version
			a.Capabilities, a.AuthMethods = info.Capabilities, info.AuthMethods
		}
	}
	if problem != nil {
		a.Problem = fyllo.FailureOf(problem)
	}
	if e.listed != nil {
		e.listed.describe(&a)
	}
	return a
}

// SetHideTour takes the Tour out of the catalogue or puts it back (decision 20). A running Tour is stopped.
func (p *Pool[C]) SetHideTour(hide bool) {
	p.mu.Lock()
	changed := p.hideTour != hide
	p.hideTour = hide
	p.mu.Unlock()
	if changed {
		p.refresh(true)
	}
}

// refresh reads the file of custom Agents if it changed, or if force is set, and detects what is installed.
// Processes of entries that changed or went are stopped, new and changed ones are warmed (R-AGT-024).
func (p *Pool[C]) refresh(force bool) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	p.mu.Lock()
	old, problem, hide, first := p.entries, p.customErr, p.hideTour, p.lookedAt.IsZero()
	seen := p.seen
	p.mu.Unlock()

	now := p.custom.stamp()
	var next []entry
	if force || now != seen {
		var fresh []entry
		if fresh, problem = p.custom.read(); problem == nil {
			next = fresh
		} else {
			p.log.Warn("custom Agents are not used", "error", problem)
			next = customsOf(old)
		}
	} else {
		next = customsOf(old)
	}
	path := p.lookup.known()
	next = slices.Clone(next)
	for i := range next {
		next[i].path = p.lookup.find(next[i].command, path)
	}
	next = slices.Concat(p.registryEntries(path), next)
	if len(p.cfg.Self) > 0 && !hide {
		next = append(next, entry{
			id: fyllo.TourAgent, name: "Tour", source: fyllo.SourceBuiltin,
			command: p.cfg.Self[0], args: p.cfg.Self[1:], path: p.lookup.find(p.cfg.Self[0], path),
		})
	}
	p.adopt(next, problem, now, first)
	p.mu.Lock()
	serving := p.serving
	p.mu.Unlock()
	if !serving { // a command that only edits the file: nobody else will save
		select {
		case <-p.unsaved:
			p.saveCache()
		default:
		}
	}
}

func customsOf(entries []entry) []entry {
	var out []entry
	for _, e := range entries {
		if e.source == fyllo.SourceCustom {
			out = append(out, e)
		}
	}
	return out
}

// adopt makes next the catalogue.
func (p *Pool[C]) adopt(next []entry, problem *fyllo.Error, seen stamp, first bool) {
	p.mu.Lock()
	old := p.entries
	p.entries, p.customErr, p.seen, p.lookedAt = next, problem, seen, time.Now()
	var warm []fyllo.AgentID
	for _, o := range old {
		n, ok := p.entryLocked(o.id)
		if ok && n.sameLaunch(o) {
			continue
		}
		if s := p.slots[o.id]; s != nil {
			p.endLocked(s, fyllo.Errorf(fyllo.CodeAgentStopped, "%s was stopped: its entry changed", o.name))
		}
		if _, had := p.cache[o.id]; had {
			delete(p.cache, o.id)
			poke(p.unsaved)
		}
		if ok && n.listed == nil {
			warm = append(warm, o.id)
		}
	}
	for _, n := range next {
		// A look at what is installed starts nothing: that an Agent of the registry is there is no wish to use it now.
		if n.listed == nil && !slices.ContainsFunc(old, func(o entry) bool { return o.id == n.id }) {
			warm = append(warm, n.id)
		}
	}
	changed := !slices.EqualFunc(old, next, func(a, b entry) bool {
		return a.id == b.id && a.name == b.name && a.path == b.path && a.sameLaunch(b) && a.listed.same(b.listed)
	})
	p.mu.Unlock()
	if changed {
		poke(p.dirty)
	}
	if !first && len(warm) > 0 {
		p.Warm(warm...)
	}
}

// AddCustom adds an entry, or replaces the one of that name (R-CLI-005), and returns its id. A file that cannot
// be understood is refused with CUSTOM_AGENTS_INVALID and left alone.
func (p *Pool[C]) AddCustom(c fyllo.CustomAgent) (fyllo.AgentID, error) {
	if err := checkCustom(c); err != nil {
		return "", fyllo.Errorf(fyllo.CodeInvalidRequest, "cannot add the Agent: %w", err)
	}
	if isRelative(c.Command) {
		return "", fyllo.Errorf(fyllo.CodeInvalidRequest,
			"cannot add %s: the command %q must be an absolute path, begin with ~/, or be a name on PATH", c.Name, c.Command)
	}
	id, err := customID(c)
	if err != nil {
		return "", fyllo.Errorf(fyllo.CodeInvalidRequest, "cannot add %s: its command or arguments are not text", c.Name)
	}
	err = p.custom.edit(func(servers jsonobject.Object, all []fyllo.CustomAgent) (jsonobject.Object, error) {
		for _, o := range all {
			if other, err := customID(o); err == nil && other == id && o.Name != c.Name {
				return nil, fyllo.Errorf(fyllo.CodeInvalidRequest,
					"cannot add %s: %s has the same command and arguments", c.Name, o.Name)
			}
		}
		return put(servers, c)
	})
	if err != nil {
		return "", err
	}
	p.refresh(true)
	return id, nil
}

// RemoveCustom removes a custom entry by id, else by name, and stops its process.
func (p *Pool[C]) RemoveCustom(idOrName string) error {
	if fyllo.AgentID(idOrName) == fyllo.TourAgent {
		return fyllo.Errorf(fyllo.CodeInvalidRequest, "cannot remove the Tour: it is built in").
			WithHint("It can be hidden in the settings.")
	}
	err := p.custom.edit(func(servers jsonobject.Object, all []fyllo.CustomAgent) (jsonobject.Object, error) {
		name := idOrName
		for _, o := range all {
			if id, err := customID(o); err == nil && string(id) == idOrName {
				name = o.Name
				break
			}
		}
		if _, ok := servers.Get(name); !ok {
			return nil, fyllo.Errorf(fyllo.CodeAgentNotFound, "cannot remove %q: there is no custom Agent with this id or name", idOrName)
		}
		return servers.Without(name), nil
	})
	if err != nil {
		return err
	}
	p.refresh(true)
	return nil
}

// isRelative reports whether a command is a path below a directory that an Agent's process does not have.
func isRelative(command string) bool {
	return strings.ContainsRune(command, '/') && command[0] != '/' && !strings.HasPrefix(command, "~/")
}

// notFoundLocked explains why id cannot be chosen. It is called with mu held.
func (p *Pool[C]) notFoundLocked(id fyllo.AgentID) error {
	if p.customErr != nil && id != fyllo.TourAgent {
		return p.customErr
	}
	return fyllo.Errorf(fyllo.CodeAgentNotFound, "agent %q: there is no such Agent", string(id)).
		WithHint("`fyllo agents list` shows the Agents; Settings → Agents adds one.")
}
