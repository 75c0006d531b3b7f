package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a connection.
type peer struct {
	t   *testing.T
	in  *bufio.Reader // what the Conn writes
	out io.WriteCloser
	raw io.Closer // closes the peer's input
}

// dial connects a Conn with a peer by synchronous pipes. The connection is ended with the test.
func dial(t *testing.T, h Handler, o Options) (*Conn, *peer) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := New(inR, outW, h, o)
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		<-c.Done()
	})
	return c, &peer{t: t, in: bufio.NewReader(outR), out: inW, raw: outR}
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.out, l+"\n"); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *peer) read() string {
	p.t.Helper()
	l, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Error(err)
	}
	return strings.TrimSuffix(l, "\n")
}

// journal collects events in order.
type journal struct {
	mu     sync.Mutex
	events []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, fmt.Sprintf(format, args...))
}

func (j *journal) want(t *testing.T, want ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.events, want) {
		t.Errorf("events\n %q\nwant\n %q", j.events, want)
	}
}

func (j *journal) handler() Handler {
	return Handler{
		Notify:    func(m string, params, _ []byte) { j.add("notify %s %s", m, params) },
		Request:   func(r *Request) { j.add("request %s %s %s", r.ID, r.Method, r.Params); r.Reply("ok") },
		Cancel:    func(r *Request) { j.add("cancel %s", r.ID) },
		Noise:     func(line []byte) { j.add("noise %s", line) },
		Oversized: func(n int64) { j.add("oversized %d", n) },
		Panicked:  func(v any, _ []byte) { j.add("panic %v", v) },
		Ended:     func() { j.add("ended") },
	}
}

func TestEverythingArrivesInWireOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c, p := dial(t, j.handler(), Options{})
		go func() {
			if got := p.read(); got != `{"jsonrpc":"2.0","id":1,"method":"new","params":{"a":"<b>"}}` {
				t.Errorf("call %s", got)
			}
			p.send(
				`{"jsonrpc":"2.0","method":"u","params":{"n":1}}`,
				`{"jsonrpc":"2.0","id":0,"method":"ask","params":[2]}`,
				`{"jsonrpc":"2.0","id":1,"result":{"s":"x"}}`,
				`{"jsonrpc":"2.0","method":"u","params":{"n":3}}`,
			)
			if got := p.read(); got != `{"jsonrpc":"2.0","id":0,"result":"ok"}` {
				t.Errorf("answer %s", got)
			}
			_ = p.out.Close()
		}()
		if _, err := c.Go("new", map[string]string{"a": "<b>"}, func(r json.RawMessage, err error) { j.add("answer %s %v", r, err) }); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		j.want(t, `notify u {"n":1}`, `request 0 ask [2]`, `answer {"s":"x"} <nil>`, `notify u {"n":3}`, "ended")
	})
}

func TestRequestIdsAreEchoedAsSent(t *testing.T) {
	var j journal
	_, p := dial(t, j.handler(), Options{})
	for _, id := range []string{`0`, `"0b1e-uuid"`, `1.0`, `-7`} {
		go p.send(`{"id":` + id + `,"method":"ask"}`)
		if got, want := p.read(), `{"jsonrpc":"2.0","id":`+id+`,"result":"ok"}`; got != want {
			t.Errorf("answer %s, want %s", got, want)
		}
	}
}

func TestAnswersWithoutUsableIdAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		_, p := dial(t, j.handler(), Options{})
		lines := []string{
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
			`{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"}}`,
			`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{}}`, `{"id":-1,"result":1}`,
		}
		want := []string{}
		for _, l := range lines {
			p.send(l)
			want = append(want, "noise "+l)
		}
		p.send(`{"jsonrpc":"2.0","id":null,"method":"note"}`) // a notification by an odd peer
		synctest.Wait()
		j.want(t, append(want, "notify note ")...)
	})
}

func TestNoiseIsSkipped_R_ACP_024(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		_, p := dial(t, j.handler(), Options{MaxLine: 100})
		long := strings.Repeat("z", 70_000)
		p.send("hello", "", "\r", "[]", `"x"`, "42", "{}", "{broken", long,
			"\ufeff"+`{"method":"bom"}`, `  {"method":"crlf"}  `+"\r", "{\"method\":\"utf8\",\"params\":[\"\xff\"]}")
		synctest.Wait()
		j.want(t, "noise hello", "noise []", `noise "x"`, "noise 42", "noise {}", "noise {broken", "oversized 70000",
			"notify bom ", "notify crlf ", "notify utf8 [\"\xff\"]")
	})
}

