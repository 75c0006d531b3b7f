// Package atomicfile replaces small files so that a reader, also one after a crash, sees either the old content or
// the new one, never a mixture (R-WS-130).
//
// A replacement is written to a temporary file in the same directory, synced, renamed over the target, and the
// directory is synced. When Write or Update returns nil the new content survives a power failure. When they return
// an error the target holds the old content, with one exception: if only the last step, the directory sync, failed,
// the new content is in place but may not survive a power failure.
//
// Calls for one path are serialised within the process, in no particular order. Nothing here starts a goroutine.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Op names one kind of disk operation, for SetFault.
type Op string

// The disk operations of this package, in the order in which a Write does them; the last two belong to MkdirAll
// and Remove.
const (
	OpCreate  Op = "create"
	OpWrite   Op = "write" // a failing write leaves half of its bytes behind, like a full disk
	OpSync    Op = "sync"
	OpRename  Op = "rename"
	OpSyncDir Op = "syncdir"
	OpMkdir   Op = "mkdir"
	OpRemove  Op = "remove"
)

// tempMark stands between the name of the target and the random part of a temporary name.
const tempMark = ".tmp-"

var (
	files Locks
	fault atomic.Pointer[func(Op, string) error]
	run   = strings.ToLower(rand.Text()[:10]) // tells our own temporary files from those of a dead process
	count atomic.Uint64
)

// SetFault makes f run before every disk operation of this package; a non-nil result becomes that operation's
// failure. It exists for fault tests, which must not run in parallel with others. restore ends it.
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

// Write replaces the content of path by data. The directory must exist. perm is used for the new file whatever the
// old one had. On failure the temporary file is removed.
func Write(path string, data []byte, perm os.FileMode) error {
	defer files.Lock(path)()
	return write(path, data, perm)
}

// WriteFrom is Write for content that is too long to be held in memory. It returns the number of bytes. When from fails
// nothing is replaced, and the error wraps that of from.
func WriteFrom(path string, from io.Reader, perm os.FileMode) (int64, error) {
	defer files.Lock(path)()
	return replace(path, from, perm)
}

// Update replaces the content of path by what change makes of it; no other Write or Update of path runs in between.
// change gets nil when the file does not exist. If change fails nothing is written and its error is returned as it
// is; if it returns the old bytes unchanged, nothing is written either.
func Update(path string, perm os.FileMode, change func(old []byte) ([]byte, error)) error {
	defer files.Lock(path)()
	old, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("update %s: %w", filepath.Base(path), err)
	}
	before := string(old)
	data, err := change(old)
	if err != nil {
		return err
	}
	if !missing && string(data) == before {
		return nil
	}
	return write(path, data, perm)
}

func write(path string, data []byte, perm os.FileMode) error {
	_, err := replace(path, bytes.NewReader(data), perm)
	return err
}

func replace(path string, from io.Reader, perm os.FileMode) (int64, error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, fmt.Sprintf(".%s%s%s-%d", base, tempMark, run, count.Add(1)))
	n, err := fill(temp, from, perm)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", base, err)
	}
	err = check(OpRename, path)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the rename error is what matters; IsStaleTemp finds the file at the next start
		return 0, fmt.Errorf("replace %s: %w", base, err)
	}
	return n, SyncDir(filepath.Dir(path))
}

// fill creates temp with what from yields, synced and closed, or leaves nothing.
func fill(temp string, from io.Reader, perm os.FileMode) (n int64, err error) {
	if err := check(OpCreate, temp); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(temp)
		}
	}()
	if err := check(OpWrite, temp); err != nil {
		_, _ = io.CopyN(f, from, halfOf(from))
		return 0, err
	}
	if n, err = io.Copy(f, from); err != nil {
		return 0, err
	}
	if err := check(OpSync, temp); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return n, f.Close()
}

// halfOf is about half of what a reader holds, as far as it tells.
func halfOf(r io.Reader) int64 {
	if sized, ok := r.(interface{ Len() int }); ok {
		return int64(sized.Len() / 2)
	}
	return 1
}

// SyncDir makes the names in dir durable: files created, renamed or removed there before the call.
func SyncDir(dir string) error {
	err := check(OpSyncDir, dir)
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", filepath.Base(dir), err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// MkdirAll creates dir and its missing parents with perm and makes their names durable. Directories that exist
// already keep their permissions.
func MkdirAll(dir string, perm os.FileMode) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return fmt.Errorf("make directory %s: a file has this name", dir)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make directory %s: %w", dir, err)
	}
	parent := filepath.Dir(dir)
	if err := MkdirAll(parent, perm); err != nil {
		return err
	}
	if err := check(OpMkdir, dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// Remove deletes the file or the whole directory at path and makes that durable. A path that does not exist is no
// error.
func Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := check(OpRemove, path); err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Base(path), err)
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Base(path), err)
	}
	return SyncDir(filepath.Dir(path))
}

// IsStaleTemp reports whether name, without directory, is a temporary file that another process left behind. Only
// the sole writer of a directory may delete such files.
func IsStaleTemp(name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	_, random, ok := strings.Cut(name, tempMark)
	return ok && !strings.HasPrefix(random, run+"-")
}
