# Everything a developer needs. On a machine with Python 3.11 or later, make and git, `make test` sets itself up.
# GNU make 3.81 (macOS) must do.

SHELL := /bin/sh

# The first Python that is recent enough; another one: make PYTHON=/path/to/python3
CHECK := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(CHECK)' 2>/dev/null && echo $$p && break; done)

ENV := build/env
BIN := $(ENV)/bin
READY := $(ENV)/.ready
STYLUA_VERSION := 2.5.2
STYLUA := $(shell command -v stylua 2>/dev/null || echo build/node/node_modules/.bin/stylua)
# What the tests of `make test` are given, e.g. make test ARGS='tests/unit -k exit'
ARGS ?=
# Processes that run tests: most tests wait for Neovim half of the time, so twice as many as there are cores.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')

.PHONY: help env install test test-long conformance lint lint-lua matrix clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

env: $(READY) ## the developers' Python environment, in build/env

$(READY): python/requirements.txt python/requirements-dev.txt
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed: install it, or give make PYTHON=..." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(ENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt
	@touch $@

install: ## the plugin's own Python environment, where Neovim looks for it (as :AcpInstall does)
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed: install it, or give make PYTHON=..." >&2; exit 1; }
	$(PYTHON) tools/install.py
	@nvim --headless -u NONE -i NONE -c 'silent! helptags doc' -c quit 2>/dev/null || true # for `:help acp`

test: $(READY) ## all tests but those with real agents
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

test-long: $(READY) ## the tests that take long: 100,000 generated messages of each protocol, hundreds of runs with faults, 50 times the examples of each property
	$(BIN)/python -m pytest -n $(JOBS) --long -m "long or hypothesis" --timeout 7200 $(ARGS)

conformance: $(READY) ## tests/conformance/acp_v1.md, acp_v2.md, aap_v3.md: which tests hold which requirement
	$(BIN)/python -m tests.conformance.coverage

lint: $(READY) ## Python: style, format, types, layers; the tables of requirements are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports
	$(BIN)/python -m tests.conformance.coverage --check

lint-lua: $(STYLUA) ## Lua: luacheck (Debian: lua-check) and stylua (from npm, if not on PATH)
	luacheck --quiet lua plugin
	$(STYLUA) --check lua plugin

build/node/node_modules/.bin/stylua:
	npm install --silent --no-audit --no-fund --prefix build/node @johnnymorganz/stylua-bin@$(STYLUA_VERSION)

# Neovim 0.10 and 0.12 come from Debian's suites (tools/get-nvim.sh), 0.11 from the environment.
build/nvim-%/nvim:
	sh tools/get-nvim.sh $* build/nvim-$*

matrix: $(READY) build/nvim-trixie/nvim build/nvim-forky/nvim ## the tests with Neovim 0.10, 0.11 and 0.12
	for nvim in build/nvim-trixie/nvim '' build/nvim-forky/nvim; do \
		ACP_TEST_NVIM=$$nvim $(BIN)/python -m pytest -n $(JOBS) $(ARGS) || exit 1; done

include bench/bench.mk

include tools/demo.mk

clean: ## take away what was built and cached
	rm -rf build/env build/node build/agents build/peers build/nvim-* build/demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find python rplugin tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
