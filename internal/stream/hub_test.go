package stream

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTopicsCountFromOneWithoutGaps(t *testing.T) {
	h := New(Options{})
	if got := h.Seq("a"); got != 0 {
		t.Fatalf("Seq of an empty topic = %d, want 0", got)
	}
	r, reset := h.Subscribe("a", 0, h.Run())
	defer r.Close()
	if reset {
		t.Fatal("a reader of a fresh topic was reset")
	}
	h.Publish("a", Item{Type: "x"}, Item{Type: "y"})
	h.Publish("b", Item{Type: "other"})
	h.Publish("a", Item{Type: "z"})
	batch, err := r.Take()
	if err != nil || len(batch) != 3 {
		t.Fatalf("Take = %v, %v; want 3 entries", batch, err)
	}
	for i, want := range []string{"x", "y", "z"} {
		if batch[i].Seq != uint64(i+1) || batch[i].Type != want {
			t.Errorf("entry %d = %d %s, want %d %s", i, batch[i].Seq, batch[i].Type, i+1, want)
		}
	}
	if h.Seq("a") != 3 || h.Seq("b") != 1 {
		t.Errorf("Seq = %d, %d; want 3, 1", h.Seq("a"), h.Seq("b"))
	}
}

func TestEmptyTopicNameReachesEveryKnownTopic(t *testing.T) {
	h := New(Options{})
	h.Seq("a")
	h.Publish("b", Item{Type: "x"})
	h.Publish("", Item{Type: "all"})
	if h.Seq("a") != 1 || h.Seq("b") != 2 {
		t.Errorf("Seq = %d, %d; want 1, 2", h.Seq("a"), h.Seq("b"))
	}
}

func TestResumeResetsWhenItCannotContinue(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   uint64
		another bool
		reset   bool
		first   uint64 // number of the entry that comes first
	}{
		{"the newest", 10, false, false, 11},
		{"the oldest kept", 7, false, false, 8},
		{"one too old", 6, false, true, 11},
		{"the future", 11, false, true, 11},
		{"another run", 10, true, true, 11},
	} {
		h := New(Options{KeepItems: 3, LagItems: 3})
		for range 10 {
			h.Publish("a", Item{})
		}
		run := h.Run()
		if c.another {
			run = New(Options{}).Run()
		}
		r, reset := h.Subscribe("a", c.after, run)
		if reset != c.reset {
			t.Errorf("%s: reset = %v, want %v", c.name, reset, c.reset)
		}
		if c.first == 11 {
			h.Publish("a", Item{})
		}
		batch, err := r.Take()
		if err != nil || len(batch) == 0 || batch[0].Seq != c.first {
			t.Errorf("%s: got %v, %v; want seq %d first", c.name, batch, err, c.first)
		}
	}
}

// A client that remembers the last number it saw and comes back with it sees every number exactly once and in
// order, or is told by a reset or ErrTooSlow that it missed some.
func TestAnyDisconnectPatternSeesEveryEntryOnceOrAReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 40).Draw(t, "keep")
		h := New(Options{KeepItems: keep, LagItems: keep * rapid.IntRange(1, 3).Draw(t, "lag"), KeepBytes: 9000})
		var r *Reader
		var seen, published uint64
		take := func() {
			batch, err := r.Take()
			if errors.Is(err, ErrTooSlow) {
				r.Close()
				r = nil
				return
			}
			for _, e := range batch {
				if e.Seq != seen+1 {
					t.Fatalf("saw %d after %d", e.Seq, seen)
				}
				if e.Data.(uint64) != e.Seq {
					t.Fatalf("entry %d carries the data of %d", e.Seq, e.Data)
				}
				seen = e.Seq
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				for range rapid.IntRange(1, 50).Draw(t, "n") {
					published++
					h.Publish("a", Item{Data: published, Size: rapid.IntRange(0, 300).Draw(t, "size")})
				}
			},
			"take": func(t *rapid.T) {
				if r != nil {
					take()
				}
			},
			"connect": func(t *rapid.T) {
				if r != nil {
					return
				}
				var reset bool
				if r, reset = h.Subscribe("a", seen, h.Run()); reset {
					seen = h.Seq("a")
				}
			},
			"disconnect": func(t *rapid.T) {
				if r != nil {
					r.Close()
					r = nil
				}
			},
			"trim": func(*rapid.T) { h.Trim() },
			"": func(t *rapid.T) {
				if h.Seq("a") != published {
					t.Fatalf("Seq = %d, want %d", h.Seq("a"), published)
				}
			},
		})
		if r == nil {
			return
		}
		for range 3 + int(published)/batchItems {
			if take(); r == nil {
				return
			}
		}
		if seen != published {
			t.Fatalf("an attached reader saw %d of %d", seen, published)
		}
	})
}

