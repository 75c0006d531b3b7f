package installed

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseNPMList reads what `npm list -g --depth=0 --json` printed: exact bare package names with their versions, ""
// when npm tells none (R-AGT-031). npm ends with an error when any package has a problem, so the output counts, not
// the exit code. A package that is named but missing from the disk is not installed.
func ParseNPMList(out []byte) (map[string]string, error) {
	var list struct {
		Dependencies map[string]struct {
			Version string         `json:"version"`
			Missing jsontext.Value `json:"missing"` // true, or in some versions of npm a list of reasons
		} `json:"dependencies"`
		Error jsontext.Value `json:"error"` // with problems of packages, too
	}
	// Programs that npm calls may print lines before the object.
	if at := bytes.IndexByte(out, '{'); at >= 0 {
		out = out[at:]
	}
	if err := json.Unmarshal(out, &list); err != nil || list.Error != nil && list.Dependencies == nil {
		return nil, errors.New("npm did not print a list")
	}
	found := map[string]string{}
	for name, p := range list.Dependencies {
		if p.Missing == nil || string(p.Missing) == "false" {
			found[name] = p.Version
		}
	}
	return found, nil
}

// ParseUVList reads what `uv tool list` printed: exact tool names with their versions (R-AGT-031). A tool stands at
// the beginning of a line as "name v1.2.3", the commands it brings below it behind dashes.
func ParseUVList(out []byte) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		version, isVersion := strings.CutPrefix(rest, "v")
		if !ok || !isVersion || name == "" || strings.HasPrefix(name, "-") {
			continue
		}
		version, _, _ = strings.Cut(version, " ") // behind it may stand a path or what was asked for
		found[name] = version
	}
	return found
}
