# `make demo` shows the product, `make test` checks it; each makes its own .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all coverage lint docs bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-ready: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[plot]'
	touch $@

$(VENV)/ready: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	touch $@ $(VENV)/demo-ready

$(VENV)/docs-ready: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[docs]'
	touch $@

demo: $(VENV)/demo-ready
	$(BIN)/hedgerow demo

lint: $(VENV)/ready
	$(BIN)/ruff format --check src tests examples
	$(BIN)/ruff check src tests examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Three processes on two cores: tests wait for parties as often as they compute.
test: lint
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-all: lint
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -m '' --timeout=3600

# Branches that the everyday tests reach, those of party processes included and compiled kernels left out.
coverage: $(VENV)/ready
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 3 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

docs: $(VENV)/docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/demo-ready
	$(BIN)/hedgerow bench primitives
	$(BIN)/hedgerow bench sort --rows 1000000 --bits 32 --repeat 3

clean:
	rm -rf $(VENV) build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
