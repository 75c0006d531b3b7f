// Command fyllo is FylloCode: Core, its web server and its command line in one binary.
//
// run.go is the only place where the parts of Core are wired together and where the order of their end is written.
// The command line lives in internal/cli and reaches a Core only over HTTP.
//
// Exit codes are 0 done, 1 failed, 2 wrong usage, 130 cancelled (R-CLI-011), and from 81 on the step of a shutdown
// that did not end in time (run.go).
package main
