# Readtrail. `make help` lists the targets; the README's two are demo and test.

# Go 1.27.3 brings encoding/json/jsontext (RFC 8785) and fixes faults of the
# standard library that are reachable in a collector; the go command fetches it.
export GOTOOLCHAIN := go1.27.3
# The binaries must be the same from a clone, an archive and a work tree.
export GOFLAGS := -buildvcs=false

LDFLAGS := -s -w
# The race detector needs a C compiler; without one the tests run without it.
RACE := $(shell command -v gcc >/dev/null 2>&1 && echo -race)
GO_DIRS := boundary cmd e2e exporter extension internal journal processor receiver record schema
SOURCES := $(shell find boundary cmd exporter extension internal journal processor receiver record schema -name '*.go' -not -name '*_test.go') \
	$(shell find schema -name '*.json') go.mod go.sum builder-config.yaml

.PHONY: help build demo test test-deps check unit servers e2e bench fuzz generate fmt clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

build: bin/readtrail-collector bin/readtrail ## Build bin/readtrail-collector and bin/readtrail

bin/readtrail-collector: $(SOURCES)
	go tool builder --config builder-config.yaml --skip-compilation --skip-strict-versioning=false
	cp internal/build/dist/*.go _build
	cd _build && go build -trimpath -tags dist -ldflags='$(LDFLAGS)' -o ../bin/readtrail-collector .

bin/readtrail: $(SOURCES)
	go build -trimpath -ldflags='$(LDFLAGS)' -o bin/readtrail ./cmd/readtrail

demo: build ## Run the main job on real telemetry, show and verify what it wrote
	go run ./internal/demo

test: test-deps build check unit e2e ## Check and test everything

test-deps: ## Install what tests use beside Go, if root may; without it they are skipped
	@sh internal/build/test-deps.sh

check: ## Formatting, vet, static analysis, generated files
	@test -z "$$(go tool gofumpt -l $(GO_DIRS))" || { go tool gofumpt -d $(GO_DIRS); exit 1; }
	go vet ./...
	go vet -tags dist ./internal/build/dist
	go tool staticcheck ./...
	sh internal/build/check-generated.sh

unit: ## Unit tests of all packages
	go test -timeout 30m $(RACE) $$(go list ./... | grep -v /e2e)

# Real servers for the e2e suite, each kind in a module of its own: a witness, with a
# program that tells it a log, a time stamp authority, and two S3 servers. SeaweedFS
# takes six minutes of CPU, so they are built once and only anew for other versions.
SERVERS := $(addprefix bin/servers/,litewitness trustlog timestamp-server versitygw weed)
servers: $(SERVERS) ## Build the servers that the e2e suite runs

bin/servers/litewitness: e2e/servers/go.mod e2e/servers/go.sum
	cd e2e/servers && go build -trimpath -ldflags='$(LDFLAGS)' -o ../../$@ filippo.io/torchwood/cmd/litewitness

bin/servers/timestamp-server: e2e/servers/go.mod e2e/servers/go.sum
	cd e2e/servers && go build -trimpath -ldflags='$(LDFLAGS)' -o ../../$@ github.com/sigstore/timestamp-authority/v2/cmd/timestamp-server

bin/servers/trustlog: e2e/servers/go.mod e2e/servers/go.sum e2e/servers/trustlog/main.go
	cd e2e/servers && go build -trimpath -ldflags='$(LDFLAGS)' -o ../../$@ ./trustlog

bin/servers/versitygw: e2e/servers/s3/go.mod e2e/servers/s3/go.sum
	cd e2e/servers/s3 && go build -trimpath -ldflags='$(LDFLAGS)' -o ../../../$@ github.com/versity/versitygw/cmd/versitygw

bin/servers/weed: e2e/servers/seaweed/go.mod e2e/servers/seaweed/go.sum
	cd e2e/servers/seaweed && go build -trimpath -ldflags='$(LDFLAGS)' -o ../../../$@ github.com/seaweedfs/seaweedfs/weed

# What the verifier in another language needs, at the versions that its lock names.
# The tests that run it are skipped, and say so, where npm is missing.
NODE_PACKAGES := e2e/verifier/node_modules/.package-lock.json
$(NODE_PACKAGES): e2e/verifier/package-lock.json
	@if command -v npm >/dev/null 2>&1; then cd e2e/verifier && npm ci --no-audit --no-fund && touch ../../$@; \
	else echo "npm is missing, so the tests of the verifier in another language will be skipped" >&2; fi

e2e: build servers $(NODE_PACKAGES) ## Tests of the built collector and CLI
	READTRAIL_E2E=1 go test -count=1 -timeout 40m ./e2e/...

bench: build ## Benchmarks, as ratios against named baselines of the same run
	go test -run '^$$' -bench . -benchmem ./...
	cd internal/cost/bench && go test -run '^$$' -bench . .
	go run ./internal/load/loadbench

fuzz: ## Fuzz every parser for FUZZTIME each (default 30s)
	sh internal/build/fuzz.sh $(or $(FUZZTIME),30s)

generate: ## Regenerate what metadata.yaml files generate
	go generate ./...

fmt: ## Format the Go files
	go tool gofumpt -w $(GO_DIRS)

clean: ## Remove what builds and demos made
	rm -rf bin _build .demo
