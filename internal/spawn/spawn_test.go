package spawn_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fyllocode.dev/fyllo"
)

func TestSynchronousTurn_R_SPAWN_013_028_084_090(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		reply := w.ask(t.Context(), mum, fyllo.SpawnPrompt{Prompt: " exactly\nthis ", Mode: fyllo.SpawnSync})
		p := agent.prompted(w, 1)
		if d := cmp.Diff([]fyllo.PromptBlock{{Type: "text", Text: " exactly\nthis "}}, p.blocks); d != "" {
			t.Error(d)
		}
		if s := agent.params[0]; s.Cwd != "/p/one" || len(s.MCPServers) != 0 {
			t.Errorf("opened with %+v", s)
		}
		agent.send(p, says("An answer, "), says("in two parts."))
		agent.finish(p, "max_tokens")
		got := <-reply
		if got.err != nil || got.Status != "completed" || *got.Content != "An answer, in two parts." || *got.Truncated || got.NextCursor != "" {
			t.Fatalf("%+v", got)
		}
		s := w.status(mum, got.SessionID)
		if s.Status != fyllo.SpawnIdle || s.LatestResponseID != got.ResponseID || s.LatestTurnID == "" {
			t.Errorf("%+v", s)
		}
		if n := w.turns(mum, got.SessionID)[0].Notification; n != nil {
			t.Errorf("a synchronous turn has the notification %+v (R-SPAWN-101)", n)
		}
		d, err := w.e.Detail(t.Context(), mum, got.SessionID)
		if err != nil || len(d.Turns) != 1 || d.Turns[0].Prompt != " exactly\nthis " || len(d.Turns[0].Messages) != 2 || !d.Turns[0].Messages[1].Durable {
			t.Errorf("%+v %v", d, err)
		}
		w.free()
	})
}

func TestBackgroundTurnAndContinuation_R_SPAWN_027_030_101(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		got := w.prompt(mum, fyllo.SpawnPrompt{Prompt: "  first \n task"})
		if got.Status != "accepted" || got.TurnID == "" || got.StartedAt == nil || got.Config == nil || got.Warnings == nil {
			t.Fatalf("%+v", got)
		}
		id := got.SessionID
		p := agent.prompted(w, 1)
		agent.send(p, says("working"))
		w.until("activity", func() bool { s := w.status(mum, id); return s.RecentActivity != nil && len(*s.RecentActivity) == 1 })
		s := w.status(mum, id)
		if s.Status != fyllo.SpawnIsRunning || s.TurnID != got.TurnID || s.Mode != fyllo.SpawnBackground || (*s.RecentActivity)[0].Kind != "message" {
			t.Errorf("%+v", s)
		}
		agent.finish(p, "end_turn")
		first := w.settled(mum, id)
		if n := w.turns(mum, id)[0].Notification; n == nil {
			t.Errorf("notification %+v", n)
		}
		again := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Prompt: "second"})
		if again.Status != "accepted" || again.SessionID != id {
			t.Fatalf("%+v", again)
		}
		p2 := agent.prompted(w, 2)
		if p2.id != p.id || agent.opened != 1 {
			t.Errorf("continued in %s, opened %d", p2.id, agent.opened)
		}
		agent.finish(p2, "end_turn") // an empty answer is one too (R-SPAWN-088)
		second := w.settled(mum, id)
		if second.LatestResponseID == first.LatestResponseID || second.Status != fyllo.SpawnIdle {
			t.Errorf("%+v then %+v", first, second)
		}
		for response, want := range map[string]string{first.LatestResponseID: "working", second.LatestResponseID: ""} {
			if c, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(id), ResponseID: response}); err != nil || c.Content != want || !c.Done {
				t.Errorf("%+v %v", c, err)
			}
		}
		if list, _ := w.e.List(t.Context(), mum); len(list) != 1 || list[0].PromptPreview != "second" {
			t.Errorf("%+v", list)
		}
		w.free()
	})
}

// The Agent answers before the accepted turn is written (R-SPAWN §18, 12).
func TestAcceptedComesBeforeTheEnd_R_SPAWN_027(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.onSend = func(p prompted) { agent.send(p, says("at once")); agent.finish(p, "end_turn") }
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		if s := w.settled(mum, id); s.Status != fyllo.SpawnIdle {
			t.Errorf("%+v", s)
		}
	})
}

