package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
)

const (
	rounds = 5  // of each search; the best counts
	plans  = 40 // different transcripts
	spoken = "the harbour master of Smørrebrød"
	inTool = "panic: assignment to entry in nil map"
)

// measureSearch searches about a gigabyte of messages in 10,000 Sessions, and lets ripgrep look through the same files
// with one thread, which knows nothing of messages.
func measureSearch(ctx context.Context, s *suite) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		s.print("search", "left out: ripgrep (rg) is not on PATH, and is what a search is compared with")
		return nil
	}
	home := filepath.Join(s.dir, "search")
	defer func() { _ = os.RemoveAll(home) }() // others need the disk
	dir, wid, err := s.library(ctx, home)
	if err != nil {
		return err
	}
	c, err := s.startCore(ctx, home)
	if err != nil {
		return err
	}
	defer c.stop()
	c.wid = wid
	var page fyllo.SessionPage
	if err := c.call(ctx, http.MethodGet, "/api/sessions?limit=1", nil, &page); err != nil {
		return err
	}
	time.Sleep(time.Second)
	before, _, err := c.memory()
	if err != nil {
		return err
	}
	for _, q := range []searched{
		{"nothing found", "a phrase that nobody wrote", 0, 2},
		{"one found, in the oldest Session", spoken, 1, 2},
		{"short word, nothing found", "qzx", 0, 2},
		{"nothing but tools hold it, in every tenth Session", inTool, 0, 0},
		{"a word of every Session", "session", fyllo.SearchLimit, 0},
	} {
		ripgrep := []string{rg, "-j1", "-i", "-F", "-l", "--no-ignore", "-g", "*.messages.jsonl", "--", q.words, dir}
		if err := s.compare(ctx, c, q, ripgrep); err != nil {
			return err
		}
	}
	_, peak, err := c.memory()
	s.atMost("  memory that searches took, at most", peak-before, 16, "MB")
	return err
}

// searched is one search and what it must find and cost.
type searched struct {
	name, words string
	hits        int
	budget      float64 // times ripgrep; 0 for none
}

// compare runs one search and ripgrep by turns.
func (s *suite) compare(ctx context.Context, c *core, q searched, ripgrep []string) error {
	ours, theirs := time.Hour, time.Hour
	for range rounds {
		begin := time.Now()
		cmd := exec.CommandContext(ctx, ripgrep[0], ripgrep[1:]...) //nolint:gosec // what it runs is written above
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: nothing found
			return fmt.Errorf("rg: %w", err)
		}
		theirs = min(theirs, time.Since(begin))
		var got fyllo.SearchResult
		begin = time.Now()
		if err := c.call(ctx, http.MethodGet, "/api/search?q="+url.QueryEscape(q.words), nil, &got); err != nil {
			return err
		}
		ours = min(ours, time.Since(begin))
		if len(got.Hits) != q.hits {
			return fmt.Errorf("%q found %d Sessions, want %d", q.words, len(got.Hits), q.hits)
		}
	}
	s.print("search, "+q.name, "%10.2f ms   (rg -j1 -i: %.0f ms)", ms(ours), ms(theirs))
	if q.budget > 0 {
		s.atMost("  times rg -j1 -i over the same files", float64(ours)/float64(theirs), q.budget, "×")
	}
	return nil
}

// library writes Sessions of about s.searchMB in all, and returns where they lie.
func (s *suite) library(ctx context.Context, home string) (dir string, wid fyllo.WorkspaceID, err error) {
	c, err := s.startCore(ctx, home)
	if err != nil {
		return "", "", err
	}
	one, err := s.startCoreOf(ctx, home, &core{})
	if err != nil {
		return "", "", err
	}
	dir, meta, _, err := one.sample(ctx, s)
	c.stop()
	if err != nil {
		return "", "", err
	}
	size := s.searchMB << 20 / manySessions
	transcripts := make([][]byte, plans)
	for i := range transcripts {
		transcripts[i] = transcriptOf(rand.New(rand.NewPCG(1, uint64(i))), size) //nolint:gosec // the same texts each time are the point
	}
	total := 0
	for i := range manySessions {
		id := "session-bench" + strconv.Itoa(i)
		messages := transcripts[i%plans]
		if i%10 == 0 {
			messages = append(bytes.Clone(messages), encoded(toolOf("m-tool", inTool))...)
		}
		if i == 0 {
			messages = append(bytes.Clone(messages), encoded(textOf("m-last", spoken))...)
		}
		at := time.Date(2025, 1, 1, 0, i, 0, 0, time.UTC) // the first is the oldest
		own, err := retimed(bytes.ReplaceAll(meta, []byte(one.session), []byte(id)), at)
		if err != nil {
			return "", "", err
		}
		for suffix, content := range map[string][]byte{".json": own, ".messages.jsonl": messages} {
			if err := os.WriteFile(filepath.Join(dir, id+suffix), content, 0o600); err != nil {
				return "", "", err
			}
		}
		total += len(messages)
	}
	s.print("search: messages written", "%10.2f MB   in %d Sessions", float64(total)/(1<<20), manySessions)
	return dir, one.wid, nil
}

// retimed sets when a Session changed last.
func retimed(meta []byte, at time.Time) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(meta, &m); err != nil {
		return nil, err
	}
	m["updatedAt"] = at
	return json.Marshal(m)
}

var vocabulary = strings.Fields(`the a of to and in is that for it with as on this by from session message agent window
	stream frame block list table value order error queue actor event reader writer journal snapshot index file path
	scope folder socket token cursor limit batch delta part call result option prompt answer request permission turn
	"quoted" back\slash func( return err != nil {	} // Größe 修复 解析器 的 错误`)

// transcriptOf returns messages of about size bytes, a third of them text and the rest what tools printed.
func transcriptOf(rng *rand.Rand, size int) []byte {
	var out []byte
	for i := 0; len(out) < size; i++ {
		id := "msg-" + strconv.Itoa(i)
		out = append(out, encoded(textOf(id+"u", words(rng, 40)))...)
		m := toolOf(id, words(rng, 300))
		m.Parts = append(m.Parts, textOf(id, words(rng, 150)).Parts...)
		out = append(out, encoded(m)...)
	}
	return out
}

func words(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(vocabulary[rng.IntN(len(vocabulary))])
		if i%12 == 11 {
			b.WriteString("\n\t")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func textOf(id, text string) fyllo.Message {
	return fyllo.Message{ID: id, Role: fyllo.RoleUser, Parts: []fyllo.Part{{ID: id + ".0", Type: fyllo.PartText, Text: text}}}
}

func toolOf(id, output string) fyllo.Message {
	return fyllo.Message{ID: id, Role: fyllo.RoleAssistant, Parts: []fyllo.Part{{ID: id + ".0", Type: fyllo.PartTool, Tool: &fyllo.Tool{
		CallID: "call-" + id, Title: "Run the tests", Kind: fyllo.KindExecute, Status: fyllo.ToolCompleted,
		Output: &fyllo.Body{Text: output, Size: len(output)},
	}}}}
}

// encoded is a message as it lies in a file.
func encoded(m fyllo.Message) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(m) // the type cannot fail
	return b.Bytes()
}
