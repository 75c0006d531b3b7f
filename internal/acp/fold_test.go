package acp

import (
	"bytes"
	"encoding/json"
	"flag"
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

var updateGolden = flag.Bool("update", false, "write testdata/replay anew")

// turn is one recorded prompt with the lines of its session until the answer.
type turn struct {
	prompt string
	lines  [][]byte
	stop   string
}

// turns cuts a recording into its turns. Prompts may overlap in different sessions.
func turns(t *testing.T, name string) []*turn {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/recordings", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []*turn
	open := map[string][]*turn{} // by session; more than one where a client overlapped prompts
	byID := map[string]*turn{}
	for l := range bytes.Lines(b) {
		var r recorded
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				SessionID string
				Prompt    []struct{ Text string }
			}
			Result struct{ StopReason string }
			Error  *struct{ Code int }
		}
		if json.Unmarshal(l, &r) != nil || json.Unmarshal(r.Msg, &m) != nil {
			continue // a text that the recorder wrote
		}
		sid := m.Params.SessionID
		switch {
		case r.Dir == "client->agent" && m.Method == methodPrompt:
			tn := &turn{stop: "no answer"}
			for _, p := range m.Params.Prompt {
				tn.prompt += p.Text
			}
			all = append(all, tn)
			open[sid] = append(open[sid], tn)
			byID[string(m.ID)] = tn
		case r.Dir == "agent->client" && m.Method == "" && byID[string(m.ID)] != nil:
			tn := byID[string(m.ID)]
			delete(byID, string(m.ID))
			if tn.stop = m.Result.StopReason; m.Error != nil {
				tn.stop = fmt.Sprint("error ", m.Error.Code)
			}
			for s, list := range open {
				open[s] = slices.DeleteFunc(list, func(x *turn) bool { return x == tn })
			}
		case r.Dir == "agent->client" && len(open[sid]) > 0:
			open[sid][0].lines = append(open[sid][0].lines, r.Msg)
		}
	}
	return all
}

// fold is what the session and the recovery do with the lines of a turn.
func fold(t *testing.T, lines [][]byte) fyllo.Message {
	t.Helper()
	at := time.Unix(1_800_000_000, 0).UTC()
	live := transcript.New("m", "/home/user/project", at)
	for _, l := range lines {
		if u, ok := DecodeLine(l); ok {
			live.Apply(&u, at)
		} else if p, ok := DecodePermission(l); ok {
			live.Ask(&p, at)
		}
	}
	live.End(fyllo.TurnEnd{StopReason: "end_turn", At: at})
	m := live.Message()
	for _, p := range m.Parts { // R-ACP-021, decision 15
		if p.Tool != nil && !p.Tool.Status.Final() && !p.Tool.Interrupted {
			t.Errorf("tool %s is still working after the turn", p.Tool.CallID)
		}
	}
	return m
}

func recordingNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/recordings/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