func TestLineLimit_R_ACP_024(t *testing.T) {
	const limit = 64 << 20
	pad := limit - len(`{"method":"big","params":[""]}`)
	stream := io.MultiReader(
		strings.NewReader(`{"method":"big","params":["`), zeros(pad), strings.NewReader("\"]}\n"), // exactly the limit
		strings.NewReader(`{"method":"big","params":["`), zeros(pad+1), strings.NewReader("\"]}\n"),
		zeros(2*limit), strings.NewReader("\n{\"method\":\"end\"}\n"), zeros(limit+5),
	)
	f := framer{in: stream, max: limit}
	var sizes []int64
	f.oversized = func(n int64) { sizes = append(sizes, n) }
	var lines []int
	largest := 0
	for {
		line, err := f.next()
		largest = max(largest, cap(f.buf))
		if len(line) > 0 {
			lines = append(lines, len(line))
		}
		if err != nil {
			break
		}
	}
	if !slices.Equal(lines, []int{limit, 16}) || !slices.Equal(sizes, []int64{limit + 1, 2 * limit, limit + 5}) {
		t.Errorf("lines of %d bytes, skipped %d", lines, sizes)
	}
	if largest > limit+1 {
		t.Errorf("the buffer grew to %d bytes", largest)
	}
	if cap(f.buf) > keepSize {
		t.Errorf("%d bytes are kept after the long line", cap(f.buf))
	}
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], block)
	}
	return n, nil
}

var block = strings.Repeat("z", 64<<10)

func zeros(n int) io.Reader { return io.LimitReader(zeroReader{}, int64(n)) }

func TestFramingDoesNotDependOnReads(t *testing.T) {
	var want []string
	var text strings.Builder
	for i := range 400 {
		l := fmt.Sprintf(`{"method":"m","params":["%d%s"]}`, i, strings.Repeat("p", i*i%5000))
		want = append(want, l)
		text.WriteString(l + "\n")
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"byte by byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		"at once": func(r io.Reader) io.Reader { return r },
	} {
		f := framer{in: wrap(strings.NewReader(strings.TrimSuffix(text.String(), "\n"))), max: 1 << 20, oversized: func(int64) {}}
		var got []string
		for {
			line, err := f.next()
			if len(line) > 0 {
				got = append(got, string(line))
			}
			if err != nil {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d, or they differ", name, len(got), len(want))
		}
	}
}

func TestAnswerFollowedByEndOfInputIsDelivered(t *testing.T) {
	for i := range 2000 {
		var last string
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		c := New(inR, outW, Handler{Notify: func(_ string, params, _ []byte) { last = string(params) }}, Options{})
		done := make(chan string, 1)
		if _, err := c.Go("prompt", nil, func(r json.RawMessage, err error) { done <- fmt.Sprint(last, string(r), err) }); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = bufio.NewReader(outR).ReadString('\n')
			_, _ = io.WriteString(inW, `{"method":"u","params":[7]}`+"\n"+`{"id":1,"result":{}}`+"\n")
			_ = inW.Close()
			_ = outR.Close()
		}()
		if got := <-done; got != "[7]{}<nil>" {
			t.Fatalf("round %d: %s", i, got)
		}
		<-c.Done()
	}
}

func TestOpenCallsFailAtTheEndInOrder(t *testing.T) {
	var j journal
	c, p := dial(t, j.handler(), Options{})
	go func() { _, _ = io.Copy(io.Discard, p.in) }()
	for i := range 3 {
		if _, err := c.Go("x", i, func(_ json.RawMessage, err error) { j.add("call %d %v", i, errors.Is(err, ErrClosed)) }); err != nil {
			t.Fatal(err)
		}
	}
	p.send(`{"method":"last"}`)
	_ = p.out.Close()
	<-c.Done()
	j.want(t, "notify last ", "call 0 true", "call 1 true", "call 2 true", "ended")
	if _, err := c.Go("x", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a call afterwards: %v", err)
	}
	if err := c.Notify("x", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a notification afterwards: %v", err)
	}
}

func TestPeerThatDoesNotReadFailsTheConnectionInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c, _ := dial(t, j.handler(), Options{WriteTime: 30 * time.Second})
		start := time.Now()
		for range 1000 { // nobody reads, nobody blocks
			if _, err := c.Go("x", nil, func(_ json.RawMessage, err error) {
				if !errors.Is(err, ErrStuck) {
					t.Errorf("call ended with %v", err)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		<-c.Done()
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("noticed after %v", d)
		}
	})
}

