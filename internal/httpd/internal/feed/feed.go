// Package feed numbers the events of use cases, per Workspace, for the windows that follow them.
package feed

import (
	"crypto/sha256"
	"encoding/hex"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/stream"
)

// launcherTopic is the log of windows without a Workspace. The slash keeps it apart from all ids.
const launcherTopic = "launcher/"

// Feed is where use cases publish events. It may be used from any goroutine, and before there is a Server.
type Feed struct {
	hub *stream.Hub
}

// New returns a Feed; the zero Options are the usual ones.
func New(o stream.Options) *Feed {
	f := &Feed{hub: stream.New(o)}
	f.hub.Seq(launcherTopic) // from now on it gets what goes to every window
	return f
}

// Publish appends an event to the log of its Workspace, or of every window when it names none. It never blocks on
// a window and keeps the order of its calls.
func (f *Feed) Publish(e fyllo.Event) {
	f.hub.Publish(string(e.Workspace), stream.Item{
		Type: string(e.Type), Session: string(e.SessionID), Data: e.Data, Size: sizeOf(e.Data),
	})
}

// Seq returns the number of the last event of a Workspace.
func (f *Feed) Seq(w fyllo.WorkspaceID) uint64 { return f.hub.Seq(topicOf(w)) }

// RunOf names the log of a Workspace for clients. It differs between Workspaces, so that a window that changes its
// Workspace cannot take its position along.
func (f *Feed) RunOf(w fyllo.WorkspaceID) string {
	sum := sha256.Sum256([]byte(topicOf(w)))
	return f.hub.Run() + "-" + hex.EncodeToString(sum[:4])
}

// Subscribe follows the log of a Workspace from after; run is what RunOf gave. See stream.Hub.Subscribe.
func (f *Feed) Subscribe(w fyllo.WorkspaceID, after uint64, run string) (*stream.Reader, bool) {
	hubRun := ""
	if run == f.RunOf(w) {
		hubRun = f.hub.Run()
	}
	return f.hub.Subscribe(topicOf(w), after, hubRun)
}

// Trim gives memory back that the logs do not need any more; call it now and then.
func (f *Feed) Trim() { f.hub.Trim() }

func topicOf(w fyllo.WorkspaceID) string {
	if w == "" {
		return launcherTopic
	}
	return string(w)
}
