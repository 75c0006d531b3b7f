// Package turns is what Chat Sessions and spawned ones share about a running turn: how an Agent's events reach the owner of
// a Session, the log that survives a crash, and the replay that makes an answer of it, by the same decoder and the same
// fold as when it came.
package turns

import "fyllocode.dev/fyllo"

// TurnLog is the append-only record of one running turn.
type TurnLog interface {
	Append(recs []fyllo.TurnRecord) error // survives a crash of Core at once, of the machine within 250 ms
	Sync() error
	Remove() error // closes and removes it
	Close() error  // closes it and leaves it for a replay
}

// Decoder reads lines of a turn log.
type Decoder interface {
	DecodeLine(line []byte) (fyllo.Update, bool)
	DecodePermission(line []byte) (fyllo.PermissionAsk, bool)
}
