package acp

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// trace is one thing that an Agent was seen to do: the updates of one turn.
type trace struct {
	name  string
	lines [][]byte // of the session s
}

// traces reads testdata/traces/*.txt: a heading "# NAME" for each, then one update object per line, or "ask" and the
// tool call of a permission request.
func traces(t *testing.T) map[string][]trace {
	t.Helper()
	files, err := filepath.Glob("testdata/traces/*.txt")
	if err != nil || len(files) != 6 {
		t.Fatal("traces:", files, err)
	}
	out := map[string][]trace{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		agent := strings.TrimSuffix(filepath.Base(f), ".txt")
		for l := range strings.Lines(string(b)) {
			l = strings.TrimSpace(l)
			last := len(out[agent]) - 1
			switch name, heading := strings.CutPrefix(l, "# "); {
			case l == "":
			case heading:
				out[agent] = append(out[agent], trace{name: name})
			case strings.HasPrefix(l, "ask "):
				out[agent][last].lines = append(out[agent][last].lines, []byte(
					`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":`+l[4:]+`}}`))
			default:
				out[agent][last].lines = append(out[agent][last].lines, line(l))
			}
		}
	}
	return out
}

// TestTraces plays every trace. What is expected stands in the file of the Agent that ends in .want: what is Session
// state first, then the parts.
func TestTraces_R_ACP_025_R_CHAT_089_to_096(t *testing.T) {
	for agent, list := range traces(t) {
		golden := filepath.Join("testdata/traces", agent+".want")
		want := map[string]string{}
		if b, err := os.ReadFile(golden); err == nil {
			for section := range strings.SplitSeq(string(b), "# ") {
				name, lines, _ := strings.Cut(section, "\n")
				want[name] = strings.TrimSpace(lines)
			}
		} else if !*updateGolden {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, tr := range list {
			t.Run(agent+"/"+strings.ReplaceAll(tr.name, " ", "_"), func(t *testing.T) {
				got, live, kept := playTrace(t, tr.lines, "s", func(r io.Reader) io.Reader { return r })
				fmt.Fprintf(&all, "# %s\n%s\n\n", tr.name, got)
				if !*updateGolden {
					if d := cmp.Diff(strings.Split(want[tr.name], "\n"), strings.Split(got, "\n")); d != "" {
						t.Error(d)
					}
				}
				slowly, _, _ := playTrace(t, tr.lines, "s", iotest.OneByteReader)
				if slowly != got {
					t.Errorf("byte by byte it is\n%s", slowly)
				}
				if d := cmp.Diff(live, fold(t, kept)); d != "" {
					t.Errorf("after a restart (-live +replayed)\n%s", d)
				}
				checkReload(t, live)
				checkMutations(t, tr.lines)
			})
		}
		if *updateGolden {
			if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// playTrace sends lines through a connection and shows what its session s gets.
func playTrace(t *testing.T, lines [][]byte, s fyllo.ACPSessionID, wrap func(io.Reader) io.Reader) (shown string, m fyllo.Message, kept [][]byte) {
	t.Helper()
	seen := &seenTrace{live: transcript.New("m", "/home/user/project", traceTime)}
	playAll(t, lines, map[fyllo.ACPSessionID]*seenTrace{s: seen}, wrap)
	return seen.show(), seen.live.Message(), seen.kept
}

var traceTime = time.Unix(1_800_000_000, 0).UTC()

// seenTrace is what a session got.
type seenTrace struct {
	live  *transcript.Live
	state strings.Builder
	kept  [][]byte
}

func (s *seenTrace) sink(ev fyllo.AgentEvent) {
	switch u := ev.Update; {
	case ev.Permission != nil:
		s.live.Ask(ev.Permission, traceTime)
		s.kept = append(s.kept, bytes.Clone(ev.Permission.Raw))
		ev.Permission.Answer("")
	case u == nil:
	case u.Kind == fyllo.UpdatePlan:
		fmt.Fprintf(&s.state, "plan of %d\n", len(u.Plan))
	case u.Kind == fyllo.UpdateUsage && u.Usage.Cost != nil:
		fmt.Fprintf(&s.state, "usage %d of %d, cost %g %s\n", u.Usage.Used, u.Usage.Size, u.Usage.Cost.Amount, u.Usage.Cost.Currency)
	case u.Kind == fyllo.UpdateUsage:
		fmt.Fprintf(&s.state, "usage %d of %d\n", u.Usage.Used, u.Usage.Size)
	case u.Kind.Control() || u.Kind == fyllo.UpdateUnknown:
		s.state.WriteString("activity\n")
	default:
		s.live.Apply(u, traceTime)
		s.kept = append(s.kept, bytes.Clone(u.Raw))
	}
}

// show ends the turn and describes it.
func (s *seenTrace) show() string {
	s.live.End(fyllo.TurnEnd{StopReason: "end_turn", At: traceTime})
	var out strings.Builder
	out.WriteString(s.state.String())
	describe(&out, s.live.Message())
	return strings.TrimSpace(out.String())
}

// playAll sends lines through a connection to sessions that are open already.
func playAll(t *testing.T, lines [][]byte, sinks map[fyllo.ACPSessionID]*seenTrace, wrap func(io.Reader) io.Reader) {
	t.Helper()
	var stream bytes.Buffer
	for _, l := range lines {
		stream.Write(append(slices.Clip(l), '\n'))
	}
	gate, open := io.Pipe() // keeps the stream closed until the sinks are in place
	outR, outW := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, outR) }()
	c := NewConn(outW, io.MultiReader(gate, wrap(&stream)), Options{})
	for id, seen := range sinks {
		seen.live.Of(id)
		c.mu.Lock()
		c.put(&session{id: id, sink: seen.sink})
		c.mu.Unlock()
	}
	_ = open.Close()
	<-c.Done()
}

// checkMutations breaks a turn in the ways Agents do (R-ACP-026).
func checkMutations(t *testing.T, lines [][]byte) {
	t.Helper()
	want := fold(t, lines)
	var dropped, doubled [][]byte
	for _, l := range lines {
		id, start := callOf(l)
		if !start {
			dropped = append(dropped, l)
		}
		doubled = append(doubled, l)
		if id != "" && !bytes.Contains(l, []byte("terminal_output_delta")) {
			doubled = append(doubled, l) // a repeated delta is more output, and rightly so
		}
	}
	if got := fold(t, dropped); texts(got) != texts(want) {
		t.Error("text is lost without starts")
	}
	if d := cmp.Diff(want, fold(t, doubled)); d != "" {
		t.Errorf("repeated updates change something\n%s", d)
	}
	for i := 1; i < len(lines); i++ {
		a, _ := callOf(lines[i-1])
		b, _ := callOf(lines[i])
		if a == "" || b == "" || a == b {
			continue
		}
		swapped := slices.Clone(lines)
		swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
		got := fold(t, swapped)
		if d := cmp.Diff(tools(want), tools(got)); d != "" || texts(got) != texts(want) {
			t.Errorf("swapped updates %d and %d change something\n%s", i-1, i, d)
		}
	}
}

// TestInterleavedSessionsNeverMix_R_ACP_027 plays two traces at once in two sessions of one process, their calls with
// the same ids.
func TestInterleavedSessionsNeverMix_R_ACP_027(t *testing.T) {
	readdress := func(l []byte, s string) []byte {
		return bytes.Replace(l, []byte(`"sessionId":"s"`), []byte(`"sessionId":"`+s+`"`), 1)
	}
	for agent, list := range traces(t) {
		for i, one := range list {
			other := list[(i+1)%len(list)]
			var mixed [][]byte
			for j := range max(len(one.lines), len(other.lines)) {
				if j < len(one.lines) {
					mixed = append(mixed, readdress(one.lines[j], "one"))
				}
				if j < len(other.lines) {
					mixed = append(mixed, readdress(other.lines[j], "other"))
				}
			}
			sinks := map[fyllo.ACPSessionID]*seenTrace{}
			for _, id := range []fyllo.ACPSessionID{"one", "other"} {
				sinks[id] = &seenTrace{live: transcript.New("m", "/home/user/project", traceTime)}
			}
			playAll(t, mixed, sinks, func(r io.Reader) io.Reader { return r })
			for id, tr := range map[fyllo.ACPSessionID]trace{"one": one, "other": other} {
				want, _, _ := playTrace(t, tr.lines, "s", func(r io.Reader) io.Reader { return r })
				if got := sinks[id].show(); got != want {
					t.Errorf("%s: %s beside another session\n%s", agent, tr.name, cmp.Diff(want, got))
				}
			}
		}
	}
}

// C14: sessions that are opened again lose their MCP tools unless the servers are named again.
func TestTrace_C14_ServersAreNamedAgainOnResumeAndLoad(t *testing.T) {
	c, a := dial(t, Options{})
	start(t, c, a, newLog())
	p := fyllo.SessionParams{Cwd: "/p", MCPServers: []fyllo.MCPServer{{Name: "lab", URL: "http://127.0.0.1:1/mcp"}}}
	for name, reopen := range map[string]func() error{
		"resume": func() error { _, err := c.ResumeSession(t.Context(), "old", p, newLog().sink); return err },
		"load":   func() error { _, err := c.LoadSession(t.Context(), "old", p, newLog().sink); return err },
	} {
		sent := make(chan string, 1)
		go func() { sent <- a.answer(`{}`) }()
		if err := reopen(); err != nil {
			t.Error(err)
		}
		if got := <-sent; !strings.Contains(got, `"mcpServers":[{"type":"http","name":"lab"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Q6: an Agent that can load and nothing else is recovered by load, and gets no additional directories.
func TestTrace_Q6_LoadWithoutResume(t *testing.T) {
	c, a := dial(t, Options{})
	go a.answer(`{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{}}}}`)
	info, err := c.Initialize(t.Context())
	if caps := info.Capabilities; err != nil || !caps.Load || caps.Resume || caps.Close || caps.MultiRoot != fyllo.Unsupported {
		t.Errorf("%v %+v", err, caps)
	}
	sent := make(chan string, 1)
	go func() { sent <- a.answer(`{}`) }()
	if _, err := c.LoadSession(t.Context(), "old", fyllo.SessionParams{Cwd: "/p", AdditionalDirectories: []string{"/q"}}, newLog().sink); err != nil {
		t.Error(err)
	}
	if got := <-sent; !strings.Contains(got, "session/load") || strings.Contains(got, "additionalDirectories") {
		t.Error(got)
	}
}

// K8: a prompt brings hundreds of chunks, and a thousand updates a second must be no effort.
func TestTrace_K8_AThousandUpdatesASecond(t *testing.T) {
	const n = 20_000
	var lines [][]byte
	for i := range n {
		lines = append(lines, chunkLine(fmt.Sprintf(`"word %d "`, i)))
	}
	began := time.Now()
	_, m, _ := playTrace(t, lines, "s", func(r io.Reader) io.Reader { return r })
	if took := time.Since(began); took > n/1000*time.Second {
		t.Errorf("%d updates took %v", n, took)
	}
	if len(m.Parts) != 1 || strings.Count(m.Parts[0].Text, " ") != 2*n {
		t.Errorf("%d parts", len(m.Parts))
	}
}

// Every row of what Agents were seen to do is played here, or has a test with its name.
func TestEveryTraceIsPlayed_R_ACP_025(t *testing.T) {
	rows := map[string]bool{"C14": true, "Q6": true, "K8": true, "K9": true}
	for _, list := range traces(t) {
		for _, tr := range list {
			row, _, _ := strings.Cut(tr.name, " ")
			rows[row] = true
		}
	}
	for letter, n := range map[string]int{"C": 15, "X": 15, "O": 12, "G": 9, "Q": 7, "K": 9} {
		for i := range n {
			if row := fmt.Sprint(letter, i+1); !rows[row] {
				t.Errorf("%s is missing", row)
			}
		}
	}
	if len(rows) != 67 {
		t.Errorf("%d rows", len(rows))
	}
}
