// Package journal keeps append-only files of JSON lines: append, sync, replay, repair.
//
// # Format
//
// A file is a sequence of lines, each one JSON value followed by one newline. Only whole lines count. There is no
// header, no checksum and no index, so that people and tools can read the files.
//
// # Damage
//
// A crash can leave a torn tail: a last line that is no JSON value. Open cuts it after a copy of it was saved beside
// the file as <name>.torn-<n>; then appending goes on. A last line that is complete except for its newline was
// written completely and is kept. Every other unreadable line is damage: it is reported with its place and never
// touched, and the lines around it stay readable.
//
// # Failure
//
// An Append that fails leaves nothing behind: what it wrote is cut off at once or, if that fails too, before the
// next Append. A failed Sync says that the data may not survive a power failure; the lines stay unless the caller
// takes them back with Rollback.
//
// A File may be used by several goroutines; their Appends are serialised. It must be the only writer of its file.
// The package starts no goroutine.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Op names one kind of disk operation, for SetFault.
type Op string

// The disk operations of this package.
const (
	OpOpen     Op = "open"
	OpWrite    Op = "write" // a failing write leaves half of its bytes behind, like a full disk
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpSyncDir  Op = "syncdir"
)

var fault atomic.Pointer[func(Op, string) error]

// SetFault makes f run before every disk operation of this package that changes something; a non-nil result becomes
// that operation's failure. It exists for fault tests, which must not run in parallel with others. restore ends it.
func SetFault(f func(op Op, path string) error) (restore func()) {
	old := fault.Swap(&f)
	return func() { fault.Store(old) }
}

func check(op Op, path string) error {
	if f := fault.Load(); f != nil {
		return (*f)(op, path)
	}
	return nil
}

// File is an open journal.
type File struct {
	path string
	f    *os.File

	mu    sync.Mutex
	size  int64 // bytes of whole, accepted lines
	stray bool  // there may be bytes behind size that a failed Append left
}

// Torn describes a tail that Open cut.
type Torn struct {
	Offset int64  // where it began, which is the length of the file now
	Length int64  // bytes
	Copy   string // path of the copy
}

// Open opens the journal at path for appending and creates it, with permissions 0600 and a durable name, if it does
// not exist. It repairs a torn tail first; torn is nil if there was none.
func Open(path string) (j *File, torn *Torn, err error) {
	f, created, err := openOrCreate(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	j = &File{path: path, f: f}
	if created {
		return j, nil, nil
	}
	if torn, err = j.repair(); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("repair %s: %w", filepath.Base(path), err)
	}
	return j, torn, nil
}

func openOrCreate(path string) (f *os.File, created bool, err error) {
	if err := check(OpOpen, path); err != nil {
		return nil, false, err
	}
	f, err = os.OpenFile(path, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, false, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		f.Close()
		_ = os.Remove(path) // empty, and the caller is told that it could not be made
		return nil, false, err
	}
	return f, true, nil
}

// repair finds the end of the whole lines.
func (j *File) repair() (*Torn, error) {
	info, err := j.f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	j.size = info.Size()
	last, err := NewBackward(j.f, j.size).Next()
	if err != nil {
		return nil, err
	}
	valid := len(last.Data) == 0 || json.Valid(last.Data)
	switch {
	case valid && last.Whole:
		return nil, nil
	case valid && closed(last.Data):
		_, err := j.Append([]byte{'\n'})
		return nil, err
	}
	torn := &Torn{Offset: last.Offset, Length: j.size - last.Offset}
	tail := make([]byte, torn.Length)
	if _, err := j.f.ReadAt(tail, torn.Offset); err != nil {
		return nil, err
	}
	if torn.Copy, err = saveCopy(j.path, tail); err != nil {
		return nil, err
	}
	if err := j.Rollback(torn.Offset); err != nil {
		return nil, err
	}
	return torn, nil
}

// closed reports whether a valid JSON value shows by itself that it is complete; 12 may be the beginning of 123.
func closed(line []byte) bool {
	return line[0] == '{' || line[0] == '[' || line[0] == '"'
}

// saveCopy writes tail to the first free name path.torn-<n>, durably.
func saveCopy(path string, tail []byte) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.torn-%d", path, n)
		if err := check(OpOpen, name); err != nil {
			return "", err
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err = check(OpWrite, name); err == nil {
			_, err = f.Write(tail)
		}
		if err == nil {
			err = syncFile(f)
		}
		if err = errors.Join(err, f.Close()); err == nil {
			err = syncDir(filepath.Dir(path))
		}
		if err != nil {
			_ = os.Remove(name) // a copy that is not whole would only mislead
			return "", err
		}
		return name, nil
	}
}

// Append writes the parts, which together are whole lines, and returns the offset of the first byte. Each part is
// one write(2). It survives a crash of the process, but a power failure only after Sync.
func (j *File) Append(parts ...[]byte) (offset int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stray {
		if err := j.truncate(j.size); err != nil {
			return 0, fmt.Errorf("append to %s: %w", filepath.Base(j.path), err)
		}
		j.stray = false
	}
	end := j.size
	for _, p := range parts {
		n, err := j.writeAt(p, end)
		end += int64(n)
		if err != nil {
			j.stray = j.truncate(j.size) != nil
			return 0, fmt.Errorf("append to %s: %w", filepath.Base(j.path), err)
		}
	}
	offset, j.size = j.size, end
	return offset, nil
}

func (j *File) writeAt(p []byte, at int64) (int, error) {
	if err := check(OpWrite, j.path); err != nil {
		n, _ := j.f.WriteAt(p[:len(p)/2], at)
		return n, err
	}
	return j.f.WriteAt(p, at)
}

func (j *File) truncate(size int64) error {
	if err := check(OpTruncate, j.path); err != nil {
		return err
	}
	return j.f.Truncate(size)
}

// Sync makes everything appended before the call durable. Appends go on meanwhile.
func (j *File) Sync() error {
	if err := check(OpSync, j.path); err != nil {
		return fmt.Errorf("sync %s: %w", filepath.Base(j.path), err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", filepath.Base(j.path), err)
	}
	return nil
}

// Rollback takes back everything at and behind offset, which an Append returned, durably. If it fails the lines are
// cut before the next Append.
func (j *File) Rollback(offset int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.size = offset
	if err := j.truncate(offset); err != nil {
		j.stray = true
		return fmt.Errorf("roll back %s: %w", filepath.Base(j.path), err)
	}
	j.stray = false
	return syncFile(j.f)
}

// Size returns the bytes of all whole lines.
func (j *File) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// ReadAt reads bytes of the file.
func (j *File) ReadAt(p []byte, offset int64) (int, error) { return j.f.ReadAt(p, offset) }

// Close closes the file without a sync.
func (j *File) Close() error { return j.f.Close() }

func syncFile(f *os.File) error {
	if err := check(OpSync, f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func syncDir(dir string) error {
	if err := check(OpSyncDir, dir); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
