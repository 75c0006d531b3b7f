// Package web holds the built browser interface. `npm run build` in this directory fills dist; before that, dist
// holds only a placeholder, so that the module compiles without Node.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// FS returns the files of the built interface with index.html at its root. Files under assets/ carry a content
// hash in their name and never change. Most of them are there compressed only, with the suffix ".gz"; other text files
// have a compressed sibling.
// Without a build there is no index.html.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // "dist" is a valid constant path; fs.Sub fails on invalid paths only
	}
	return sub
}
