package cli

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// browserCommand returns the argv that opens url: $BROWSER when it is set, else the platform's opener.
func browserCommand(getenv func(string) string, goos, url string) []string {
	if browser := strings.Fields(getenv("BROWSER")); len(browser) > 0 {
		for i, word := range browser[1:] {
			if strings.Contains(word, "%s") {
				browser[i+1] = strings.ReplaceAll(word, "%s", url)
				return browser
			}
		}
		return append(browser, url)
	}
	switch goos {
	case "darwin":
		return []string{"open", url}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		return []string{"xdg-open", url}
	}
}

// openBrowser opens url. It does not wait for a browser that stays in the foreground, and a failure is only a
// notice: the URL is printed in any case.
func (a *app) openBrowser(ctx context.Context, url string) {
	argv := browserCommand(a.getenv, runtime.GOOS, url)
	cmd := exec.Command(argv[0], argv[1:]...) // not bound to ctx: the browser outlives the command
	detach(cmd)
	if err := cmd.Start(); err != nil {
		a.notice("no browser was opened: %v", err)
		return
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }() // ends with the opener, or with the process
	select {
	case err := <-exited:
		if err != nil {
			a.notice("no browser was opened: %s: %v", argv[0], err)
		}
	case <-time.After(2 * time.Second): // openers that are slower than this do not report anyway
	case <-ctx.Done():
	}
}
