package installed

import (
	"context"
	"os"
	"regexp"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/registry"
)

// Limits of the programs that are asked.
const (
	listLimit    = 20 * time.Second
	versionLimit = 5 * time.Second
)

// Detector looks for Agents on this machine. It remembers the versions of programs that did not change, so that none
// is asked twice. One caller at a time.
type Detector struct {
	Platform string // the key of this platform in the registry, see registry.Platform
	// Find returns the executable that a command means, "" when there is none.
	Find func(command string) string
	// Run runs a program to its end, at the latest that of ctx, and returns its standard output, also with an error. A
	// failing exit is an error.
	Run func(ctx context.Context, path string, args ...string) ([]byte, error)

	versions map[string]version // by path
}

// version is what a program said of itself, as long as the file is the same.
type version struct {
	size    int64
	at      time.Time
	version string
}

// Look is what was seen in one cycle.
type Look struct {
	Found  map[fyllo.AgentID]Detection
	Failed map[fyllo.InstallMethod]error // the tools that are there and gave no answer: what they have is unknown
}

// Detect looks for all agents, in the order of preference of their methods (R-AGT-031, 040). records name the binaries
// that were installed at a place of their own. An Agent whose tool gave no answer is left as was was.
func (d *Detector) Detect(ctx context.Context, agents []registry.Agent, records Records, was map[fyllo.AgentID]Detection) Look {
	look := Look{Found: map[fyllo.AgentID]Detection{}, Failed: map[fyllo.InstallMethod]error{}}
	packages := d.packages(ctx, agents, &look)
	for _, a := range agents {
		for _, method := range a.Methods(d.Platform) {
			found, ok := Detection{}, false
			switch {
			case look.Failed[method] != nil:
				found, ok = was[a.ID]
				ok = ok && found.Method == method
			case method == fyllo.InstallNPX:
				found, ok = d.packaged(packages[method], registry.BareNPM(a.NPX.Package))
			case method == fyllo.InstallUVX:
				found, ok = d.packaged(packages[method], registry.BarePyPI(a.UVX.Package))
			case method == fyllo.InstallBinary:
				found.Path, ok = d.program(a.Binary[d.Platform], records[a.ID])
				if ok {
					found.Version = d.version(ctx, found.Path)
				}
			}
			if ok {
				found.Method = method
				look.Found[a.ID] = found
				break
			}
		}
	}
	return look
}

// packages asks each tool once, and only when an Agent could come from it. A tool that is not there has nothing.
func (d *Detector) packages(ctx context.Context, agents []registry.Agent, look *Look) map[fyllo.InstallMethod]map[string]Package {
	out := map[fyllo.InstallMethod]map[string]Package{}
	for _, t := range []struct {
		method    fyllo.InstallMethod
		list, run string // both commands are needed
		args      []string
		parse     func([]byte, error) (map[string]Package, error)
	}{
		{fyllo.InstallNPX, "npm", "npx", []string{"list", "-g", "--depth=0", "--json", "--long", "--offline", "--no-update-notifier"}, func(out []byte, _ error) (map[string]Package, error) {
			return ParseNPMList(out)
		}},
		{fyllo.InstallUVX, "uv", "uvx", []string{"tool", "list", "--offline"}, func(out []byte, err error) (map[string]Package, error) {
			return ParseUVList(out), err
		}},
	} {
		wanted := false
		for _, a := range agents {
			_, ok := a.Launch(t.method, d.Platform, "")
			wanted = wanted || ok
		}
		list := d.Find(t.list)
		if !wanted || list == "" || d.Find(t.run) == "" {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, listLimit)
		found, err := t.parse(d.Run(limited, list, t.args...))
		cancel()
		if out[t.method] = found; err != nil {
			look.Failed[t.method] = err
		}
	}
	return out
}

// packaged finds a package, and its command if that can be executed.
func (d *Detector) packaged(all map[string]Package, name string) (Detection, bool) {
	p, ok := all[name]
	found := Detection{Version: p.Version}
	if p.Program != "" {
		found.Path = d.Find(p.Program)
	}
	return found, ok
}

// program finds a binary: where it was installed, else by its name on PATH.
func (d *Detector) program(b registry.Archive, r Record) (string, bool) {
	if r.InstallMethod == fyllo.InstallBinary && r.InstallPath != "" {
		if at := d.Find(r.InstallPath); at != "" {
			return at, true
		}
	}
	at := d.Find(b.Program())
	return at, at != ""
}

var dotted = regexp.MustCompile(`\d+(\.\d+)+`)

// version asks a program for its version; "" when it tells none in time. The answer counts until the file changes.
func (d *Detector) version(ctx context.Context, path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	now := version{size: info.Size(), at: info.ModTime()}
	if old, ok := d.versions[path]; ok && old.size == now.size && old.at.Equal(now.at) {
		return old.version
	}
	limited, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	out, err := d.Run(limited, path, "--version")
	if ctx.Err() != nil { // it is not the program's fault
		return ""
	}
	if err == nil {
		now.version = string(dotted.Find(out))
	}
	if d.versions == nil {
		d.versions = map[string]version{}
	}
	d.versions[path] = now
	return now.version
}
