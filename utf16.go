package fyllo

// UTF16Len is the length of s in UTF-16 units, in which positions of a Delta are counted. s must be valid UTF-8.
func UTF16Len(s string) int {
	n := 0
	for i := range len(s) {
		n += units(s[i])
	}
	return n
}

// SkipUTF16 returns s without its first n UTF-16 units; "" when it has no more. s must be valid UTF-8.
func SkipUTF16(s string, n int) string {
	for i := range len(s) {
		if n <= 0 && s[i]&0xC0 != 0x80 {
			return s[i:]
		}
		n -= units(s[i])
	}
	return ""
}

// units is how many UTF-16 units begin with a byte of UTF-8: two for a code point of four bytes, none for the bytes
// that continue one.
func units(b byte) int {
	switch {
	case b >= 0xF0:
		return 2
	case b&0xC0 == 0x80:
		return 0
	}
	return 1
}
