# Targets of the benchmark; included by the Makefile.
.PHONY: bench bench-quick soak bench-complete

bench-quick: $(READY) ## the benchmark in under a minute: our host beside an in-editor client
	PYTHONPATH=python:. $(BIN)/python -m bench.run

bench: $(READY) ## all of it, medians of three runs (about ten minutes); writes bench/results.md
	PYTHONPATH=python:. $(BIN)/python -m bench.run --runs 3 --write bench/results.md

bench-complete: $(READY) ## completion of paths in a project of 50,000 files
	PYTHONPATH=python:. $(BIN)/python -m bench.complete

soak: $(READY) ## a mixed load for MINUTES (10), and what has grown by then
	PYTHONPATH=python:. $(BIN)/python -m bench.soak --minutes $(if $(MINUTES),$(MINUTES),10)
