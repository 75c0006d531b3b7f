package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/atomicfile"
	"fyllocode.dev/fyllo/internal/records/internal/document"
)

const (
	lockName  = "core.lock"
	tokenName = "core.token"
)

// LockInfo is the content of core.lock: which Core owns the data root (R-CLI-001).
type LockInfo struct {
	PID       int       `json:"pid"`               // 0 when the owner has not written it yet
	Address   string    `json:"address,omitempty"` // host:port; "" until the Core accepts requests
	StartedAt time.Time `json:"startedAt"`
}

// CoreLock is the ownership of a data root. The operating system ends it with the process, however that ends.
type CoreLock struct {
	root string
	file *os.File
	info LockInfo
}

// Lock takes the data root at root for this process, creating it if need be. It fails with CORE_ALREADY_RUNNING,
// Details LockInfo, when another process holds it, and with HOME_NOT_WRITABLE when the root cannot be created or
// written; then nothing was changed.
func Lock(root string) (*CoreLock, error) {
	made, err := makeRoot(root)
	if err != nil {
		return nil, notWritable(root, err)
	}
	f, err := os.OpenFile(filepath.Join(root, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		removeEmpty(made)
		return nil, notWritable(root, err)
	}
	if err := acquire(f); err != nil {
		defer f.Close()
		if errors.Is(err, errLocked) {
			return nil, alreadyRunning(f)
		}
		return nil, notWritable(root, err)
	}
	l := &CoreLock{root: root, file: f, info: LockInfo{PID: os.Getpid(), StartedAt: time.Now().UTC()}}
	if err := l.write(); err != nil {
		f.Close()
		return nil, notWritable(root, err)
	}
	return l, nil
}

// makeRoot creates root and its missing parents and returns those it made, innermost first.
func makeRoot(root string) (made []string, err error) {
	for dir := filepath.Clean(root); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	if err := atomicfile.MkdirAll(root, 0o700); err != nil {
		removeEmpty(made)
		return nil, err
	}
	return made, nil
}

// removeEmpty takes back what makeRoot made; a directory that someone uses already stays.
func removeEmpty(dirs []string) {
	for _, dir := range dirs {
		_ = os.Remove(dir)
	}
}

// acquire takes the lock. A reader that looks for a running Core holds it for an instant, hence the retries.
func acquire(f *os.File) error {
	for attempt := 0; ; attempt++ {
		err := tryLock(f, true)
		if !errors.Is(err, errLocked) || attempt == 4 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func notWritable(root string, err error) error {
	return fyllo.Errorf(fyllo.CodeHomeNotWritable, "the data root %s cannot be written: %w", root, err).
		WithHint("Choose another one with --home or FYLLO_HOME.")
}

func alreadyRunning(f *os.File) error {
	info, _ := readInfo(f)
	e := fyllo.Errorf(fyllo.CodeAlreadyRunning, "FylloCode already runs on this data root: process %d holds it", info.PID)
	e.Details = info
	return e
}

// ReadLock returns who owns the data root, false when no Core runs. What a dead Core left reads as not running.
func ReadLock(root string) (LockInfo, bool) {
	f, err := os.Open(filepath.Join(root, lockName))
	if err != nil {
		return LockInfo{}, false
	}
	defer f.Close() // also gives up the lock, if it was free
	if !errors.Is(tryLock(f, false), errLocked) {
		return LockInfo{}, false
	}
	return readInfo(f)
}

// readInfo tolerates what stands behind the object, since the content is overwritten in place.
func readInfo(f *os.File) (LockInfo, bool) {
	var info LockInfo
	buf := make([]byte, 4096)
	n, err := f.ReadAt(buf, 0)
	if n == 0 && err != nil {
		return info, true // locked and not yet written
	}
	if err := document.First(buf[:n], &info); err != nil {
		return LockInfo{}, true
	}
	return info, true
}

// ReadToken returns the token of the Core that owns the data root, for its command line.
func ReadToken(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, tokenName))
	if err != nil {
		return "", fyllo.Errorf(fyllo.CodeNotFound, "the token of the running FylloCode cannot be read: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Publish tells where this Core accepts requests and the token that its command line must carry. The process id and,
// when info has none, the time of the start are those of Lock.
func (l *CoreLock) Publish(info LockInfo, token string) error {
	if err := atomicfile.Write(filepath.Join(l.root, tokenName), []byte(token+"\n"), 0o600); err != nil {
		return notWritable(l.root, err)
	}
	l.info.Address = info.Address
	if !info.StartedAt.IsZero() {
		l.info.StartedAt = info.StartedAt
	}
	if err := l.write(); err != nil {
		return notWritable(l.root, err)
	}
	return nil
}

// write overwrites the content in place: the lock belongs to this very file.
func (l *CoreLock) write() error {
	b, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err := l.file.WriteAt(b, 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(b)))
}

// Release gives the data root up and removes the token. The lock file stays, empty: removing it would let two
// processes lock two files of one name.
func (l *CoreLock) Release() error {
	err := errors.Join(atomicfile.Remove(filepath.Join(l.root, tokenName)), l.file.Truncate(0), l.file.Close())
	if err != nil {
		return fmt.Errorf("release data root: %w", err)
	}
	return nil
}
