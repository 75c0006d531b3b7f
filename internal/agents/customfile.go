package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/agents/internal/jsonobject"
	"fyllocode.dev/fyllo/internal/atomicfile"
)

// customID is stable under a new name or environment and changes with command and arguments (R-AGT-022).
func customID(c fyllo.CustomAgent) (fyllo.AgentID, error) {
	args := c.Args
	if args == nil {
		args = []string{}
	}
	b, err := json.Marshal([]any{c.Command, args})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(filepath.Base(c.Command)), "-"), "-")
	if slug == "" {
		slug = "agent"
	}
	return fyllo.AgentID("custom-" + slug + "-" + hex.EncodeToString(sum[:4])), nil
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// checkCustom says what is wrong with an entry; it names env variables, never their values.
func checkCustom(c fyllo.CustomAgent) error {
	switch {
	case strings.TrimSpace(c.Name) == "" || strings.ContainsAny(c.Name, "\x00\r\n"):
		return errors.New("the name must be one line of text")
	case strings.TrimSpace(c.Command) == "":
		return errors.New("the command is empty")
	case strings.ContainsRune(c.Command+strings.Join(c.Args, ""), 0):
		return errors.New("the command or an argument contains a NUL character")
	}
	for k, v := range c.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return fmt.Errorf("the environment variable %q cannot be set", k)
		}
	}
	return nil
}

// customFile is acp/custom-agents.json. Unknown members, at every level, survive a change.
type customFile struct {
	path string
	log  *slog.Logger
}

// stamp tells whether the file changed; the zero stamp is that of a missing file.
type stamp struct {
	at   time.Time
	size int64
}

func (f customFile) stamp() stamp {
	info, err := os.Stat(f.path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// read returns the entries in file order; a missing file has none. The error has code CUSTOM_AGENTS_INVALID.
func (f customFile) read() ([]entry, *fyllo.Error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.invalid(err)
	}
	_, customs, err := parseCustom(data)
	if err != nil {
		return nil, f.invalid(err)
	}
	var out []entry
	seen := map[fyllo.AgentID]string{}
	for _, c := range customs {
		id, err := customID(c)
		if err != nil {
			return nil, f.invalid(fmt.Errorf("%s.%q: %w", serversKey, c.Name, err))
		}
		if first, ok := seen[id]; ok {
			f.log.Warn("custom Agent left out: same command and arguments as another", "name", c.Name, "first", first, "id", id)
			continue
		}
		seen[id] = c.Name
		out = append(out, entry{
			id: id, name: c.Name, source: fyllo.SourceCustom, command: c.Command, args: c.Args, env: c.Env,
		})
	}
	return out, nil
}

func (f customFile) invalid(why error) *fyllo.Error {
	reason := why.Error()
	if e, ok := errors.AsType[*fs.PathError](why); ok {
		reason = e.Err.Error()
	}
	e := fyllo.Errorf(fyllo.CodeCustomAgents, "cannot use the custom Agents in %s: %s", f.path, reason)
	e.Details = map[string]string{"file": f.path, "reason": reason}
	return e.WithHint("Correct the file by hand; FylloCode leaves it as it is until then.")
}

// edit changes the entries on disk. A file that cannot be understood is refused and not touched.
func (f customFile) edit(change func(servers jsonobject.Object, all []fyllo.CustomAgent) (jsonobject.Object, error)) error {
	if err := atomicfile.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return storageFailed(err)
	}
	err := atomicfile.Update(f.path, 0o600, func(old []byte) ([]byte, error) {
		if old == nil {
			old = []byte(`{"agent_servers":{}}`)
		}
		root, all, err := parseCustom(old)
		if err != nil {
			return nil, f.invalid(err)
		}
		servers := jsonobject.Object{}
		if v, ok := root.Get(serversKey); ok {
			if servers, err = jsonobject.Parse(v); err != nil {
				return nil, f.invalid(err)
			}
		}
		if servers, err = change(servers, all); err != nil {
			return nil, err
		}
		v, err := servers.Encode()
		if err != nil {
			return nil, err
		}
		out, err := root.Set(serversKey, v).Encode()
		if err != nil {
			return nil, err
		}
		if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
			return nil, err
		}
		return append(out, '\n'), nil
	})
	if err != nil {
		if _, ok := errors.AsType[*fyllo.Error](err); !ok {
			return storageFailed(err)
		}
	}
	return err
}

