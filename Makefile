# Signalbox. `make help` lists the targets; `make dev` and `make test` need
# only git, make and Go, and install the rest.

SHELL       := /bin/sh
MODULES     := shared shared/testkit migrations controlplane dataplane cmd/signalbox test
PACKAGES    := $(MODULES:%=./%/...)
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -X main.version=$(VERSION)
FUZZTIME    ?= 20s
export PATH := $(CURDIR)/.tools/node_modules/.bin:$(PATH)
export GOFLAGS ?= -buildvcs=false

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@ / {part = substr($$0, 5)} /^[a-z0-9-]+:.*## / {if (part) print "\n" part; part = ""; printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ The two doors

.PHONY: dev
dev: setup-dev web bin/signalbox ## Run everything on this machine; FLAGS='--gateways 3' passes flags on
	@exec bin/signalbox dev $(FLAGS)

.PHONY: test
test: setup-test ## Run all tests with the race detector
	go test -race -shuffle=on -timeout 20m $(PACKAGES)

##@ Build

.PHONY: build
build: web ## Build bin/signalbox, bin/controlplane and bin/gateway
	go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/signalbox ./controlplane/cmd/controlplane ./dataplane/cmd/gateway

.PHONY: bin/signalbox
bin/signalbox:
	go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/signalbox

.PHONY: web
web: controlplane/dashboard/dist/index.html ## Build the dashboard into the control plane, where one of its files changed

DASHBOARD := $(shell find web/src web/public -type f) $(wildcard web/*.html web/*.json web/*.ts)

controlplane/dashboard/dist/index.html: $(DASHBOARD) | web/node_modules
	cd web && npm run --silent build

web/node_modules: web/package-lock.json
	tools/setup.sh node
	cd web && npm ci --no-audit --no-fund --no-progress --loglevel=error
	@touch $@

.PHONY: web-test
web-test: web ## Check types and run the dashboard's tests
	cd web && npm run --silent check && npm test --silent

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin .tools web/node_modules web/dist

##@ Checks

.PHONY: ci
ci: lint gen-check vet isolated test e2e web-test chart ## What .ci/run runs

.PHONY: lint
lint: bin/golangci-lint ## Lint every module
	bin/golangci-lint run $(PACKAGES)

.PHONY: fmt
fmt: bin/golangci-lint ## Format every module
	bin/golangci-lint fmt $(PACKAGES)

.PHONY: vet
vet: ## go vet
	go vet $(PACKAGES)

.PHONY: isolated
isolated: ## Build every module alone, without the workspace
	@for m in $(MODULES); do echo "GOWORK=off go build ./$$m/..."; (cd $$m && GOWORK=off go build ./...) || exit 1; done

.PHONY: gen
gen: setup-test bin/oapi-codegen web/node_modules ## Regenerate code and reference documents
	bin/oapi-codegen -config docs/api/server.cfg.yaml docs/api/management.yaml
	bin/oapi-codegen -config docs/api/client.cfg.yaml docs/api/management.yaml
	cd web && npm run --silent gen
	go test -count=1 ./controlplane/internal/authz ./dataplane/internal/attempt ./cmd/signalbox ./test/reference -run TestReference -update

.PHONY: gen-check
gen-check: gen ## Fail when generated files differ from their sources
	@git diff --exit-code -- docs controlplane/internal/api/gen cmd/signalbox/internal/client web/src/api || \
		{ echo "generated files have drifted: run 'make gen' and commit"; exit 1; }

.PHONY: chart
chart: bin/helm ## Lint and render the Helm chart
	bin/helm lint --strict charts/signalbox
	bin/helm template signalbox charts/signalbox --kube-version 1.31.0 >/dev/null
	bin/helm template signalbox charts/signalbox --kube-version 1.31.0 -f charts/signalbox/ci/full.yaml >/dev/null

##@ The longer ones

.PHONY: e2e
e2e: setup-test ## Official SDKs against a whole platform
	tools/setup.sh node curl
	cd test/e2e/npm && npm ci --no-audit --no-fund --no-progress --loglevel=error
	go test -race -count=1 -timeout 20m -tags e2e ./test/e2e/...

.PHONY: chaos
chaos: setup-test build ## Kill, stop and wipe things under load, then count
	go test -count=1 -timeout 20m -tags chaos -v ./test/chaos/...

.PHONY: bench
bench: setup-test build ## Measure against a direct call and a bare reverse proxy, and every codec
	go run ./test/bench/cmd/bench
	go test -run '^$$' -bench . -benchmem -timeout 20m ./dataplane/internal/translate/... ./dataplane/internal/eventstream ./dataplane/internal/rawform

.PHONY: bench-routing
bench-routing: ## Play an hour of failing, slow and cheaper providers under each way of ranking
	go run ./test/bench/routing -docs docs

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@go list -f '{{.Dir}}' $(PACKAGES) | while read -r dir; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go 2>/dev/null | awk '{print $$2}' | while read -r target; do \
			echo "fuzz $$dir $$target"; (cd "$$dir" && go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done || exit 1; done

##@ Parts

.PHONY: setup-dev setup-test
setup-dev:
	@tools/setup.sh postgres
setup-test:
	@tools/setup.sh postgres cc

bin/golangci-lint bin/helm bin/oapi-codegen: tools/go.mod tools/go.sum
	GOWORK=off go build -C tools -o ../bin/ \
		github.com/golangci/golangci-lint/v2/cmd/golangci-lint \
		github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen \
		helm.sh/helm/v3/cmd/helm