func TestCapacityAndBusy_R_SPAWN_057_058_059_061(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		var ids []fyllo.SessionID
		for range fyllo.SpawnPerParent {
			ids = append(ids, w.accepted(mum, fyllo.SpawnPrompt{}))
		}
		full := w.prompt(mum, fyllo.SpawnPrompt{})
		if full.Status != "capacity_exceeded" || full.Code != fyllo.CodeSpawnCapacity || !*full.Retryable || full.SessionID != "" {
			t.Errorf("%+v", full)
		}
		busy := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(ids[0])})
		if busy.Status != "busy" || busy.StartedAt == nil || busy.LastActivityAt == nil {
			t.Errorf("busy goes before capacity: %+v", busy)
		}
		if foreign := w.prompt(dad, fyllo.SpawnPrompt{SessionID: string(ids[0])}); foreign.Status != "not_found" {
			t.Errorf("%+v", foreign)
		}
		for range fyllo.SpawnPerCore - fyllo.SpawnPerParent {
			w.accepted(dad, fyllo.SpawnPrompt{})
		}
		if foreign := w.prompt(dad, fyllo.SpawnPrompt{SessionID: string(ids[0])}); foreign.Status != "not_found" {
			t.Errorf("not its own, and no room either: %+v", foreign)
		}
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.settled(mum, ids[0])
		w.accepted(mum, fyllo.SpawnPrompt{})
		if list, _ := w.e.List(t.Context(), mum); len(list) != 5 || list[4].SessionID != ids[0] {
			t.Errorf("active ones come first (R-SPAWN-119): %+v", list)
		}
	})
}

func TestCancel_R_SPAWN_035_062_070_to_073(t *testing.T) {
	for name, c := range map[string]func(a *fakeAgent, p prompted){
		"confirmed":                  func(a *fakeAgent, p prompted) { a.finish(p, "cancelled") },
		"answered as if nothing was": func(a *fakeAgent, p prompted) { a.finish(p, "end_turn") },
		"never confirmed":            func(*fakeAgent, prompted) {},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				agent := w.agents.now()
				id := w.accepted(mum, fyllo.SpawnPrompt{})
				p := agent.prompted(w, 1)
				agent.send(p, says("half"))
				for _, o := range []fyllo.SpawnOwner{dad, mum, mum} {
					got, err := w.e.Cancel(t.Context(), o, string(id))
					if want := (fyllo.SpawnCancelResult{Cancelled: o == mum, Reason: map[bool]string{true: "", false: "Session not found"}[o == mum]}); got != want || err != nil {
						t.Errorf("%+v %v, want %+v", got, err, want)
					}
				}
				if n := strings.Count(agent.seen(), "cancel"); n != 1 {
					t.Errorf("%d cancels were sent", n)
				}
				if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
					t.Errorf("cancelling is told as %s (R-SPAWN-063)", s.Status)
				}
				c(agent, p)
				began := time.Now()
				s := w.settled(mum, id)
				if s.Status != fyllo.SpawnFailed || s.Code != fyllo.CodeTurnParentCancelled {
					t.Errorf("%+v", s)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("settled after %s", took)
				}
				turn := w.turns(mum, id)[0]
				if turn.Phase != fyllo.SpawnError || turn.ResponseID != "" || turn.Notification == nil {
					t.Errorf("%+v", turn)
				}
				if d, _ := w.e.Detail(t.Context(), mum, id); len(d.Turns[0].Messages) != 2 {
					t.Errorf("the partial answer is lost: %+v", d.Turns[0].Messages)
				}
				if got, _ := w.e.Cancel(t.Context(), mum, string(id)); got.Cancelled {
					t.Error("a settled turn was cancelled")
				}
				if again := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id)}); again.Status != "expired" || again.Code != "" || !strings.Contains(again.Message, "restate") {
					t.Errorf("%+v (R-SPAWN-029)", again)
				}
				w.free()
			})
		})
	}
}

func TestCancelBeforeThePromptPreventsIt_R_SPAWN_074(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.opening = make(chan struct{})
		reply := w.ask(t.Context(), mum, fyllo.SpawnPrompt{})
		w.until("session/new is sent", func() bool { return agent.seen() == "new" })
		list, _ := w.e.List(t.Context(), mum)
		if got, _ := w.e.Cancel(t.Context(), mum, string(list[0].SessionID)); !got.Cancelled {
			t.Error("not cancelled")
		}
		got := <-reply
		if got.err != nil || got.Status != "error" || got.Code != fyllo.CodeTurnParentCancelled {
			t.Errorf("%+v", got)
		}
		if strings.Contains(agent.seen(), "prompt") || strings.Contains(agent.seen(), "cancel") {
			t.Errorf("sent %s", agent.seen())
		}
		if n := w.turns(mum, list[0].SessionID)[0].Notification; n != nil {
			t.Errorf("what was never accepted has the notification %+v", n)
		}
		w.free()
	})
}

