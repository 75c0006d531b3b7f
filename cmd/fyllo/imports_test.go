package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is a kind of package in the import law of docs/architecture.md §2.
type layer int

const (
	vocabulary layer = iota
	engine           // pure: one job, no I/O
	technology       // knows no rule of the product
	adapter          // a border to disk, processes or the network
	useCase          // the rules of the product
	program          // stands beside Core: the Tour, and what tests and measurements start
	assets           // the built interface
	wiring           // everything
)

// layers places every directory of the module; what lies below one belongs to it.
var layers = map[string]layer{
	".": vocabulary,

	"internal/transcript": engine, "internal/filechanges": engine, "internal/tags": engine,
	"internal/configplan": engine, "internal/export": engine, "internal/pathref": engine,

	"internal/jsonrpc": technology, "internal/childproc": technology, "internal/journal": technology,
	"internal/atomicfile": technology, "internal/stream": technology, "internal/mcpcall": technology,

	"internal/acp": adapter, "internal/agents": adapter, "internal/records": adapter, "internal/mcphost": adapter,
	"internal/httpd": adapter,

	"internal/workspace": useCase, "internal/session": useCase, "internal/spawn": useCase, "internal/search": useCase,
	"internal/preview": useCase, "internal/actions": useCase, "internal/tasks": useCase, "internal/lineage": useCase,
	"internal/proposals": useCase, "internal/knowledge": useCase, "internal/reminder": useCase, "internal/media": useCase,
	"internal/attachments": useCase,
	"internal/files":       useCase, "internal/turns": useCase,

	"internal/tour": program, "internal/testagent": program, "internal/fakemodel": program, "internal/bench": program,

	"web": assets, "cmd": wiring, "e2e": wiring,
}

// mayImport names what each layer may use of ours, besides its own directory.
var mayImport = map[layer][]layer{
	vocabulary: {},
	engine:     {vocabulary},
	technology: {},
	adapter:    {vocabulary, engine, technology},
	useCase:    {vocabulary, engine, useCase},
	program:    {vocabulary, technology, assets},
	assets:     {},
	wiring:     {vocabulary, engine, technology, adapter, useCase, program, assets, wiring},
}

// mayNotImport names what a layer may not use of the standard library.
var mayNotImport = map[layer][]string{
	vocabulary: {"os", "os/exec", "net", "net/http", "log", "log/slog", "sync"},
	engine:     {"os", "os/exec", "net", "net/http", "log", "log/slog", "sync"},
	useCase:    {"os/exec", "net", "net/http"},
}

// place returns the directory of layers that dir belongs to, "" if there is none.
func place(dir string) string {
	if dir == "." {
		return dir
	}
	for d := dir; d != "."; d = filepath.ToSlash(filepath.Dir(d)) {
		if _, ok := layers[d]; ok {
			return d
		}
	}
	return ""
}

func TestImportLaw(t *testing.T) {
	const module = "fyllocode.dev/fyllo"
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		home := place(filepath.ToSlash(filepath.Dir(rel)))
		if home == "" {
			t.Errorf("%s: its package has no layer; give it one here and in .golangci.yml", rel)
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			ours, isOurs := strings.CutPrefix(name, module)
			if !isOurs {
				if slices.Contains(mayNotImport[layers[home]], name) {
					t.Errorf("%s may not import %s", rel, name)
				}
				continue
			}
			other := place(filepath.ToSlash(filepath.Clean("." + ours)))
			if other != home && !slices.Contains(mayImport[layers[home]], layers[other]) {
				t.Errorf("%s may not import %s", rel, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}
