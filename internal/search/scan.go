package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

const (
	chunkSize  = 256 << 10
	sourceSize = 64 << 10
)

// scanner looks for a query in message files, one at a time.
type scanner struct {
	ctx      context.Context //nolint:containedctx // a scanner lives as long as the search that made it
	query    *Query
	chunk    []byte
	later    []byte // nil until something was found
	messages messageReader
}

func newScanner(ctx context.Context, q *Query) *scanner {
	s := &scanner{ctx: ctx, query: q, chunk: make([]byte, chunkSize)}
	s.messages.ctx, s.messages.own = ctx, make([]byte, sourceSize)
	s.messages.words.q, s.messages.lead.rest.q = q, q
	return s
}

// file is a message file while it is looked through.
type file struct {
	io.ReaderAt
	size int64
}

// places says which lines of a file are read.
type places struct {
	find func(b []byte, from int) int // the first place at or behind from, -1 for none
	keep int                          // how many bytes at the end of b begin something that only shows with what follows
}

// first returns the first message of a file, in the order of the lines, whose newest version matches; its hit is false
// when there is none. The error is that of the context or of the disk.
func (s *scanner) first(f file) (found message, err error) {
	dead := map[string]bool{} // ids whose newest version does not match
	err = s.lines(f, s.chunk, 0, places{s.query.anchor.next, 1}, func(m message, end int64) (bool, error) {
		if !m.hit || dead[m.id] {
			return false, nil
		}
		newest, err := s.newest(f, end, m)
		if newest.hit {
			found = newest
		}
		dead[m.id] = true
		return newest.hit, err
	})
	return found, err
}

// newest returns the last version of a message that was found before the offset from.
func (s *scanner) newest(f file, from int64, m message) (message, error) {
	if s.later == nil {
		s.later = make([]byte, chunkSize)
	}
	id := []byte(m.id)
	mention := places{func(b []byte, from int) int {
		if i := bytes.Index(b[from:], id); i >= 0 {
			return from + i
		}
		return -1
	}, len(id) - 1}
	if strings.ContainsFunc(m.id, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' || r == '/' }) {
		mention = places{anywhere, 0} // there are several ways to write it
	}
	err := s.lines(f, s.later, from, mention, func(other message, _ int64) (bool, error) {
		if other.id == m.id {
			m = other
		}
		return false, nil
	})
	return m, err
}

func anywhere(b []byte, from int) int {
	if from < len(b) {
		return from
	}
	return -1
}

// lines reads the lines behind the offset at in which a place is found, and calls each with those that are messages and
// where they end, until it returns true. at is the beginning of a line.
func (s *scanner) lines(f file, buf []byte, at int64, p places, each func(m message, end int64) (bool, error)) error {
	line := at // where the line begins that the place belongs to
	for at < f.size {
		chunk, err := s.read(f, buf, at)
		if err != nil {
			return err
		}
		end := at + int64(len(chunk))
		next := max(at+1, end-int64(p.keep))
		if end >= f.size {
			next = end
		}
		for i := p.find(chunk, 0); i >= 0; {
			start := lineStart(chunk[:i], at, line)
			m, after, err := s.message(f, chunk, at, start)
			if err == nil {
				if done, err := each(m, after); done || err != nil {
					return err
				}
			} else if !isDamage(err) {
				return err
			}
			if after <= at+int64(i) {
				return io.ErrUnexpectedEOF // the file was cut meanwhile
			}
			if line = after; after >= end {
				next = after
				break
			}
			i = p.find(chunk, int(after-at))
		}
		line = lineStart(chunk, at, line)
		at = next
	}
	return nil
}

// lineStart returns where the line begins in which b, which begins at the offset at, ends; line is an earlier one.
func lineStart(b []byte, at, line int64) int64 {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		return max(line, at+int64(i)+1)
	}
	return line
}

// read fills buf from the offset at.
func (s *scanner) read(f file, buf []byte, at int64) ([]byte, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	n, err := f.ReadAt(buf[:min(int64(len(buf)), f.size-at)], at)
	if n > 0 {
		return buf[:n], nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file was cut meanwhile
	}
	return nil, err
}

// message reads the line that begins at the offset start, as far as it lies in chunk from there.
func (s *scanner) message(f file, chunk []byte, at, start int64) (message, int64, error) {
	r := &s.messages
	r.file, r.size, r.err = f.ReaderAt, f.size, nil
	r.have, r.next = nil, start
	if start >= at {
		r.have, r.next = chunk[start-at:], at+int64(len(chunk))
	}
	return r.read()
}
