# Targets of the benchmark; included by the Makefile.
.PHONY: bench-quick

bench-quick: $(READY) ## the benchmark in under a minute: our host beside an in-editor client
	PYTHONPATH=python:. $(BIN)/python -m bench.run
