// Package fyllo is the vocabulary of FylloCode: ids, Workspaces, Projects, Sessions, Messages, Parts, Updates,
// Events and error codes. Every other package speaks in these words.
//
// It is pure: no I/O, no clock, no lock, no log, no goroutine. It imports nothing of ours.
package fyllo
