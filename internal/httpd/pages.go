package httpd

import (
	"html/template"
	"net/http"
)

// page is what a browser shows instead of the interface. It has no script and loads nothing.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
{{if .Again}}<meta http-equiv="refresh" content="0">
{{end}}<title>{{.Title}}</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
body { max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.25rem }
</style>
<main>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
</main>
`))

type pageData struct {
	Title string
	Text  string
	Again bool // load the same address once more
}

func writePage(w http.ResponseWriter, status int, title, text string) {
	showPage(w, status, pageData{Title: title, Text: text})
}

func showPage(w http.ResponseWriter, status int, d pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if page.Execute(w, d) != nil {
		return // the client is gone
	}
}

const signInText = "This browser is not signed in to the FylloCode that runs here, or its link was used before. " +
	"Run fyllo in a terminal: it opens a fresh link, which works once."

// writeSignIn answers a page load without a valid cookie.
//
// A browser holds a SameSite=Strict cookie back when a link on another site led here. Loading the same address once
// more from our own page brings it, if there is one.
func writeSignIn(w http.ResponseWriter, r *http.Request) {
	site := r.Header.Get("Sec-Fetch-Site")
	again := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (site == "cross-site" || site == "same-site")
	showPage(w, http.StatusUnauthorized, pageData{Title: "Please open FylloCode again", Text: signInText, Again: again})
}
