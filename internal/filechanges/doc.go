// Package filechanges computes what one answer changed on disk, from the diffs that its calls reported and from
// nothing else: no disk, no Git, no other message (R-CHAT-097).
//
// The diffs of a file are folded one by one into segments, each with the text that stood there before the answer and
// the text that stands there now. A file that an Agent reports whole has one segment; fragments whose place is not
// known stay apart until a later diff shows how they belong together. No position is ever invented (R-CHAT-105).
//
// The package is pure: the same parts always give the same files.
package filechanges
