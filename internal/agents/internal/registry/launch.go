package registry

import (
	"path"
	"slices"
	"strings"

	"fyllocode.dev/fyllo"
)

// Launch is how an Agent is started: a command, which is looked up on PATH unless it is a path, its arguments, and
// what is added to the environment.
type Launch struct {
	Command string
	Args    []string
	Env     map[string]string
}

// Launch says how an Agent that was installed by a method is started; false when the entry does not offer that
// method on this platform. at is the path of the program; "" = unknown: then npx, uvx or the entry's command on PATH has to
// find it. Nothing is downloaded by a start: npx may not install, and uvx asks nobody (R-AGT-046, 051). npx is only the
// second choice, since it asks the registry of npm about a global package before it looks at the disk.
func (a Agent) Launch(method fyllo.InstallMethod, platform, at string) (Launch, bool) {
	switch method {
	case fyllo.InstallNPX:
		if a.NPX != nil {
			return a.NPX.launch(at, "npx", "--no-install", BareNPM(a.NPX.Package)), true
		}
	case fyllo.InstallUVX:
		if a.UVX != nil {
			return a.UVX.launch(at, "uvx", "--offline", BarePyPI(a.UVX.Package)), true
		}
	case fyllo.InstallBinary:
		if b, ok := a.Binary[platform]; ok {
			if at == "" {
				at = b.Program()
			}
			return Launch{at, b.Args, b.Env}, true
		}
	}
	return Launch{}, false
}

// Methods are the ways in which an Agent can be installed on a platform, the preferred one first (R-AGT-040).
func (a Agent) Methods(platform string) []fyllo.InstallMethod {
	var out []fyllo.InstallMethod
	for _, m := range []fyllo.InstallMethod{fyllo.InstallNPX, fyllo.InstallUVX, fyllo.InstallBinary} {
		if _, ok := a.Launch(m, platform, ""); ok {
			out = append(out, m)
		}
	}
	return out
}

func (p *Package) launch(at, tool string, args ...string) Launch {
	switch {
	case p.Cmd != "":
		return Launch{p.Cmd, p.Args, p.Env}
	case at != "":
		return Launch{at, p.Args, p.Env}
	}
	return Launch{tool, slices.Concat(args, p.Args), p.Env}
}

// Program is the name by which the command of a build is looked up on PATH: ./bin/agent → agent.
func (b Archive) Program() string { return path.Base(strings.ReplaceAll(b.Cmd, `\`, "/")) }

// Ways tells a person how to install the Agent on a platform (R-AGT-040). Nothing is told of a build without https.
func (a Agent) Ways(platform string) []fyllo.InstallWay {
	var out []fyllo.InstallWay
	for _, m := range a.Methods(platform) {
		switch m {
		case fyllo.InstallNPX:
			out = append(out, fyllo.InstallWay{Method: m, Text: "npm install -g " + a.NPX.Package})
		case fyllo.InstallUVX:
			pkg := a.UVX.Package
			if strings.ContainsAny(pkg, "[>~!*") { // a shell reads these
				pkg = "'" + pkg + "'"
			}
			out = append(out, fyllo.InstallWay{Method: m, Text: "uv tool install " + pkg})
		case fyllo.InstallBinary:
			if at := a.Binary[platform].Archive; strings.HasPrefix(at, "https://") {
				out = append(out, fyllo.InstallWay{Method: m, Text: at})
			}
		}
	}
	return out
}
