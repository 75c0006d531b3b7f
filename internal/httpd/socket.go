package httpd

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/windows"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
	"fyllocode.dev/fyllo/internal/stream"
)

// closeSlow says that the window did not keep up; it registers again and may resume. The other close codes of the
// stream are 1001 when Core goes away, and those of package windows.
const closeSlow websocket.StatusCode = 4003

// Limits of one socket.
const (
	writeLimit  = 10 * time.Second
	pingEvery   = 20 * time.Second
	keptBuffer  = 256 << 10 // bytes of encoding buffer kept between frames
	readMessage = 1 << 10   // clients have nothing to say
	// A page draws sixty times a second at best, and each frame that it gets costs it a task. What comes within this
	// time of the last frame waits for its end; what comes alone is written at once.
	framePause = 8 * time.Millisecond
)

// socket is one stream. Its handler goroutine owns it and does all the writing of events.
type socket struct {
	s       *Server
	conn    *websocket.Conn
	end     context.CancelFunc // ends reading, and with it the connection
	reader  *stream.Reader
	pause   time.Duration // between frames; 0 for clients that draw nothing
	buf     []byte
	verdict chan verdict // capacity 1: the first reason to end it
}

type verdict struct {
	code   websocket.StatusCode
	reason string
}

// cut asks the socket to end and does not wait; only the first call counts. A write that is stuck is broken off
// after socketGrace.
func (k *socket) cut(code websocket.StatusCode, reason string) {
	select {
	case k.verdict <- verdict{code, reason}:
		time.AfterFunc(socketGrace, k.end)
	default:
	}
}

// stream is GET /api/stream. A window follows the log of its Workspace, the command line that of the Workspace it
// names.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if !s.enterSocket() {
		wire.WriteError(w, fyllo.Errorf(fyllo.CodeShuttingDown, "FylloCode: it is stopping"))
		return
	}
	defer s.sockets.Done()
	if c := callerOf(r.Context()); c.bearer {
		s.streamToCommand(w, r, c.workspace)
		return
	}
	k, ok := s.accept(w, r)
	if !ok {
		return
	}
	defer k.leave()
	id := fyllo.WindowID(r.URL.Query().Get("window"))
	l := windows.NewLink(k.cut, k.alive)
	workspace, refused := s.windows.Connect(r.Context(), id, l)
	if refused != 0 {
		k.close(verdict{refused, "register this window again"})
		return
	}
	after, run := position(r)
	reader, reset := s.Feed.Subscribe(workspace, after, run)
	k.reader, k.pause = reader, framePause
	v := k.follow(reset)
	reader.Close()
	s.windows.Disconnect(id, l)
	k.close(v)
}

// streamToCommand serves a stream that belongs to no window. Without run it begins now.
func (s *Server) streamToCommand(w http.ResponseWriter, r *http.Request, workspace fyllo.WorkspaceID) {
	after, run := position(r)
	now := run == ""
	if now {
		run, after = s.Feed.RunOf(workspace), s.Feed.Seq(workspace)
	}
	reader, reset := s.Feed.Subscribe(workspace, after, run)
	defer reader.Close()
	w.Header().Set("X-Fyllo-Run", s.Feed.RunOf(workspace))
	w.Header().Set("X-Fyllo-Seq", strconv.FormatUint(reader.Position(), 10))
	k, ok := s.accept(w, r)
	if !ok {
		return
	}
	defer k.leave()
	k.reader = reader
	k.close(k.follow(reset && !now))
}

func position(r *http.Request) (after uint64, run string) {
	q := r.URL.Query()
	after, err := strconv.ParseUint(q.Get("after"), 10, 64)
	if err != nil {
		return 0, "" // leads to a reset
	}
	return after, q.Get("run")
}

// accept upgrades the connection; it has answered when ok is false.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (k *socket, ok bool) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, false
	}
	conn.SetReadLimit(readMessage)
	// The request's context ends with the handler's return only; net/http does not watch a hijacked connection.
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	k = &socket{s: s, conn: conn, end: end, verdict: make(chan verdict, 1)}
	s.adopt(k)
	closed := conn.CloseRead(ctx)
	context.AfterFunc(closed, func() { k.cut(websocket.StatusNormalClosure, "") })
	return k, true
}

// follow writes events until there is a reason to stop.
func (k *socket) follow(reset bool) verdict {
	if reset {
		if k.write(wire.ResetFrame(k.reader.Position())) != nil {
			return verdict{closeSlow, "it did not take its events"}
		}
	}
	ticks := time.NewTicker(pingEvery)
	defer ticks.Stop()
	pings, stop := context.WithCancel(context.Background())
	var pinging sync.WaitGroup
	defer pinging.Wait()
	defer stop()
	ready := k.reader.Ready()
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ready:
			if v, ok := k.drain(); !ok {
				return v
			}
			if k.pause > 0 {
				ready = nil
				rest.Reset(k.pause)
			}
		case <-rest.C:
			ready = k.reader.Ready()
		case <-ticks.C:
			pinging.Go(func() { k.ping(pings) }) // ends with the answer, after writeLimit, or with follow
		case v := <-k.verdict:
			return v
		}
	}
}

// drain writes everything there is to take.
func (k *socket) drain() (verdict, bool) {
	for {
		entries, err := k.reader.Take()
		if err != nil {
			return verdict{closeSlow, "it fell too far behind"}, false
		}
		if len(entries) == 0 {
			return verdict{}, true
		}
		if k.buf, err = wire.AppendFrame(k.buf[:0], entries); err != nil {
			k.s.log.Error("an event cannot be encoded", "err", err)
		}
		if k.write(k.buf) != nil {
			return verdict{closeSlow, "it did not take its events"}, false
		}
		if cap(k.buf) > keptBuffer {
			k.buf = nil
		}
	}
}

func (k *socket) write(frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
	defer cancel()
	return k.conn.Write(ctx, websocket.MessageText, frame)
}

// ping finds out whether the other side is still there.
func (k *socket) ping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	if k.conn.Ping(ctx) != nil {
		k.cut(closeSlow, "it did not answer")
	}
}

// alive reports whether the other side answers.
func (k *socket) alive(ctx context.Context) bool { return k.conn.Ping(ctx) == nil }

// close ends the connection within socketGrace, with a closing handshake if the other side takes part.
func (k *socket) close(v verdict) {
	hurry := time.AfterFunc(socketGrace, k.end)
	defer hurry.Stop()
	_ = k.conn.Close(v.code, v.reason) // an error means that it is closed already
}

// leave ends what belongs to the socket; its handler returns after it.
func (k *socket) leave() {
	k.end()
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	delete(k.s.live, k)
}

// adopt makes the socket end with the server.
func (s *Server) adopt(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[k] = struct{}{}
	if s.closing {
		k.cutForShutdown()
	}
}

func (k *socket) cutForShutdown() { k.cut(websocket.StatusGoingAway, "FylloCode stops") }

// enterSocket counts a socket in, unless the server shuts down.
func (s *Server) enterSocket() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.sockets.Add(1)
	return true
}

// closeSockets ends all sockets and returns when their handlers have, after little more than socketGrace.
func (s *Server) closeSockets() {
	s.mu.Lock()
	s.closing = true
	for k := range s.live {
		k.cutForShutdown()
	}
	s.mu.Unlock()
	s.sockets.Wait()
}
