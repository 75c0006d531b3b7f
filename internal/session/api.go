package session

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/attachments"
	"fyllocode.dev/fyllo/internal/session/internal/batch"
	"fyllocode.dev/fyllo/internal/session/internal/queue"
	"fyllocode.dev/fyllo/internal/session/internal/roster"
	"fyllocode.dev/fyllo/internal/session/internal/tagged"
	"fyllocode.dev/fyllo/internal/transcript"
)

// Detail returns everything about one Session but its stored messages, exact at its Seq.
func (m *Manager) Detail(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) (fyllo.SessionDetail, error) {
	return ask(ctx, m, w, s, (*actor).detail)
}

// Messages returns a page of stored messages without their reminders' text being shown anywhere: parts of type
// reminder are left out (R-CHAT-157). Ask for Detail first: what is not stored yet is in its Live.
func (m *Manager) Messages(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error) {
	x, err := m.Loaded(ctx, w)
	if err != nil {
		return fyllo.MessagePage{}, err
	}
	if !x.Has(s) {
		return fyllo.MessagePage{}, roster.NoSession(s)
	}
	seq := m.Publisher.Seq(w)
	page, err := m.Store.Messages(w, s, before, limit)
	if err != nil {
		return fyllo.MessagePage{}, err
	}
	for i := range page.Messages {
		page.Messages[i] = shown(page.Messages[i])
	}
	page.Messages = orEmpty(page.Messages)
	page.Seq = seq
	return page, nil
}

// shown is a message as windows and exports get it.
func shown(m fyllo.Message) fyllo.Message {
	m.Parts = orEmpty(visibleParts(m))
	return tagged.Message(transcript.LightMessage(transcript.Mended(m)))
}

// Prompt stores a message and begins its turn. A started turn does not depend on ctx.
func (m *Manager) Prompt(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.PromptRequest) (fyllo.PromptResult, error) {
	if len(r.Config) > 0 {
		if result, done, err := m.configured(ctx, w, s, r); done || err != nil {
			return result, err
		}
		r.Config = nil
	}
	return ask(ctx, m, w, s, func(a *actor) (fyllo.PromptResult, error) {
		message, err := a.prompt(r)
		return fyllo.PromptResult{Message: message}, err
	})
}

