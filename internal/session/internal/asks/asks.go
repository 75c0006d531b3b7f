// Package asks holds the permission requests of one turn that wait for a person (decision 1).
package asks

import (
	"slices"
	"time"

	"fyllocode.dev/fyllo"
)

// By says who answered a permission request.
type By string

// Who answers.
const (
	User   By = "user"
	Policy By = "policy"
	Turn   By = "turn"  // its turn ended or was cancelled
	Agent  By = "agent" // the Agent withdrew it
)

// Most is how many requests of one turn may wait for people. No Agent with work to do comes near; one that asks and
// asks must neither fill the memory nor bury the window.
const Most = 256

const (
	outcomeSelected  = "selected"
	outcomeCancelled = "cancelled"
)

// Ask is a permission request of an Agent.
type Ask struct {
	fyllo.Permission
	request string // the Agent's id of it
	answer  func(optionID string)
}

// New returns the request of an Agent as people see it, p, which is named and placed by the caller.
func New(from *fyllo.PermissionAsk, p fyllo.Permission) *Ask {
	return &Ask{Permission: p, request: from.Request, answer: from.Answer}
}

// Answer tells the Agent, "" meaning cancelled.
func (k *Ask) Answer(optionID string) { k.answer(optionID) }

// Note is what is recorded about its answer, "" meaning cancelled.
func (k *Ask) Note(optionID string, by By, at time.Time) fyllo.PermissionNote {
	note := fyllo.PermissionNote{
		ID: k.ID, ToolCallID: k.ToolCallID, Title: k.Title, Options: k.Options,
		Outcome: outcomeSelected, OptionID: optionID, By: string(by), At: at,
	}
	if optionID == "" {
		note.Outcome = outcomeCancelled
	}
	return note
}

// AllowOnce picks the first option of kind allow_once, "" meaning cancelled; never allow_always (R-AGT-054).
func AllowOnce(options []fyllo.PermissionOption) string {
	for _, o := range options {
		if o.Kind == "allow_once" {
			return o.OptionID
		}
	}
	return ""
}

// List is the open requests of a turn, oldest first. The zero List has none.
type List []*Ask

// Full reports whether one more would be too many.
func (l List) Full() bool { return len(l) >= Most }

// Withdraw takes out what the Agent no longer waits for, by its own id of it.
func (l *List) Withdraw(request string) []*Ask {
	var gone []*Ask
	*l = slices.DeleteFunc(*l, func(k *Ask) bool {
		if k.request != request {
			return false
		}
		gone = append(gone, k)
		return true
	})
	return gone
}

// Take takes out the request that a person answers. The error is PERMISSION_GONE when it is not open any more, and
// INVALID_REQUEST, with the request still open, for an option that the Agent does not offer; option "" refuses.
func (l *List) Take(id, option string) (*Ask, error) {
	at := slices.IndexFunc(*l, func(k *Ask) bool { return k.ID == id })
	if at < 0 {
		return nil, Gone()
	}
	k := (*l)[at]
	if option != "" && !slices.ContainsFunc(k.Options, func(o fyllo.PermissionOption) bool { return o.OptionID == option }) {
		return nil, fyllo.Errorf(fyllo.CodeInvalidRequest, "answer permission: the Agent does not offer the option %q", option)
	}
	*l = slices.Delete(*l, at, at+1)
	return k, nil
}

// Gone is the error PERMISSION_GONE.
func Gone() error {
	return fyllo.Errorf(fyllo.CodePermissionGone, "answer permission: it was answered already, or its turn has ended")
}
