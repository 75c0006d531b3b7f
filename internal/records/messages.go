package records

import (
	"errors"
	"os"
	"slices"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/document"
	"fyllocode.dev/fyllo/internal/records/internal/pages"
)

// AppendMessage stores a message and returns its light form, whose long bodies lie in bodies.jsonl and whose pictures
// and files lie in attachments/. With Rev > 0 it takes the place of the stored message of the same id (R-CHAT-161, 162).
func (s *Store) AppendMessage(w fyllo.WorkspaceID, id fyllo.SessionID, m fyllo.Message) (fyllo.Message, error) {
	p, err := s.place(w, id)
	if err != nil {
		return fyllo.Message{}, err
	}
	defer s.sessions.Lock(p.meta)()
	if err := p.mustExist(); err != nil {
		return fyllo.Message{}, err
	}
	light, err := s.storeMessage(p, m)
	if err != nil {
		return fyllo.Message{}, failed("store a message of", p.id, err)
	}
	if m.Rev > 0 {
		s.considerCompaction(p, light)
	}
	return light, nil
}

// storeMessage appends m to the transcript, its files and bodies first, all synced, and returns it in light form.
func (s *Store) storeMessage(p place, m fyllo.Message) (fyllo.Message, error) {
	if m.ID == "" {
		return fyllo.Message{}, errors.New("a message needs an id")
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i] = m.Parts[i].Detached()
	}
	if err := p.keepFiles(&m); err != nil {
		return fyllo.Message{}, err
	}
	if err := s.spill(p, &m); err != nil {
		return fyllo.Message{}, err
	}
	line, err := document.Marshal(&m)
	if err != nil {
		return fyllo.Message{}, err
	}
	if _, err := s.appendSynced(p.messages, append(line, '\n')); err != nil {
		return fyllo.Message{}, err
	}
	return m, nil
}

// Messages returns up to limit messages that stand before the cursor, in transcript order; cursor "" means the end of
// the transcript, limit 0 all of it. Lines that cannot be read are skipped and listed (R-WS-131). Cursors stay valid
// while messages are appended, replaced and compacted. Seq is left to the caller.
func (s *Store) Messages(w fyllo.WorkspaceID, id fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error) {
	p, err := s.existing(w, id)
	if err != nil {
		return fyllo.MessagePage{}, err
	}
	page, err := s.readPage(p, before, limit)
	if err != nil {
		return fyllo.MessagePage{}, failed("read messages of", p.id, err)
	}
	return page, nil
}

func (s *Store) readPage(p place, before string, limit int) (fyllo.MessagePage, error) {
	return pages.Read(p.messages, s.relative(p.messages), before, limit)
}

// considerCompaction rewrites the transcript when more than half of it is superseded. It looks only when the
// superseding lines of this run alone are that much, which is cheap to know. A failure leaves the file as it is.
func (s *Store) considerCompaction(p place, light fyllo.Message) {
	line, err := document.Marshal(&light)
	if err != nil {
		return // it was stored a moment ago
	}
	info, err := os.Stat(p.messages)
	if err != nil {
		return // the next reader reports it
	}
	s.mu.Lock()
	s.replaced[p.messages] += int64(len(line))
	due := s.replaced[p.messages] > info.Size()/2
	if due {
		delete(s.replaced, p.messages)
	}
	s.mu.Unlock()
	if due {
		if err := s.compact(p, info.Size()); err != nil {
			s.log.Warn("compact a transcript", "file", s.relative(p.messages), "err", err)
		}
	}
}

// compact replaces the transcript by one without superseded lines, atomically. It refuses while there are damaged
// lines, since those would be lost (R-WS-131).
func (s *Store) compact(p place, size int64) error {
	page, err := s.readPage(p, "", 0)
	if err != nil {
		return err
	}
	if len(page.Damage) > 0 {
		return fyllo.Errorf(fyllo.CodeStorageDamaged, "%d unreadable lines would be lost, the first at %d",
			len(page.Damage), page.Damage[0].Offset)
	}
	var whole []byte
	for _, m := range page.Messages {
		m.Rev = 0 // it stands in the place of the original now
		line, err := document.Marshal(&m)
		if err != nil {
			return err
		}
		whole = append(append(whole, line...), '\n')
	}
	if int64(len(whole)) >= size/2 {
		return nil
	}
	return atomicfile.Write(p.messages, whole, 0o600)
}