func TestPeerThatDoesNotReadFailsTheConnectionAtTheBound(t *testing.T) {
	c, _ := dial(t, Handler{}, Options{MaxQueue: 10_000})
	var err error
	for range 2000 {
		if err = c.Notify("x", "0123456789"); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrStuck) {
		t.Fatalf("error %v", err)
	}
	<-c.Done()
	if !errors.Is(c.Err(), ErrStuck) {
		t.Errorf("Err = %v", c.Err())
	}
}

func TestBackPressureIsNotTakenForAStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var got int
		c, p := dial(t, Handler{Notify: func(string, []byte, []byte) { <-release; got++ }}, Options{WriteTime: time.Minute})
		go func() { // a peer with one thread: it reads only after its writes got through
			p.send(`{"method":"a"}`, `{"method":"b"}`)
			p.read()
			_ = p.out.Close()
		}()
		if err := c.Notify("x", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		close(release)
		<-c.Done()
		if got != 2 {
			t.Errorf("%d of 2 notifications", got)
		}
	})
}

func TestPeerThatClosedItsInputIsReadToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c, p := dial(t, j.handler(), Options{})
		_ = p.raw.Close()
		if _, err := c.Go("x", nil, func(_ json.RawMessage, err error) { j.add("call %v", errors.Is(err, ErrClosed)) }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.send(`{"method":"last"}`)
		<-c.Done() // although the peer never ends its output
		j.want(t, "notify last ", "call true", "ended")
	})
}

