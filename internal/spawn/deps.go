// Package spawn hands work to other Agents on behalf of a Chat Session, its parent (R-SPAWN): it decides who may, keeps
// limits and states, drives the turns and makes their answers durable before anybody is told of them.
//
// A call of prompt_to_agent takes its steps in the order of R-SPAWN §6. Under one mutex it either gets a reservation or an
// answer; the reservation lasts until the turn is settled. Preparation runs on the caller's goroutine. From the turn's
// record on, a child's own goroutine owns everything about it: the Agent's events in wire order, the fold, the log, the
// watch over silence, and settling. The first final event wins.
//
// A child lives in memory as long as its ACP session can be used. It is never resumed: after a restart, or when its Agent's
// process ends, it is expired, and what it answered stays readable.
package spawn

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/turns"
)

// Store keeps spawned Sessions below their parent. A call returns after what it promises is durable. The code NOT_FOUND
// means absent, damaged or somebody else's, and cannot be told apart.
type Store interface {
	Parents(w fyllo.WorkspaceID) ([]fyllo.SessionID, error)
	List(o fyllo.SpawnOwner) ([]fyllo.SpawnMeta, error)
	Meta(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.SpawnMeta, error)
	PutMeta(o fyllo.SpawnOwner, m fyllo.SpawnMeta) error // the first makes the Session exist
	Remove(o fyllo.SpawnOwner, id fyllo.SessionID) error
	Turns(o fyllo.SpawnOwner, id fyllo.SessionID) ([]fyllo.SpawnTurn, error) // by ordinal
	PutTurn(o fyllo.SpawnOwner, id fyllo.SessionID, t fyllo.SpawnTurn) error
	PutResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, from io.Reader) error
	ReadResponse(o fyllo.SpawnOwner, id fyllo.SessionID, response string, at int64, limit int) (b []byte, size int64, err error)
	AppendMessage(o fyllo.SpawnOwner, id fyllo.SessionID, m fyllo.Message) (fyllo.Message, error)
	Messages(o fyllo.SpawnOwner, id fyllo.SessionID, before string, limit int) (fyllo.MessagePage, error)
	Message(o fyllo.SpawnOwner, id fyllo.SessionID, message string) (fyllo.Message, error) // NOT_FOUND
	Body(o fyllo.SpawnOwner, id fyllo.SessionID, ref fyllo.BodyRef) ([]byte, error)
	BeginTurn(o fyllo.SpawnOwner, id fyllo.SessionID, h fyllo.TurnHeader) (turns.TurnLog, error)
	ReadTurn(o fyllo.SpawnOwner, id fyllo.SessionID) (fyllo.TurnHeader, []fyllo.TurnRecord, error)
	DropTurn(o fyllo.SpawnOwner, id fyllo.SessionID) error
	Fence(o fyllo.SpawnOwner) // from here every write of the owner fails
	FenceAll()
}

// Agents gives the catalogue and running Agents.
type Agents interface {
	List() []fyllo.Agent // in catalogue order, the Tour last
	Describe(id fyllo.AgentID) (fyllo.Agent, bool)
	Connect(ctx context.Context, id fyllo.AgentID) (Agent, error)
}

// Agent is one generation of an Agent's process. Sinks get all events of their ACP session in wire order; they may block,
// which stops the reading of this Agent.
type Agent interface {
	Generation() uint64
	Info() fyllo.AgentInfo
	Done() <-chan struct{}
	NewSession(ctx context.Context, p fyllo.SessionParams, sink func(fyllo.AgentEvent)) (fyllo.SessionOpened, error)
	// SetOption returns the newest snapshot, and whether the Agent told it completely.
	SetOption(ctx context.Context, id fyllo.ACPSessionID, option fyllo.ConfigOption, value fyllo.ConfigValue) (options []fyllo.ConfigOption, whole bool, err error)
	Prompt(id fyllo.ACPSessionID, token uint64, blocks []fyllo.PromptBlock) error
	Cancel(id fyllo.ACPSessionID) error
	CloseSession(ctx context.Context, id fyllo.ACPSessionID) error
	Forget(id fyllo.ACPSessionID)
}

