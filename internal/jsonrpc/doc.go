// Package jsonrpc is one ordered JSON-RPC 2.0 connection over a byte stream, one message per line.
//
// What it owns. A Conn owns both ends of the stream and two goroutines. The reader frames lines and routes each
// message before it looks at the next one; the writer sends what callers have queued. Both end when the input ends,
// and Done is closed after that.
//
// Order. Notifications, requests and answers reach the Handler and the callbacks of Go on the reader goroutine, in
// the order of the wire. What an answer registers is therefore there when the next line is read. A handler must
// not wait for a later message: Call from inside a handler never returns.
//
// When full. A handler that blocks stops the reading, and so slows the peer; nothing is dropped and nothing is
// closed. The other direction never blocks callers: messages wait in a queue that is bounded in bytes, and when
// the bound is passed, or one write takes too long, the connection fails with ErrStuck.
//
// When it fails. A line that is not JSON-RPC is reported and skipped; so is one that is longer than the limit, of
// which no more than the limit is ever held. A panic in a handler is reported; if it came from a request that is
// still open, the peer gets -32603. At the end of the input everything that was read is delivered first, then open
// calls fail, in the order in which they were made.
//
// On shutdown. Close sends what is queued and ends the output; the peer is expected to end the input.
package jsonrpc
