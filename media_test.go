package fyllo

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestMediaTypeIsToldFromTheBytes(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": "image/png",
		"\xff\xd8\xff\xe0\x00\x10JFIF":        "image/jpeg",
		"GIF89a\x01\x00":                      "image/gif",
		"GIF87a\x01\x00":                      "image/gif",
		"RIFF\x10\x00\x00\x00WEBPVP8 ":        "image/webp",
		"\x00\x00\x00\x1cftypavif":            "image/avif",
		"\x00\x00\x00\x1cftypavis":            "image/avif",
		"RIFF\x10\x00\x00\x00WAVEfmt ":        "audio/wav",
		"OggS\x00\x02":                        "audio/ogg",
		"fLaC\x00":                            "audio/flac",
		"\x00\x00\x00\x1cftypM4A ":            "audio/mp4",
		"ID3\x04\x00":                         "audio/mpeg",
		"\xff\xfb\x90\x64":                    "audio/mpeg",

		"":                               "",
		"\x89PNG":                        "", // torn
		"\xff\xfe<\x00s\x00":             "", // UTF-16
		"\xff\xfb\xf0\x64":               "",
		"<svg xmlns=":                    "",
		"<?xml version=\"1.0\"?><svg":    "",
		"<html><script>":                 "",
		"%PDF-1.7":                       "",
		"RIFF\x10\x00\x00\x00AVI LIST":   "",
		"\x00\x00\x00\x1cftypisom":       "", // a film
		" \x89PNG\r\n\x1a\n":             "",
		"BM\x00\x00\x00\x00\x00\x00\x00": "",
	} {
		if got := MediaType([]byte(head)); got != want {
			t.Errorf("%q is %q, want %q", head, got, want)
		}
	}
}

func TestBase64IsReadAsAgentsSendIt(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4, 1000, base64Piece, 3*base64Piece + 1} {
		want := bytes.Repeat([]byte{0, 0xff, 0x10, 7, 200}, size/5+1)[:size]
		padded := base64.StdEncoding.EncodeToString(want)
		var lines strings.Builder
		for i, c := range padded {
			if i > 0 && i%76 == 0 {
				lines.WriteString("\r\n")
			}
			lines.WriteRune(c)
		}
		for form, text := range map[string]string{
			"padded": padded, "not padded": strings.TrimRight(padded, "="), "in lines": lines.String() + "\n",
		} {
			got, err := io.ReadAll(Base64(text))
			if err != nil || !bytes.Equal(got, want) || Base64Len(text) != size {
				t.Errorf("%d bytes %s: %d bytes of %d, %v", size, form, len(got), Base64Len(text), err)
			}
			if err := iotest.TestReader(Base64(text), want); err != nil {
				t.Errorf("%d bytes %s: %v", size, form, err)
			}
		}
	}
	long := strings.Repeat("AAAA", base64Piece)
	for _, text := range []string{"a", "AAAAA", "!!! no base64 !!!", "AA=A", "_-_-", long + "A", long + "A B", "<svg/>"} {
		_, err := io.ReadAll(Base64(text))
		if _, ok := errors.AsType[base64.CorruptInputError](err); !ok {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
