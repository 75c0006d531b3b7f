// Package transcript folds what an Agent reports during one turn into the assistant message of that turn.
//
// A Live is the message of the turn in flight. Every Update goes through Apply in wire order; the answer says what
// changed, so that the caller can publish exactly that. The same code folds a turn that runs, a turn that is
// recovered from its journal, and a replay in a test; there is no second path, so the three cannot differ.
//
// Laws:
//   - Parts are only appended and never move; the place of a part is that of its first event (R-ACP-013).
//   - How text was cut into chunks leaves no trace in the message (R-ACP-007).
//   - An update that says nothing new changes nothing, including UpdatedAt (R-ACP-005).
//   - What Part and Message return is never changed afterwards; it may be handed to other goroutines.
//
// The package is pure: no I/O, no clock, no goroutine. A Live belongs to one goroutine.
package transcript
