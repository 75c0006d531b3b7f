package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// floodChunks is the size of a flood.
const floodChunks = 100_000

// floorFigures are what the product is compared with.
type floorFigures struct {
	jd   time.Duration // CPU per 100k chunks
	rate float64       // chunks per second of the floor
}

// chunkLine is an update as real Agents send them, with 24 bytes of text.
const chunkLine = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":` +
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%-24d"}}}}`

type flatUpdate struct {
	Method string `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Kind      string          `json:"sessionUpdate"`
			MessageID string          `json:"messageId"`
			Content   json.RawMessage `json:"content"`
		} `json:"update"`
	} `json:"params"`
}

func measureFloor(ctx context.Context, s *suite) error {
	var b strings.Builder
	for i := range floodChunks {
		fmt.Fprintf(&b, chunkLine+"\n", i)
	}
	input := b.String()
	before := cpuSelf()
	lines := bufio.NewScanner(strings.NewReader(input))
	for lines.Scan() {
		var u flatUpdate
		if err := json.Unmarshal(lines.Bytes(), &u); err != nil {
			return err
		}
	}
	s.floor.jd = cpuSelf() - before
	wall, err := runFloor(ctx, filepath.Join(s.dir, "floor.jsonl"), input)
	if err != nil {
		return err
	}
	s.floor.rate = floodChunks / wall.Seconds()
	s.print("1 jd: flat encoding/json decode of 100k chunks", "%10.0f ms CPU", ms(s.floor.jd))
	s.print("floor: decode + journal + WebSocket", "%10.0f chunks/s", s.floor.rate)
	return nil
}

// runFloor is the minimal server: it decodes every line, appends it to a file and writes it to a WebSocket.
func runFloor(ctx context.Context, path, input string) (time.Duration, error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close(websocket.StatusNormalClosure, "") }()
		lines := bufio.NewScanner(strings.NewReader(input))
		for lines.Scan() {
			var u flatUpdate
			if json.Unmarshal(lines.Bytes(), &u) != nil {
				return
			}
			if _, err := file.Write(append(lines.Bytes(), '\n')); err != nil {
				return
			}
			if conn.Write(r.Context(), websocket.MessageText, u.Params.Update.Content) != nil {
				return
			}
		}
	})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer func() { _ = server.Close() }()
	conn, _, err := websocket.Dial(ctx, "ws://"+listener.Addr().String(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.CloseNow() }()
	begin := time.Now()
	for range floodChunks {
		if _, _, err := conn.Read(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// cpuSelf is the CPU time this process has used.
func cpuSelf() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail with these arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
