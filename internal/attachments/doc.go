// Package attachments owns the files that users send along with their messages: which of them an Agent can take
// (R-CHAT-044, 045), what they are called, where they wait until they are sent (R-CHAT-043), and what the Agent gets of
// them (R-CHAT-049).
//
// Judge and everything else in judge.go and name.go is pure; the page has a copy of it, and testdata/cases.json holds
// both to the same answers. A Library adds, lists and opens the files of a Session. Blocks reads files when their
// message is about to be sent.
//
// A file lies in the directory of its own Session under a random name. Nothing that a client says ever becomes part of
// a path: a name is for display, a type is what the bytes tell, as far as they do. Nothing here has state of its own;
// everything may be called at any time, by anyone.
package attachments
