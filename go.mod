module fyllocode.dev/fyllo

go 1.26.8

ignore node_modules

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/danielgtaylor/huma/v2 v2.37.2 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/term v0.48.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
