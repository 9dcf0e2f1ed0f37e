# Trying it out: the demo, real agents, pictures. Included by the Makefile.

.PHONY: demo demo-aap replay test-agents pictures

demo: $(READY) ## Neovim on a sample project with the demo agent; HEADLESS=1: a scripted user, screens printed; PROTOCOL=2: version 2
	@$(BIN)/python tools/demo.py $(if $(HEADLESS),--headless) $(if $(PROTOCOL),--protocol $(PROTOCOL))

demo-aap: ## the demo agent as a server, for agents over HTTP; PORT=8080 is the default
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed: install it, or give make PYTHON=..." >&2; exit 1; }
	@PYTHONPATH=python $(PYTHON) -m acp_nvim.demo --aap $(if $(PORT),$(PORT),8080)

replay: $(READY) ## see what a user saw: FILE=report.jsonl of :AcpTrace; SPEED=5, NO_DELAY=1, OUT=file for the text
	@[ -n "$(FILE)" ] || { echo "name the trace: make replay FILE=report.jsonl" >&2; exit 1; }
	@PYTHONPATH=python $(BIN)/python -m acp_nvim.replay $(if $(SPEED),--speed $(SPEED)) $(if $(NO_DELAY),--no-delay) \
		$(if $(OUT),--headless "$(OUT)") "$(FILE)"

AGENTS := opencode-ai@1.18.33 @google/gemini-cli@0.61.0

# Agents at work at the same time; each takes a core and half a gigabyte.
AGENT_JOBS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')

build/agents/.ready: tools/demo.mk
	@command -v npm >/dev/null || { echo 'test-agents needs Node 20 or later, with npm' >&2; exit 1; }
	@mkdir -p build/agents
	npm install --silent --no-audit --no-fund --prefix build/agents $(AGENTS)
	@touch $@

# These are large, and may want another Node: without them their tests are skipped.
MORE_AGENTS := @agentclientprotocol/codex-acp@2.6.0 @agentclientprotocol/claude-agent-acp@0.49.0

build/agents/.more: build/agents/.ready
	npm install --silent --no-audit --no-fund --prefix build/agents $(MORE_AGENTS) \
		|| echo 'codex and claude could not be installed: their tests are skipped' >&2
	@touch $@

# Agents made with the protocol's official SDKs: what they need, each in a folder of its own.
PEERS := tests/agents/peers

build/peers/typescript/.ready: $(PEERS)/typescript/package.json
	@command -v npm >/dev/null || { echo 'test-agents needs Node 20 or later, with npm' >&2; exit 1; }
	@mkdir -p build/peers/typescript
	cp $(PEERS)/typescript/package.json build/peers/typescript
	npm install --silent --no-audit --no-fund --no-package-lock --prefix build/peers/typescript
	@touch $@

build/peers/python/.ready: $(PEERS)/python/requirements.txt
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed: install it, or give make PYTHON=..." >&2; exit 1; }
	@build/peers/python/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear build/peers/python
	build/peers/python/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# The agents of the SDKs in one process: at their end it is known what all of them together have used.
test-agents: $(READY) build/agents/.more build/peers/typescript/.ready build/peers/python/.ready ## with opencode, gemini, codex, claude and agents made with the SDKs (needs Node)
	ACP_PEERS=build/peers $(BIN)/python -m pytest tests/agents/peers $(ARGS) || test $$? -eq 5 # none of them meant
	ACP_AGENTS_BIN=build/agents/node_modules/.bin $(BIN)/python -m pytest -n $(AGENT_JOBS) tests/agents \
		--ignore tests/agents/peers $(ARGS)

pictures: $(READY) ## the pictures of the README, doc/img/*.svg, from real screens
	$(BIN)/python tools/picture.py
