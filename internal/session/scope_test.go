package session_test

import (
	"testing"
	"time"

	"fyllocode.dev/fyllo"
)

func TestMultiRootNeedsSupport_R_WS_077(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.spaces.extra = []string{"/elsewhere"}
		agent := w.agents.now()
		agent.info.Capabilities.MultiRoot = fyllo.Unsupported
		_, err := w.m.Start(t.Context(), wid, fyllo.StartRequest{AgentID: "fake", Text: "hi"})
		wantCode(t, err, fyllo.CodeCapability)
		if got := agent.seen(); got != "" {
			t.Errorf("the Agent saw %s", got)
		}
		agent.info.Capabilities.MultiRoot = fyllo.Supported
		w.first("hi")
		agent.prompted(w, 1)
	})
}

func TestStaleScopeBlocksTheTurn_R_WS_073_074(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		w.spaces.stale = fyllo.Errorf(fyllo.CodeFolderRemoved, "removed")
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "more"})
		wantCode(t, err, fyllo.CodeFolderRemoved)
		if d := w.detail(s); d.StaleReason == nil || d.StaleReason.Code != fyllo.CodeFolderRemoved {
			t.Errorf("stale reason %+v", d.StaleReason)
		}
		w.spaces.stale = nil
		w.prompt(s, "more")
		agent.prompted(w, 2)
	})
}

func TestScopeIsTheSnapshotOfTheStart_R_WS_072_075(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.agents.now().info.Capabilities.Resume = true
		w.agents.now().info.Capabilities.MultiRoot = fyllo.Supported
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		began := w.spaces.dir
		w.spaces.dir, w.spaces.extra = t.TempDir(), []string{"/new"}
		w.restart()
		agent = w.agents.now()
		w.prompt(s, "again")
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		if p := agent.resumed; p.Cwd != began || len(p.AdditionalDirectories) != 0 {
			t.Errorf("resumed in %s with %v, want %s alone", p.Cwd, p.AdditionalDirectories, began)
		}
	})
}

func TestRecordWithoutScopeIsFilledOnceForAProject_R_WS_076(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		s := w.first("hi")
		agent := w.agents.now()
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.idle(s)
		time.Sleep(time.Second) // the answer is stored
		w.end()
		if _, err := w.store.UpdateMeta(wid, s, func(m *fyllo.SessionMeta) { m.Scope = nil }); err != nil {
			t.Fatal(err)
		}
		w.agents.replace()
		w.start()
		w.spaces.kind = fyllo.KindCollection
		_, err := w.m.Prompt(t.Context(), wid, s, fyllo.PromptRequest{Text: "more"})
		wantCode(t, err, fyllo.CodeFolderRemoved)
		w.spaces.kind = fyllo.KindFolder
		w.prompt(s, "more")
		if d := w.detail(s); d.Scope == nil || d.Scope.Cwd != w.spaces.dir {
			t.Errorf("scope %+v", d.Scope)
		}
	})
}
