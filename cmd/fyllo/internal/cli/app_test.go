package cli

import (
	"reflect"
	"strings"
	"testing"
)

func TestArgumentsThatAreNoSubcommandAreDirectories_R_CLI_002(t *testing.T) {
	for _, c := range []struct {
		args string
		want command
	}{
		{"", &openCmd{}},
		{"--no-open", &openCmd{NoOpen: true}},
		{"src", &openCmd{Dirs: []string{"src"}}},
		{"src docs --no-open", &openCmd{Dirs: []string{"src", "docs"}, NoOpen: true}},
		{"--no-open src", &openCmd{Dirs: []string{"src"}, NoOpen: true}},
		{"--home h src", &openCmd{Dirs: []string{"src"}}},
		{"src status", &openCmd{Dirs: []string{"src", "status"}}},
		{"./status", &openCmd{Dirs: []string{"./status"}}},
		{"status", &statusCmd{}},
		{"--home h status --json", &statusCmd{JSON: true}},
		{"serve a b --port 8080", &serveCmd{Dirs: []string{"a", "b"}, Port: 8080}},
		{"--version", &versionCmd{}},
		{"agents add n --env A=B,C -- cmd -x --json", &agentsAddCmd{Name: "n", Env: []string{"A=B,C"}, Command: []string{"cmd", "-x", "--json"}}},
		{"prompt --agent a -", &promptCmd{Agent: "a", Text: "-"}},
		{"prompt --dir a,b --dir c --session s -- --text", &promptCmd{Session: "s", Dir: []string{"a,b", "c"}, Text: "--text"}},
	} {
		a, _, _ := testApp("")
		got, err := a.parse(strings.Fields(c.args))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("fyllo %s: got %#v, %v", c.args, got, err)
		}
	}
}

func TestWrongUsageExits2_R_CLI_011(t *testing.T) {
	for _, args := range []string{
		"--frob", "status --frob", "status extra", "agents", "agents frob", "agents install x", "agents add", "agents add n",
		"sessions", "sessions delete x", "sessions rename x", "spawned --list", "prompt hi", "prompt --agent", "prompt --agent a --mode odd hi",
		"prompt --agent a --config x hi", "prompt --agent a --timeout soon hi", "prompt --agent a --timeout -1s hi",
		"prompt --agent a --allow always hi", "prompt --agent a --linger hi", "prompt --agent a --attach f hi",
		"prompt --agent a --session s --dir d hi", "prompt --agent a one two",
		"serve --port x", "serve --port 70000", "sessions list --all --dir d",
	} {
		a, stdout, stderr := testApp("")
		code := a.run(t.Context(), append(strings.Fields(args), "--home", t.TempDir()))
		lines := strings.Split(stderr.String(), "\n")
		if code != ExitUsage || stdout.Len() != 0 || !strings.HasPrefix(lines[0], "fyllo: usage: ") || !strings.HasSuffix(lines[0], " (INVALID_REQUEST)") {
			t.Errorf("fyllo %s: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

func TestWrongUsageSpeaksToPeople_R_CLI_011(t *testing.T) {
	for args, want := range map[string]string{
		"prompt --agent": "fyllo: usage: --agent: a value is missing (INVALID_REQUEST)\nRun 'fyllo prompt --help' to see how it is used.\n",
		"--home":         "fyllo: usage: --home: a value is missing (INVALID_REQUEST)\nRun 'fyllo --help' to see what there is.\n",
		"prompt --agent a --mode odd hi": "fyllo: usage: --mode must be one of \"fyllocode\",\"native\" but got \"odd\" (INVALID_REQUEST)\n" +
			"Run 'fyllo prompt --help' to see how it is used.\n",
		"--no-open status": "fyllo: usage: --no-open does not go with \"status\" (INVALID_REQUEST)\n" +
			"Run 'fyllo --help' to see what there is.\n",
	} {
		a, _, stderr := testApp("")
		if code := a.run(t.Context(), strings.Fields(args)); code != ExitUsage || stderr.String() != want {
			t.Errorf("fyllo %s: exit %d, stderr %q", args, code, stderr)
		}
	}
}

func TestHelpEverywhereWithAnExample_R_CLI_001(t *testing.T) {
	for _, args := range []string{
		"", "serve", "status", "stop", "prompt", "sessions", "sessions list", "sessions show", "agents", "agents list", "agents add",
		"agents remove", "agents check", "doctor", "version",
	} {
		a, stdout, stderr := testApp("")
		code := a.run(t.Context(), append(strings.Fields(args), "--help"))
		out := stdout.String()
		if code != ExitDone || stderr.Len() != 0 || !strings.Contains(out, "Usage: fyllo") || !strings.Contains(out, "Example") {
			t.Errorf("fyllo %s --help: exit %d, stdout %q, stderr %q", args, code, out, stderr)
		}
		if strings.Contains(out, "__") {
			t.Errorf("fyllo %s --help shows a hidden command: %s", args, out)
		}
	}
}

func TestJSONUsageErrorIsOnStdoutToo_R_CLI_011(t *testing.T) {
	a, stdout, _ := testApp("")
	if code := a.run(t.Context(), []string{"status", "--json", "--frob"}); code != ExitUsage || !strings.HasPrefix(stdout.String(), `{"error":{"code":"INVALID_REQUEST"`) {
		t.Errorf("exit %d, stdout %q", code, stdout)
	}
}

func TestDataRoot_R_CLI_001(t *testing.T) {
	for _, c := range []struct {
		flag, goos, want string
		env              map[string]string
	}{
		{"/flag", "linux", "/flag", map[string]string{"FYLLO_HOME": "/env"}},
		{"", "linux", "/env", map[string]string{"FYLLO_HOME": "/env", "XDG_DATA_HOME": "/xdg"}},
		{"", "linux", "/xdg/fyllocode", map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/h"}},
		{"", "linux", "/h/.local/share/fyllocode", map[string]string{"HOME": "/h"}},
		{"", "darwin", "/h/Library/Application Support/fyllocode", map[string]string{"HOME": "/h"}},
	} {
		got, err := dataRoot(c.flag, func(k string) string { return c.env[k] }, c.goos)
		if err != nil || got != c.want {
			t.Errorf("%+v: got %s, %v", c, got, err)
		}
	}
}

func TestBrowserCommand_R_CLI_002(t *testing.T) {
	for _, c := range []struct{ browser, goos, want string }{
		{"", "linux", "xdg-open URL"},
		{"", "darwin", "open URL"},
		{"", "windows", "rundll32 url.dll,FileProtocolHandler URL"},
		{"firefox --new-tab", "linux", "firefox --new-tab URL"},
		{"w3m -T %s -x", "linux", "w3m -T URL -x"},
	} {
		got := browserCommand(func(string) string { return c.browser }, c.goos, "URL")
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
