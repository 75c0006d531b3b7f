package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/coreapi"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/follow"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// maxInput is how many bytes of standard input a message may have; Core takes no more.
const maxInput = 4 << 20

// checkPatience is how long a request with --config goes on that a signal meets. Core answers as soon as the Session
// exists, so one that takes longer has not begun: it waits for the Agent that is to check the values.
const checkPatience = time.Second

// cancelPatience is how long a cancelled turn may take to end; Core gives it up after 5 s (R-CHAT-052).
const cancelPatience = 6 * time.Second

type promptCmd struct {
	Agent   string        `placeholder:"ID" help:"Agent of the new Session. With --session it is optional and must match."`
	Dir     []string      `sep:"none" placeholder:"DIR" help:"Directory of the Workspace; may be repeated, the first is the primary. Default: the current directory."`
	Mode    string        `placeholder:"MODE" enum:"fyllocode,native," default:"" help:"fyllocode (default) or native: nothing is injected."`
	Session string        `placeholder:"ID" help:"Go on with this Session."`
	Config  []string      `sep:"none" placeholder:"ID=VALUE" help:"Set a configuration option before the prompt; may be repeated."`
	Allow   string        `placeholder:"HOW" enum:"ask,once,never," default:"" help:"Permission requests: ask, once (takes allow_once) or never. Default: ask on a terminal, else never."`
	Timeout time.Duration `placeholder:"DURATION" help:"Cancel the turn after this time, such as 90s or 10m."`
	Follow  *bool         `negatable:"" help:"Stay until nothing that the Session delegated runs and its Agent was told of every end. Default when the command runs Core itself."`
	JSON    bool          `help:"Print one JSON object per line."`
	Text    string        `arg:"" optional:"" help:"The message; absent or '-' means standard input."`
}

func (promptCmd) Help() string {
	return `Uses the Core that runs for the data root, else runs one inside the command.

Examples:

    fyllo prompt --agent claude-acp "Why does the build fail?"
    git diff | fyllo prompt --agent codex-acp --mode native --json -`
}

func (c *promptCmd) wantsJSON() bool { return c.JSON }

// Run runs one turn (R-CLI-006).
func (c *promptCmd) Run(ctx context.Context, a *app) error {
	changes, err := c.check(a)
	if err != nil {
		return err
	}
	text, err := c.message(ctx, a)
	if err != nil {
		return err
	}
	out := follow.Plain(a.stdout, a.stderr, a.getenv)
	if c.JSON {
		out = follow.JSON(a.stdout)
	}
	id := coreapi.NewRequestID() // one for all Cores that are tried: the message is sent once
	return a.withLink(ctx, func(l *link) error {
		r := &promptRun{cmd: c, app: a, out: out, id: id, text: text, changes: changes, client: l.client, follow: l.core != nil}
		if c.Follow != nil {
			r.follow = *c.Follow
		}
		return r.run(ctx)
	})
}

// check finds what is wrong with the flags and returns the configuration changes.
func (c *promptCmd) check(a *app) ([]fyllo.ConfigChange, error) {
	hint := "Run 'fyllo prompt --help' to see how it is used."
	if c.Session == "" && c.Agent == "" {
		return nil, usagef(hint, "usage: prompt needs --agent or --session")
	}
	if c.Timeout < 0 {
		return nil, usagef(hint, "usage: --timeout %s is negative", c.Timeout)
	}
	if c.Session != "" && len(c.Dir) > 0 {
		return nil, usagef(hint, "usage: --dir does not go with --session, which has its own directories")
	}
	var changes []fyllo.ConfigChange
	for _, setting := range c.Config {
		id, value, ok := strings.Cut(setting, "=")
		if !ok || id == "" {
			return nil, usagef(hint, "usage: --config %s is not of the form ID=VALUE", setting)
		}
		changes = append(changes, fyllo.ConfigChange{ID: id, Value: value})
	}
	if c.Allow == "" {
		c.Allow = allowNever
		if term.Is(a.stderr) && a.hasTTY() {
			c.Allow = allowAsk
		}
	}
	if c.Allow == allowAsk && !a.hasTTY() {
		return nil, usagef("Use --allow once or --allow never.", "usage: --allow ask needs a terminal")
	}
	return changes, nil
}

// message returns the text of the argument or of standard input.
func (c *promptCmd) message(ctx context.Context, a *app) (string, error) {
	text := c.Text
	if text == "" || text == "-" {
		var err error
		if text, err = readAll(ctx, a.stdin); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", fyllo.Errorf(fyllo.CodeEmptyMessage, "message: it has no text").
			WithHint("Give the text as an argument or on standard input.")
	}
	return text, nil
}

// readAll reads r to its end, or until ctx ends.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // ends with the input, or with the process
		text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
		done <- result{text, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return "", fmt.Errorf("standard input: %w", got.err)
		}
		if len(got.text) > maxInput {
			return "", fyllo.Errorf(fyllo.CodeTooLarge, "standard input: it has more than %d bytes", maxInput).
				WithHint("Put the text into a file of the Project and name it in the message.")
		}
		return string(got.text), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// promptRun is one run of the command.
