package installed

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

func TestRecordsAndWhatIsThere_R_AGT_032(t *testing.T) {
	then, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	rec := func(by fyllo.ManagedBy, method fyllo.InstallMethod, version string) Record {
		return Record{ManagedBy: by, InstallMethod: method, InstalledVersion: version, InstalledAt: then}
	}
	records := Records{
		"ours-npx": rec(fyllo.ManagedByFyllo, fyllo.InstallNPX, "1.0.0"), "ours-uvx": rec(fyllo.ManagedByFyllo, fyllo.InstallUVX, "1.0.0"),
		"ours-binary": rec(fyllo.ManagedByFyllo, fyllo.InstallBinary, "1.0.0"), "ours-seen": rec(fyllo.ManagedByFyllo, fyllo.InstallNPX, "1.0.0"),
		"user-gone": rec(fyllo.ManagedByUser, fyllo.InstallNPX, "1.0.0"), "user-moved": rec(fyllo.ManagedByUser, fyllo.InstallNPX, "1.0.0"),
		"not-listed": rec(fyllo.ManagedByUser, fyllo.InstallNPX, "1.0.0"),
	}
	detected := map[fyllo.AgentID]Detection{
		"ours-seen": {Method: fyllo.InstallNPX, Version: "1.1.0"}, "user-moved": {Method: fyllo.InstallBinary, Path: "/b/x"},
		"new": {Method: fyllo.InstallUVX, Version: "2.0.0"},
	}
	ids := []fyllo.AgentID{"ours-npx", "ours-uvx", "ours-binary", "ours-seen", "user-gone", "user-moved", "new", "absent"}
	next, installed := Reconcile(records, detected, ids, now)

	moved := rec(fyllo.ManagedByUser, fyllo.InstallBinary, "")
	moved.InstallPath = "/b/x"
	if diff := cmp.Diff(Records{
		"ours-npx": records["ours-npx"], "ours-uvx": records["ours-uvx"], "ours-binary": records["ours-binary"],
		"ours-seen": rec(fyllo.ManagedByFyllo, fyllo.InstallNPX, "1.1.0"), "user-moved": moved, "not-listed": records["not-listed"],
		"new": {ManagedBy: fyllo.ManagedByUser, InstallMethod: fyllo.InstallUVX, InstalledVersion: "2.0.0", InstalledAt: now},
	}, next); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[fyllo.AgentID]Detection{
		"ours-npx": {Method: fyllo.InstallNPX, Version: "1.0.0"}, "ours-uvx": {Method: fyllo.InstallUVX, Version: "1.0.0"},
		"ours-seen": detected["ours-seen"], "user-moved": detected["user-moved"], "new": detected["new"],
	}, installed); diff != "" {
		t.Error(diff)
	}
	if records["ours-seen"].InstalledVersion != "1.0.0" || len(records) != 7 {
		t.Error("the argument was changed")
	}

	path := filepath.Join(t.TempDir(), "acp", "installed.json")
	if empty, err := ReadRecords(path); err != nil || len(empty) != 0 {
		t.Fatal(empty, err)
	}
	if err := next.Write(path); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadRecords(path); err != nil || !cmp.Equal(next, back) {
		t.Error(cmp.Diff(next, back), err)
	}
	if err := os.WriteFile(path, []byte(`{"x":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecords(path); err == nil {
		t.Error("a damaged file was read as an empty one")
	}
}