func TestCallerThatGoesAway_R_SPAWN_075(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		ctx, leave := context.WithCancel(t.Context())
		reply := w.ask(ctx, mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync})
		p := agent.prompted(w, 1)
		background := w.ask(ctx, mum, fyllo.SpawnPrompt{})
		id := (<-background).SessionID
		leave()
		if got := <-reply; fyllo.CodeOf(got.err) != fyllo.CodeSpawnCancelled {
			t.Errorf("%+v", got)
		}
		w.until("the Agent is asked to stop", func() bool { return strings.Contains(agent.seen(), "cancel") })
		agent.finish(p, "cancelled")
		list, _ := w.e.List(t.Context(), mum)
		w.until("it is settled", func() bool { return w.e.Counts().Running == 1 })
		for _, s := range list {
			if s.SessionID != id {
				if turn := w.turns(mum, s.SessionID)[0]; turn.Error.Code != fyllo.CodeTurnCancelled || turn.Notification != nil {
					t.Errorf("%+v", turn)
				}
			}
		}
		if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
			t.Errorf("the accepted turn is %s", s.Status)
		}
	})
}

func TestSilence_R_SPAWN_067_069(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		p := agent.prompted(w, 1)
		for range 3 { // any sign of life counts, also one that nobody knows
			time.Sleep(9 * time.Minute)
			agent.send(p, fyllo.AgentEvent{Update: &fyllo.Update{Kind: fyllo.UpdateUnknown, SessionID: p.id}})
		}
		time.Sleep(9 * time.Minute)
		if s := w.status(mum, id); s.Status != fyllo.SpawnIsRunning {
			t.Fatalf("%+v", s)
		}
		time.Sleep(2 * time.Minute)
		s := w.settled(mum, id)
		if s.Status != fyllo.SpawnFailed || s.Code != fyllo.CodeTurnUnconfirmed {
			t.Errorf("%+v", s)
		}
		w.until("its ACP session is forgotten", func() bool { return strings.Contains(agent.seen(), "forget") })
		other := w.accepted(mum, fyllo.SpawnPrompt{}) // the process goes on
		p = agent.prompted(w, 2)
		time.Sleep(fyllo.SpawnInactivity)
		w.until("it is cancelled", func() bool { return strings.Count(agent.seen(), "cancel") == 2 })
		agent.finish(p, "cancelled")
		if s := w.settled(mum, other); s.Code != fyllo.CodeTurnInactivity {
			t.Errorf("%+v", s)
		}
	})
}

func TestProcessEnds_R_SPAWN_096(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		idle := w.accepted(mum, fyllo.SpawnPrompt{})
		agent.finish(agent.prompted(w, 1), "end_turn")
		before := w.settled(mum, idle)
		running := w.accepted(mum, fyllo.SpawnPrompt{})
		agent.send(agent.prompted(w, 2), says("half"))
		sync := w.ask(t.Context(), mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync})
		agent.prompted(w, 3)
		w.agents.replace()
		if got := <-sync; got.Status != "error" || got.Code != fyllo.CodeProcessInvalidated {
			t.Errorf("%+v (R-SPAWN-026a)", got)
		}
		for _, id := range []fyllo.SessionID{idle, running} {
			s := w.settled(mum, id)
			if s.Status != fyllo.SpawnIsExpired || s.Code != fyllo.CodeProcessInvalidated {
				t.Errorf("%+v", s)
			}
			if again := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id)}); again.Status != "expired" || again.Code != fyllo.CodeProcessInvalidated {
				t.Errorf("%+v", again)
			}
		}
		if s := w.status(mum, idle); !strings.Contains(s.Message, before.LatestResponseID) {
			t.Errorf("message %q does not name the response (R-SPAWN-032)", s.Message)
		}
		if _, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(idle), ResponseID: before.LatestResponseID}); err != nil {
			t.Error(err)
		}
		w.accepted(mum, fyllo.SpawnPrompt{}) // the next process
		w.free2(1)
	})
}

func (w *world) free2(n int) {
	w.t.Helper()
	if got := w.e.Counts().Running; got != n {
		w.t.Errorf("%d reservations, want %d", got, n)
	}
}

// A request that comes while no turn runs is cancelled, and neither counts nor stands anywhere (R-CHAT-141).
func TestPermissionOutsideOfATurn_R_SPAWN_014(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		p := agent.prompted(w, 1)
		agent.send(p, says("done"))
		agent.finish(p, "end_turn")
		w.settled(mum, id)
		before, _ := w.e.Detail(t.Context(), mum, id)
		answered := make(chan string, 1)
		agent.send(p, fyllo.AgentEvent{Permission: &fyllo.PermissionAsk{
			SessionID: p.id, Options: []fyllo.PermissionOption{{OptionID: "yes", Kind: "allow_once"}},
			Raw: []byte(`{"jsonrpc":"2.0"}`), Answer: func(o string) { answered <- o },
		}})
		if got := <-answered; got != "" {
			t.Errorf("answered %q", got)
		}
		time.Sleep(time.Minute)
		after, _ := w.e.Detail(t.Context(), mum, id)
		if d := cmp.Diff(before, after, cmp.AllowUnexported(fyllo.SpawnTime{})); d != "" {
			t.Error(d)
		}
		if again := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Mode: fyllo.SpawnBackground}); again.Status != "accepted" {
			t.Errorf("it cannot be continued: %+v", again)
		}
	})
}

