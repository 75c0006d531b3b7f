package filechanges

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"fyllocode.dev/fyllo"
)

// Summary returns the entry of f in a list.
func (f File) Summary() fyllo.FileChange {
	c := fyllo.FileChange{Path: f.Path, Change: f.Change, Segments: len(f.Segments)}
	h := sha256.New()
	mix(h, (*string)(&f.Change))
	for _, s := range f.Segments {
		mix(h, s.Old)
		mix(h, s.New)
		c.OldSize += size(s.Old)
		c.NewSize += size(s.New)
	}
	c.Version = hex.EncodeToString(h.Sum(nil)[:8])
	return c
}

// mix adds a text to a hash so that no two lists of texts look the same to it.
func mix(h hash.Hash, text *string) {
	n := uint64(1 << 63) // no text
	if text != nil {
		n = uint64(len(*text))
	}
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], n)
	h.Write(length[:])
	if text != nil {
		_, _ = io.WriteString(h, *text) // a hash takes everything
	}
}

func size(text *string) int64 {
	if text == nil {
		return 0
	}
	return int64(len(*text))
}
