// Package tour is the built-in Tour Agent (decision 20): a scripted ACP Agent in the same binary, for a machine
// that has no other Agent. It shows what a turn can be (text, thoughts, tools, a plan, a permission request, a
// change that is really written) and says plainly that it is a script.
//
// It is an application of its own: it knows of FylloCode no more than any Agent does and speaks to it through its
// standard input and output, and the MCP server that its sessions were given.
//
// It reads and writes only inside the session's working directory, through an os.Root, so that no link leads out of
// it; it writes only after a request_permission was answered with its allow_once option, and only if the file is
// then still what the request showed.
//
// Given the server fyllo-spawn, it also delegates: a second Tour reads a file in the background, and when the client tells
// it that this has ended, it says what came of it.
//
// Each turn has one goroutine, which sends everything the turn sends and answers its prompt last. It ends when its
// script ends or its context is cancelled: by session/cancel, session/close, or the end of the input.
package tour
