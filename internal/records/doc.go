// Package records is the data root: where everything FylloCode knows lies on disk, and in which order it gets there.
//
// # Layout
//
// As in R-WS §10: workspaces/<wid>/meta.json, composer.json and sessions/; in sessions/ per Session <sid>.json (the
// metadata), <sid>.messages.jsonl (the transcript) and the directory <sid>/ with turn.jsonl (the turn in flight),
// bodies.jsonl (long texts of the transcript), attachments/ (pictures, sounds and files of it, one file each) and
// unsent.json (those files that wait to be sent); queue.json (messages that wait for the end of the turn);
// workspace-folders/<fid>/meta.json; settings.json; core.lock and core.token. Directories have mode 0700, files 0600
// (R-WS-136).
//
// # Promises
//
// A call that returns nil has made its change durable, except TurnLog.Append, which survives a crash of the process
// at once and one of the machine 250 ms later. A call that returns an error has changed nothing that a later reader
// would see, as far as the disk still allowed it to be undone.
//
// The file <sid>.json is what makes a Session exist. It is written last and removed first, so that a crash leaves at
// most remnants, which the first ScanSessions of a Workspace removes (R-CHAT-054). After DeleteSession every call for
// that Session fails with CHAT_SESSION_NOT_FOUND and recreates nothing (R-WS-134).
//
// A message is appended after its files and bodies, so a crash in between leaves files that no line names yet. They are
// left: the replay of the turn stores the same message, which names the same files, and nothing reads a file that no
// line names. What was only half written goes with the log of the turn (DropTurn).
//
// Reading is tolerant: an unreadable line or file is reported with its place and hides nothing else (R-WS-131, 132).
// Keys that this version does not know stay in metadata and settings.
//
// # Concurrency
//
// A Store may be used by any number of goroutines; changes of one Session are serialised. It must be the only writer
// of its root, which Lock ensures (R-WS-124). The only goroutines are those of TurnLogs, ended by Close or Remove,
// and those within ScanSessions and Messages, ended when the call returns.
package records
