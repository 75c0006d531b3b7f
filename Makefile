# Every target works on a fresh clone: what it needs is installed by it. Go 1.26 and Node 20 must be there.
GO            ?= go
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS       := -s -w -X main.version=$(VERSION)
LINT_VERSION  := v2.15.0
LINT          := .tools/golangci-lint-$(LINT_VERSION)

.PHONY: build run test test-go test-web test-ui lint bench bench-ui test-agents fuzz api web clean chromium

build: web ## UI and binary → bin/fyllo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/fyllo ./cmd/fyllo

run: build ## start on embedded defaults and open the browser
	./bin/fyllo

web: web/dist/index.html

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.installed $(shell find web/src web/public web/index.html web/vite.config.ts -type f 2>/dev/null)
	cd web && npm run build
	@touch $@

test: lint test-go test-web test-ui ## everything CI runs

test-go: # e2e drives a built binary; the race detector would only slow its client down
	$(GO) test -race $$($(GO) list ./... | grep -v /e2e/)
	$(GO) test ./e2e/...

test-web: web/node_modules/.installed
	cd web && npm test

test-ui: build e2e/node_modules/.installed chromium
	cd e2e && npm test

e2e/node_modules/.installed: e2e/package.json e2e/package-lock.json
	cd e2e && npm ci --no-audit --no-fund
	@touch $@

chromium:
	@scripts/need-chromium

$(LINT):
	@mkdir -p .tools
	GOBIN=$(CURDIR)/.tools $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv .tools/golangci-lint $(LINT)

lint: $(LINT) web/node_modules/.installed
	$(LINT) run ./...
	cd web && npm run lint

api: web/node_modules/.installed ## regenerate the API types of the UI
	$(GO) generate ./internal/httpd/...
	cd web && npm run api

bench: build ## figures of docs/architecture.md §9, as ratios of one run; BENCH="-run '^search$$' -search-mb 100" for one of them
	$(GO) run ./internal/bench $(BENCH)
	cd web && npm run --silent size

bench-ui: build e2e/node_modules/.installed chromium ## figures of the page, docs/architecture.md §9, as ratios of one run
	cd e2e && npm run --silent bench

test-agents: build e2e/node_modules/.installed chromium ## real npm Agents against a fake model server on loopback
	$(GO) test -v -count=1 -timeout 20m -tags agents ./e2e/agents/...

fuzz: ## a minute of each fuzz target
	scripts/fuzz 60s

clean:
	rm -rf bin web/dist/assets web/dist/index.html
