# `make demo` shows the product, `make test` checks it; each makes its own .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all lint bench clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/ready
	$(BIN)/hedgerow demo

lint: $(VENV)/ready
	$(BIN)/ruff format --check src tests examples
	$(BIN)/ruff check src tests examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

test-all: lint
	$(BIN)/python -m pytest -m '' --timeout=3600

bench: $(VENV)/ready
	$(BIN)/hedgerow bench primitives
	$(BIN)/hedgerow bench sort --rows 1000000 --bits 32 --repeat 3

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
