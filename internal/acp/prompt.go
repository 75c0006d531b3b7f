package acp

import (
	"context"
	"encoding/json"
	"errors"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// Prompt queues a session/prompt and returns. The answer is a PromptDone with the token, delivered after every
// update that came before it on the wire; an error means that there will be none. The caller sees to it that
// prompts of one session do not overlap (decision 14).
func (c *Conn) Prompt(id fyllo.ACPSessionID, token uint64, blocks []fyllo.PromptBlock) error {
	k := call{method: methodPrompt, what: "run the prompt", id: id}
	s := c.session(id)
	if s == nil {
		return c.notOpen(k)
	}
	params := promptParams{SessionID: id, Prompt: wireBlocks(blocks)}
	_, err := c.send(k, params, func(raw json.RawMessage, err error) {
		if c.session(id) != s {
			return // forgotten, or opened anew: nobody waits
		}
		done := fyllo.PromptDone{Token: token, Err: err}
		if answer, ok := errors.AsType[*jsonrpc.Error](err); ok && answer.Code == jsonrpc.CodeCancelled {
			done = fyllo.PromptDone{Token: token, StopReason: "cancelled"}
		}
		if done.Err == nil && done.StopReason == "" {
			done.StopReason = stopReason(raw)
		}
		c.deliver(s, fyllo.AgentEvent{PromptDone: &done})
	})
	return err
}

// stopReason reads a prompt result; unknown reasons are kept, a missing one is end_turn.
func stopReason(raw []byte) string {
	reason := ""
	s := jsonrpc.NewScanner(raw)
	s.Object(func(name []byte) {
		if string(name) == "stopReason" {
			reason, _ = s.String()
		}
	})
	if reason == "" {
		return "end_turn"
	}
	return reason
}

// Cancel asks the Agent to end the running turn. The turn is over when its PromptDone comes. Open permission
// requests must be answered by whoever holds them.
func (c *Conn) Cancel(id fyllo.ACPSessionID) error {
	if err := c.rpc.Notify(methodCancel, sessionRef{SessionID: id}); err != nil {
		return c.failure(err, call{method: methodCancel, what: "stop the turn", id: id})
	}
	return nil
}

// CloseSession forgets the sink and, where the Agent supports it, closes the session there.
func (c *Conn) CloseSession(ctx context.Context, id fyllo.ACPSessionID) error {
	c.Forget(id)
	if caps := c.caps.Load(); caps == nil || !caps.Close {
		return nil
	}
	k := call{method: methodClose, what: "close the session", id: id}
	_, err := ask(ctx, c, k, sessionRef{SessionID: id}, func(r reply) (struct{}, error) { return struct{}{}, r.err })
	return err
}
