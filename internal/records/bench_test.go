package records_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

// longHistory writes a Session of n messages of the usual shape: a question, an answer with two tools.
func longHistory(b testing.TB, n int) (root string) {
	b.Helper()
	s, root := newSession(b)
	body := &fyllo.Body{Text: strings.Repeat("output line\n", 300)}
	m := text("answer", strings.Repeat("Some prose of the Agent. ", 20))
	m.Role = fyllo.RoleAssistant
	for i := range 2 {
		m.Parts = append(m.Parts, fyllo.Part{ID: fmt.Sprintf("answer.%d", i+1), Type: fyllo.PartTool, Tool: &fyllo.Tool{
			CallID: fmt.Sprint("call", i), Title: "Read file", Kind: fyllo.KindRead, Status: fyllo.ToolCompleted,
			Input: &fyllo.Body{Text: `{"path":"/a/b"}`, JSON: true}, Output: body,
		}})
	}
	if _, err := s.AppendMessage(wid, sid, m); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(sessionsDir(root), string(sid)+".messages.jsonl")
	pair, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var whole strings.Builder
	for i := range n / 2 {
		whole.WriteString(strings.NewReplacer(`"id":"m0`, fmt.Sprintf(`"id":"q%d`, i), `"id":"answer`, fmt.Sprintf(`"id":"a%d`, i)).Replace(string(pair)))
	}
	mustWrite(b, path, whole.String())
	return root
}

func BenchmarkOpen10kMessages(b *testing.B) {
	root := longHistory(b, 10_000)
	s, _ := openStore(b, root)
	for _, limit := range []int{60, 0} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page, err := s.Messages(wid, sid, "", limit)
				if err != nil || limit == 0 && len(page.Messages) != 10_000 {
					b.Fatal(len(page.Messages), err)
				}
			}
		})
	}
}

func usualMeta(id fyllo.SessionID) fyllo.SessionMeta {
	m := metaOf(id)
	m.Title = "A title of the usual length for a Session"
	m.ACPSessionID = "0c9f0f8e-9c7b-4b2e-8f3a-1d2c3b4a5f6e"
	m.Scope = &fyllo.Scope{WorkspaceID: wid, WorkspaceKind: fyllo.KindFolder, PrimaryFolderID: "folder-1", Cwd: "/home/me/project",
		Folders: []fyllo.ScopeFolder{{FolderID: "folder-1", FolderName: "project", FolderPath: "/home/me/project"}}, AdditionalDirectories: []string{}}
	for i := range 12 {
		m.AvailableCommands = append(m.AvailableCommands, fyllo.Command{Name: fmt.Sprint("command", i), Description: "does something useful"})
	}
	choices := []fyllo.ConfigChoice{}
	for i := range 6 {
		choices = append(choices, fyllo.ConfigChoice{Value: fmt.Sprint("model-", i), Name: fmt.Sprint("Model ", i), Description: "good for coding"})
	}
	for _, c := range []string{"mode", "model", "thought_level"} {
		m.ConfigOptions = append(m.ConfigOptions, fyllo.ConfigOption{ID: c, Name: c, Category: c, Type: "select",
			Current: fyllo.StringValue("model-0"), Choices: []fyllo.ConfigGroup{{Choices: choices}}})
	}
	return m
}

func BenchmarkScan10kSessions(b *testing.B) {
	root := b.TempDir()
	s, _ := openStore(b, root)
	if _, err := s.CreateSession(wid, usualMeta(sid), text("m0", "first")); err != nil {
		b.Fatal(err)
	}
	meta, err := os.ReadFile(filepath.Join(sessionsDir(root), string(sid)+".json"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		base := filepath.Join(sessionsDir(root), fmt.Sprintf("session-%d", i))
		mustWrite(b, base+".json", string(meta))
		mustWrite(b, base+".messages.jsonl", "{}\n")
		if i%2 == 0 {
			mustWrite(b, base+"/bodies.jsonl", "\"\"\n")
		}
	}
	b.ReportMetric(float64(len(meta)), "bytes/meta")
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := s.ScanSessions(context.Background(), wid, func(fyllo.SessionMeta, bool) { n++ })
		if err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkTurnLogAppend(b *testing.B) {
	s, _ := newSession(b)
	log, err := s.BeginTurn(wid, sid, fyllo.TurnHeader{MessageID: "m1"})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Remove()
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0c9f0f8e-9c7b-4b2e-8f3a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of the answer"}}}}`)
	recs := make([]fyllo.TurnRecord, 500)
	for i := range recs {
		recs[i] = fyllo.TurnRecord{At: time.Now(), Line: line}
	}
	b.ReportAllocs()
	b.SetBytes(int64(500 * len(line)))
	for b.Loop() {
		if err := log.Append(recs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/record")
}
