package fyllo

import "testing"

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
