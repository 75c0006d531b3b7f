package spawn_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/turns"
)

// memory is a Store in memory that watches that no record takes a step that it may not (R-SPAWN §9).
type memory struct {
	mu     sync.Mutex
	fenced map[fyllo.SpawnOwner]bool
	closed bool
	bad    string

	metas   map[memKey][]byte
	records map[memKey]map[string][]byte // by turn
	answers map[memKey]map[string][]byte
	said    map[memKey][]fyllo.Message
	logs    map[memKey]memLines
}

type memKey struct {
	o  fyllo.SpawnOwner
	id fyllo.SessionID
}

type memLines struct {
	header fyllo.TurnHeader
	lines  []fyllo.TurnRecord
}

func newMemory() *memory {
	return &memory{
		fenced: map[fyllo.SpawnOwner]bool{}, metas: map[memKey][]byte{}, records: map[memKey]map[string][]byte{},
		answers: map[memKey]map[string][]byte{}, said: map[memKey][]fyllo.Message{}, logs: map[memKey]memLines{},
	}
}

// copied is the memory as a machine that stops now would leave it.
func (m *memory) copied() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := newMemory()
	n.bad = m.bad
	maps.Copy(n.metas, m.metas)
	for k, v := range m.records {
		n.records[k] = maps.Clone(v)
	}
	for k, v := range m.answers {
		n.answers[k] = maps.Clone(v)
	}
	for k, v := range m.said {
		n.said[k] = slices.Clone(v)
	}
	for k, v := range m.logs {
		n.logs[k] = memLines{v.header, slices.Clone(v.lines)}
	}
	return n
}

// reopened is the memory for the next life of Core.
func (m *memory) reopened() *memory { return m.copied() }

func (m *memory) drop(o fyllo.SpawnOwner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.metas {
		if k.o == o {
			m.erase(k)
		}
	}
}

func (m *memory) erase(k memKey) {
	delete(m.metas, k)
	delete(m.records, k)
	delete(m.answers, k)
	delete(m.said, k)
	delete(m.logs, k)
}

func (m *memory) illegal() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bad
}

func (m *memory) live(k memKey) bool {
	all, _ := m.Turns(k.o, k.id)
	return slices.ContainsFunc(all, func(t fyllo.SpawnTurn) bool { return !t.Phase.Final() })
}

func (m *memory) notifications(k memKey) (n int) {
	all, _ := m.Turns(k.o, k.id)
	for _, t := range all {
		if t.Notification != nil {
			n++
		}
	}
	return n
}

func (m *memory) responses(k memKey) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.answers[k])
}

