package registry

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
)

// Document is a registry as far as it could be understood (R-AGT-002).
type Document struct {
	Version string
	Agents  []Agent // in the order of the document; ids are unique
}

// Bounds of what is shown, so that no entry fills a page; longer texts are cut.
const (
	maxAgents      = 500
	maxName        = 100 // characters
	maxDescription = 500 // characters
)

// Agent is one entry. At least one of NPX, UVX and Binary is set.
type Agent struct {
	ID          fyllo.AgentID
	Name        string
	Description string
	Version     string // the newest one; usually X.Y.Z, see Newer
	Repository  string
	Website     string
	License     string
	Icon        string // a URL or a path
	NPX, UVX    *Package
	Binary      map[string]Archive // by platform, see Platform; unknown platforms are left out
}

// Package is how an Agent is run from a package of npm or of PyPI.
type Package struct {
	Package string            `json:"package"` // with its version or tag, see BareNPM and BarePyPI
	Cmd     string            `json:"cmd"`     // "" = the package's own
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// Archive is a build for one platform.
type Archive struct {
	Archive string            `json:"archive"` // the URL of a zip, tar.gz, tgz, tar.bz2, tbz2 or bare executable
	Cmd     string            `json:"cmd"`
	SHA256  string            `json:"sha256"` // "" = cannot be verified
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// wire is an entry as it is written. Display fields are raw, so that an odd one costs nobody the Agent.
type wire struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Version      string         `json:"version"`
	Repository   jsontext.Value `json:"repository"`
	Website      jsontext.Value `json:"website"`
	License      jsontext.Value `json:"license"`
	Icon         jsontext.Value `json:"icon"`
	Distribution struct {
		NPX    *Package                  `json:"npx"`
		UVX    *Package                  `json:"uvx"`
		Binary map[string]jsontext.Value `json:"binary"`
	} `json:"distribution"`
}

var (
	idForm = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	// A package comes from the tool's own registry; a URL, a path or an option of the tool is none (R-AGT-041).
	npmForm   = regexp.MustCompile(`^(@[A-Za-z0-9~._][A-Za-z0-9~._-]*/)?[A-Za-z0-9~._][A-Za-z0-9~._-]*(@[A-Za-z0-9._~^+*-]+)?$`)
	pypiForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?((@|==|>=|~=)[A-Za-z0-9._+!*-]+)?$`)
	platforms = regexp.MustCompile(`^(darwin|linux|windows)-(aarch64|x86_64)$`)
)

// Parse reads a document. Unknown fields are ignored at every level. An entry that cannot be used is left out and
// told in warnings; err means that the document as a whole is none (R-AGT-002).
func Parse(data []byte) (doc Document, warnings []error, err error) {
	var outer struct {
		Version jsontext.Value    `json:"version"`
		Agents  *[]jsontext.Value `json:"agents"`
	}
	// A name that stands twice inside an entry is that entry's fault alone; it is refused below.
	if err := json.Unmarshal(data, &outer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Document{}, nil, fmt.Errorf("not a registry: %w", err)
	}
	if outer.Agents == nil {
		return Document{}, nil, errors.New("not a registry: it has no list of agents")
	}
	doc.Version = text(outer.Version)
	seen := map[fyllo.AgentID]bool{}
	for i, raw := range *outer.Agents {
		a, err := parseAgent(raw)
		if err == nil && seen[a.ID] {
			err = errors.New("the id stands twice")
		}
		if err == nil && len(doc.Agents) == maxAgents {
			return doc, append(warnings, fmt.Errorf("only the first %d agents are used", maxAgents)), nil
		}
		if err != nil {
			warnings = append(warnings, fmt.Errorf("agent %d (%q): %w", i, string(a.ID), err))
			continue
		}
		seen[a.ID] = true
		doc.Agents = append(doc.Agents, a)
	}
	return doc, warnings, nil
}

// parseAgent returns the id with an error, too, as far as it is known.
func parseAgent(raw jsontext.Value) (Agent, error) {
	var w wire
	if err := json.Unmarshal(raw, &w); err != nil {
		return Agent{ID: fyllo.AgentID(w.ID)}, err
	}
	a := Agent{
		ID: fyllo.AgentID(w.ID), Name: short(w.Name, maxName), Description: short(w.Description, maxDescription), Version: w.Version,
		Repository: text(w.Repository), Website: text(w.Website), License: text(w.License), Icon: text(w.Icon),
		NPX: w.Distribution.NPX, UVX: w.Distribution.UVX,
	}
	switch {
	case !idForm.MatchString(w.ID):
		return a, errors.New("the id is malformed")
	case strings.HasPrefix(w.ID, "custom-") || a.ID == fyllo.TourAgent:
		return a, errors.New("the id is reserved") // ids are unique across all sources (R-AGT-001)
	case a.Name == "":
		return a, errors.New("it has no name")
	}
	if err := a.NPX.check(npmForm); err != nil {
		return a, fmt.Errorf("npx: %w", err)
	}
	if err := a.UVX.check(pypiForm); err != nil {
		return a, fmt.Errorf("uvx: %w", err)
	}
	if err := a.addBinaries(w.Distribution.Binary); err != nil {
		return a, err
	}
	if a.NPX == nil && a.UVX == nil && len(a.Binary) == 0 {
		return a, errors.New("it has no distribution that is known")
	}
	return a, nil
}

// check accepts nil: there is no such distribution.
func (p *Package) check(form *regexp.Regexp) error {
	if p == nil {
		return nil
	}
	if !form.MatchString(p.Package) {
		return errors.New("the package is malformed")
	}
	return checkLaunch(p.Cmd, p.Args, p.Env)
}

func (a *Agent) addBinaries(all map[string]jsontext.Value) error {
	for platform, raw := range all {
		if !platforms.MatchString(platform) {
			continue
		}
		var b Archive
		if err := json.Unmarshal(raw, &b); err != nil {
			return fmt.Errorf("binary for %s: %w", platform, err)
		}
		if b.Archive == "" || b.Cmd == "" {
			return fmt.Errorf("binary for %s: it names no archive or no command", platform)
		}
		if err := checkLaunch(b.Cmd, b.Args, b.Env); err != nil {
			return fmt.Errorf("binary for %s: %w", platform, err)
		}
		if a.Binary == nil {
			a.Binary = map[string]Archive{}
		}
		a.Binary[platform] = b
	}
	return nil
}

// checkLaunch refuses what no process can be started with.
func checkLaunch(cmd string, args []string, env map[string]string) error {
	if strings.ContainsRune(cmd+strings.Join(args, ""), 0) {
		return errors.New("the command or an argument contains a NUL character")
	}
	for k, v := range env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return fmt.Errorf("the environment variable %q cannot be set", k)
		}
	}
	return nil
}

// short returns a text as one line of at most limit characters.
func short(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit-1]) + "…"
	}
	return s
}

// text returns a string value, "" for everything else.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