// Parents are the Chat Sessions that spawn.
type Parents interface {
	// Scope returns the fixed scope of a parent, or CHAT_SESSION_NOT_FOUND.
	Scope(ctx context.Context, o fyllo.SpawnOwner) (fyllo.Scope, error)
	// Notify sends text to a parent's Agent as a hidden message of its own turn, when the parent is idle, and returns when
	// its answer is stored. claim is called right before the prompt goes out; sent reports whether it was. It returns early
	// when ctx ends.
	Notify(ctx context.Context, o fyllo.SpawnOwner, text string, claim func() error) (sent bool, err error)
}

// Workspaces checks that a scope still stands (R-SPAWN-080).
type Workspaces interface {
	CheckScope(s fyllo.Scope) error
	IDs() []fyllo.WorkspaceID
}

// Deps are the borders of an Engine. All fields but the durations are needed.
type Deps struct {
	Store      Store
	Agents     Agents
	Parents    Parents
	Workspaces Workspaces
	Decoder    turns.Decoder
	Log        *slog.Logger
	Changed    func(o fyllo.SpawnOwner, id fyllo.SessionID) // told what lists show differently now; must not wait; nil = nobody looks
	Grew       func(o fyllo.SpawnOwner, id fyllo.SessionID) // told whose running answer has grown, by Changed's rules

	Inactivity time.Duration // 0 = SpawnInactivity
	CancelTime time.Duration // 0 = SpawnCancelTime
	LateTime   time.Duration // how long content may follow an Agent's answer; 0 = 500 ms
}

// Engine owns all spawned Sessions. Its methods may be called from any goroutine; Serve must run.
type Engine struct {
	Deps
	life  context.Context //nolint:containedctx // the engine owns this lifetime: it ends with Serve
	end   context.CancelFunc
	ready chan struct{} // closed when what a dead Core left is settled
	work  sync.WaitGroup

	mu       sync.Mutex
	jobs     map[place]*job             // reservations
	busy     map[fyllo.SpawnOwner]int   // reservations of a parent
	children map[fyllo.SessionID]*child // that can be continued, or are about to begin
	fenced   map[fyllo.SpawnOwner]bool
	telling  map[fyllo.SpawnOwner]bool // parents whose notifications are being sent; true = look once more
	closed   bool
}

// New returns an Engine; nothing works before Serve has settled what a dead Core left.
func New(d Deps) *Engine {
	if d.Inactivity == 0 {
		d.Inactivity = fyllo.SpawnInactivity
	}
	if d.CancelTime == 0 {
		d.CancelTime = fyllo.SpawnCancelTime
	}
	if d.LateTime == 0 {
		d.LateTime = lateTime
	}
	e := &Engine{
		Deps: d, ready: make(chan struct{}), jobs: map[place]*job{}, busy: map[fyllo.SpawnOwner]int{},
		children: map[fyllo.SessionID]*child{}, fenced: map[fyllo.SpawnOwner]bool{},
		telling: map[fyllo.SpawnOwner]bool{},
	}
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Ready is closed when calls are answered (R-SPAWN-093).
func (e *Engine) Ready() <-chan struct{} { return e.ready }

// Serve settles what a dead Core left and then runs until ctx ends: new work is refused, running turns are recorded as
// interrupted, and the records are fenced (R-SPAWN-092). Agents must still run then.
func (e *Engine) Serve(ctx context.Context) error {
	for _, o := range e.reconcile() {
		e.wake(o)
	}
	close(e.ready)
	<-ctx.Done()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end() // every child settles and ends
	e.work.Wait()
	e.Store.FenceAll()
	return nil
}

// changed tells that a list of an owner shows something else about id.
func (e *Engine) changed(o fyllo.SpawnOwner, id fyllo.SessionID) {
	if e.Changed != nil {
		e.Changed(o, id)
	}
}

// Counts returns how many spawned turns run, over all Workspaces.
func (e *Engine) Counts() fyllo.SpawnedCounts {
	e.mu.Lock()
	defer e.mu.Unlock()
	return fyllo.SpawnedCounts{Running: len(e.jobs)}
}