func TestPermissionsOfChildren_R_SPAWN_014_021(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		p := agent.prompted(w, 1)
		ask := func(kinds ...string) (answered string) {
			title, done := "Run rm", make(chan string, 1)
			var options []fyllo.PermissionOption
			for _, k := range kinds {
				options = append(options, fyllo.PermissionOption{OptionID: "the " + k, Kind: k})
			}
			agent.send(p, fyllo.AgentEvent{Permission: &fyllo.PermissionAsk{
				SessionID: p.id, Tool: &fyllo.ToolPatch{CallID: "c" + strconv.Itoa(len(kinds)), Title: &title}, Options: options,
				Raw: []byte(`{"jsonrpc":"2.0"}`), Answer: func(o string) { done <- o },
			}})
			return <-done
		}
		if got := ask("allow_always", "allow_once", "reject_once"); got != "the allow_once" {
			t.Errorf("answered %q", got)
		}
		if got := ask("allow_always", "reject_once"); got != "" {
			t.Errorf("answered %q", got)
		}
		s := w.status(mum, id)
		var told []string
		for _, a := range *s.RecentActivity {
			told = append(told, a.Kind+" "+a.Message)
		}
		if d := cmp.Diff([]string{"permission Run rm: allowed once", "permission Run rm: no allow_once option, cancelled"}, told); d != "" {
			t.Error(d)
		}
	})
}

func TestRefusals_R_SPAWN_037_to_040(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		idle := w.accepted(mum, fyllo.SpawnPrompt{})
		w.agents.now().finish(w.agents.now().prompted(w, 1), "end_turn")
		w.settled(mum, idle)
		two := oneFolder()
		two.Folders = append(two.Folders, fyllo.ScopeFolder{FolderID: "f2", FolderName: "two", FolderPath: "/p/two"})
		two.AdditionalDirectories = []string{"/p/two"}
		for name, c := range map[string]struct {
			prompt fyllo.SpawnPrompt
			owner  fyllo.SpawnOwner
			set    func()
			code   fyllo.Code
			says   string
		}{
			"no parent":         {owner: fyllo.SpawnOwner{Workspace: wid, Parent: "session-x"}, code: fyllo.CodeSpawnParentMissing},
			"unknown Agent":     {prompt: fyllo.SpawnPrompt{AgentID: "nobody"}, code: fyllo.CodeSpawnAgent, says: "available_agents"},
			"blank prompt":      {prompt: fyllo.SpawnPrompt{Prompt: " \n"}, code: fyllo.CodeSpawnInvalid},
			"folder of a known": {prompt: fyllo.SpawnPrompt{SessionID: string(idle), FolderID: "f1"}, code: fyllo.CodeSpawnInvalid},
			"unknown folder":    {prompt: fyllo.SpawnPrompt{FolderID: "f9"}, code: fyllo.CodeSpawnInvalid, says: `"f1" (one)`},
			"another Agent":     {prompt: fyllo.SpawnPrompt{SessionID: string(idle), AgentID: "fake2"}, code: fyllo.CodeSpawnAgent},
			"a Folder moved":    {set: func() { w.stale = fyllo.Errorf(fyllo.CodeFolderRelocated, "/p/one moved") }, code: fyllo.CodeFolderRelocated, says: "No Session"},
			"several roots":     {set: func() { w.scope, w.agents.roots = two, fyllo.Unsupported }, code: fyllo.CodeCapability, says: "folderId"},
			"Agent does not start": {set: func() {
				w.agents.err = fyllo.Errorf(fyllo.CodeAgentStartFailed, "start /usr/bin/x: sk-abcdefgh123 is bad")
			}, code: fyllo.CodeSpawnInternal, says: "[path]"},
		} {
			{
				if c.set != nil {
					c.set()
				}
				if c.owner.Parent == "" {
					c.owner = mum
				}
				got := w.prompt(c.owner, c.prompt)
				if fyllo.CodeOf(got.err) != c.code || got.err != nil && !strings.Contains(got.err.Error(), c.says) {
					t.Errorf("%s: %+v", name, got)
				}
				if got.err != nil && (strings.Contains(got.err.Error(), "/p/") || strings.Contains(got.err.Error(), "sk-abc")) {
					t.Errorf("%s tells too much: %s", name, got.err)
				}
				w.stale, w.scope, w.agents.roots, w.agents.err = nil, oneFolder(), "", nil
			}
		}
		if list, _ := w.e.List(t.Context(), mum); len(list) != 1 {
			t.Errorf("something was created: %+v", list)
		}
		w.scope = two
		got := w.prompt(mum, fyllo.SpawnPrompt{FolderID: "f2"})
		if p := w.agents.now().params[1]; got.Status != "accepted" || p.Cwd != "/p/two" || len(p.AdditionalDirectories) != 0 {
			t.Errorf("%+v in %+v", got, p)
		}
	})
}