func TestCancelledCallTellsThePeer(t *testing.T) {
	c, p := dial(t, Handler{}, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.read()
		cancel()
	}()
	if _, err := c.Call(ctx, "slow", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := p.read(); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}` {
		t.Errorf("peer got %s", got)
	}
	p.send(`{"id":1,"error":{"code":-32800,"message":"cancelled"}}`) // too late, not noise
}

func TestErrorAnswer(t *testing.T) {
	c, p := dial(t, Handler{}, Options{})
	for answer, want := range map[string]Error{
		`{"code":-32000,"message":"log in","data":{"a":1}}`: {Code: -32000, Message: "log in", Data: json.RawMessage(`{"a":1}`)},
		`{"code":401.0,"message":"no"}`:                     {Code: 401, Message: "no"},
		`{"code":"x"}`:                                      {Code: CodeInternal, Message: "error without a message"},
		`"boom"`:                                            {Code: CodeInternal, Message: "error without a message"},
	} {
		go func() {
			var m struct{ ID int }
			_ = json.Unmarshal([]byte(p.read()), &m)
			p.send(fmt.Sprintf(`{"id":%d,"error":%s}`, m.ID, answer))
		}()
		_, err := c.Call(t.Context(), "x", nil)
		got, ok := errors.AsType[*Error](err)
		if !ok || got.Code != want.Code || got.Message != want.Message || string(got.Data) != string(want.Data) {
			t.Errorf("%s: %#v", answer, err)
		}
	}
}

func TestAnswerWithoutResultIsAResult(t *testing.T) {
	c, p := dial(t, Handler{}, Options{})
	go func() {
		p.read()
		p.send(`{"jsonrpc":"2.0","id":1}`)
	}()
	if r, err := c.Call(t.Context(), "x", nil); err != nil || r != nil {
		t.Errorf("%s %v", r, err)
	}
}

func TestPanicsAreSurvived(t *testing.T) {
	var j journal
	h := j.handler()
	h.Notify = func(string, []byte, []byte) { panic("in notification") }
	h.Request = func(*Request) { panic("in request") }
	c, p := dial(t, h, Options{})
	if _, err := c.Go("x", nil, func(json.RawMessage, error) { panic("in callback") }); err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() {
		p.send(`{"method":"n"}`, `{"id":"r","method":"m"}`, `{"id":1,"result":1}`)
		<-answered
		_ = p.out.Close()
	}()
	p.read()
	if got := p.read(); got != `{"jsonrpc":"2.0","id":"r","error":{"code":-32603,"message":"Internal error"}}` {
		t.Errorf("answer %s", got)
	}
	close(answered)
	<-c.Done()
	j.want(t, "panic in notification", "panic in request", "panic in callback", "ended")
}

func TestUnknownRequestIsRefused(t *testing.T) {
	_, p := dial(t, Handler{}, Options{})
	go p.send(`{"id":5,"method":"craft/drain"}`)
	if got := p.read(); got != `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}` {
		t.Errorf("answer %s", got)
	}
}

func TestRequestIsAnsweredOnceFromAnyGoroutine(t *testing.T) {
	_, p := dial(t, Handler{Request: func(r *Request) {
		go func() {
			r.Reply(map[string]any{"n": []string(nil)})
			r.Reply("again")
			r.Fail(CodeInternal, "again")
		}()
	}}, Options{})
	go p.send(`{"id":1,"method":"a"}`, `{"id":2,"method":"b"}`)
	a, b := p.read(), p.read()
	if !strings.Contains(a+b, `"id":1,"result":{"n":[]}}`) || !strings.Contains(a+b, `"id":2,"result":{"n":[]}}`) {
		t.Errorf("answers %s %s", a, b)
	}
}

func TestPeerMayGiveUpItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		h := j.handler()
		h.Request = func(*Request) {}
		h.Cancel = func(r *Request) { j.add("cancel %s", r.ID); r.Fail(CodeCancelled, "cancelled") }
		_, p := dial(t, h, Options{})
		p.send(`{"id":"q","method":"ask"}`, `{"method":"$/cancel_request","params":{"requestId":"z"}}`,
			`{"method":"$/cancel_request","params":{"requestId":"q"}}`)
		if got := p.read(); got != `{"jsonrpc":"2.0","id":"q","error":{"code":-32800,"message":"cancelled"}}` {
			t.Errorf("answer %s", got)
		}
		p.send(`{"method":"$/cancel_request","params":{"requestId":"q"}}`)
		synctest.Wait()
		j.want(t, `cancel "q"`)
	})
}

func TestCloseSendsWhatIsQueued(t *testing.T) {
	c, p := dial(t, Handler{}, Options{CloseTime: time.Hour})
	for i := range 3 {
		if err := c.Notify("x", i); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Close()
	for i := range 3 {
		if got := p.read(); !strings.HasSuffix(got, fmt.Sprintf(`"params":%d}`, i)) {
			t.Errorf("line %d: %s", i, got)
		}
	}
	if _, err := p.in.ReadByte(); err != io.EOF {
		t.Errorf("the output is not ended: %v", err)
	}
	if err := c.Notify("x", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseDoesNotWaitForAStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dial(t, Handler{}, Options{})
		if err := c.Notify("x", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = c.Close()
		_ = c.Close()
		time.Sleep(time.Second)
		if _, err := p.in.ReadByte(); err != io.EOF {
			t.Errorf("the output is not ended: %v", err)
		}
	})
}

func TestFloodIsComplete(t *testing.T) {
	const n = 100_000
	next, wrong := 0, 0
	c, p := dial(t, Handler{Notify: func(_ string, params, _ []byte) {
		if string(params) != fmt.Sprintf("[%d]", next) {
			wrong++
		}
		next++
	}}, Options{})
	w := bufio.NewWriterSize(p.out, 64<<10)
	for i := range n {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","method":"session/update","params":[%d]}`+"\n", i)
	}
	_ = w.Flush()
	_ = p.out.Close()
	<-c.Done()
	if next != n || wrong > 0 {
		t.Errorf("%d of %d, %d out of order", next, n, wrong)
	}
}

func FuzzRoute(f *testing.F) {
	for _, s := range []string{
		`{"id":0,"method":"m","params":{}}`, `{"id":null,"error":{}}`, `{"method":"$/cancel_request","params":{"requestId":0}}`,
		`{"id":1,"result":null}`, `{"id":1,"error":{"code":1e99,"data":[]}}`, `{"method":3}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var panicked any
		in, out := io.Pipe()
		c := New(in, discard{}, Handler{
			Request: func(r *Request) { r.Reply(nil) }, Panicked: func(v any, _ []byte) { panicked = v },
		}, Options{MaxLine: 1 << 16})
		if _, err := c.Go("x", nil, func(json.RawMessage, error) {}); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Write(append(b, '\n'))
		_ = out.Close()
		<-c.Done()
		if panicked != nil {
			t.Fatal(panicked)
		}
	})
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func BenchmarkFloodConn(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the quick brown fox jumps"}}}}` + "\n")
	lines := []byte(strings.Repeat(string(line), 300))
	in, out := io.Pipe()
	n := 0
	c := New(in, discard{}, Handler{Notify: func(string, []byte, []byte) { n++ }}, Options{})
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N/300 + 1 {
		_, _ = out.Write(lines)
	}
	_ = out.Close()
	<-c.Done()
}