func storageFailed(err error) error {
	return fyllo.Errorf(fyllo.CodeStorageFailed, "cannot save the custom Agents: %w", err)
}

const serversKey = "agent_servers"

// parseCustom understands the whole file or refuses it with the place and the reason.
func parseCustom(data []byte) (root jsonobject.Object, all []fyllo.CustomAgent, err error) {
	if err := jsonobject.CheckSyntax(data); err != nil {
		return nil, nil, err
	}
	if root, err = jsonobject.Parse(data); err != nil {
		return nil, nil, fmt.Errorf("the file %w", err)
	}
	v, ok := root.Get(serversKey)
	if !ok {
		return root, nil, nil
	}
	servers, err := jsonobject.Parse(v)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", serversKey, err)
	}
	for _, m := range servers {
		c, err := parseEntry(m)
		if err != nil {
			return nil, nil, fmt.Errorf("%s.%q: %w", serversKey, m.Name, err)
		}
		all = append(all, c)
	}
	return root, all, nil
}

func parseEntry(m jsonobject.Member) (fyllo.CustomAgent, error) {
	c := fyllo.CustomAgent{Name: m.Name}
	o, err := jsonobject.Parse(m.Value)
	if err != nil {
		return c, errors.New("the entry is not an object")
	}
	if v, ok := o.Get("command"); !ok || v.Kind() != '"' || json.Unmarshal(v, &c.Command) != nil {
		return c, errors.New("command must be a string")
	}
	if v, ok := o.Get("args"); ok && (!stringsOnly(v, '[') || json.Unmarshal(v, &c.Args) != nil) {
		return c, errors.New("args must be an array of strings")
	}
	if v, ok := o.Get("env"); ok && (!stringsOnly(v, '{') || json.Unmarshal(v, &c.Env) != nil) {
		return c, errors.New("env must be an object of strings")
	}
	return c, checkCustom(c)
}

// stringsOnly reports whether v is an array ('[') or an object ('{') of strings; json.Unmarshal alone would take
// null for an empty string.
func stringsOnly(v jsontext.Value, kind jsontext.Kind) bool {
	if v.Kind() != kind {
		return false
	}
	if kind == '{' {
		o, err := jsonobject.Parse(v)
		if err != nil {
			return false
		}
		for _, m := range o {
			if m.Value.Kind() != '"' {
				return false
			}
		}
		return true
	}
	var list []jsontext.Value
	if json.Unmarshal(v, &list) != nil {
		return false
	}
	for _, item := range list {
		if item.Kind() != '"' {
			return false
		}
	}
	return true
}

// put returns the servers with c added or replaced by name; unknown members of a replaced entry are kept.
func put(servers jsonobject.Object, c fyllo.CustomAgent) (jsonobject.Object, error) {
	o := jsonobject.Object{}
	if v, ok := servers.Get(c.Name); ok {
		var err error
		if o, err = jsonobject.Parse(v); err != nil {
			return nil, err
		}
	}
	args, env := c.Args, c.Env
	if args == nil {
		args = []string{}
	}
	if env == nil {
		env = map[string]string{}
	}
	for _, f := range []struct {
		name  string
		value any
	}{{"command", c.Command}, {"args", args}, {"env", env}} {
		v, err := json.Marshal(f.value, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		o = o.Set(f.name, v)
	}
	v, err := o.Encode()
	if err != nil {
		return nil, err
	}
	return servers.Set(c.Name, v), nil
}