func TestReplayOfRecordings_R_ACP_025(t *testing.T) {
	for _, name := range recordingNames(t) {
		var out strings.Builder
		for _, tn := range turns(t, name) {
			fmt.Fprintf(&out, "== %.100q → %s\n", tn.prompt, tn.stop)
			describe(&out, fold(t, tn.lines))
		}
		golden := filepath.Join("testdata/replay", strings.TrimSuffix(name, ".jsonl")+".txt")
		if *updateGolden {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// describe writes one line per part and detail.
func describe(w io.Writer, m fyllo.Message) {
	for _, p := range m.Parts {
		switch {
		case p.Tool == nil && p.Attachment != nil:
			fmt.Fprintf(w, "%s %s %s %s\n", p.Type, p.Attachment.Name, p.Attachment.MIME, p.Attachment.URI)
		case p.Tool == nil:
			fmt.Fprintf(w, "%s %d %.120q", p.Type, len(p.Text), p.Text)
			if p.ParentID != "" {
				fmt.Fprintf(w, ", parent %q", p.ParentID)
			}
			fmt.Fprintln(w)
		default:
			t := p.Tool
			state := string(t.Status)
			if t.Interrupted {
				state += " interrupted"
			}
			fmt.Fprintf(w, "tool [%s] %s, %s, name %q, parent %q\n", t.Title, t.Kind, state, t.Name, t.ParentID)
			if t.Subagent != nil {
				describeSubagent(w, t.Subagent)
			}
			describeBody(w, "input", t.Input)
			describeBody(w, "output", t.Output)
			describeBody(w, "error", t.Error)
			for _, d := range t.Diffs {
				fmt.Fprintf(w, "    diff %s %s\n", d.Path, d.Kind)
				describeBody(w, "  old", d.Old)
				describeBody(w, "  new", d.New)
			}
			for _, a := range t.Media {
				fmt.Fprintf(w, "    media %s %s %s\n", a.Name, a.MIME, a.URI)
			}
			for _, l := range t.Locations {
				fmt.Fprintf(w, "    at %s:%d\n", l.Path, l.Line)
			}
		}
	}
}

func describeSubagent(w io.Writer, s *fyllo.Subagent) {
	fmt.Fprintf(w, "    subagent status %q, type %q, model %q", s.Status, s.AgentType, s.Model)
	count := func(name string, n *int64) {
		if n != nil {
			fmt.Fprintf(w, ", %s %d", name, *n)
		}
	}
	count("tokens", s.Tokens)
	count("ms", s.DurationMS)
	count("calls", s.ToolUses)
	if st := s.Stats; st != nil {
		count("read", st.Reads)
		count("searched", st.Searches)
		count("commands", st.Commands)
		count("edited", st.Edits)
		count("added", st.LinesAdded)
		count("removed", st.LinesRemoved)
		count("others", st.Others)
	}
	fmt.Fprintln(w)
	describeBody(w, "prompt", s.Prompt)
}

func describeBody(w io.Writer, label string, b *fyllo.Body) {
	if b != nil {
		fmt.Fprintf(w, "    %s %d %.100q\n", label, b.Size, b.Text)
	}
}

// texts joins what a message says, and tools lists its calls by id.
func texts(m fyllo.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func tools(m fyllo.Message) map[string]fyllo.Tool {
	out := map[string]fyllo.Tool{}
	for _, p := range m.Parts {
		if p.Tool != nil {
			out[p.Tool.CallID] = *p.Tool
		}
	}
	return out
}

func callOf(l []byte) (id string, start bool) {
	if u, ok := DecodeLine(l); ok && u.Tool != nil {
		return u.Tool.CallID, u.Tool.Start
	}
	return "", false
}

// TestMutatedRecordings_R_ACP_026 breaks the recordings in the ways Agents do.
func TestMutatedRecordings_R_ACP_026(t *testing.T) {
	for _, name := range recordingNames(t) {
		for _, tn := range turns(t, name) {
			want := fold(t, tn.lines)

			var dropped, doubled [][]byte
			for _, l := range tn.lines {
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
				t.Errorf("%s %q: text is lost without starts", name, tn.prompt)
			}
			if d := cmp.Diff(want, fold(t, doubled)); d != "" {
				t.Errorf("%s %q: repeated updates change something\n%s", name, tn.prompt, d)
			}
			for i := 1; i < len(tn.lines); i++ {
				a, _ := callOf(tn.lines[i-1])
				b, _ := callOf(tn.lines[i])
				if a == "" || b == "" || a == b {
					continue
				}
				swapped := slices.Clone(tn.lines)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				got := fold(t, swapped)
				if d := cmp.Diff(tools(want), tools(got)); d != "" || texts(got) != texts(want) {
					t.Errorf("%s %q: swapped updates of two tools change something\n%s", name, tn.prompt, d)
				}
			}
		}
	}
}

// TestLiveIsWhatRecoveryReads_R_ACP_025 sends recordings through a connection, in pieces of several sizes, and
// folds what the sink gets as well as the kept lines.
func TestLiveIsWhatRecoveryReads_R_ACP_025_R_CHAT_096(t *testing.T) {
	for _, name := range recordingNames(t) {
		lines := recordings(t)[name]
		for _, tn := range turns(t, name) {
			checkReload(t, fold(t, tn.lines))
		}
		wraps := []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader}
		if len(lines) < 60 {
			wraps = append(wraps, iotest.OneByteReader)
		}
		for _, wrap := range wraps {
			live, kept := throughConn(t, lines, wrap)
			if len(kept) == 0 && len(lines) > 30 {
				t.Errorf("%s: nothing arrived", name)
			}
			for id, raw := range kept {
				if d := cmp.Diff(fold(t, raw), live[id]); d != "" {
					t.Errorf("%s session %s (-recovered +live)\n%s", name, id, d)
				}
			}
		}
	}
}

// checkReload stores and loads a message as records and the page do. It must come back the same, and twice the same.
func checkReload(t *testing.T, m fyllo.Message) {
	t.Helper()
	light := transcript.LightMessage(m)
	b, err := json.Marshal(light)
	if err != nil {
		t.Fatal(err)
	}
	var again fyllo.Message
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(light, again); d != "" {
		t.Errorf("reloaded (-live +reloaded)\n%s", d)
	}
}

// throughConn returns, by session, the folded message and the lines that were kept on the way.
func throughConn(t *testing.T, lines [][]byte, wrap func(io.Reader) io.Reader) (map[fyllo.ACPSessionID]fyllo.Message, map[fyllo.ACPSessionID][][]byte) {
	t.Helper()
	at := time.Unix(1_800_000_000, 0).UTC()
	folds := map[fyllo.ACPSessionID]*transcript.Live{}
	kept := map[fyllo.ACPSessionID][][]byte{}
	var stream bytes.Buffer
	for _, l := range lines {
		stream.Write(append(slices.Clip(l), '\n'))
		u, isUpdate := DecodeLine(l)
		p, isAsk := DecodePermission(l)
		for _, id := range []fyllo.ACPSessionID{u.SessionID, p.SessionID} {
			if (isUpdate || isAsk) && id != "" && folds[id] == nil {
				folds[id] = transcript.New("m", "/home/user/project", at)
			}
		}
	}
	gate, open := io.Pipe() // keeps the stream closed until the sinks are in place
	outR, outW := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, outR) }()
	c := NewConn(outW, io.MultiReader(gate, wrap(&stream)), Options{})
	for id, live := range folds {
		sink := func(ev fyllo.AgentEvent) {
			switch {
			case ev.Update != nil:
				live.Apply(ev.Update, at)
				kept[id] = append(kept[id], bytes.Clone(ev.Update.Raw))
			case ev.Permission != nil:
				live.Ask(ev.Permission, at)
				kept[id] = append(kept[id], bytes.Clone(ev.Permission.Raw))
				ev.Permission.Answer("")
			}
		}
		c.mu.Lock()
		c.sessions[id] = &session{id: id, sink: sink}
		c.mu.Unlock()
	}
	_ = open.Close()
	<-c.Done()
	out := map[fyllo.ACPSessionID]fyllo.Message{}
	for id, live := range folds {
		live.End(fyllo.TurnEnd{StopReason: "end_turn", At: at})
		out[id] = live.Message()
	}
	return out, kept
}
