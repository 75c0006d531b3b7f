package installed

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
	"fyllocode.dev/fyllo/internal/atomicfile"
)

// Record is what is remembered of an installed Agent (R-AGT-032).
type Record struct {
	ManagedBy        fyllo.ManagedBy     `json:"managedBy"`
	InstallMethod    fyllo.InstallMethod `json:"installMethod"`
	InstallPath      string              `json:"installPath,omitzero"` // of the program, where it is known
	InstalledVersion string              `json:"installedVersion,omitzero"`
	InstalledAt      time.Time           `json:"installedAt"`
}

// Records is installed.json.
type Records map[fyllo.AgentID]Record

// Detection is what was found on the machine: an Agent is installed when it has one. Version "" = unknown.
type Detection struct {
	Method  fyllo.InstallMethod
	Path    string // of the program; "" = unknown, which a binary never is
	Version string
}

// ReadRecords returns no records for a missing file. A file that cannot be read as a whole is an error, and must
// not be written over: it alone knows what FylloCode may uninstall.
func ReadRecords(path string) (Records, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Records{}, nil
	}
	var r Records
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use %s: %w", path, err)
	}
	if r == nil {
		r = Records{}
	}
	return r, nil
}

// Write replaces the file.
func (r Records) Write(path string) error {
	data, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o600)
}

// Reconcile brings records and what was detected together (R-AGT-032). An Agent that FylloCode installed with npx
// or uvx counts as installed although it was not seen, because the tools' lists are known to be incomplete; a
// binary has a path, so not seen is gone. What is detected without a record is the user's, and a record of the
// user's Agent goes with it. Agents outside ids keep their records: the registry may name them again. The arguments
// are not changed.
func Reconcile(records Records, detected map[fyllo.AgentID]Detection, ids []fyllo.AgentID, now time.Time) (next Records, installed map[fyllo.AgentID]Detection) {
	next, installed = Records{}, map[fyllo.AgentID]Detection{}
	for id, r := range records {
		next[id] = r
	}
	for _, id := range ids {
		r, recorded := records[id]
		d, found := detected[id]
		switch {
		case found && !recorded:
			next[id] = Record{ManagedBy: fyllo.ManagedByUser, InstallMethod: d.Method, InstallPath: d.Path, InstalledVersion: d.Version, InstalledAt: now.UTC()}
			installed[id] = d
		case found:
			if d.Version != "" {
				r.InstalledVersion = d.Version
			}
			if d.Method == r.InstallMethod && d.Path != "" {
				r.InstallPath = d.Path
			}
			if r.ManagedBy == fyllo.ManagedByUser { // of the user's own there is nothing to keep: follow what is there
				r.InstallMethod, r.InstallPath, r.InstalledVersion = d.Method, d.Path, d.Version
			}
			next[id], installed[id] = r, d
		case recorded && r.ManagedBy == fyllo.ManagedByUser:
			delete(next, id)
		case recorded && (r.InstallMethod == fyllo.InstallNPX || r.InstallMethod == fyllo.InstallUVX):
			installed[id] = Detection{Method: r.InstallMethod, Path: r.InstallPath, Version: r.InstalledVersion}
		}
	}
	return next, installed
}
