// Package stream keeps ordered, numbered logs of events, one per topic, and lets readers follow them.
//
// Order and numbers. Each topic counts its items 1, 2, 3 … without gaps, in the order of the Publish calls. The
// run id is made once per Hub, so a reader that comes back can tell whether its position still means anything.
//
// Slow readers. Publish appends and returns; it never waits for a reader. A topic keeps its newest items for
// readers that come back (KeepItems, KeepBytes), and more than that, up to LagItems and LagBytes, for an attached
// reader that has not taken them yet. A reader that falls behind even that gets ErrTooSlow and has to subscribe
// again, which then tells it that items are missing. Nothing is ever left out silently.
//
// Memory. What falls out is released at once. Trim, called now and then, releases what is older than the call
// before it, so that a topic holds nothing while nothing happens.
//
// The package starts no goroutine and needs no shutdown.
package stream
