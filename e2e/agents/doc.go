// Package agents drives real ACP Agents through the binary, from outside: `fyllo agents add`, `fyllo serve`,
// `fyllo prompt --json`.
//
// Each folder beside this file pins one npm package with its lock file; a test installs it there on first use. At run time everything is on loopback: the model behind the Agents is internal/fakemodel.
//
// The example Agent of the ACP SDK needs no model and runs with every `go test ./...`. The others run with
// `make test-agents` (build tag agents); FYLLO_E2E_AGENTS=opencode,qwen chooses among them. FYLLO_E2E_BIN names a
// binary to test instead of building one, FYLLO_E2E_KEEP=1 leaves the folders of a run under the temp folder.
//
// Two of them also delegate to each other through fyllo-spawn. Its door for Agents is besides put to the test suite of the
// Model Context Protocol; the folder conformance pins it, with the Node that it needs.
//
// When e2e/specs/agents.spec.ts and the Playwright of e2e/package.json are there, every Agent is driven through the browser
// too: the spec finds the page in FYLLO_E2E_URL (one-time), the Agent in FYLLO_E2E_AGENT (its name) and the Project's
// folder, which holds notes.txt, in FYLLO_E2E_PROJECT; its Agents understand the commands of internal/fakemodel.
package agents