func TestConfiguration_R_SPAWN_042_to_056(t *testing.T) {
	option := func(id, category, current string, values ...string) fyllo.ConfigOption {
		o := fyllo.ConfigOption{ID: id, Name: id, Category: category, Type: "select", Current: fyllo.StringValue(current), Choices: []fyllo.ConfigGroup{{}}}
		for _, v := range values {
			o.Choices[0].Choices = append(o.Choices[0].Choices, fyllo.ConfigChoice{Value: v, Name: v})
		}
		return o
	}
	obey := func(all []fyllo.ConfigOption, id string, v fyllo.ConfigValue) ([]fyllo.ConfigOption, bool, error) {
		next := append([]fyllo.ConfigOption{}, all...)
		for i := range next {
			if next[i].ID == id {
				next[i].Current = v
			}
		}
		return next, true, nil
	}
	word := func(s string) *string { return &s }
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.options = []fyllo.ConfigOption{option("m", "model", "haiku", "haiku", "sonnet-4", "sonnet-4-5"), option("x", "", "a", "a", "b")}
		agent.set = obey
		asked := w.prompt(mum, fyllo.SpawnPrompt{Model: word("sonnet")})
		if asked.Status != "configuration_required" || *asked.PromptDispatched || len(asked.Issues) != 1 || len(asked.Issues[0].Candidates) != 2 {
			t.Fatalf("%+v", asked)
		}
		id := asked.SessionID
		if s := w.status(mum, id); s.Status != fyllo.SpawnIdle || s.LatestTurnID != "" || len(w.turns(mum, id)) != 0 {
			t.Errorf("%+v (R-SPAWN-031)", s)
		}
		w.free()
		if got := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Model: word("sonnet-4"), Config: []fyllo.SpawnValue{{ID: "x", Value: fyllo.StringValue("b")}}}); got.Status != "accepted" {
			t.Fatalf("%+v", got)
		} else if d := cmp.Diff([]fyllo.SpawnConfigItem{{ID: "m", Name: "m", Type: "select", CurrentValue: fyllo.StringValue("sonnet-4")}, {ID: "x", Name: "x", Type: "select", CurrentValue: fyllo.StringValue("b")}}, *got.Config); d != "" {
			t.Error(d)
		}
		if got := agent.seen(); got != "new, set m=sonnet-4, set x=b, prompt" {
			t.Errorf("sent %s", got)
		}
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.settled(mum, id)

		bad := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Model: word("haiku"), Config: []fyllo.SpawnValue{{ID: "nope", Value: fyllo.StringValue("b")}}})
		if fyllo.CodeOf(bad.err) != fyllo.CodeSpawnInvalid || !strings.Contains(bad.err.Error(), string(id)) || w.status(mum, id).Status != fyllo.SpawnIdle {
			t.Errorf("%+v, then %+v", bad, w.status(mum, id))
		}
		agent.set = func(all []fyllo.ConfigOption, _ string, _ fyllo.ConfigValue) ([]fyllo.ConfigOption, bool, error) {
			return all, false, nil
		}
		bad = w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Model: word("sonnet-4")})
		if fyllo.CodeOf(bad.err) != fyllo.CodeSpawnConfig {
			t.Errorf("%+v (R-SPAWN-047)", bad)
		}
		raw := w.prompt(mum, fyllo.SpawnPrompt{SessionID: string(id), Config: []fyllo.SpawnValue{{ID: "nope", Value: fyllo.StringValue("b")}, {ID: "x", Value: fyllo.StringValue("a")}}})
		if raw.Status != "accepted" || len(*raw.Warnings) != 2 {
			t.Errorf("%+v (R-SPAWN-053, 054)", raw)
		}
	})
}

func TestForeignLooksLikeUnknown_R_SPAWN_077_078(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		w.agents.now().finish(w.agents.now().prompted(w, 1), "end_turn")
		response := w.settled(mum, id).LatestResponseID
		see := func(o fyllo.SpawnOwner, id, response string) string {
			prompt := w.prompt(o, fyllo.SpawnPrompt{SessionID: id})
			status, err1 := w.e.Status(t.Context(), o, id)
			read, err2 := w.e.Read(t.Context(), o, fyllo.SpawnRead{SessionID: id, ResponseID: response})
			cancel, err3 := w.e.Cancel(t.Context(), o, id)
			prompt.SessionID = ""
			b, _ := json.Marshal([]any{prompt.SpawnPromptResult, prompt.err, status, err1, read, err2, cancel, err3})
			return string(b)
		}
		foreign, unknown := see(dad, string(id), response), see(dad, "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
		if foreign != unknown {
			t.Errorf("foreign %s\nunknown %s", foreign, unknown)
		}
		for _, odd := range []string{".", "..", "../" + string(id), "a/b", "", strings.Repeat("x", 300)} {
			if s := w.status(mum, fyllo.SessionID(odd)); s.Status != fyllo.SpawnNotFound {
				t.Errorf("%q: %+v (R-SPAWN-082)", odd, s)
			}
			if _, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(id), ResponseID: odd}); fyllo.CodeOf(err) != fyllo.CodeSpawnNotFound {
				t.Errorf("%q: %v", odd, err)
			}
		}
	})
}

