package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
	"fyllocode.dev/fyllo/internal/stream"
)

// event is one event as a client reads it.
type event struct {
	Seq       uint64          `json:"seq"`
	SessionID string          `json:"sessionId"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
}

func (e event) text() string {
	var d fyllo.Delta
	_ = json.Unmarshal(e.Data, &d)
	return d.Text
}

// pageSocket is the client's end of a stream.
type pageSocket struct {
	*websocket.Conn
	t *testing.T
}

// connect opens the stream of the tab.
func (b *tab) connect(after uint64, run string) pageSocket {
	b.t.Helper()
	q := url.Values{"window": {string(b.id)}, "after": {strconv.FormatUint(after, 10)}, "run": {run}}
	p := b.dial(q, http.Header{"Cookie": {b.cookie}, "Origin": {b.url}, "Sec-Fetch-Site": {"same-origin"}})
	for !b.linked() { // the upgrade is answered a moment before the window counts as connected
		time.Sleep(time.Millisecond)
	}
	return p
}

// linked reports whether the tab's window has a socket, or does not exist.
func (b *tab) linked() bool {
	w, ok := b.windows.Lookup(b.id)
	return !ok || w.Linked
}

// upgraded is how the server answered to an upgrade.
type upgraded struct {
	status int
	header http.Header
}

// dialSocket opens a WebSocket under a Host of its own choice, "" meaning the right one.
func (r *rig) dialSocket(query string, h http.Header, host string) (*websocket.Conn, upgraded, error) {
	conn, resp, err := websocket.Dial(r.t.Context(), r.url+"/api/stream"+query,
		&websocket.DialOptions{HTTPClient: r.client, HTTPHeader: h, Host: host})
	if resp == nil {
		return conn, upgraded{}, err
	}
	if resp.Body != nil {
		resp.Body.Close()
	}
	return conn, upgraded{resp.StatusCode, resp.Header}, err
}

func (r *rig) dial(q url.Values, h http.Header) pageSocket {
	r.t.Helper()
	conn, _, err := r.dialSocket("?"+q.Encode(), h, "")
	if err != nil {
		r.t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	r.t.Cleanup(func() { conn.CloseNow() })
	return pageSocket{conn, r.t}
}

// read returns the events of one frame.
func (p pageSocket) read() ([]event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, data, err := p.Read(ctx)
	if err != nil {
		return nil, err
	}
	var events []event
	if err := json.Unmarshal(data, &events); err != nil {
		p.t.Errorf("frame %q: %v", data, err)
	}
	return events, nil
}

func (p pageSocket) mustRead() []event {
	p.t.Helper()
	events, err := p.read()
	if err != nil {
		p.t.Fatal(err)
	}
	return events
}

// ended returns the code the socket was closed with.
func (p pageSocket) ended() websocket.StatusCode {
	p.t.Helper()
	for {
		if _, err := p.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func delta(text string) fyllo.Event {
	return fyllo.Event{Workspace: "ws-a", SessionID: "session-a", Type: fyllo.EventDelta,
		Data: fyllo.Delta{MessageID: "m", PartID: "m.0", Kind: fyllo.PartText, Text: text}}
}

func TestStreamBeginsWhereTheWindowRegistered(t *testing.T) {
	r := start(t)
	r.Feed.Publish(delta("before"))
	b, c := r.open("ws-a")
	r.Feed.Publish(delta("after"))
	r.Feed.Publish(fyllo.Event{Workspace: "ws-b", Type: fyllo.EventFocus})
	p := b.connect(c.Seq, c.Run)
	e := p.mustRead()
	if len(e) != 1 || e[0].Seq != c.Seq+1 || e[0].SessionID != "session-a" || e[0].Type != "delta" || e[0].text() != "after" {
		t.Fatalf("first frame %+v", e)
	}
	r.Feed.Publish(fyllo.Event{Type: fyllo.EventAgents, Data: fyllo.AgentsEvent{}})
	e = p.mustRead()
	if e[0].Seq != c.Seq+2 || e[0].SessionID != "" || string(e[0].Data) != `{"agents":[]}` {
		t.Fatalf("an event for every window: %+v", e)
	}
}

func TestStreamResets(t *testing.T) {
	r := startWith(t, stream.Options{KeepItems: 3, LagItems: 3})
	b, c := r.open("ws-a")
	for range 10 {
		r.Feed.Publish(delta("x"))
	}
	for _, x := range []struct {
		name  string
		after uint64
		run   string
	}{
		{"too old", 2, c.Run}, {"the future", 99, c.Run}, {"another run", 10, "other"}, {"no run", 10, ""},
		{"another Workspace", 10, r.Feed.RunOf("ws-b")},
	} {
		p := b.connect(x.after, x.run)
		e := p.mustRead()
		if len(e) != 1 || e[0].Type != "reset" || e[0].Seq != 10 || string(e[0].Data) != "{}" {
			t.Errorf("%s: %+v, want a reset at 10", x.name, e)
		}
		p.Close(websocket.StatusNormalClosure, "")
	}
	p := b.connect(8, c.Run)
	if e := p.mustRead(); e[0].Type != "delta" || e[0].Seq != 10 || e[0].text() != "xx" {
		t.Errorf("resumed with %+v", e)
	}
}

func TestCommandFollowsTheWorkspaceItNames(t *testing.T) {
	r := start(t)
	r.Feed.Publish(delta("before"))
	dial := func(query string) (*websocket.Conn, http.Header) {
		conn, answer, err := r.dialSocket(query, http.Header{"Authorization": {"Bearer " + bearerToken}, "X-Fyllo-Workspace": {"ws-a"}}, "")
		if err != nil {
			t.Fatal(err)
		}
		return conn, answer.header
	}
	conn, header := dial("")
	r.Feed.Publish(delta("now"))
	p := pageSocket{conn, t}
	if e := p.mustRead(); e[0].Seq != 2 || e[0].text() != "now" {
		t.Errorf("first frame %+v", e)
	}
	if header.Get("X-Fyllo-Seq") != "1" {
		t.Errorf("X-Fyllo-Seq = %q, want 1", header.Get("X-Fyllo-Seq"))
	}
	conn.CloseNow()
	conn, _ = dial("?after=1&run=" + header.Get("X-Fyllo-Run"))
	defer conn.CloseNow()
	if e := (pageSocket{conn, t}).mustRead(); e[0].Seq != 2 || e[0].text() != "now" {
		t.Errorf("resumed with %+v", e)
	}
}

func TestCloseCodesTellWhatToDo(t *testing.T) {
	r := start(t)
	b, c := r.open("ws-a")
	p := b.connect(c.Seq, c.Run)
	if code := b.connect(c.Seq, c.Run).ended(); code != windows.CloseInUse {
		t.Errorf("a second socket: %d", code)
	}
	stranger := *b
	stranger.id = "window-x"
	if code := stranger.connect(0, "").ended(); code != windows.CloseUnknown {
		t.Errorf("an unknown window: %d", code)
	}
	other, _ := r.signIn("", "")
	if x := other.register(registration{Path: "/chat/session-a"}); x.Conflict == nil || x.Conflict.WorkspaceID != "ws-a" {
		t.Fatalf("a second tab got %+v", x)
	}
	g := other.send("POST", "/api/windows/claim", "")
	if g.StatusCode != http.StatusOK || !strings.Contains(g.body, `"workspaceId":"ws-a"`) {
		t.Fatalf("claim: %d %s", g.StatusCode, g.body)
	}
	if code := p.ended(); code != windows.CloseMoved {
		t.Errorf("the window that lost its Workspace: %d", code)
	}
	if x := b.register(registration{WindowID: b.id, Path: "/chat"}); x.Role != roleLauncher || x.Conflict == nil {
		t.Errorf("it registered as %+v", x)
	}
	x := b.register(registration{WindowID: b.id})
	p = b.connect(x.Seq, x.Run)
	if err := r.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if code := p.ended(); code != websocket.StatusGoingAway {
		t.Errorf("at shutdown: %d", code)
	}
}

// A window that loses its socket at any moment, and resumes after the last event it saw, gets the whole text in
// order, or a reset that says from where it has it.
func TestAnyDisconnectPatternKeepsTheTextWhole(t *testing.T) {
	r := startWith(t, stream.Options{KeepItems: 40, LagItems: 5000})
	b, c := r.open("ws-a")
	rapid.Check(t, func(t *rapid.T) {
		seq := r.Feed.Seq("ws-a")
		var sent []string // the text of each event after seq
		first, want, have := seq, strings.Builder{}, strings.Builder{}
		after := seq
		for range rapid.IntRange(1, 5).Draw(t, "connections") {
			p := b.connect(after, c.Run)
			for range rapid.IntRange(0, 60).Draw(t, "events") {
				text := strconv.Itoa(len(sent)) + ","
				sent = append(sent, text)
				r.Feed.Publish(delta(text))
			}
			frames := rapid.IntRange(0, 3).Draw(t, "frames")
			for i := 0; i < frames && after < r.Feed.Seq("ws-a"); i++ {
				for _, e := range p.mustRead() {
					if e.Type == "reset" {
						have.Reset()
						want.Reset()
						after, first = e.Seq, e.Seq
						continue
					}
					if e.Seq <= after {
						t.Fatalf("event %d after %d", e.Seq, after)
					}
					for n := after; n < e.Seq; n++ {
						want.WriteString(sent[n-seq])
					}
					have.WriteString(e.text())
					after = e.Seq
				}
				if have.String() != want.String() {
					t.Fatalf("from %d to %d: %q, want %q", first, after, have.String(), want.String())
				}
			}
			p.CloseNow()
			for b.linked() { // on a busy machine Core may take longer to notice than it lets the next socket wait
				time.Sleep(time.Millisecond)
			}
		}
	})
}

func TestFloodArrivesComplete(t *testing.T) {
	const chunks = 100_000
	r := start(t)
	b, c := r.open("ws-a")
	p := b.connect(c.Seq, c.Run)
	done := make(chan struct{})
	go func() { // ends with the last chunk
		defer close(done)
		for i := range chunks {
			r.Feed.Publish(delta(fmt.Sprintf("%023d,", i)))
		}
	}()
	var have strings.Builder
	after := c.Seq
	frames := 0
	for after < c.Seq+chunks {
		for _, e := range p.mustRead() {
			if e.Type != "delta" || e.Seq <= after {
				t.Fatalf("event %d %s after %d", e.Seq, e.Type, after)
			}
			after = e.Seq
			have.WriteString(e.text())
		}
		frames++
	}
	<-done
	if have.Len() != 24*chunks {
		t.Fatalf("%d bytes arrived, want %d", have.Len(), 24*chunks)
	}
	for i, part := range strings.Split(strings.TrimSuffix(have.String(), ","), ",") {
		if part != fmt.Sprintf("%023d", i) {
			t.Fatalf("chunk %d is %q", i, part)
		}
	}
	t.Logf("%d chunks in %d frames", chunks, frames)
}

// A page pays for every frame, so what follows quickly is gathered, whatever the rate of the Agent.
func TestWindowGetsAFrameNowAndThen(t *testing.T) {
	r := start(t)
	b, c := r.open("ws-a")
	p := b.connect(c.Seq, c.Run)
	const n = 150
	begin, frames, have := time.Now(), 0, ""
	go func() { // ends with the last event
		for i := range n {
			r.Feed.Publish(delta(strconv.Itoa(i) + ","))
			time.Sleep(time.Millisecond)
		}
	}()
	for strings.Count(have, ",") < n {
		for _, e := range p.mustRead() {
			have += e.text()
		}
		frames++
	}
	// What comes while a frame is being written follows in one more.
	if most := 2 * (int(time.Since(begin)/framePause) + 1); frames > most {
		t.Errorf("%d events came in %d frames, want %d at most", n, frames, most)
	}
	for i, text := range strings.Split(strings.TrimSuffix(have, ","), ",") {
		if text != strconv.Itoa(i) {
			t.Fatalf("event %d is %q", i, text)
		}
	}
}

// A window that does not read holds up nobody, is cut, and is told to start over when it comes back.
func TestSlowWindowIsCut(t *testing.T) {
	r := startWith(t, stream.Options{KeepItems: 10, KeepBytes: 1 << 20, LagItems: 50, LagBytes: 64 << 20})
	b, c := r.open("ws-a")
	p := b.connect(c.Seq, c.Run)
	other, oc := r.open("ws-b")
	q := other.connect(oc.Seq, oc.Run)
	big := strings.Repeat("x", 1<<20) // more than the sockets' buffers hold
	for range 200 {
		r.Feed.Publish(delta(big))
	}
	r.Feed.Publish(fyllo.Event{Workspace: "ws-b", Type: fyllo.EventFocus})
	if e := q.mustRead(); e[0].Type != "focus" {
		t.Errorf("another window got %+v", e)
	}
	seen := c.Seq
	for {
		events, err := p.read()
		if err != nil {
			if websocket.CloseStatus(err) != closeSlow {
				t.Errorf("ended by %v, want code %d", err, closeSlow)
			}
			break
		}
		seen = events[len(events)-1].Seq
	}
	x := b.register(registration{WindowID: b.id})
	if x.WindowID != c.WindowID {
		t.Fatalf("the window came back as %s", x.WindowID)
	}
	if e := b.connect(seen, x.Run).mustRead(); e[0].Type != "reset" || e[0].Seq != 200 {
		t.Errorf("came back with %+v", e)
	}
}

func TestShutdownIsBoundedWithAWindowThatDoesNotRead(t *testing.T) {
	r := startWith(t, stream.Options{})
	b, c := r.open("ws-a")
	b.connect(c.Seq, c.Run)
	big := strings.Repeat("x", 1<<20)
	for range 20 {
		r.Feed.Publish(delta(big))
	}
	begun := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("Serve took %v to return", took)
	}
}

func BenchmarkPublishEncode(b *testing.B) {
	f := NewFeed(stream.Options{})
	reader, _ := f.Subscribe("ws-a", 0, f.RunOf("ws-a"))
	defer reader.Close()
	var buf []byte
	e := delta("24 bytes of some content")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.Publish(e)
		if i%32 == 31 {
			entries, err := reader.Take()
			if err != nil {
				b.Fatal(err)
			}
			if buf, err = wire.AppendFrame(buf[:0], entries); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestAddedLatencyAtAThousandEventsASecond(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	r := start(t)
	b, c := r.open("ws-a")
	p := b.connect(c.Seq, c.Run)
	const n = 1000
	go func() { // ends with the last event
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range n {
			<-tick.C
			r.Feed.Publish(delta(strconv.FormatInt(time.Now().UnixNano(), 10) + ","))
		}
	}()
	var took []time.Duration
	for len(took) < n {
		for _, e := range p.mustRead() {
			now := time.Now().UnixNano()
			for _, s := range strings.Split(strings.TrimSuffix(e.text(), ","), ",") {
				at, _ := strconv.ParseInt(s, 10, 64)
				took = append(took, time.Duration(now-at))
			}
		}
	}
	slices.Sort(took)
	t.Logf("p50 %v, p99 %v, max %v", took[n/2], took[n*99/100], took[n-1])
}
