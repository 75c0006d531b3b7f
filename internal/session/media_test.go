package session_test

import (
	"encoding/base64"
	"io"
	"testing"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/media"
	"fyllocode.dev/fyllo/internal/records"
)

// picture reads the picture that is part of the answer.
func (w *world) picture(s fyllo.SessionID, part string) string {
	w.t.Helper()
	store, err := records.Open(w.root, quiet())
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := media.New(w.m, store).Media(w.t.Context(), wid, s, fyllo.MediaQuery{PartID: part, Index: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	defer m.Content.Close()
	b, err := io.ReadAll(m.Content)
	if err != nil || m.Type != "image/png" {
		w.t.Fatal(m.Type, err)
	}
	return string(b)
}

// A picture is shown while its turn runs, when the answer is stored, after a restart, and after a crash at any of these
// moments; only the place where it lies changes.
func TestPictureIsTheSameLiveStoredAndRecovered_R_CHAT_096_149(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n a picture"
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		p := agent.prompted(w, 1)
		agent.send(p, text("Look:"), line(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"`+
			base64.StdEncoding.EncodeToString([]byte(png))+`"}}`))
		w.until("the picture is there", func() bool { l := w.detail(s).Live; return l != nil && len(l.Parts) == 2 })
		part := w.detail(s).Live.Parts[1].ID
		if got := w.picture(s, part); got != png {
			t.Errorf("live: %q", got)
		}
		running := w.copyRoot()
		agent.finish(p, "end_turn")
		w.idle(s)
		w.until("the answer is stored", func() bool { return w.detail(s).Live == nil })
		stored := w.messages(s)[1].Parts[1].Attachment
		if got := w.picture(s, part); got != png || stored.File == "" || stored.Data != nil {
			t.Errorf("stored: %q, %+v", got, stored)
		}
		w.restart()
		if got := w.picture(s, part); got != png {
			t.Errorf("after a restart: %q", got)
		}
		w.end()
		w.root = running
		w.agents.replace()
		w.start()
		if got := w.messages(s)[1]; got.Parts[1].Attachment.File != stored.File || w.picture(s, part) != png {
			t.Errorf("after a crash: %+v", got.Parts[1].Attachment)
		}
		if _, err := w.m.Part(t.Context(), wid, s, part+"9"); fyllo.CodeOf(err) != fyllo.CodeNotFound {
			t.Errorf("a part that is not there: %v", err)
		}
		if err := w.m.Delete(t.Context(), wid, s); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Part(t.Context(), wid, s, part); fyllo.CodeOf(err) != fyllo.CodeSessionNotFound {
			t.Errorf("after the deletion: %v", err)
		}
	})
}
