package fyllo

import "bytes"

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
