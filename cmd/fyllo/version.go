package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// version is set by the release build (-ldflags -X main.version=…).
var version = ""

// programVersion returns the release version, else the one that the go command recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (versionCmd) Help() string { return "Example:\n\n    fyllo version" }

func (c *versionCmd) wantsJSON() bool { return c.JSON }

// Run prints the version.
func (c *versionCmd) Run(_ context.Context, a *app) error {
	if c.JSON {
		return a.printJSON(map[string]string{"version": programVersion()})
	}
	_, err := fmt.Fprintln(a.stdout, "fyllo", programVersion())
	return err
}
