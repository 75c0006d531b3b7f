package session_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/media"
)

var takesAll = fyllo.Capabilities{Image: fyllo.Supported, EmbeddedContext: fyllo.Supported, Load: true, Resume: true}

const picture = "\x89PNG\r\n\x1a\n a picture"

// can sets what the Agent says it can do.
func (w *world) can(c fyllo.Capabilities) { w.agents.agent.info.Capabilities = c }

// library is the door for files of existing Sessions.
func (w *world) library() *attachments.Library {
	store := w.store.Store.(storeBridge).Store
	return &attachments.Library{Store: store, Files: media.New(w.m, store), Agents: w.agents, Sessions: w.m}
}

func (w *world) add(s fyllo.SessionID, name, content string) fyllo.KeptAttachment {
	w.t.Helper()
	n := fyllo.NewAttachment{Name: name, Size: int64(len(content))}
	k, err := w.library().Add(w.t.Context(), wid, s, n, strings.NewReader(content))
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// submission is a first one with a picture and a text.
func submission(id string) fyllo.StartRequest {
	bodies := []string{picture, "words"}
	return fyllo.StartRequest{
		RequestID: id, AgentID: "fake", Text: "look at these",
		Attachments: []fyllo.NewAttachment{{Name: "../shot.png", Size: int64(len(picture))}, {Name: "notes.md", MIME: "text/markdown", Size: 5}},
		NextFile: func() (io.Reader, error) {
			if len(bodies) == 0 {
				return nil, io.EOF
			}
			b := bodies[0]
			bodies = bodies[1:]
			return strings.NewReader(b), nil
		},
	}
}

// told is the blocks of a prompt without reminders.
func told(p fakePrompt) string {
	var out []string
	for _, b := range p.blocks {
		if !strings.Contains(b.Text, "system-reminder") {
			out = append(out, b.Type+" "+b.MIME+" "+b.Text+string(b.Data))
		}
	}
	return strings.Join(out, "|")
}

func TestFirstSubmissionCarriesItsFiles_R_CHAT_053_057(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(takesAll)
		s := w.startWith(submission("r1"))
		p := w.agents.now().prompted(w, 1)
		if got := told(p); got != "text  look at these|image image/png "+picture+"|resource text/markdown words" {
			t.Errorf("the Agent got %q", got)
		}
		w.agents.now().finish(p, "end_turn")
		w.idle(s)
		m := w.messages(s)[0]
		if len(m.Parts) != 3 || m.Parts[1].Attachment.Name != "shot.png" || m.Parts[2].Attachment.MIME != "text/markdown" || m.Parts[2].ID != m.ID+".2" {
			t.Errorf("%+v", m.Parts)
		}
		if d := w.detail(s); d.Title != "look at these" {
			t.Errorf("title %q", d.Title)
		}
		if again := w.startWith(submission("r1")); again != s {
			t.Errorf("the same submission again began %s", again)
		}
		if kept, err := w.library().Kept(t.Context(), wid, s); err != nil || len(kept) > 0 {
			t.Errorf("what was sent waits: %v, %v", kept, err)
		}
	})
}

// A failure at any step leaves nothing visible and nothing on disk, and the same submission works afterwards.
func TestFailedFirstSubmissionLeavesNothing_R_CHAT_054_R_WS_135(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(takesAll)
		cut := submission("r1")
		whole := cut.NextFile
		n := 0
		cut.NextFile = func() (io.Reader, error) {
			if n++; n == 2 {
				return nil, errors.New("the connection broke")
			}
			return whole()
		}
		short := submission("r1")
		short.Attachments[1].Size = 50
		long := submission("r1")
		long.Attachments = long.Attachments[:1]
		none := submission("r1")
		none.NextFile = nil
		blank := submission("r1")
		blank.Text = " \u3000\n"
		for name, r := range map[string]fyllo.StartRequest{"cut": cut, "short": short, "long": long, "none": none, "only files (R-CHAT-041)": blank} {
			if _, err := w.m.Start(t.Context(), wid, r); err == nil {
				t.Errorf("%s: it succeeded", name)
			}
		}
		w.store.set("create", true)
		if _, err := w.m.Start(t.Context(), wid, submission("r1")); fyllo.CodeOf(err) != fyllo.CodeStorageFailed {
			t.Errorf("the disk is full: %v", err)
		}
		w.store.set("create", false)
		w.can(fyllo.Capabilities{Image: fyllo.Supported, EmbeddedContext: fyllo.Unsupported})
		if _, err := w.m.Start(t.Context(), wid, submission("r1")); fyllo.CodeOf(err) != fyllo.CodeAttachment {
			t.Errorf("an Agent without embedded context: %v", err)
		}
		w.can(takesAll)
		page, err := w.m.List(t.Context(), wid, "", 10)
		left, _ := filepath.Glob(filepath.Join(w.root, "workspaces", string(wid), "sessions", "*"))
		if err != nil || page.Total != 0 {
			t.Errorf("in the list: %+v, %v", page, err)
		}
		for _, path := range left { // the fake disk refuses to create, so what was put is removed at the next start
			if info, err := os.Stat(path); err != nil || !info.IsDir() || len(left) > 1 {
				t.Errorf("on disk: %v", left)
			}
		}
		s := w.startWith(submission("r1"))
		w.agents.now().prompted(w, 1)
		if got := w.messages(s); len(got) != 1 || len(got[0].Parts) != 3 {
			t.Errorf("%+v", got)
		}
	})
}

