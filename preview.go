package fyllo

import "unicode/utf8"

// BodyPreview is the largest number of bytes of a Body that travels and is stored with its message. Longer ones are
// cut to a preview (architecture §4).
const BodyPreview = 2048

// Preview returns text if it is short enough to travel whole, else its first BodyPreview bytes, cut back to the
// start of a code point.
func Preview(text string) string {
	if len(text) <= BodyPreview {
		return text
	}
	n := BodyPreview
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
