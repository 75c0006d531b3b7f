// Package acp speaks the Agent Client Protocol v1 with one Agent process and turns it into the words of package
// fyllo. Nothing else knows ACP JSON.
//
// What it owns. A Conn owns the JSON-RPC connection, the table of ACP sessions with their sinks, and the last
// configuration snapshot of each. It owns no process and no turn.
//
// Order. All events of a session go to its sink in wire order, on the reader goroutine: updates, permission
// requests, the answer to a prompt after every update in front of it, and at the end Closed. What comes between
// the sending of session/new and its answer is kept and follows as soon as the answer has named the session
// (R-ACP-017); with load and resume the sink is in place before the request is sent. A sink must not call back into
// a method that waits for an answer.
//
// A snapshot of the configuration that comes in an answer is also delivered as UpdateConfig in its place.
//
// When full. A sink that blocks stops the reading, so the Agent has to wait. Nothing is dropped, but updates of
// sessions that nobody knows.
//
// When it fails. What cannot be decoded is left out as narrowly as possible: an item, a member, an update. Unknown
// updates are passed on as UpdateUnknown, unknown requests are refused. At the end of the stream everything that
// was read is delivered, then each outstanding prompt ends with the reason, then each session with Closed.
//
// Older Agents. The modes and models fields are folded into the configuration snapshot as select options
// (decision 19) and set by their own methods. A current_mode_update that names a value of the mode option arrives
// as UpdateConfig with the whole snapshot and Mode set, for old and new Agents alike; any other stays UpdateMode.
package acp
