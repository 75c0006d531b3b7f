package installed

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Package is what a tool told of one that is installed.
type Package struct {
	Version string // "" = it told none
	Program string // absolute path of the package's command, "" = unknown
}

// ParseNPMList reads what `npm list -g --depth=0 --json --long` printed, by exact bare name (R-AGT-031). npm ends with an
// error when any package has a problem, so the output counts, not the exit code. A package that is named but missing
// from the disk is not installed.
func ParseNPMList(out []byte) (map[string]Package, error) {
	var list struct {
		Dependencies map[string]struct {
			Version string         `json:"version"`
			Path    string         `json:"path"`
			Bin     jsontext.Value `json:"bin"`
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
	found := map[string]Package{}
	for name, p := range list.Dependencies {
		if p.Missing != nil && string(p.Missing) != "false" {
			continue
		}
		q := Package{Version: p.Version}
		if file := commandOf(name, p.Bin); filepath.IsAbs(p.Path) && filepath.IsLocal(file) {
			q.Program = filepath.Join(p.Path, file)
		}
		found[name] = q
	}
	return found, nil
}

// commandOf returns the file that npx would run of a package: its only one, else the one that is called like the package.
func commandOf(name string, bin jsontext.Value) string {
	var file string
	if bin.Kind() == '"' && json.Unmarshal(bin, &file) == nil {
		return file
	}
	var files map[string]string
	if bin == nil || json.Unmarshal(bin, &files) != nil {
		return ""
	}
	if f, ok := files[path.Base(name)]; ok {
		return f
	}
	for _, f := range files {
		if file != "" && f != file {
			return ""
		}
		file = f
	}
	return file
}

// ParseUVList reads what `uv tool list` printed: exact tool names with their versions (R-AGT-031). A tool stands at
// the beginning of a line as "name v1.2.3", the commands it brings below it behind dashes.
func ParseUVList(out []byte) map[string]Package {
	found := map[string]Package{}
	for line := range strings.Lines(string(out)) {
		name, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		version, isVersion := strings.CutPrefix(rest, "v")
		if !ok || !isVersion || name == "" || strings.HasPrefix(name, "-") {
			continue
		}
		version, _, _ = strings.Cut(version, " ") // behind it may stand a path or what was asked for
		found[name] = Package{Version: version}
	}
	return found
}