func TestReadInChunks_R_SPAWN_083_to_091(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		whole := "\ufeff" + strings.Repeat("𝄞é\u0301\r\n", 2500) + "\x00end"
		reply := w.ask(t.Context(), mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync})
		p := agent.prompted(w, 1)
		agent.send(p, says(whole))
		agent.finish(p, "end_turn")
		got := <-reply
		if !*got.Truncated || len(*got.Content) > fyllo.SpawnInline || !strings.HasPrefix(whole, *got.Content) {
			t.Fatalf("%d bytes, truncated %v", len(*got.Content), *got.Truncated)
		}
		rest := *got.Content
		for next := got.NextCursor; next != ""; { // the cursor of the inline part goes on
			c, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(got.SessionID), ResponseID: got.ResponseID, Cursor: next})
			if err != nil {
				t.Fatal(err)
			}
			rest, next = rest+c.Content, c.NextCursor
		}
		if rest != whole {
			t.Error("the inline part and what follows are not the answer")
		}
		for _, limit := range []int{4, 5, 7, 65536} {
			var all strings.Builder
			for next, n := "", 0; ; n++ {
				c, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(got.SessionID), ResponseID: got.ResponseID, Cursor: next, MaxBytes: limit})
				if err != nil || len(c.Content) > limit || !utf8.ValidString(c.Content) || c.Done != (c.NextCursor == "") {
					t.Fatalf("%+v %v", c, err)
				}
				all.WriteString(c.Content)
				if next = c.NextCursor; next == "" {
					break
				}
			}
			if all.String() != whole {
				t.Errorf("maxBytes %d: not the same text", limit)
			}
		}
		for _, bad := range []string{"x", got.NextCursor + "=", got.NextCursor[:len(got.NextCursor)-2], "eyJ2ZXJzaW9uIjoxLCJyZXNwb25zZUlkIjoieCIsIm9mZnNldCI6MH0"} {
			if _, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(got.SessionID), ResponseID: got.ResponseID, Cursor: bad}); fyllo.CodeOf(err) != fyllo.CodeSpawnInvalid {
				t.Errorf("cursor %q: %v", bad, err)
			}
		}
		for _, limit := range []int{3, 65537, -1} {
			if _, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(got.SessionID), ResponseID: got.ResponseID, MaxBytes: limit}); fyllo.CodeOf(err) != fyllo.CodeSpawnInvalid {
				t.Errorf("maxBytes %d: %v", limit, err)
			}
		}
	})
}

func TestCrashAtAnyStep_R_SPAWN_066_093_094_101(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		idle := w.accepted(mum, fyllo.SpawnPrompt{})
		agent.finish(agent.prompted(w, 1), "end_turn")
		before := w.settled(mum, idle)
		running := w.accepted(mum, fyllo.SpawnPrompt{})
		p := agent.prompted(w, 2)
		agent.send(p, says("half an answer"))
		agent.opening = make(chan struct{})
		w.ask(t.Context(), mum, fyllo.SpawnPrompt{Prompt: "starting"})
		w.until("its turn is recorded", func() bool {
			list, _ := w.e.List(t.Context(), mum)
			return len(list) == 3 && len(w.turns(mum, starting(list, idle, running))) == 1
		})
		list, _ := w.e.List(t.Context(), mum)
		third := starting(list, idle, running)
		time.Sleep(time.Second) // the log is synced

		copied := t.TempDir() // what a kill would leave
		if err := os.CopyFS(copied, os.DirFS(w.root)); err != nil {
			t.Fatal(err)
		}
		w.end()
		if s := w.turns(mum, running)[0]; s.Phase != fyllo.SpawnInterrupted || s.Error.Code != fyllo.CodeAppShutdown {
			t.Errorf("a normal exit leaves %+v (R-SPAWN-092)", s)
		}
		w.root = copied
		w.agents.replace()
		for range 2 { // reconciling again changes nothing
			w.start()
			for id, want := range map[fyllo.SessionID]fyllo.SpawnStatus{idle: fyllo.SpawnIsExpired, running: fyllo.SpawnIsInterrupted, third: fyllo.SpawnIsInterrupted} {
				s := w.status(mum, id)
				if s.Status != want || s.Code == "" {
					t.Errorf("%s is %+v, want %s", id, s, want)
				}
				for _, says := range []string{"did not continue", "cannot be reused", "prompt_to_agent without sessionId and restate the task"} {
					if !strings.Contains(s.Message, says) {
						t.Errorf("%s does not say %q (R-SPAWN-033): %s", want, says, s.Message)
					}
				}
			}
			turn := w.turns(mum, running)[0]
			if turn.Error.Code != fyllo.CodeAppRestarted || turn.Notification == nil {
				t.Errorf("%+v", turn)
			}
			if n := w.turns(mum, third)[0].Notification; n != nil {
				t.Errorf("what was never accepted has the notification %+v", n)
			}
			d, _ := w.e.Detail(t.Context(), mum, running)
			if m := d.Turns[0].Messages; len(m) != 2 || m[1].Parts[0].Text != "half an answer" {
				t.Errorf("what it had said is lost: %+v", m)
			}
			if c, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(idle), ResponseID: before.LatestResponseID}); err != nil || !c.Done {
				t.Errorf("%+v %v", c, err)
			}
			w.end()
		}
	})
}

