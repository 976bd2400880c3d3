PYTHON ?= python3
UV_VERSION := 0.13.7
BIN := .venv/bin
PIP_QUIETLY := --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check format bench-gpu pins clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# A new environment each time the pins change, so that what is no longer pinned is gone too.
.venv/.pins: requirements/dev.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit( \
	    "proband needs Python 3.11 or newer, and $(PYTHON) is %d.%d: choose another, as in make PYTHON=python3.12" % v[:2])'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install $(PIP_QUIETLY) --require-hashes --requirement requirements/dev.txt
	@touch $@

.venv/.stamp: .venv/.pins pyproject.toml
	$(BIN)/python -m pip install $(PIP_QUIETLY) --no-deps --no-build-isolation --editable .
	@touch $@

demo: .venv/.stamp ## Run the demonstration
	$(BIN)/proband demo

test: .venv/.stamp ## Run the tests and the documented examples, with coverage
	$(BIN)/python -m pytest --cov --cov-report=term-missing:skip-covered

check: .venv/.stamp ## Check style, formatting, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/.stamp ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

bench-gpu: .venv/.stamp ## Measure the GPU planner (needs an NVIDIA GPU and the gpu extra)
	$(BIN)/python benchmarks/planners/gpu.py

# Add UPGRADE=--upgrade to move every pin to its newest release.
pins: .venv-pins/bin/uv ## Rewrite requirements/dev.txt from pyproject.toml
	.venv-pins/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
	    --quiet $(UPGRADE) --output-file requirements/dev.txt

.venv-pins/bin/uv: Makefile
	$(PYTHON) -m venv --clear .venv-pins
	.venv-pins/bin/python -m pip install $(PIP_QUIETLY) uv==$(UV_VERSION)
	@touch $@

clean: ## Remove the environments, caches and build outputs
	rm -rf .venv .venv-pins .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* dist out
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +
