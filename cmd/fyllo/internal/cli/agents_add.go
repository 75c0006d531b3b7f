package cli

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
)

type agentsAddCmd struct {
	Name    string   `arg:"" help:"Name to show; an Agent of this name is replaced."`
	Command []string `arg:"" help:"Command and its arguments, after '--'."`
	Env     []string `sep:"none" placeholder:"K=V" help:"Environment variable for the Agent; may be repeated."`
}

func (agentsAddCmd) Help() string {
	return "Example:\n\n    fyllo agents add Gemini --env GEMINI_CLI_NO_RELAUNCH=true -- gemini --experimental-acp"
}

// absoluteCommand makes a path that is relative to the current directory, such as ./agent, absolute: Core and later
// starts have another one. Names and paths under ~ stay as they are (R-AGT-021).
func absoluteCommand(command string) (string, error) {
	if command == "" || filepath.Base(command) == command || strings.HasPrefix(command, "~") {
		return command, nil
	}
	return filepath.Abs(command)
}

// Run adds or replaces a custom Agent and prints its id.
func (c *agentsAddCmd) Run(ctx context.Context, a *app) error {
	env := map[string]string{}
	for _, setting := range c.Env {
		key, value, ok := strings.Cut(setting, "=")
		if !ok || key == "" {
			return usagef("Run 'fyllo agents add --help' to see how it is used.", "usage: --env must be of the form K=V")
		}
		env[key] = value
	}
	command, err := absoluteCommand(c.Command[0])
	if err != nil {
		return err
	}
	var added fyllo.Agent
	err = a.withCore(ctx, func(core *coreapi.Client) error {
		return core.Call(ctx, http.MethodPost, "/api/agents", map[string]any{
			"name": c.Name, "command": command, "args": c.Command[1:], "env": env,
		}, &added)
	})
	if err != nil {
		return err
	}
	if !added.Installed {
		a.notice("%s: its command %s is not found now", added.ID, c.Command[0])
	}
	_, err = fmt.Fprintln(a.stdout, added.ID)
	return err
}
