// Command history writes one long Session into a data root, for tests and measurements that need a conversation
// nobody has the time to hold. It writes through records, so what it makes is what Core makes; no Core may run on the
// root. The same flags give the same messages.
//
//	history -root DIR -project DIR -messages 10000
//
// With -copies it writes many of them, for a long list. It prints {"workspaceId", "sessionId", "messages"} as one line of JSON. More Sessions come from more calls with other
// ids.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/records"
	"fyllocode.dev/fyllo/internal/workspace"
)

// options say what Session to write.
type options struct {
	root, project string
	session       fyllo.SessionID
	title         string
	agent         fyllo.AgentID
	copies        int // Sessions to write
	plan          plan
}

// written is what the program prints.
type written struct {
	WorkspaceID fyllo.WorkspaceID `json:"workspaceId"`
	SessionID   fyllo.SessionID   `json:"sessionId"`
	Messages    int               `json:"messages"`
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "", "data root; made when it does not exist")
	flag.StringVar(&o.project, "project", "", "directory of the Project that the Session belongs to")
	flag.StringVar((*string)(&o.session), "session", "session-history", "id of the Session")
	flag.StringVar(&o.title, "name", "A long history", "title of the Session")
	flag.StringVar((*string)(&o.agent), "agent", string(fyllo.TourAgent), "id of its Agent")
	flag.IntVar(&o.copies, "copies", 1, "how many such Sessions to write; more than one have numbers behind id and title, from the oldest on")
	flag.IntVar(&o.plan.messages, "messages", 10_000, "how many messages; questions and answers take turns")
	flag.Uint64Var(&o.plan.seed, "seed", 1, "another seed gives other texts")
	flag.IntVar(&o.plan.tools, "tools", 0, "calls that the last answer also has")
	flag.IntVar(&o.plan.diff, "diff", 0, "lines of a file that a call of the last answer also rewrites")
	flag.IntVar(&o.plan.output, "output", 0, "lines that a call of the last answer also prints")
	flag.IntVar(&o.plan.markdown, "markdown", 0, "bytes of Markdown that the last answer also has")
	flag.Parse()
	done, err := write(o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(done)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// write makes the Session and its Workspace.
func write(o options) (written, error) {
	if o.root == "" || o.project == "" || o.plan.messages < 1 {
		return written{}, fmt.Errorf("-root, -project and at least one message are needed")
	}
	quiet := slog.New(slog.DiscardHandler)
	store, err := records.Open(o.root, quiet)
	if err != nil {
		return written{}, err
	}
	registry, err := workspace.New(store, time.Now)
	if err != nil {
		return written{}, err
	}
	space, err := registry.Open([]string{o.project})
	if err != nil {
		return written{}, err
	}
	scope, err := registry.Scope(space.ID)
	if err != nil {
		return written{}, err
	}
	// records syncs each message; where syncing costs nothing, ten thousand take a moment.
	quick, err := os.MkdirTemp(memory(), "fyllo-history-")
	if err != nil {
		return written{}, err
	}
	defer func() { _ = os.RemoveAll(quick) }()
	if store, err = records.Open(quick, quiet); err != nil {
		return written{}, err
	}
	for i := range max(o.copies, 1) {
		one := o
		if o.copies > 1 {
			one.session, one.title = fyllo.SessionID(fmt.Sprintf("%s-%05d", o.session, i)), fmt.Sprintf("%s %d", o.title, i)
			one.plan.begin = time.Duration(i) * time.Minute
		}
		if err := fill(store, &scope, one); err != nil {
			return written{}, err
		}
	}
	if err := graft(filepath.Join(quick, "workspaces"), filepath.Join(o.root, "workspaces")); err != nil {
		return written{}, err
	}
	return written{WorkspaceID: space.ID, SessionID: o.session, Messages: o.plan.messages}, nil
}

// fill writes all messages of the Session.
func fill(store *records.Store, scope *fyllo.Scope, o options) error {
	meta := fyllo.SessionMeta{
		SessionID: o.session, AgentID: o.agent, AgentName: string(o.agent), Mode: fyllo.ModeNative, Title: o.title,
		TurnCount: o.plan.messages / 2, PermissionPolicy: fyllo.PolicyAsk, Scope: scope,
		CreatedAt: o.plan.at(0), UpdatedAt: o.plan.at(o.plan.messages),
	}
	if _, err := store.CreateSession(scope.WorkspaceID, meta, o.plan.message(0)); err != nil {
		return err
	}
	for i := 1; i < o.plan.messages; i++ {
		if _, err := store.AppendMessage(scope.WorkspaceID, o.session, o.plan.message(i)); err != nil {
			return err
		}
	}
	return nil
}

// memory is a directory without a disk, "" where there is none.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// graft copies a tree into another one, with the modes that Core gives its files.
func graft(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
}
