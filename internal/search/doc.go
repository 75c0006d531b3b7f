// Package search finds words in the Sessions of a Workspace (R-CHAT-017…024).
//
// # What matches
//
// A Query matches a text that holds its words, one after another, without regard to case (see fold) and to how much
// white space stands where. Nothing else is equal to anything: accents count, and no character is special. Searched are
// titles, Session ids, and the text parts of user and assistant messages in their newest version; not the words of
// subagents, reasoning, tools, attachments and reminders.
//
// # How messages are searched
//
// There is no index. A scan reads the message files of one Session after another, as bytes, and looks for an anchor: two
// neighbouring bytes that every spelling of the query has, chosen to be rare. Only a line that has them, with the word
// around them, or an escape sequence that might stand for them, is read as JSON, by a reader that keeps no line: a
// message of any length costs the same memory. The anchor never loses a line that matches. Long texts that are kept
// beside a transcript are those of tools and attachments, so nothing of them is read.
//
// # What it costs others
//
// One scan runs at a time in all of Core; others wait for their turn or for the end of their context. A scan ends within
// a few milliseconds of its context, and with the limit of its hits: Sessions are read in the order of the answer.
// Nothing is written.
package search