type promptRun struct {
	cmd     *promptCmd
	app     *app
	out     follow.Printer
	id      string // of the request
	text    string
	changes []fyllo.ConfigChange
	follow  bool // also what is delegated
	client  *coreapi.Client
	feed    *coreapi.Feed   // of the turn, once it is sent
	session fyllo.SessionID // likewise
	restore fyllo.Policy    // the policy to give back to the Session, "" for none
}

// run sends the message and prints its turn. The error is the command's outcome.
func (r *promptRun) run(ctx context.Context) error {
	limit := ctx
	if r.cmd.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeoutCause(ctx, r.cmd.Timeout, r.timedOut())
		defer cancel()
	}
	t, err := r.send(limit)
	if err != nil {
		return r.cause(limit, err)
	}
	defer r.feed.Close()
	door, err := r.door()
	if err != nil {
		return err
	}
	defer door.close()
	t.AskAt(door)
	end, err := t.Follow(limit)
	if err != nil {
		end, err = r.cancel(limit, t, err)
	}
	if told := r.turnEnd(end, err); told != nil {
		err = told
	}
	if err == nil && r.follow {
		err = r.rest(limit, t)
	}
	r.giveBackPolicy(ctx)
	return r.finish(end, err)
}

// rest follows what the turn has delegated. Work in another Core goes on when the command is ended, but not the turn that it
// was printing.
func (r *promptRun) rest(limit context.Context, t *follow.Turn) error {
	telling, err := t.Rest(limit)
	if err == nil {
		return nil
	}
	if telling && (limit.Err() != nil || errors.Is(err, syscall.EPIPE)) {
		ctx, stop := context.WithTimeout(context.WithoutCancel(limit), cancelPatience)
		defer stop()
		_ = r.client.CancelTurn(ctx, r.session) // it may have ended
	}
	return r.cause(limit, err)
}

// turnEnd prints the end of the prompt's turn.
func (r *promptRun) turnEnd(end fyllo.TurnEnd, err error) error {
	if errors.Is(err, syscall.EPIPE) || end.StopReason == "" && end.Error == nil {
		return nil
	}
	return r.out.Print(follow.TurnEndLine{Type: "turn_end", Turn: "prompt", StopReason: end.StopReason, Error: end.Error})
}

func (r *promptRun) timedOut() error {
	return fyllo.Errorf(fyllo.CodeTurnTimeout, "prompt: the turn did not end within %s", r.cmd.Timeout)
}

// cause returns why limit ended if that is what err says, else err.
func (r *promptRun) cause(limit context.Context, err error) error {
	if limit.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(limit)
	}
	return err
}

// send submits the message and returns its turn, which the caller follows and whose feed run closes.
func (r *promptRun) send(ctx context.Context) (*follow.Turn, error) {
	if r.cmd.Session != "" {
		return r.resume(ctx)
	}
	opened, err := r.client.OpenDirs(ctx, orCurrent(r.cmd.Dir))
	if err != nil {
		return nil, err
	}
	r.client = r.client.In(opened.Workspace.ID)
	mode := fyllo.Mode(r.cmd.Mode)
	if mode == "" {
		mode = fyllo.ModeFyllo
	}
	return r.submit(ctx, func(ctx context.Context) (follow.SessionLine, string, error) {
		started, err := r.client.StartSession(ctx, fyllo.StartRequest{
			RequestID: r.id, AgentID: fyllo.AgentID(r.cmd.Agent), Mode: mode,
			Text: r.text, Config: r.changes,
			// Explicit: the preference for new Sessions must not answer for this command, and --allow not after it.
			Policy: fyllo.PolicyAsk,
		})
		return follow.SessionLine{
			Type: "session", SessionID: started.SessionID, WorkspaceID: opened.Workspace.ID,
			AgentID: fyllo.AgentID(r.cmd.Agent), Mode: mode,
		}, started.Message.ID, err
	})
}

// resume submits the message to an existing Session.
func (r *promptRun) resume(ctx context.Context) (*follow.Turn, error) {
	id := fyllo.SessionID(r.cmd.Session)
	if !id.Valid() {
		return nil, fyllo.Errorf(fyllo.CodeSessionNotFound, "session %s: that is no Session id", r.cmd.Session)
	}
	d, err := r.client.Detail(ctx, id)
	if err != nil {
		return nil, err
	}
	r.client = r.client.In(d.WorkspaceID)
	if d.PermissionPolicy == fyllo.PolicyAllowOnce && r.cmd.Allow != allowOnce {
		// What this command may allow is said on its command line. A crash leaves the careful setting.
		if err := r.client.SetPolicy(ctx, id, fyllo.PolicyAsk); err != nil {
			return nil, err
		}
		r.restore = fyllo.PolicyAllowOnce
	}
	limit := ctx
	t, err := r.submit(ctx, func(ctx context.Context) (follow.SessionLine, string, error) {
		m, err := r.prompt(ctx, limit, id)
		return follow.SessionLine{
			Type: "session", SessionID: id, WorkspaceID: d.WorkspaceID, AgentID: d.AgentID, Mode: d.Mode,
		}, m.ID, err
	})
	if err != nil {
		r.giveBackPolicyOf(ctx, id)
	}
	return t, err
}

