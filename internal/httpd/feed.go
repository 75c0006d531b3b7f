package httpd

import (
	"fyllocode.dev/fyllo/internal/httpd/internal/feed"
	"fyllocode.dev/fyllo/internal/stream"
)

// Feed is where use cases publish events. It may be used from any goroutine, and before there is a Server.
type Feed = feed.Feed

// NewFeed returns a Feed; the zero Options are the usual ones.
func NewFeed(o stream.Options) *Feed { return feed.New(o) }
