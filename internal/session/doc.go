// Package session owns Chat Sessions: their turns, their live link to an Agent, their permission requests and
// their draft.
//
// One goroutine, the actor, owns a Session while anything about it is alive; everyone else sends it commands.
// Agent events reach it through a bounded mailbox in wire order; a full mailbox makes the Agent's reader wait,
// so nothing is dropped and no connection is closed. What an event changes is written to the turn log before it
// is published, so a window never shows what a crash could lose, except the group not yet synced.
//
// A turn belongs to the Session, never to the request that started it. On shutdown a running turn is stored as
// interrupted; after a crash the turn log is replayed through the same fold (R-CHAT-149).
package session