func decoded[T any](b []byte) (v T) {
	if err := json.Unmarshal(b, &v); err != nil {
		panic(err)
	}
	return v
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func absent() error { return fyllo.Errorf(fyllo.CodeNotFound, "no such record") }

// writing locks for a write of an owner's records; a fence refuses it.
func (m *memory) writing(o fyllo.SpawnOwner, f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.fenced[o] {
		return fyllo.Errorf(fyllo.CodeStorageFailed, "fenced")
	}
	f()
	return nil
}

func (m *memory) Parents(fyllo.WorkspaceID) ([]fyllo.SessionID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[fyllo.SessionID]bool{}
	for k := range m.metas {
		seen[k.o.Parent] = true
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

func (m *memory) List(o fyllo.SpawnOwner) (all []fyllo.SpawnMeta, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, b := range m.metas {
		if k.o == o {
			all = append(all, decoded[fyllo.SpawnMeta](b))
		}
	}
	return all, nil
}

func (m *memory) Meta(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnMeta, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.metas[memKey{o, id}]
	if !ok {
		return fyllo.SpawnMeta{}, absent()
	}
	return decoded[fyllo.SpawnMeta](b), nil
}

func (m *memory) PutMeta(o fyllo.SpawnOwner, meta fyllo.SpawnMeta) error {
	return m.writing(o, func() {
		k := memKey{o, meta.SessionID}
		if b, ok := m.metas[k]; ok {
			was := decoded[fyllo.SpawnMeta](b).Status
			if (was == fyllo.SpawnFailed || was == fyllo.SpawnIsExpired || was == fyllo.SpawnIsInterrupted) && meta.Status != was {
				m.bad = fmt.Sprintf("Session %s went from %s to %s", meta.SessionID, was, meta.Status)
			}
		}
		m.metas[k] = encoded(meta)
	})
}

func (m *memory) Remove(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return m.writing(o, func() { m.erase(memKey{o, id}) })
}

func (m *memory) Turns(o fyllo.SpawnOwner, id fyllo.SessionID) (all []fyllo.SpawnTurn, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.records[memKey{o, id}] {
		all = append(all, decoded[fyllo.SpawnTurn](b))
	}
	slices.SortFunc(all, func(a, b fyllo.SpawnTurn) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return all, nil
}

func (m *memory) PutTurn(o fyllo.SpawnOwner, id fyllo.SessionID, t fyllo.SpawnTurn) error {
	return m.writing(o, func() {
		k := memKey{o, id}
		if m.records[k] == nil {
			m.records[k] = map[string][]byte{}
		}
		order := map[fyllo.SpawnPhase]int{fyllo.SpawnStarting: 1, fyllo.SpawnRunning: 2, fyllo.SpawnCancelling: 3}
		if b, ok := m.records[k][t.TurnID]; ok {
			was := decoded[fyllo.SpawnTurn](b)
			switch {
			case was.Phase.Final() && was.Phase != t.Phase, !t.Phase.Final() && order[t.Phase] < order[was.Phase]:
				m.bad = fmt.Sprintf("turn %s went from %s to %s", t.TurnID, was.Phase, t.Phase)
			case was.Phase == fyllo.SpawnCancelling && (t.CancelReason != was.CancelReason || t.Phase == fyllo.SpawnCompleted):
				m.bad = fmt.Sprintf("turn %s forgot why it was cancelled: %s, %s", t.TurnID, was.CancelReason, t.Phase)
			}
		} else if t.Phase != fyllo.SpawnStarting {
			m.bad = fmt.Sprintf("turn %s began as %s", t.TurnID, t.Phase)
		}
		if _, there := m.answers[k][t.ResponseID]; t.Phase == fyllo.SpawnCompleted && !there {
			m.bad = fmt.Sprintf("turn %s is completed and cannot be read", t.TurnID)
		}
		m.records[k][t.TurnID] = encoded(t)
	})
}

func (m *memory) PutResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, from io.Reader) error {
	b, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return m.writing(o, func() {
		k := memKey{o, id}
		if m.answers[k] == nil {
			m.answers[k] = map[string][]byte{}
		}
		m.answers[k][response] = b
	})
}

func (m *memory) ReadResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, at int64, limit int) ([]byte, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.answers[memKey{o, id}][response]
	if !ok {
		return nil, 0, absent()
	}
	size := int64(len(b))
	return b[min(at, size):min(at+int64(limit), size)], size, nil
}

func (m *memory) AppendMessage(o fyllo.SpawnOwner, id fyllo.SessionID, msg fyllo.Message) (fyllo.Message, error) {
	return msg, m.writing(o, func() { m.said[memKey{o, id}] = append(m.said[memKey{o, id}], msg) })
}

func (m *memory) Messages(o fyllo.SpawnOwner, id fyllo.SessionID, _ string, _ int) (fyllo.MessagePage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fyllo.MessagePage{Messages: slices.Clone(m.said[memKey{o, id}])}, nil
}

func (m *memory) Message(o fyllo.SpawnOwner, id fyllo.SessionID, message string) (fyllo.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range m.said[memKey{o, id}] {
		if msg.ID == message {
			return msg, nil
		}
	}
	return fyllo.Message{}, absent()
}

func (m *memory) Body(fyllo.SpawnOwner, fyllo.SessionID, fyllo.BodyRef) ([]byte, error) {
	return nil, absent() // messages here are whole
}

func (m *memory) BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error) {
	k := memKey{o, id}
	if err := m.writing(o, func() { m.logs[k] = memLines{header: h} }); err != nil {
		return nil, err
	}
	return memLog{m, k}, nil
}

func (m *memory) ReadTurn(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.TurnHeader, []fyllo.TurnRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.logs[memKey{o, id}]
	if !ok {
		return fyllo.TurnHeader{}, nil, absent()
	}
	return l.header, l.lines, nil
}

func (m *memory) DropTurn(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return m.writing(o, func() { delete(m.logs, memKey{o, id}) })
}

func (m *memory) Fence(o fyllo.SpawnOwner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fenced[o] = true
}

func (m *memory) FenceAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

type memLog struct {
	m *memory
	k memKey
}

func (l memLog) Append(recs []fyllo.TurnRecord) error {
	return l.m.writing(l.k.o, func() {
		log := l.m.logs[l.k]
		log.lines = append(log.lines, recs...)
		l.m.logs[l.k] = log
	})
}
func (l memLog) Sync() error   { return nil }
func (l memLog) Remove() error { return l.m.DropTurn(l.k.o, l.k.id) }
func (l memLog) Close() error  { return nil }
