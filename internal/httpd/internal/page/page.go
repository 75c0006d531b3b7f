// Package page answers those who open an address in a browser: with the files of the built interface, or with a page
// that says why there are none.
package page

import (
	"html/template"
	"net/http"
)

// plain is what a browser shows instead of the interface. It has no script and loads nothing.
var plain = template.Must(template.New("page").Parse(`<!doctype html>
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

type content struct {
	Title string
	Text  string
	Again bool // load the same address once more
}

// Write answers with a page of a heading and a paragraph of plain text.
func Write(w http.ResponseWriter, status int, title, text string) {
	show(w, status, content{Title: title, Text: text})
}

func show(w http.ResponseWriter, status int, d content) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if plain.Execute(w, d) != nil {
		return // the client is gone
	}
}

const signInTitle = "Please open FylloCode again"

const signInText = "This browser is not signed in to the FylloCode that runs here, or its link was used before. " +
	"Run fyllo in a terminal: it opens a fresh link, which works once."

// WriteSignIn answers a page load without a valid cookie.
//
// A browser holds a SameSite=Strict cookie back when a link on another site led here. Loading the same address once
// more from our own page brings it, if there is one.
func WriteSignIn(w http.ResponseWriter, r *http.Request) {
	site := r.Header.Get("Sec-Fetch-Site")
	again := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (site == "cross-site" || site == "same-site")
	show(w, http.StatusUnauthorized, content{Title: signInTitle, Text: signInText, Again: again})
}

// WriteUsedLink answers a link that signs nobody in. It is not loaded again: that would not help.
func WriteUsedLink(w http.ResponseWriter) { Write(w, http.StatusUnauthorized, signInTitle, signInText) }
