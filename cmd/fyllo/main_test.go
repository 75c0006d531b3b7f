package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"fyllocode.dev/fyllo/internal/testagent"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"fyllo": func() { os.Exit(Main()) },
		"testagent": func() {
			script := os.Getenv(testagent.EnvScript)
			if len(os.Args) > 1 {
				script = os.Args[1]
			}
			os.Exit(testagent.RunProcess(script))
		},
	})
}

// leakChecked fails a run that leaves goroutines behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return code
}
