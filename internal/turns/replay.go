package turns

import (
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/transcript"
)

// Replay folds the records of a turn. A turn without an end was interrupted when its last record was written.
func Replay(d Decoder, h fyllo.TurnHeader, records []fyllo.TurnRecord) (*transcript.Live, fyllo.TurnEnd) {
	live := transcript.New(h.MessageID, h.Cwd, h.StartedAt)
	live.Of(h.ACPSessionID)
	last := h.StartedAt
	var end *fyllo.TurnEnd
	for _, r := range records {
		last = r.At
		switch {
		case r.End != nil:
			end = r.End
			live.End(*end)
		case r.Answer != nil:
			live.Answered(r.Answer.ToolCallID, *r.Answer, r.At)
		default:
			line(d, live, r)
		}
	}
	if end == nil {
		end = Interrupted(last)
		live.End(*end)
	}
	return live, *end
}

func line(d Decoder, live *transcript.Live, r fyllo.TurnRecord) {
	if u, ok := d.DecodeLine(r.Line); ok {
		live.Apply(&u, r.At)
		return
	}
	if ask, ok := d.DecodePermission(r.Line); ok {
		live.Ask(&ask, r.At)
	}
}

// Interrupted is the end of a turn that Core did not live to see.
func Interrupted(at time.Time) *fyllo.TurnEnd {
	return &fyllo.TurnEnd{At: at, Error: &fyllo.Failure{
		Code:    fyllo.CodeTurnInterrupted,
		Message: "the turn was interrupted: FylloCode stopped while it ran",
		Hint:    "Send a message to go on.",
	}}
}
