// Package registry reads the public list of ACP Agents: its document, where it comes from, and the copy of it that
// is kept (R-AGT-002…005). It knows neither processes nor what is installed.
package registry