func starting(list []fyllo.SpawnSummary, known ...fyllo.SessionID) fyllo.SessionID {
	for _, s := range list {
		if s.SessionID != known[0] && s.SessionID != known[1] {
			return s.SessionID
		}
	}
	return ""
}

func TestDeletingTheParent_R_SPAWN_097_098_100(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		for range 4 {
			w.accepted(mum, fyllo.SpawnPrompt{})
		}
		other := w.accepted(dad, fyllo.SpawnPrompt{})
		dir := filepath.Join(w.root, "workspaces", string(wid), "sessions", string(mum.Parent), "spawn")
		w.e.StopParent(t.Context(), mum)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			p := agent.prompted(w, i+1)
			agent.send(p, says("late"))
			agent.finish(p, "end_turn")
		}
		if got := w.prompt(mum, fyllo.SpawnPrompt{}); fyllo.CodeOf(got.err) != fyllo.CodeSpawnParentMissing {
			t.Errorf("%+v", got)
		}
		time.Sleep(10 * time.Second)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("the directory came back: %v", err)
		}
		agent.finish(agent.prompted(w, 5), "end_turn")
		if s := w.settled(dad, other); s.Status != fyllo.SpawnIdle {
			t.Errorf("%+v", s)
		}
		w.free()
	})
}

// Whichever write fails, once or from then on: the reservation is given back, the call gets a known code, and nothing says
// completed that cannot be read (R-SPAWN-028, 038, 060).
func TestEveryWriteFails_R_SPAWN_028_060(t *testing.T) {
	known := map[fyllo.Code]bool{"": true, fyllo.CodeSpawnInternal: true}
	for _, mode := range []fyllo.SpawnMode{fyllo.SpawnSync, fyllo.SpawnBackground} {
		for _, stays := range []bool{false, true} {
			for n := 1; n <= 12; n++ {
				run(t, func(t *testing.T, w *world) {
					agent := w.agents.now()
					agent.onSend = func(p prompted) {
						go func() { agent.send(p, says("text")); agent.finish(p, "end_turn") }()
					}
					w.store.fail(n, stays)
					got := w.prompt(mum, fyllo.SpawnPrompt{Mode: mode})
					w.until("it is over", func() bool { return w.e.Counts().Running == 0 })
					if !known[fyllo.CodeOf(got.err)] {
						t.Errorf("%s %v %d: %v", mode, stays, n, got.err)
					}
					list, _ := w.e.List(t.Context(), mum)
					for _, s := range list {
						for _, turn := range w.turns(mum, s.SessionID) {
							if turn.Phase == fyllo.SpawnCompleted {
								if _, err := w.e.Read(t.Context(), mum, fyllo.SpawnRead{SessionID: string(s.SessionID), ResponseID: turn.ResponseID}); err != nil {
									t.Errorf("%s %v %d: completed, and %v", mode, stays, n, err)
								}
							}
						}
					}
					w.store.fail(0, false)
					w.accepted(dad, fyllo.SpawnPrompt{})
				})
			}
		}
	}
}

func TestNoReservationLeaks_R_SPAWN_060(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		agent.openErr = fyllo.Errorf(fyllo.CodeAgentError, "no")
		for i := range 1000 {
			switch i % 3 {
			case 0:
				w.prompt(mum, fyllo.SpawnPrompt{AgentID: "nobody"})
			case 1:
				w.prompt(mum, fyllo.SpawnPrompt{})
			case 2:
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				<-w.ask(ctx, mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync})
			}
		}
		w.until("all is given back", func() bool { return w.e.Counts().Running == 0 })
		agent.openErr = nil
		for range 4 {
			w.accepted(mum, fyllo.SpawnPrompt{})
			w.accepted(dad, fyllo.SpawnPrompt{})
		}
	})
}

