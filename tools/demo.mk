# Trying it out: the demo, real agents, pictures. Included by the Makefile.

.PHONY: demo test-agents pictures

demo: $(READY) ## Neovim on a sample project with the demo agent; HEADLESS=1: a scripted user, screens printed
	@$(BIN)/python tools/demo.py $(if $(HEADLESS),--headless)

AGENTS := opencode-ai@1.18.33 @google/gemini-cli@0.61.0

build/agents/.ready: tools/demo.mk
	@command -v npm >/dev/null || { echo 'test-agents needs Node 20 or later, with npm' >&2; exit 1; }
	@mkdir -p build/agents
	npm install --silent --no-audit --no-fund --prefix build/agents $(AGENTS)
	@touch $@

test-agents: $(READY) build/agents/.ready ## opencode and gemini against a scripted model on loopback (needs Node)
	ACP_AGENTS_BIN=build/agents/node_modules/.bin $(BIN)/python -m pytest tests/agents $(ARGS)

pictures: $(READY) ## the pictures of the README, from real screens
	$(BIN)/python tools/picture.py doc/img/question.svg
