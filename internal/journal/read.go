package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// chunk is how many bytes are read at a time. A page of a transcript is often within one.
const chunk = 64 << 10

// Line is one line of a journal.
type Line struct {
	Offset int64  // of the first byte
	Data   []byte // without the newline
	Whole  bool   // the newline was there
}

// Length is the number of bytes the line takes in the file.
func (l Line) Length() int64 {
	if l.Whole {
		return int64(len(l.Data)) + 1
	}
	return int64(len(l.Data))
}

// Damage is a line that a reader could not use.
type Damage struct {
	Offset int64
	Length int64 // with the newline
	Torn   bool  // it is the last line and has no newline
	Err    error // why
}

// Replay calls each for every line of the file at path, oldest first; empty lines are skipped. A line for which each
// returns an error is damage, and the replay goes on behind it. line is valid only during the call. err is a failure
// to open or read the file, fs.ErrNotExist among them.
func Replay(path string, each func(offset int64, line []byte) error) (damage []Damage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReplayFrom(f, 0, each)
}

// ReplayFrom is Replay for a reader whose first byte is at the given offset of the file.
func ReplayFrom(r io.Reader, offset int64, each func(offset int64, line []byte) error) (damage []Damage, err error) {
	in := bufio.NewReaderSize(r, chunk)
	var long []byte
	for {
		piece, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, piece...)
			continue
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return damage, err
		}
		line := piece
		if len(long) > 0 {
			long = append(long, piece...)
			line = long
		}
		length := int64(len(line))
		text, whole := bytes.CutSuffix(line, []byte{'\n'})
		if len(text) > 0 {
			if bad := each(offset, text); bad != nil {
				damage = append(damage, Damage{Offset: offset, Length: length, Torn: !whole, Err: bad})
			}
		}
		if end {
			return damage, nil
		}
		offset += length
		long = long[:0]
	}
}

// Backward reads the lines of a journal from the end, newest first.
type Backward struct {
	r     io.ReaderAt
	start int64  // offset of buf[0]
	buf   []byte // what was read and not yet returned
}

// NewBackward returns a reader of the lines before the offset end, which is the size of the file or the beginning of
// a line.
func NewBackward(r io.ReaderAt, end int64) *Backward {
	return &Backward{r: r, start: end}
}

// Next returns the line before the one it returned last, io.EOF at the beginning of the file. Data stays valid.
func (b *Backward) Next() (Line, error) {
	for {
		if n := len(b.buf); n > 0 {
			// The newline at the very end closes the line itself.
			if i := bytes.LastIndexByte(b.buf[:n-1], '\n'); i >= 0 || b.start == 0 {
				data, whole := bytes.CutSuffix(b.buf[i+1:], []byte{'\n'})
				b.buf = b.buf[:i+1]
				return Line{Offset: b.start + int64(i) + 1, Data: data, Whole: whole}, nil
			}
		} else if b.start == 0 {
			return Line{}, io.EOF
		}
		if err := b.fill(); err != nil {
			return Line{}, err
		}
	}
}

// fill puts the bytes before start in front of buf: at least as many as are there, so that a long line is copied
// only a few times.
func (b *Backward) fill() error {
	n := min(int64(max(chunk, len(b.buf))), b.start)
	grown := make([]byte, n+int64(len(b.buf)))
	if _, err := io.ReadFull(io.NewSectionReader(b.r, b.start-n, n), grown[:n]); err != nil {
		return err
	}
	copy(grown[n:], b.buf)
	b.start -= n
	b.buf = grown
	return nil
}