func TestAvailableAgents_R_SPAWN_025(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		got, err := w.e.AvailableAgents(t.Context())
		if err != nil || len(got) != 3 || got[0] != (fyllo.SpawnAgent{AgentID: "listed", Name: "Listed", Description: "from the registry"}) ||
			got[1].AgentID != "fake" || got[1].Description != "Custom ACP Agent" || got[2].AgentID != "tour" {
			t.Errorf("%+v %v", got, err)
		}
		if s := w.agents.now().seen(); s != "" {
			t.Errorf("the Agent was asked: %s", s)
		}
	})
}

func TestNotificationsGoOneByOne_R_SPAWN_101_to_107(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		gate := make(chan struct{})
		var overlap, running int
		w.notified = func(_ context.Context, _ fyllo.SpawnOwner, text string, claim func() error) (bool, error) {
			if err := claim(); err != nil {
				return false, err
			}
			w.mu.Lock()
			w.told = append(w.told, text)
			if running++; running > 1 {
				overlap++
			}
			w.mu.Unlock()
			<-gate
			w.mu.Lock()
			running--
			w.mu.Unlock()
			return true, nil
		}
		one := w.accepted(mum, fyllo.SpawnPrompt{Prompt: "secret words"})
		two := w.accepted(mum, fyllo.SpawnPrompt{})
		sync := w.ask(t.Context(), mum, fyllo.SpawnPrompt{Mode: fyllo.SpawnSync})
		p1, p2, p3 := agent.prompted(w, 1), agent.prompted(w, 2), agent.prompted(w, 3)
		agent.send(p2, says("hidden answer"))
		agent.finish(p2, "end_turn")
		w.settled(mum, two)
		time.Sleep(10 * time.Millisecond)
		agent.finish(p1, "refusal")
		agent.finish(p3, "end_turn")
		<-sync
		w.settled(mum, one)
		state := func(id fyllo.SessionID) fyllo.NotificationState { return w.turns(mum, id)[0].Notification.State }
		w.until("the first is claimed", func() bool { return state(two) == fyllo.NotificationDispatched })
		if state(one) != fyllo.NotificationPending {
			t.Errorf("the second is %s meanwhile", state(one))
		}
		gate <- struct{}{}
		w.until("the second is claimed", func() bool {
			return state(two) == fyllo.NotificationDelivered && state(one) == fyllo.NotificationDispatched
		})
		gate <- struct{}{}
		w.until("both are delivered", func() bool { return state(one) == fyllo.NotificationDelivered })
		if len(w.told) != 2 || overlap != 0 || !strings.Contains(w.told[0], string(two)) || !strings.Contains(w.told[0], w.turns(mum, two)[0].ResponseID) || !strings.Contains(w.told[1], string(one)) {
			t.Errorf("told %q, %d at once", w.told, overlap)
		}
		for _, text := range w.told {
			if strings.Contains(text, "secret words") || strings.Contains(text, "hidden answer") || strings.Contains(text, "/p/") {
				t.Errorf("tells too much: %s", text)
			}
		}
	})
}

func TestNotificationThatFails_R_SPAWN_106_112(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		agent := w.agents.now()
		tries := 0
		w.notified = func(context.Context, fyllo.SpawnOwner, string, func() error) (bool, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			tries++
			return false, errDisk
		}
		id := w.accepted(mum, fyllo.SpawnPrompt{})
		agent.finish(agent.prompted(w, 1), "end_turn")
		w.settled(mum, id)
		state := func() fyllo.NotificationState { return w.turns(mum, id)[0].Notification.State }
		w.until("it is given up", func() bool { return state() == fyllo.NotificationUnknown })
		if tries != 3 {
			t.Errorf("%d tries", tries)
		}
		claimed := make(chan struct{})
		w.mu.Lock()
		w.notified = func(ctx context.Context, _ fyllo.SpawnOwner, _ string, claim func() error) (bool, error) {
			if err := claim(); err != nil {
				return false, err
			}
			close(claimed)
			<-ctx.Done()
			return true, ctx.Err()
		}
		w.mu.Unlock()
		id = w.accepted(mum, fyllo.SpawnPrompt{})
		agent.finish(agent.prompted(w, 2), "end_turn")
		<-claimed
		w.end() // Core ends between the claim and the reply
		w.mu.Lock()
		w.notified = nil
		w.mu.Unlock()
		w.start()
		time.Sleep(time.Minute)
		if state() != fyllo.NotificationUnknown || len(w.told) != 0 {
			t.Errorf("%s, told %q", state(), w.told)
		}
	})
}