// Cancel asks the Agent to stop the running turn; without one it does nothing.
func (m *Manager) Cancel(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error {
	_, err := ask(ctx, m, w, s, func(a *actor) (struct{}, error) {
		a.cancel()
		return struct{}{}, nil
	})
	return err
}

// Answer answers an open permission request, PERMISSION_GONE when it is no longer open.
func (m *Manager) Answer(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, r fyllo.AnswerRequest) (fyllo.PermissionNote, error) {
	return ask(ctx, m, w, s, func(a *actor) (fyllo.PermissionNote, error) { return a.answerAsk(r) })
}

// Update renames a Session, pins it, or sets its permission policy. An empty or equal title changes nothing
// (R-CHAT-014); updatedAt stays (R-CHAT-009).
func (m *Manager) Update(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, p fyllo.Patch) (fyllo.SessionSummary, error) {
	if p.Policy != nil && *p.Policy != fyllo.PolicyAsk && *p.Policy != fyllo.PolicyAllowOnce {
		return fyllo.SessionSummary{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "permission policy %q: it is neither ask nor allow_once", *p.Policy)
	}
	return ask(ctx, m, w, s, func(a *actor) (fyllo.SessionSummary, error) { return a.patch(p) })
}

// Delete removes a Session with everything it owns; late events cannot bring it back (R-WS-134).
func (m *Manager) Delete(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) error {
	if m.Children != nil {
		if _, err := m.Detail(ctx, w, s); err != nil {
			return err // nobody may end what a Session of somebody else has spawned
		}
		m.Children.StopParent(ctx, fyllo.SpawnOwner{Workspace: w, Parent: s})
	}
	_, err := ask(ctx, m, w, s, func(a *actor) (struct{}, error) { return struct{}{}, a.delete() })
	return err
}

// Part returns one part of a message, NOT_FOUND when there is none. In an answer that is not stored yet its bodies are
// whole.
func (m *Manager) Part(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, id string) (fyllo.Part, error) {
	live, err := ask(ctx, m, w, s, func(a *actor) (*fyllo.Part, error) { return a.livePart(id), nil })
	switch {
	case err != nil:
		return fyllo.Part{}, err
	case live != nil:
		return *live, nil
	}
	message, err := m.Store.Message(w, s, fyllo.MessageOfPart(id))
	if err != nil {
		return fyllo.Part{}, err
	}
	i := slices.IndexFunc(message.Parts, func(p fyllo.Part) bool { return p.ID == id })
	if i < 0 {
		return fyllo.Part{}, fyllo.Errorf(fyllo.CodeNotFound, "part %s: its message does not have it", id)
	}
	return message.Parts[i], nil
}

// Body returns the whole of a long text that rows show as a preview.
func (m *Manager) Body(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.BodyQuery) (string, error) {
	part, err := m.Part(ctx, w, s, q.PartID)
	if err != nil {
		return "", err
	}
	body := transcript.BodyOf(&part, q)
	switch {
	case body == nil:
		return "", fyllo.Errorf(fyllo.CodeNotFound, "read the text: there is no %s in part %s", q.Field, q.PartID)
	case body.Ref == nil:
		return body.Text, nil
	}
	whole, err := m.Store.Body(w, s, *body.Ref)
	return string(whole), err
}

// livePart finds a part of the answer that is not stored yet.
func (a *actor) livePart(id string) *fyllo.Part {
	for _, t := range []*turn{a.turn, a.late} {
		if t == nil || t.live.ID() != fyllo.MessageOfPart(id) {
			continue
		}
		for i := range t.live.Len() {
			if t.live.PartID(i) == id {
				p := t.live.Part(i)
				return &p
			}
		}
	}
	return nil
}

// prompt stores a user message and begins its turn.
func (a *actor) prompt(r fyllo.PromptRequest) (fyllo.Message, error) {
	if m, ok, err := a.repeatedPrompt(r.RequestID); ok || err != nil {
		return m, err
	}
	if err := a.checkPrompt(r); err != nil {
		return fyllo.Message{}, err
	}
	if a.file(); a.late != nil { // keeps the messages in order
		return fyllo.Message{}, fyllo.Errorf(fyllo.CodeStorageFailed, "send: the last answer could not be stored yet").
			WithHint("Free some disk space and send the message again.")
	}
	message, err := a.storePrompt(r)
	if err != nil {
		return fyllo.Message{}, err
	}
	message = shown(message)
	if r.RequestID != "" {
		a.answered[r.RequestID] = message
	}
	if err := a.changeMeta(func(m *fyllo.SessionMeta) { m.UpdatedAt = now() }); err != nil {
		a.m.Log.Error("store session metadata", "session", a.sid, "err", err) // the message is what counts
	}
	a.publish(fyllo.EventMessage, message)
	a.begin(message, nil, nil)
	return message, nil
}

// checkPrompt refuses what cannot be sent before anything is stored.
func (a *actor) checkPrompt(r fyllo.PromptRequest) error {
	if a.turn != nil && a.turn.notice != nil {
		return errNoticed()
	}
	if a.turn != nil {
		return fyllo.Errorf(fyllo.CodeSessionBusy, "send: the Session still works on the last message").
			WithHint("Wait for the answer, or stop it.")
	}
	if r.RetryOf == "" {
		if err := checkText(r.Text); err != nil {
			return err
		}
	}
	if r.AgentID != "" && r.AgentID != a.meta.AgentID {
		return fyllo.Errorf(fyllo.CodeAgentMismatch, "send: the Session belongs to the Agent %q", a.meta.AgentID).
			WithHint("An Agent is fixed after the first message; start a new Session for another one.")
	}
	if r.Mode != "" && r.Mode != a.meta.Mode {
		return fyllo.Errorf(fyllo.CodeModeFixed, "send: the Session is in %s mode", a.meta.Mode).
			WithHint("A mode is fixed after the first message; start a new Session for another one.")
	}
	if _, err := a.m.installed(a.meta.AgentID); err != nil {
		return a.agentMissing(err)
	}
	for _, e := range a.queue.Entries {
		if e.ID != r.RequestID && slices.ContainsFunc(e.Attachments, func(k fyllo.KeptAttachment) bool { return slices.Contains(r.Attachments, k.Handle) }) {
			return queue.ErrFile() // else it would be gone when its own message goes
		}
	}
	_, err := a.scope()
	return err
}

// errNoticed refuses what would be sent or queued while the Agent is told about delegated work (R-SPAWN-105).
func errNoticed() error {
	e := fyllo.Errorf(fyllo.CodeSessionBusy, "send: the Agent is just being told about work that it delegated")
	e.Details = map[string]any{"turn": "notification"} // by which a script knows that it may wait
	return e.WithHint("Wait for its answer, or stop it.")
}

// storePrompt makes the user message durable, or takes the last one again for a retry.
func (a *actor) storePrompt(r fyllo.PromptRequest) (fyllo.Message, error) {
	if r.RetryOf == "" {
		return a.storeNew(&r)
	}
	page, err := a.m.Store.Messages(a.w, a.sid, "", 1)
	if err != nil {
		return fyllo.Message{}, err
	}
	if n := len(page.Messages); n == 0 || page.Messages[n-1].ID != r.RetryOf || page.Messages[n-1].End == nil {
		return fyllo.Message{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "send again: that message is not the last one without an answer")
	}
	last := page.Messages[len(page.Messages)-1]
	last.End, last.Parts, last.RequestID, last.UpdatedAt = nil, visibleParts(last), r.RequestID, now()
	return a.supersede(last)
}

// storeNew makes a new user message durable. Its files stop waiting once it is.
func (a *actor) storeNew(r *fyllo.PromptRequest) (fyllo.Message, error) {
	files, err := a.attached(r)
	if err != nil {
		return fyllo.Message{}, err
	}
	m := userMessage(r.RequestID, r.Text)
	m.Parts = append(m.Parts, attachments.Parts(m.ID, len(m.Parts), files)...)
	stored, err := a.m.Store.AppendMessage(a.w, a.sid, m)
	if err == nil && len(r.Attachments) > 0 {
		if err := a.m.Store.DropAttachments(a.w, a.sid, r.Attachments, true); err != nil {
			a.m.Log.Error("take sent files out of the composer; the next start will", "session", a.sid, "err", err)
		}
	}
	return stored, err
}

// repeatedPrompt answers a submission that was taken already, also before a restart of Core.
func (a *actor) repeatedPrompt(request string) (fyllo.Message, bool, error) {
	if request == "" {
		return fyllo.Message{}, false, nil
	}
	if m, ok := a.answered[request]; ok {
		return m, true, nil
	}
	sent, err := a.requests()
	if err != nil || sent[request] == "" {
		return fyllo.Message{}, false, err
	}
	m, err := a.m.Store.Message(a.w, a.sid, sent[request])
	return shown(m), err == nil, err
}

// requests returns the messages that were stored before the actor's life, by their requests. They are read when first
// needed, since every prompt asks for them and a transcript can be long.
func (a *actor) requests() (map[string]string, error) {
	if a.earlier != nil {
		return a.earlier, nil
	}
	found, err := a.m.Store.Requests(a.w, a.sid)
	if err == nil {
		a.earlier = found
	}
	return found, err
}

// patch changes metadata that people edit.
func (a *actor) patch(p fyllo.Patch) (fyllo.SessionSummary, error) {
	title := ""
	if p.Title != nil {
		title = cleanTitle(*p.Title)
	}
	err := a.changeMeta(func(m *fyllo.SessionMeta) {
		if title != "" {
			m.Title = title
		}
		if p.Pinned != nil {
			m.IsPinned = *p.Pinned
		}
		if p.Policy != nil {
			m.PermissionPolicy = *p.Policy
		}
	})
	if err != nil {
		return fyllo.SessionSummary{}, err
	}
	a.announce()
	return a.summary(), nil
}

// titleRunes bounds a title that a person gives.
const titleRunes = 200

// cleanTitle trims a title to one bounded line.
func cleanTitle(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if utf8.RuneCountInString(s) > titleRunes {
		s = string([]rune(s)[:titleRunes])
	}
	return s
}

// delete fences the Session, ends its turn without waiting for the Agent, and removes its records.
func (a *actor) delete() error {
	a.m.mu.Lock()
	a.m.deleted[a.sid] = true
	a.m.mu.Unlock()
	if t := a.turn; t != nil {
		t.stop()
		for _, k := range t.asks {
			k.Answer("")
		}
		if t.sent() && a.link != nil {
			_ = a.link.Agent.Cancel(a.link.ID) // its answer no longer matters
		}
	}
	a.drop()
	a.dropNotices(roster.NoSession(a.sid))
	for _, t := range []*turn{a.turn, a.late} {
		if t != nil && t.log != nil {
			_ = t.log.Close() // removed below with everything else
		}
	}
	a.turn, a.late = nil, nil
	a.out = batch.Outbox{}
	if err := a.m.Store.DeleteSession(a.w, a.sid); err != nil {
		a.m.mu.Lock()
		delete(a.m.deleted, a.sid) // so that it can be tried again
		a.m.mu.Unlock()
		return err
	}
	a.deleted = true
	a.list.Remove(a.sid)
	a.publish(fyllo.EventSessionRemoved, struct{}{})
	a.m.mu.Lock()
	if a.m.actors[a.sid] == a {
		delete(a.m.actors, a.sid)
	}
	a.m.mu.Unlock()
	return nil
}

// agentMissing names the Agent that the Session was begun with, whose id tells people nothing (R-AGT-113).
func (a *actor) agentMissing(err error) error {
	if a.meta.AgentName == "" {
		return err
	}
	return fyllo.Errorf(fyllo.CodeOf(err), "send: the Session's Agent %s is missing: %w", a.meta.AgentName, err).
		WithHint("Add it in Settings → Agents, or start a new Session with another Agent.")
}
