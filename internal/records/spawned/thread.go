package spawned

import (
	"io/fs"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
)

// AppendMessage stores a message of a spawned Session and returns its light form; with Rev > 0 it replaces the stored one.
func (s *Store) AppendMessage(o fyllo.SpawnOwner, id fyllo.SessionID, m fyllo.Message) (stored fyllo.Message, err error) {
	err = s.writing(o, id, func(view *records.Store, _ string) (err error) {
		stored, err = view.AppendMessage(o.Workspace, id, m)
		return err
	})
	return stored, err
}

// Messages returns messages of a spawned Session, as records.Store does.
func (s *Store) Messages(o fyllo.SpawnOwner, id fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error) {
	view, _, err := s.place(o, id)
	if err != nil {
		return fyllo.MessagePage{}, err
	}
	return view.Messages(o.Workspace, id, before, limit)
}

// Message returns one message of a spawned Session. Code NOT_FOUND.
func (s *Store) Message(o fyllo.SpawnOwner, id fyllo.SessionID, message string) (fyllo.Message, error) {
	view, _, err := s.place(o, id)
	if err != nil {
		return fyllo.Message{}, err
	}
	return view.Message(o.Workspace, id, message)
}

// Attachment opens a stored file of a spawned Session by its name. Code NOT_FOUND.
func (s *Store) Attachment(o fyllo.SpawnOwner, id fyllo.SessionID, name string) (fs.File, error) {
	view, _, err := s.place(o, id)
	if err != nil {
		return nil, err
	}
	return view.Attachment(o.Workspace, id, name)
}

// Body returns a long text of a stored message.
func (s *Store) Body(o fyllo.SpawnOwner, id fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error) {
	view, _, err := s.place(o, id)
	if err != nil {
		return nil, err
	}
	return view.Body(o.Workspace, id, ref)
}

// BeginTurn starts the log of a turn. Its appends go to an open file, which a deletion takes away under it.
func (s *Store) BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (log *records.TurnLog, err error) {
	err = s.writing(o, id, func(view *records.Store, _ string) (err error) {
		log, err = view.BeginTurn(o.Workspace, id, h)
		return err
	})
	return log, err
}

// ReadTurn returns what a dead Core left of a turn. Code NOT_FOUND when there is no log.
func (s *Store) ReadTurn(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.TurnHeader, []fyllo.TurnRecord, error) {
	view, _, err := s.place(o, id)
	if err != nil {
		return fyllo.TurnHeader{}, nil, err
	}
	return view.ReadTurn(o.Workspace, id)
}

// DropTurn removes the log of a turn whose message is stored.
func (s *Store) DropTurn(o fyllo.SpawnOwner, id fyllo.SessionID) error {
	return s.writing(o, id, func(view *records.Store, _ string) error { return view.DropTurn(o.Workspace, id) })
}
