package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// errDamaged says that a line is not a message; the place does not matter here.
var errDamaged = errors.New("not a message")

// source gives the bytes of a line one after another: those that are in memory already, and then the rest of the file
// through a buffer of its own.
type source struct {
	ctx  context.Context //nolint:containedctx // that of the scan, which a source does not outlive
	file io.ReaderAt
	size int64
	own  []byte

	have []byte // begins with the next byte
	next int64  // offset of what follows have
	err  error  // why there is no more, if not for the end
}

// more gets more bytes behind those at hand; false at the end of the file.
func (s *source) more() bool {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil || s.next >= s.size {
		return false
	}
	n := copy(s.own, s.have) // few: whoever asks has used up almost all
	got, err := s.file.ReadAt(s.own[n:min(int64(len(s.own)), int64(n)+s.size-s.next)], s.next)
	if got == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			s.err = err
		}
		s.size = s.next
		return false
	}
	s.next += int64(got)
	s.have = s.own[:n+got]
	return true
}

// peek returns the next byte, a newline at the end of the file.
func (s *source) peek() byte {
	if len(s.have) == 0 && !s.more() {
		return '\n'
	}
	return s.have[0]
}

// take returns the next byte and goes behind it, except at the end of the line.
func (s *source) take() byte {
	c := s.peek()
	if c != '\n' {
		s.have = s.have[1:]
	}
	return c
}

// takeRune is take for a code point whose first byte is at hand.
func (s *source) takeRune() rune {
	for !utf8.FullRune(s.have) && s.more() {
	}
	r, n := utf8.DecodeRune(s.have)
	s.have = s.have[n:]
	return r
}

// endLine goes behind the newline and returns its offset.
func (s *source) endLine() int64 {
	for {
		if i := bytes.IndexByte(s.have, '\n'); i >= 0 {
			s.have = s.have[i+1:]
			return s.offset()
		}
		s.have = nil
		if !s.more() {
			return s.offset()
		}
	}
}

func (s *source) offset() int64 { return s.next - int64(len(s.have)) }
