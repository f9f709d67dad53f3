# make demo   sets up .venv and runs the main jobs on the sample data in examples/
# make test   sets up .venv and runs everything that CI runs
# Needs Python 3.9 or newer, a C++ compiler and make; PYTHON selects the interpreter.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
STAMP := $(VENV)/.installed
PACKAGES := core/src plugins/formats/src plugins/att_summary/src plugins/att_perf/src plugins/att_verify/src \
	plugins/nwa_precision/src
# Whatever is compiled or declared: a change of one of these installs again.
SOURCES := requirements-dev.txt pyproject.toml CMakeLists.txt $(wildcard plugins/*/pyproject.toml) \
	$(wildcard plugins/*/CMakeLists.txt) $(wildcard core/native/*) $(wildcard plugins/*/native/*)

.PHONY: demo test setup lint types tests bench clean

setup: $(STAMP)

$(STAMP): $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m compileall -q $(PACKAGES)
	touch $(STAMP)

demo: setup
	PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

test: lint types tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy $(PACKAGES)

tests: setup
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -n $(JOBS)

bench: setup
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) build output .pytest_cache .mypy_cache .ruff_cache .hypothesis