func TestSlowReaderIsCutOffAndNeverSlowsThePublisher(t *testing.T) {
	h := New(Options{KeepItems: 10, LagItems: 100})
	r, _ := h.Subscribe("a", 0, h.Run())
	defer r.Close()
	for range 100 {
		h.Publish("a", Item{})
	}
	if batch, err := r.Take(); err != nil || len(batch) != 100 {
		t.Fatalf("Take = %d entries, %v; an attached reader may lag by 100", len(batch), err)
	}
	for range 101 {
		h.Publish("a", Item{})
	}
	if _, err := r.Take(); !errors.Is(err, ErrTooSlow) {
		t.Fatalf("Take = %v, want ErrTooSlow", err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, ErrTooSlow) {
		t.Fatalf("Next = %v, want ErrTooSlow", err)
	}
}

func TestNextWaitsForAnItemAndForItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		r, _ := h.Subscribe("a", 0, h.Run())
		defer r.Close()
		go func() { // ends after one Publish
			time.Sleep(time.Second)
			h.Publish("a", Item{Type: "late"})
		}()
		batch, err := r.Next(t.Context())
		if err != nil || len(batch) != 1 || batch[0].Type != "late" {
			t.Fatalf("Next = %v, %v", batch, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := r.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Next = %v, want the deadline", err)
		}
	})
}

func TestConcurrentPublishersKeepEachReaderInOrder(t *testing.T) {
	const publishers, each = 4, 5000
	h := New(Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var readers, pubs sync.WaitGroup
	for range 3 {
		r, _ := h.Subscribe("a", 0, h.Run())
		readers.Go(func() {
			defer r.Close()
			var own [publishers]int
			for seen := uint64(0); seen < publishers*each; {
				batch, err := r.Next(ctx)
				if err != nil {
					t.Errorf("Next: %v after %d", err, seen)
					return
				}
				for _, e := range batch {
					d := e.Data.([2]int)
					if e.Seq != seen+1 || d[1] != own[d[0]] {
						t.Errorf("entry %d = %v after %d, %v", e.Seq, d, seen, own)
						return
					}
					own[d[0]]++
					seen = e.Seq
				}
			}
		})
	}
	for p := range publishers {
		pubs.Go(func() {
			for i := range each {
				h.Publish("a", Item{Data: [2]int{p, i}})
			}
		})
	}
	pubs.Wait()
	readers.Wait()
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryGoesBackAfterAFlood(t *testing.T) {
	before := heap()
	h := New(Options{})
	r, _ := h.Subscribe("a", 0, h.Run())
	big := strings.Repeat("x", 100)
	flood := func() {
		for range 100_000 {
			h.Publish("a", Item{Data: strings.Clone(big), Size: 116})
		}
	}
	flood()
	for n := 0; n < 100_000; {
		batch, err := r.Take()
		if err != nil {
			t.Fatal(err)
		}
		n += len(batch)
	}
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes are held after the flood was read", grown)
	}
	h.Trim()
	h.Trim()
	if _, err := r.Take(); err != nil {
		t.Fatal(err)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d bytes are held when idle", grown)
	}
	r.Close()
	flood() // nobody listens: only what is kept for a return
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes are held without a reader", grown)
	}
	runtime.KeepAlive(h)
}

func BenchmarkPublishTake(b *testing.B) {
	h := New(Options{})
	r, _ := h.Subscribe("a", 0, h.Run())
	defer r.Close()
	it := Item{Type: "delta", Data: "x", Size: 1}
	for i := range b.N {
		h.Publish("a", it)
		if i%64 == 63 {
			if _, err := r.Take(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
