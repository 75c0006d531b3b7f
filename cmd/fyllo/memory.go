package main

import (
	"os"
	"runtime/debug"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd"
)

const (
	// memoryLimit is where the collector begins to work harder, so that a flood stays within the budgets of
	// docs/architecture.md §9. It is no hard bound: one huge line may exceed it for a moment.
	memoryLimit = 56 << 20
	// restDelay is how long after a turn the memory that it needed goes back to the system.
	restDelay = 2 * time.Second
)

// limitMemory sets the limit unless the environment sets another.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// restingFeed is the Feed of the use cases. It gives memory back when turns have ended and none goes on.
type restingFeed struct {
	*httpd.Feed
	rest *time.Timer
}

func newRestingFeed(f *httpd.Feed) *restingFeed {
	rest := time.AfterFunc(time.Hour, debug.FreeOSMemory)
	rest.Stop()
	return &restingFeed{Feed: f, rest: rest}
}

// Publish publishes an event. A message is the last event of a turn: the stored answer.
func (f *restingFeed) Publish(e fyllo.Event) {
	f.Feed.Publish(e)
	if e.Type == fyllo.EventMessage || e.Type == fyllo.EventTurnEnd {
		f.rest.Reset(restDelay)
	}
}

// close ends the timer; Publish must not be called any more.
func (f *restingFeed) close() { f.rest.Stop() }
