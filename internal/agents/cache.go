package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/jsonobject"
	"fyllocode.dev/fyllo/internal/atomicfile"
)

// cached is what acp/agent-capabilities.json keeps of one Agent's initialize answer: the values as the Agent sent
// them, absent ones absent (R-AGT-070, R-CHAT-154).
type cached struct {
	AuthMethods  jsontext.Value `json:"authMethods,omitzero"`
	Prompt       jsontext.Value `json:"promptCapabilities,omitzero"`
	MCP          jsontext.Value `json:"mcpCapabilities,omitzero"`
	Session      jsontext.Value `json:"sessionCapabilities,omitzero"`
	LoadSession  jsontext.Value `json:"loadSession,omitzero"`
	Meta         jsontext.Value `json:"_meta,omitzero"` // of agentCapabilities
	Completeness string         `json:"capabilityCompleteness"`
	AgentVersion string         `json:"capturedAgentVersion"` // of the installation; "" for custom Agents
	CapturedAt   time.Time      `json:"capturedAt"`
}

type cacheFile struct {
	Version int                      `json:"version"`
	Agents  map[fyllo.AgentID]cached `json:"agents"`
}

const (
	cacheVersion = 2
	complete     = "complete"
	partial      = "partial"
)

// readCache returns an empty cache when the file is missing, corrupt or of an unknown version. Version 1 knew
// only prompt capabilities (R-CHAT-154).
func readCache(path string) (map[fyllo.AgentID]cached, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[fyllo.AgentID]cached{}, nil
	}
	var f cacheFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return map[fyllo.AgentID]cached{}, err
	}
	if f.Agents == nil || f.Version != cacheVersion && f.Version != 1 {
		return map[fyllo.AgentID]cached{}, fmt.Errorf("version %d is not known", f.Version)
	}
	if f.Version == 1 {
		for id, c := range f.Agents {
			f.Agents[id] = cached{Prompt: c.Prompt, Completeness: partial, AgentVersion: c.AgentVersion, CapturedAt: c.CapturedAt}
		}
	}
	return f.Agents, nil
}

func writeCache(path string, agents map[fyllo.AgentID]cached) error {
	data, err := json.Marshal(cacheFile{cacheVersion, agents}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o600)
}

// capture takes what is cached from a raw initialize result; false when there is nothing to take.
func capture(raw []byte, at time.Time) (cached, bool) {
	var answer struct {
		AuthMethods jsontext.Value `json:"authMethods"`
		Agent       struct {
			Prompt      jsontext.Value `json:"promptCapabilities"`
			MCP         jsontext.Value `json:"mcpCapabilities"`
			Session     jsontext.Value `json:"sessionCapabilities"`
			LoadSession jsontext.Value `json:"loadSession"`
			Meta        jsontext.Value `json:"_meta"`
		} `json:"agentCapabilities"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &answer) != nil {
		return cached{}, false
	}
	a := answer.Agent
	return cached{
		AuthMethods: answer.AuthMethods, Prompt: a.Prompt, MCP: a.MCP, Session: a.Session, LoadSession: a.LoadSession,
		Meta: a.Meta, Completeness: complete, CapturedAt: at.UTC(),
	}, true
}

// usable reports whether the entry may stand for an initialize of an installation of this version (R-AGT-071).
func (c cached) usable(version string) bool {
	return c.Completeness == complete && c.AgentVersion == version
}

// capabilities derives what the rest of the product asks for; unknown is never turned into a guess (R-AGT-072).
func (c cached) capabilities() fyllo.Capabilities {
	absent := fyllo.Unknown
	if c.Completeness == complete {
		absent = fyllo.Unsupported
	}
	flag := func(v jsontext.Value, name string) fyllo.Support {
		if v == nil {
			return absent
		}
		if f, ok := field(v, name); ok && string(f) == "true" {
			return fyllo.Supported
		}
		return fyllo.Unsupported
	}
	caps := fyllo.Capabilities{
		Image:           flag(c.Prompt, "image"),
		Audio:           flag(c.Prompt, "audio"),
		EmbeddedContext: flag(c.Prompt, "embeddedContext"),
		HTTPMCP:         flag(c.MCP, "http"),
		MultiRoot:       absent,
		Load:            string(c.LoadSession) == "true",
		Resume:          present(c.Session, "resume"),
		Close:           present(c.Session, "close"),
	}
	if present(c.Session, "additionalDirectories") {
		caps.MultiRoot = fyllo.Supported
	}
	return caps
}

func (c cached) authMethods() []fyllo.AuthMethod {
	var list []fyllo.AuthMethod
	if c.AuthMethods == nil || json.Unmarshal(c.AuthMethods, &list) != nil {
		return nil // the Agent's own business; the live answer is decoded by others
	}
	return list
}

func field(v jsontext.Value, name string) (jsontext.Value, bool) {
	o, err := jsonobject.Parse(v)
	if err != nil {
		return nil, false
	}
	return o.Get(name)
}

// present reports whether a marker is there; null counts as absent, false as a refusal.
func present(v jsontext.Value, name string) bool {
	f, ok := field(v, name)
	return ok && string(f) != "null" && string(f) != "false"
}

func unknownCapabilities() fyllo.Capabilities {
	return cached{Completeness: partial}.capabilities()
}
