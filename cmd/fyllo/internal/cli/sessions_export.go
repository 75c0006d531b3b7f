package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

type sessionsExportCmd struct {
	Session string `arg:"" name:"id" help:"Session id."`
	Format  string `enum:"md,json,html" default:"md" help:"md, json or html. Default: md."`
	Output  string `placeholder:"FILE" help:"Write to this file, which is replaced when everything is there. Default: standard output."`
}

func (sessionsExportCmd) Help() string {
	return "Example:\n\n    fyllo sessions export session-4f7c1d2a --format html --output session.html"
}

// Run writes a whole Session (R-CLI-008).
func (c *sessionsExportCmd) Run(ctx context.Context, a *app) error {
	id, err := sessionID(c.Session)
	if err != nil {
		return err
	}
	return a.withCore(ctx, func(core *coreapi.Client) error {
		file, err := core.Export(ctx, id, c.Format)
		if err != nil {
			return err
		}
		defer file.Close()
		if c.Output != "" {
			return exportTo(c.Output, id, file)
		}
		out := &safeWriter{out: a.stdout, safe: term.Is(a.stdout)}
		if _, err := io.Copy(out, file); err != nil {
			return exportFailed(id, err)
		}
		return out.err
	})
}

// exportTo replaces a file by what from holds, once all of it is there. What is no plain file is refused.
func exportTo(path string, id fyllo.SessionID, from io.Reader) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fyllo.Errorf(fyllo.CodeInvalidRequest, "export session %s: %s is no file", id, term.OneLine(path)).
			WithHint("Name a file with --output.")
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".fyllo-export-*") // 0600
	if err != nil {
		return exportFailed(id, err)
	}
	_, err = io.Copy(temp, from)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return exportFailed(id, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

func exportFailed(id fyllo.SessionID, err error) error {
	return fyllo.Errorf(fyllo.CodeStorageFailed, "write out session %s: %w", id, err)
}