// noticePatience is how long a message waits while the Agent is told about work that it delegated.
const (
	noticePatience = 2 * time.Minute
	noticePause    = 100 * time.Millisecond
)

// prompt sends the message. While the Agent is told that delegated work has ended, which no user began, it waits its turn: as
// long as noticePatience and limit allow (R-SPAWN-105). A turn of a user is SESSION_BUSY at once.
func (r *promptRun) prompt(ctx, limit context.Context, id fyllo.SessionID) (fyllo.Message, error) {
	deadline := time.Now().Add(noticePatience)
	for told := false; ; told = true {
		m, err := r.client.Prompt(ctx, id, fyllo.PromptRequest{
			RequestID: r.id, Text: r.text, Config: r.changes,
			AgentID: fyllo.AgentID(r.cmd.Agent), Mode: fyllo.Mode(r.cmd.Mode),
		})
		if fyllo.CodeOf(err) != fyllo.CodeSessionBusy || !beingTold(err) || time.Now().After(deadline) {
			return m, err
		}
		if !told {
			r.app.notice("waiting: the Agent is being told about work that it delegated")
		}
		if err := pause(limit, noticePause); err != nil {
			return fyllo.Message{}, err
		}
	}
}

// beingTold reports whether a Session is busy with a turn of Core's own.
func beingTold(err error) bool {
	e, ok := errors.AsType[*fyllo.Error](err)
	if !ok {
		return false
	}
	details, _ := e.Details.(map[string]any)
	return details["turn"] == "notification"
}

// submit opens the feed, sends, and prints the session line. Once Core has the request, the turn belongs to the
// Session: a signal does not take the request back, it cancels the turn that comes of it.
func (r *promptRun) submit(ctx context.Context, send func(context.Context) (follow.SessionLine, string, error)) (*follow.Turn, error) {
	feed, err := coreapi.OpenFeed(ctx, r.client)
	if err != nil {
		return nil, err
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	patience := cancelPatience
	if len(r.changes) > 0 {
		patience = checkPatience
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })()
	line, message, err := send(sending)
	if err == nil {
		feed.Keep(line.SessionID)
		err = r.out.Print(line)
		if err != nil {
			_ = r.client.CancelTurn(sending, line.SessionID)
		}
	}
	if err != nil {
		feed.Close()
		return nil, err
	}
	r.feed, r.session = feed, line.SessionID
	t := follow.New(r.client, feed, line.SessionID, message)
	t.PrintTo(r.out)
	return t, nil
}

// cancel cancels the turn after following it failed with err, and follows it to its end. The error returned is
// the reason, nil is not possible.
func (r *promptRun) cancel(limit context.Context, t *follow.Turn, err error) (fyllo.TurnEnd, error) {
	reason := r.cause(limit, err)
	if limit.Err() == nil && !errors.Is(err, syscall.EPIPE) {
		return fyllo.TurnEnd{}, reason // the connection, or the Session, is gone
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(limit), cancelPatience)
	defer stop()
	if errors.Is(err, syscall.EPIPE) {
		r.out = follow.Nothing
		t.PrintTo(r.out)
	}
	if err := r.client.CancelTurn(ctx, r.session); err != nil {
		return fyllo.TurnEnd{}, reason
	}
	end, followed := t.Follow(ctx)
	if errors.Is(followed, syscall.EPIPE) {
		reason = followed
	}
	return end, reason
}

// finish prints how it ended. err is nil only when the turn ended by itself.
func (r *promptRun) finish(end fyllo.TurnEnd, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return err
	}
	last := follow.EndLine{Type: "end", StopReason: end.StopReason, Error: end.Error}
	var outcome error
	switch {
	case errors.Is(err, context.Canceled):
		last = follow.EndLine{Type: "end", StopReason: follow.StopCancelled}
		outcome = &toldError{err}
	case err != nil:
		last = follow.EndLine{Type: "end", Error: failureOf(err)}
		outcome = &toldError{err}
	case end.Error != nil:
		outcome = &toldError{coreapi.ErrorOf(end.Error)}
	}
	if err := r.out.Print(last); err != nil {
		return err
	}
	return outcome
}

func (r *promptRun) giveBackPolicy(ctx context.Context) {
	if id := fyllo.SessionID(r.cmd.Session); id != "" {
		r.giveBackPolicyOf(ctx, id)
	}
}

func (r *promptRun) giveBackPolicyOf(ctx context.Context, id fyllo.SessionID) {
	if r.restore == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := r.client.SetPolicy(ctx, id, r.restore); err != nil {
		r.app.notice("session %s: its permission setting is now %q: %v", id, fyllo.PolicyAsk, err)
	}
	r.restore = ""
}

// orCurrent returns dirs, or the current directory when there are none.
func orCurrent(dirs []string) []string {
	if len(dirs) == 0 {
		return []string{"."}
	}
	return slices.Clone(dirs)
}
