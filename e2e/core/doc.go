// Package core drives the built binary as a black box: `fyllo serve` with its HTTP API and WebSocket, and the command
// line, against the scripted Agent of internal/testagent.
//
// It proves what only whole processes can show: order and completeness at full speed, what a crash leaves, that no
// process is left behind, what happens when disk, data or Agents are bad, and what the open port refuses. Each test has
// its own data root, its own Project and its own Core. Everything that a test starts carries a mark in its environment,
// by which what survives is found in /proc.
//
// The tests run with every `go test ./...`. FYLLO_E2E_BIN and FYLLO_E2E_AGENT_BIN name binaries to test instead of
// building them; FYLLO_E2E_KEEP=1 leaves the folders of a run under the temp folder.
package core