func TestAPromptSendsWhatWaits_R_CHAT_043_048_049(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(takesAll)
		begun := func(text string, n int) fyllo.SessionID { // one after another: prompts at once arrive in any order
			id := w.first(text)
			agent := w.agents.now()
			agent.finish(agent.prompted(w, n), "end_turn")
			w.idle(id)
			return id
		}
		s, other := begun("one", 1), begun("two", 2)
		agent := w.agents.now()
		a, b, elsewhere := w.add(s, "a.txt", "aa"), w.add(s, "b.png", picture), w.add(other, "c.txt", "cc")
		try := func(handles ...string) fyllo.Code {
			_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "look", Attachments: handles})
			return fyllo.CodeOf(err)
		}
		for h, want := range map[string]fyllo.Code{
			"file:///etc/passwd": fyllo.CodeAttachment, "/etc/passwd": fyllo.CodeAttachment, a.File: fyllo.CodeAttachment, elsewhere.Handle: fyllo.CodeAttachmentNotFound,
		} {
			if got := try(a.Handle, h); got != want {
				t.Errorf("%s: %s, want %s", h, got, want)
			}
		}
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: " ", Attachments: []string{a.Handle}}); fyllo.CodeOf(err) != fyllo.CodeEmptyMessage {
			t.Errorf("without text (R-CHAT-041): %v", err)
		}
		w.store.set("message", true)
		if got := try(a.Handle); got != fyllo.CodeStorageFailed {
			t.Errorf("the disk is full: %s", got)
		}
		w.store.set("message", false)
		if kept, err := w.library().Kept(t.Context(), wid, s); err != nil || len(kept) != 2 {
			t.Fatalf("after failures wait %v, %v", kept, err)
		}
		if got := try(b.Handle, a.Handle); got != "" {
			t.Fatal(got)
		}
		if got := told(agent.prompted(w, 3)); got != "text  look|image image/png "+picture+"|resource application/octet-stream aa" && got != "text  look|image image/png "+picture+"|resource text/plain aa" {
			t.Errorf("the Agent got %q", got)
		}
		if err := w.m.DropAttachment(t.Context(), wid, s, a.Handle); fyllo.CodeOf(err) != fyllo.CodeAttachmentNotFound {
			t.Errorf("what was sent can be removed: %v", err)
		}
		if err := w.library().Drop(t.Context(), wid, other, elsewhere.Handle); err != nil {
			t.Error(err)
		}
		if _, err := w.library().Open(t.Context(), wid, other, elsewhere.Handle); fyllo.CodeOf(err) != fyllo.CodeAttachmentNotFound {
			t.Errorf("what was removed opens: %v", err)
		}
	})
}

// A retry sends the same files again, and so does a new message that takes over those of an earlier one.
func TestFilesAreSentAgain_R_CHAT_049_056(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(takesAll)
		w.agents.now().fail["new"] = fyllo.Errorf(fyllo.CodeAuthRequired, "sign in")
		s := w.startWith(submission("r1"))
		w.idle(s)
		if got := w.messages(s); len(got) != 1 || len(got[0].Parts) != 3 || got[0].End == nil {
			t.Fatalf("a failed dispatch does not keep the message: %+v", got)
		}
		delete(w.agents.now().fail, "new")
		w.restart()
		first := w.messages(s)[0]
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{RetryOf: first.ID}); err != nil {
			t.Fatal(err)
		}
		want := "text  look at these|image image/png " + picture + "|resource text/markdown words"
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		if got := told(p); got != want {
			t.Errorf("the retry: %q", got)
		}
		agent.send(p, text("half an answer"))
		agent.finish(p, "end_turn")
		w.idle(s)
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "look at these", AttachmentsOf: first.ID}); err != nil {
			t.Fatal(err)
		}
		p = agent.prompted(w, 2)
		if got := told(p); got != want {
			t.Errorf("the new message: %q", got)
		}
		agent.finish(p, "end_turn")
		w.idle(s)
	})
}

// What an Agent can do may change between the submission and the dispatch (R-CHAT-048), and a copy may be gone.
func TestDispatchLooksAgain_R_CHAT_048_056(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.can(fyllo.Capabilities{Image: fyllo.Unknown, EmbeddedContext: fyllo.Unknown})
		if _, err := w.m.Start(t.Context(), wid, submission("r0")); fyllo.CodeOf(err) != fyllo.CodeAttachment {
			t.Errorf("an Agent that says nothing takes nothing: %v", err)
		}
		w.can(takesAll)
		w.agents.now().fail["new"] = fyllo.Errorf(fyllo.CodeAuthRequired, "sign in")
		s := w.startWith(submission("r1"))
		w.idle(s)
		delete(w.agents.now().fail, "new")
		first := w.messages(s)[0]
		w.can(fyllo.Capabilities{Image: fyllo.Unsupported, EmbeddedContext: fyllo.Supported})
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{RetryOf: first.ID}); err != nil {
			t.Fatal(err)
		}
		w.idle(s)
		if got := w.messages(s)[0]; got.End == nil || got.End.Error == nil || got.End.Error.Code != fyllo.CodeAttachment {
			t.Errorf("%+v", got.End)
		}
		w.can(takesAll)
		if err := os.Remove(filepath.Join(w.root, "workspaces", string(wid), "sessions", string(s), "attachments", first.Parts[1].Attachment.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{RetryOf: first.ID}); err != nil {
			t.Fatal(err)
		}
		w.idle(s)
		if got := w.messages(s)[0]; got.End == nil || got.End.Error == nil || got.End.Error.Code != fyllo.CodeAttachmentNotFound {
			t.Errorf("%+v", got.End)
		}
	})
}
