// Command fyllo is FylloCode: Core, its web server and its command line in one binary.
//
// run.go is the only place where the parts of Core are wired together. Every other command is a client of a
// Core over its HTTP API, so that scripts and windows see the same behaviour: of the Core that runs for the
// data root, or else of one that the command starts inside itself (connect.go). One file holds one command.
//
// Data goes to stdout, progress and notices to stderr. Exit codes are 0 done, 1 failed, 2 wrong usage,
// 130 cancelled (R-CLI-011), and from 81 on the step of a shutdown that did not end in time (run.go).
package main
