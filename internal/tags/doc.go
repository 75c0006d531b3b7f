// Package tags finds the Fyllo Signals and Fyllo Actions in the source of one text part (R-TAG-001…020). It is the only
// parser of them: everyone else, the page included, is told ranges and verdicts.
//
// An Analyser reads a text as it grows, in chunks of any size, and tells a tag once the block that it stands in is seen to
// be over; what it has told never changes, and what it tells in the end does not depend on the chunks (R-TAG-010). Its work
// is linear in the length of the text, which stays with its owner; of an unfinished tag it keeps no more than can be valid.
// The source itself is never altered (R-TAG-002). Occurrences that are no tags are not told at all: they are Markdown.
//
// The package is pure, and an Analyser is for one goroutine.
package tags
