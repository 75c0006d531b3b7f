package fyllo

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
)

// MediaQuery names an attachment of a message: the part's own, or one in the result of its tool.
type MediaQuery struct {
	PartID string
	Index  int // in Tool.Media; negative: the part's own attachment
}

// Media is what an attachment holds. Whoever gets one closes its Content.
type Media struct {
	Type    string // as of MediaType, "" when it is not to be shown
	Size    int64  // of Content, in bytes
	Content io.ReadCloser
}

// MediaHead is how many of the first bytes of a file MediaType looks at.
const MediaHead = 16

// MediaType returns what a file is by its first bytes, whatever its sender called it: one of the raster pictures and
// sounds that a page may show or play, or "" for anything else. SVG is none of them, since it can hold scripts.
func MediaType(head []byte) string {
	at := func(offset int, magic string) bool {
		return len(head) >= offset+len(magic) && bytes.HasPrefix(head[offset:], []byte(magic))
	}
	switch {
	case at(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case at(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case at(0, "GIF87a"), at(0, "GIF89a"):
		return "image/gif"
	case at(0, "RIFF") && at(8, "WEBP"):
		return "image/webp"
	case at(4, "ftypavif"), at(4, "ftypavis"):
		return "image/avif"
	case at(0, "RIFF") && at(8, "WAVE"):
		return "audio/wav"
	case at(0, "OggS"):
		return "audio/ogg"
	case at(0, "fLaC"):
		return "audio/flac"
	case at(4, "ftypM4A "):
		return "audio/mp4"
	case at(0, "ID3"), isMP3Frame(head):
		return "audio/mpeg"
	}
	return ""
}

// isMP3Frame reports whether head begins with the header of an MPEG audio frame of layer III.
func isMP3Frame(head []byte) bool {
	return len(head) >= 4 && head[0] == 0xff && head[1]&0xe6 == 0xe2 && // sync, layer III
		head[1]&0x18 != 0x08 && head[2]&0xf0 != 0xf0 && head[2]&0x0c != 0x0c // version, bit rate and sample rate exist
}

// Base64Len returns how many bytes a text of base64 holds, if it is one.
func Base64Len(text string) int { return base64.RawStdEncoding.DecodedLen(len(plainBase64(text))) }

// Base64 reads the bytes that a text of base64 holds, piece by piece, so that they never lie in memory as a whole. Line
// breaks are skipped and padding may be missing. A text that is no base64 gives a base64.CorruptInputError, whose
// number means nothing.
func Base64(text string) io.Reader { return &base64Reader{text: plainBase64(text)} }

// plainBase64 takes away what says nothing.
func plainBase64(text string) string {
	text = strings.TrimRight(text, "=\r\n")
	if strings.ContainsAny(text, "\r\n") {
		text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
	}
	return text
}

// base64Piece is how many characters are decoded at a time; a multiple of four.
const base64Piece = 64 << 10

type base64Reader struct {
	text string // not decoded yet
	buf  []byte
	rest []byte // decoded and not taken yet
}

// Read implements io.Reader.
func (r *base64Reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.text == "" {
			return 0, io.EOF
		}
		n := min(len(r.text), base64Piece)
		r.buf = append(r.buf[:0], r.text[:n]...)
		k, err := base64.RawStdEncoding.Decode(r.buf, r.buf) // what is written never overtakes what is read
		if err != nil {
			return 0, err
		}
		r.text, r.rest = r.text[n:], r.buf[:k]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
