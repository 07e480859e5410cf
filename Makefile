# Every command a developer or a reader runs. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON_BIN := .venv/bin/python
CHECKED := operator worker-image hack tests

.PHONY: help setup demo test test-fast test-e2e test-faults cluster-up cluster-down images verify generate lock format soak

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 16

setup: ## .venv with the locked packages
	@hack/setup-venv.sh

demo: setup ## a cluster, Fairway on it, two tenants and 40 jobs, live; leaves the cluster running
	@$(PYTHON_BIN) -m hack.demo

test: setup ## every test, the cluster ones included
	@$(PYTHON_BIN) -m hack.suites fast e2e faults

test-fast: setup ## what needs no cluster, no root and no Docker
	@$(PYTHON_BIN) -m hack.suites fast

test-e2e: setup ## only the tests on the cluster
	@$(PYTHON_BIN) -m hack.suites e2e

test-faults: setup ## only the tests that break things on the cluster
	@$(PYTHON_BIN) -m hack.suites faults

soak: setup ## the fault tests, over and over (FAIRWAY_SOAK_ROUNDS, 10 by default)
	@$(PYTHON_BIN) -m hack.suites $$(for _ in $$(seq $${FAIRWAY_SOAK_ROUNDS:-10}); do echo faults; done)

cluster-up: setup ## two nodes of real Kubernetes, and .cluster/kubeconfig
	@$(PYTHON_BIN) -m hack.cluster up

cluster-down: setup ## ends that cluster and everything it made
	@$(PYTHON_BIN) -m hack.cluster down

images: setup ## builds fairway:dev and fairway-worker:dev and loads them into the cluster
	@$(PYTHON_BIN) -m hack.images

generate: setup ## writes what is generated: CRDs, the reference page, the chart's table of values
	@$(PYTHON_BIN) -m fairway.api.generate
	@$(PYTHON_BIN) -m hack.chart_docs

verify: setup ## generated files, lint, format, types, import contracts
	@$(PYTHON_BIN) -m fairway.api.generate --check
	@$(PYTHON_BIN) -m hack.chart_docs --check
	@.venv/bin/ruff check --no-cache $(CHECKED) # what a file imports may have changed where the cache does not look
	@.venv/bin/ruff format --check $(CHECKED)
	@.venv/bin/mypy
	@.venv/bin/lint-imports

format: setup ## formats the code and mends what can be mended by itself
	@.venv/bin/ruff check --fix $(CHECKED)
	@.venv/bin/ruff format $(CHECKED)

lock: setup ## resolves the dependencies anew into requirements/
	@$(PYTHON_BIN) hack/lock.py

.PHONY: bench bench-queue bench-kubernetes bench-scaling bench-drain bench-gateway
bench: setup ## the benchmarks; writes .bench/*.json
	@$(PYTHON_BIN) -m hack.bench

bench-queue bench-kubernetes bench-scaling bench-drain bench-gateway: bench-%: setup
	@$(PYTHON_BIN) -m hack.bench $*
