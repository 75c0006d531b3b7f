// Package batch gathers what the owner of a Session writes and publishes, in groups: the more comes at once, the larger they are.
package batch

import (
	"fyllocode.dev/fyllo"
)

// Outbox gathers what one batch of Agent events writes and publishes: first all records with one write, then all
// events. Adjacent deltas of one part become one event, and a part that changes again before anybody saw it is
// published once for each status.
type Outbox struct {
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

// Record queues a record of the turn log.
func (o *Outbox) Record(r fyllo.TurnRecord) { o.records = append(o.records, r) }

// Event queues an event.
func (o *Outbox) Event(e fyllo.Event) {
	o.seal()
	o.events = append(o.events, e)
}

// Delta appends text to a part.
func (o *Outbox) Delta(w fyllo.WorkspaceID, s fyllo.SessionID, d fyllo.Delta) {
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

// Part publishes a part as it is at the end of the batch.
func (o *Outbox) Part(w fyllo.WorkspaceID, s fyllo.SessionID, p fyllo.PartEvent) {
	e := fyllo.Event{Workspace: w, SessionID: s, Type: fyllo.EventPart, Data: p}
	if at, ok := o.parts[p.Index]; ok && sameStatus(o.events[at], &p.Part) {
		o.events[at] = e
		return
	}
	o.Event(e)
	if o.parts == nil {
		o.parts = make(map[int]int)
	}
	o.parts[p.Index] = len(o.events) - 1
}

// sameStatus reports whether a queued part has the status of its next version: every change of status is told
// (R-CLI-007).
func sameStatus(queued fyllo.Event, next *fyllo.Part) bool {
	before, ok := queued.Data.(fyllo.PartEvent)
	return ok && (next.Tool == nil || before.Part.Tool == nil || before.Part.Tool.Status == next.Tool.Status)
}

// seal fixes the text of the pending delta.
func (o *Outbox) seal() {
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

// Write hands the records to write, if there are any, and forgets them.
func (o *Outbox) Write(write func([]fyllo.TurnRecord) error) error {
	records := o.records
	o.records = o.records[:0]
	if len(records) == 0 {
		return nil
	}
	err := write(records)
	clear(records) // free the lines
	return err
}

// Publish sends the events in order.
func (o *Outbox) Publish(publish func(fyllo.Event)) {
	o.seal()
	for _, e := range o.events {
		publish(e)
	}
	clear(o.events)
	o.events = o.events[:0]
	clear(o.parts)
}
