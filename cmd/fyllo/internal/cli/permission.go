package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/follow"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// The values of --allow.
const (
	allowAsk   = "ask"
	allowOnce  = "once"
	allowNever = "never"
)

// ttyName is the terminal of the process, whatever its standard streams are.
const ttyName = "/dev/tty"

// hasTTY reports whether somebody can be asked.
func (a *app) hasTTY() bool {
	tty, err := os.OpenFile(ttyName, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}

// closableDoor is a follow.Door with an end.
type closableDoor interface {
	follow.Door
	close()
}

// door returns what answers the permission requests of the turn.
func (r *promptRun) door() (closableDoor, error) {
	if r.cmd.Allow != allowAsk {
		return &ruleDoor{run: r}, nil
	}
	return newPersonDoor(r)
}

// sendAnswer answers p and reports whether that was the answer. Somebody else, in a window, may have been quicker.
func (r *promptRun) sendAnswer(ctx context.Context, p fyllo.Permission, option string) (taken bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := r.client.Answer(ctx, p, option)
	if err != nil && fyllo.CodeOf(err) != fyllo.CodePermissionGone {
		r.app.notice("permission: %s: the answer was not taken: %v", p.Title, err)
	}
	return err == nil
}

// ruleDoor answers by --allow once or never.
type ruleDoor struct{ run *promptRun }

func (d *ruleDoor) Asked(ctx context.Context, p fyllo.Permission) error {
	option := ""
	if d.run.cmd.Allow == allowOnce {
		for _, o := range p.Options {
			if o.Kind == "allow_once" {
				option = o.OptionID
				break
			}
		}
	}
	d.run.sendAnswer(ctx, p, option)
	return nil
}

func (d *ruleDoor) Closed(string) {}
func (d *ruleDoor) Told(string)   {}
func (d *ruleDoor) close()        {}

// personDoor asks on the terminal, one request at a time.
type personDoor struct {
	run  *promptRun
	tty  *os.File
	wake chan struct{} // capacity 1: the queue or over changed
	done chan struct{} // closed when serve has ended

	mu      sync.Mutex // guards what follows
	queue   []fyllo.Permission
	current string // id of the request a person is being asked about
	untold  string // id of a request that was answered here, until that is printed
	over    bool
}

func newPersonDoor(r *promptRun) (*personDoor, error) {
	tty, err := os.OpenFile(ttyName, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	d := &personDoor{run: r, tty: tty, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go d.serve() // ends with close
	return d, nil
}

func (d *personDoor) Asked(_ context.Context, p fyllo.Permission) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, p)
	d.signal()
	return nil
}

// Closed stops asking about a request that was answered elsewhere or whose turn ended.
func (d *personDoor) Closed(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = slices.DeleteFunc(d.queue, func(p fyllo.Permission) bool { return p.ID == id })
	if d.current == id && d.interrupt() == nil {
		fmt.Fprintln(d.run.app.stderr) // before what is said next, or it would follow the question on its line
	}
}

// Told lets the next request be asked about: not earlier, or its question and the last outcome would share a line.
func (d *personDoor) Told(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.untold == id {
		d.untold = ""
		d.signal()
	}
}

// close ends the asking. On a terminal whose reads cannot be interrupted the goroutine stays until the process
// ends.
func (d *personDoor) close() {
	d.mu.Lock()
	d.over = true
	err := d.interrupt()
	d.signal()
	d.mu.Unlock()
	if err == nil {
		<-d.done
		_ = d.tty.Close()
	}
}

// interrupt makes the read of the terminal return.
func (d *personDoor) interrupt() error { return d.tty.SetReadDeadline(time.Unix(1, 0)) }

func (d *personDoor) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *personDoor) serve() {
	defer close(d.done)
	lines := bufio.NewReader(d.tty)
	for range d.wake {
		for {
			p, ok := d.take()
			if !ok {
				break
			}
			option, err := d.choose(lines, p)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			if err != nil { // the end of input echoes nothing
				fmt.Fprintln(d.run.app.stderr)
			}
			d.chosen(p.ID)
			if !d.run.sendAnswer(context.Background(), p, option) {
				d.Told(p.ID)
			}
		}
		if d.ended() {
			return
		}
	}
}

// chosen says that a person has decided about a request.
func (d *personDoor) chosen(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current, d.untold = "", id
}

func (d *personDoor) ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// take makes the oldest waiting request the current one.
func (d *personDoor) take() (fyllo.Permission, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current = ""
	if d.over || d.untold != "" || len(d.queue) == 0 {
		return fyllo.Permission{}, false
	}
	p := d.queue[0]
	d.queue = d.queue[1:]
	d.current = p.ID
	_ = d.tty.SetReadDeadline(time.Time{})
	return p, true
}

// choose asks until it gets the number of an option. An empty line or the end of input cancels the request.
func (d *personDoor) choose(lines *bufio.Reader, p fyllo.Permission) (string, error) {
	w := d.run.app.stderr
	fmt.Fprintf(w, "permission: %s\n", term.OneLine(p.Title))
	for i, o := range p.Options {
		fmt.Fprintf(w, "  %d) %s\n", i+1, term.OneLine(o.Name))
	}
	for {
		fmt.Fprintf(w, "1-%d, or Enter to cancel: ", len(p.Options))
		line, err := lines.ReadString('\n')
		line = strings.TrimSpace(line)
		if err != nil || line == "" {
			return "", err
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(p.Options) {
			return p.Options[n-1].OptionID, nil
		}
	}
}
