// Command testagent is the scripted ACP Agent of internal/testagent as a program of its own. The script stands
// in FYLLO_TESTAGENT, or in the first argument.
package main

import (
	"os"

	"fyllocode.dev/fyllo/internal/testagent"
)

func main() {
	script := os.Getenv(testagent.EnvScript)
	if len(os.Args) > 1 {
		script = os.Args[1]
	}
	os.Exit(testagent.RunProcess(script))
}
