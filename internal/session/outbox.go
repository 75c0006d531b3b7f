package session

import (
	"fyllocode.dev/fyllo"
)

// outbox gathers what one batch of Agent events writes and publishes: first all records with one write, then all
// events. Adjacent deltas of one part become one event, and a part that changes again before anybody saw it is
// published once.
type outbox struct {
	records []fyllo.TurnRecord
	events  []fyllo.Event
	pending *pendingDelta // the last event, while more text may join it
	parts   map[int]int   // part index → its event in events, since the last delta
}

// pendingDelta holds its text in Delta.Text while it is one chunk, and in text from the second on: a single huge
// chunk is not copied.
type pendingDelta struct {
	fyllo.Delta
	text []byte
}

func (o *outbox) record(r fyllo.TurnRecord) { o.records = append(o.records, r) }

func (o *outbox) event(e fyllo.Event) {
	o.seal()
	o.events = append(o.events, e)
}

// delta appends text to a part.
func (o *outbox) delta(w fyllo.WorkspaceID, s fyllo.SessionID, d fyllo.Delta) {
	if p := o.pending; p != nil && p.PartID == d.PartID {
		if p.text == nil {
			p.text = append(make([]byte, 0, 2*(len(p.Text)+len(d.Text))), p.Text...)
		}
		p.text = append(p.text, d.Text...)
		return
	}
	o.seal()
	clear(o.parts)
	o.pending = &pendingDelta{Delta: d}
	o.events = append(o.events, fyllo.Event{Workspace: w, SessionID: s, Type: fyllo.EventDelta})
}

// part publishes a part as it is at the end of the batch.
func (o *outbox) part(w fyllo.WorkspaceID, s fyllo.SessionID, p fyllo.PartEvent) {
	e := fyllo.Event{Workspace: w, SessionID: s, Type: fyllo.EventPart, Data: p}
	if at, ok := o.parts[p.Index]; ok {
		o.events[at] = e
		return
	}
	o.event(e)
	if o.parts == nil {
		o.parts = make(map[int]int)
	}
	o.parts[p.Index] = len(o.events) - 1
}

// seal fixes the text of the pending delta.
func (o *outbox) seal() {
	if o.pending == nil {
		return
	}
	d := o.pending.Delta
	if o.pending.text != nil {
		d.Text = string(o.pending.text)
	}
	o.events[len(o.events)-1].Data = d
	o.pending = nil
}

// write appends the records to the log of the turn they belong to: the running one, else the late one.
func (o *outbox) write(running, late *turn) error {
	records := o.records
	o.records = o.records[:0]
	if len(records) == 0 {
		return nil
	}
	t := running
	if t == nil || t.log == nil {
		t = late
	}
	if t == nil || t.log == nil {
		return nil // the log is gone with its turn, whose message is stored
	}
	err := t.log.Append(records)
	clear(records) // free the lines
	return err
}

// publish sends the events in order.
func (o *outbox) publish(p Publisher) {
	o.seal()
	for _, e := range o.events {
		p.Publish(e)
	}
	clear(o.events)
	o.events = o.events[:0]
	clear(o.parts)
}
