package atomicfile

import "sync"

// Locks is a set of mutexes by name, for serialising work per file. The zero value is ready; memory is used only
// for names that are locked at the moment.
type Locks struct {
	mu   sync.Mutex
	held map[string]*entry
}

type entry struct {
	mu    sync.Mutex
	users int // holder and waiters; guarded by Locks.mu
}

// Lock waits for the mutex of name and returns what releases it.
func (l *Locks) Lock(name string) (unlock func()) {
	l.mu.Lock()
	e := l.held[name]
	if e == nil {
		if l.held == nil {
			l.held = map[string]*entry{}
		}
		e = &entry{}
		l.held[name] = e
	}
	e.users++
	l.mu.Unlock()

	e.mu.Lock()
	return func() {
		e.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.users--; e.users == 0 {
			delete(l.held, name)
		}
	}
}
