package search

import (
	"unicode"
	"unicode/utf8"
)

// fold returns what all cases of a letter have in common: two runes are equal in a search when their folds are. It is
// Unicode's simple case folding, the same in every language, so ß is ẞ but not ss, every sigma is the same, and ı is not
// I. İ is i, which is what Unicode calls its small letter.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r == 'İ':
		return 'i'
	case 0x3000 <= r && r < 0xA000: // no letter with cases stands there, and much of what people write does
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// cases returns every rune whose fold is that of r.
func cases(r rune) []rune {
	all := []rune{r}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		all = append(all, next)
	}
	if r == 'i' {
		all = append(all, 'İ')
	}
	return all
}
