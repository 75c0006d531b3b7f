// Command openapi writes the description of the HTTP API to a file. `go generate ./internal/httpd` runs it.
package main

import (
	"fmt"
	"os"

	"fyllocode.dev/fyllo/internal/httpd" //nolint:depguard // a command of this very package
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: openapi FILE")
		os.Exit(2)
	}
	spec, err := httpd.Spec()
	if err == nil {
		err = os.WriteFile(os.Args[1], spec, 0o644) // a source file
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}
