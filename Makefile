PYTHON ?= python3
UV_VERSION := 0.13.7
BIN := .venv/bin
PIP_QUIETLY := --quiet --disable-pip-version-check
COMPILE = .venv-pins/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet $(UPGRADE)

JOBS ?= 2

# Tests that wait for servers and other processes leave room for one more.
PROCESSES := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Whoever tells Python to keep no bytecode would have every process of the suite compile the package anew: many start.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help chromium demo serve test test-browser pictures figures coverage test-slow test-crash test-fuzz check format experiments bench-anchors bench-gaussian bench-gpu bench-house bench-networks bench-newcomer bench-planners bench-service bench-start bench-studies bench-subset bench-tables pins clean dist docs example-ppo smoke test-site bench-coverage bench-many bench-looks

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# A new environment each time the pins change, so that what is no longer pinned is gone too. The pins name everything that is needed:
# nothing is left to the resolver, which older versions of pip let pick a newer release than the pinned one (of coverage[toml]).
.venv/.pins: requirements/dev.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit( \
	    "proband needs Python 3.11 or newer, and $(PYTHON) is %d.%d: choose another, as in make PYTHON=python3.12" % v[:2])'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install $(PIP_QUIETLY) --no-compile --no-deps --require-hashes --requirement requirements/dev.txt
	@touch $@

.venv/.stamp: .venv/.pins pyproject.toml
	$(BIN)/python -m pip install $(PIP_QUIETLY) --no-deps --no-build-isolation --editable .
	@touch $@

demo: .venv/.stamp ## Run the demonstration
	$(BIN)/proband demo

serve: .venv/.stamp ## Serve a simulated line that keeps inspecting bolts, and print the link to its page
	$(BIN)/proband serve --demo

# What is compiled is compiled first, side by side: the processes of the suite would compile much of it twice.
test: .venv/.stamp ## Run the tests and the documented examples
	$(BIN)/proband doctor --compile --jobs $(JOBS)
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal

# Chromium is Debian's package; elsewhere any chromium on the PATH will do.
chromium:
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	    && apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends chromium fonts-dejavu-core; } \
	    || { echo "this needs chromium, which cannot be installed here: install it (as root, apt-get install chromium)"; exit 1; }

test-browser: .venv/.stamp chromium ## Use the page in a real Chromium, which is installed if it is missing (about three minutes)
	$(BIN)/python -m pytest -m browser --numprocesses 2 --dist loadfile tests/service/page

pictures: .venv/.stamp ## Take the pictures of the page and of a report for the documentation anew, docs/images/*.png (three minutes)
	$(BIN)/python -m tests.service.page.pictures docs/images
	$(BIN)/python -m tests.reporting.pictures docs/images

coverage: .venv/.stamp ## Run them again and say which lines they leave out (half as long again)
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal --cov --cov-report=term-missing:skip-covered

test-slow: .venv/.stamp ## Check certificates and alarms over thousands of runs, and the service under kills and odd requests
	$(BIN)/python -m pytest --numprocesses auto -m slow tests

test-fuzz: .venv/.stamp ## Read ten thousand damaged files of each kind
	$(BIN)/python -m pytest -m fuzz -s tests/fuzz

test-crash: .venv/.stamp ## Kill writing processes and database servers a thousand times
	$(BIN)/python -m pytest -m crash -s tests/crash

check: .venv/.stamp ## Check style, formatting, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/.stamp ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

.venv-bench/.pins: requirements/bench.txt
	$(PYTHON) -m venv --clear .venv-bench
	.venv-bench/bin/python -m pip install $(PIP_QUIETLY) --no-deps --require-hashes --requirement requirements/bench.txt
	@touch $@

.venv-bench/.stamp: .venv-bench/.pins pyproject.toml
	.venv-bench/bin/python -m pip install $(PIP_QUIETLY) --no-deps --no-build-isolation --editable .
	@touch $@

# Add OPTIONS=--quick for two minutes instead of twenty, OPTIONS="--part dense" or "--part sparse" for one half.
bench-planners: .venv-bench/.stamp ## Measure the planners beside their peers, and write docs/benchmarks/planners.*
	.venv-bench/bin/python -m benchmarks.planners $(OPTIONS)

bench-gaussian: .venv-bench/.stamp ## Measure the Gaussian planner, and write docs/benchmarks/gaussian.*
	.venv-bench/bin/python -m benchmarks.gaussian $(OPTIONS)

# The covariances of the classic networks are not part of this repository: DATA is the folder with data63.mat and data90.mat.
bench-subset: .venv-bench/.stamp ## Measure the subset planner (DATA=folder), and write docs/benchmarks/subset.*
	.venv-bench/bin/python -m benchmarks.subset --data $(DATA) $(OPTIONS)

bench-networks: .venv-bench/.stamp ## Measure learning on two networks (DATA=folder), and write docs/benchmarks/networks.*
	.venv-bench/bin/python -m benchmarks.networks --data $(DATA) --jobs $(JOBS) $(OPTIONS)

# The tables are not part of this repository: DATA is a folder in the form of the pystreed repository's data/cost-sensitive.
bench-tables: .venv-bench/.stamp ## Compare plans from training rows on tables with test costs (DATA=folder), and write docs/benchmarks/tables.*
	.venv-bench/bin/python -m benchmarks.tables --data $(DATA) --jobs $(JOBS) $(OPTIONS)

# DATA is a folder with spam.csv (Spambase, UCI) and heart-*.csv (FFTrees); OPTIONS="--part syn cube" needs none. A stopped run goes on.
bench-anchors: .venv-bench/.stamp ## Compare with published numbers (DATA=folder), and write docs/benchmarks/anchors.md
	.venv-bench/bin/python -m benchmarks.anchors $(if $(DATA),--data $(DATA)) $(OPTIONS)

# Add OPTIONS="--beside FOLDER" for a comparison with an older version's src, OPTIONS=--quick for later calls only.
bench-start: .venv/.stamp .venv-bench/.pins ## Measure first and later calls, and write docs/benchmarks/start.md
	$(BIN)/python -m benchmarks.start $(OPTIONS)

# Add OPTIONS="--beside NAME=SRC" for a column of another version, whose modules are in SRC.
bench-house: .venv/.stamp ## Count modules, lines and repetitions, and write docs/benchmarks/house.md
	$(BIN)/python -m benchmarks.house --to docs/benchmarks/house.md $(OPTIONS)

# PYTHON names the one that makes the environment; OPTIONS="--to out/benchmarks" for a look.
bench-newcomer: dist .venv/.stamp ## Time the tutorial from an empty environment to a first policy, and write docs/benchmarks/newcomer.md
	$(BIN)/python -m benchmarks.newcomer --python $(PYTHON) $(OPTIONS)

bench-studies: .venv-bench/.stamp ## Measure studies beside Optuna, and write docs/benchmarks/studies.*
	.venv-bench/bin/python -m benchmarks.studies $(OPTIONS)

# Add OPTIONS="--minutes 5 --to docs/benchmarks" for the numbers of the documentation (an hour and a quarter), --part load or growth for one
# half: the other half is taken from the last run, as is all with --again, which measures nothing and writes the page anew.
bench-service: .venv/.stamp ## Measure the service under load and as it grows, half a minute for each case
	$(BIN)/python -m benchmarks.service $(OPTIONS)

# A run that was stopped goes on where it was; after a change of the code that results depend on it begins anew.
EXPERIMENTS := paper-discrete lower-bound-single lower-bound-many missing-data horizon easy \
    gaussian-etc gaussian-quality-control gaussian-lower-bound gaussian-proxy \
    paper-entropy entropy-widths entropy-large entropy-near-ties figure-discrete figure-entropy many-tests many-tests-long
experiments: .venv/.stamp ## Run every experiment and rewrite docs/experiments
	@set -e; for name in $(EXPERIMENTS); do \
	    case $$name in paper-discrete) more="--replications 20";; *) more=;; esac; \
	    $(BIN)/proband experiment run $$name $$more --jobs $(JOBS); \
	    $(BIN)/proband experiment report $$name --to docs/experiments; \
	done

figures: .venv/.stamp ## Draw the figures of docs/experiments and docs/benchmarks again from the tables beside them, and two plans
	$(BIN)/proband experiment redraw docs/experiments
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/proband plan bolts --max-tests 3 --tree docs/images/bolts-tree.svg
	$(BIN)/proband plan bolts-measured --plot docs/images/bolts-measured-regions.png

# About an hour on two cores; OPTIONS="--tables 20 --to out/benchmarks" for a look.
bench-fit: .venv/.stamp ## Compare what fits say of themselves with what they bring, and write docs/benchmarks/fits.*
	$(BIN)/python -m benchmarks.fits --jobs $(JOBS) $(OPTIONS)

# About three quarters of an hour on two cores; OPTIONS="--runs 20 --to out/benchmarks" for a look.
bench-coverage: .venv/.stamp ## Count how often the value that live studies of many tests show covers the truth, and write docs/benchmarks/coverage.*
	$(BIN)/python -m benchmarks.coverage --jobs $(JOBS) $(OPTIONS)

# Some two minutes of one core; OPTIONS="--subjects 10000 --to out/benchmarks" for a look.
bench-many: .venv/.stamp ## Measure time and memory of learning with a hundred tests, and write docs/benchmarks/many.md
	$(BIN)/python -m benchmarks.many $(OPTIONS)

bench-looks: .venv/.stamp ## Work out from docs/experiments/many-tests.csv how far cheaper looks could lead, and write docs/benchmarks/looks.md
	$(BIN)/python -m benchmarks.looks $(OPTIONS)

bench-gpu: .venv/.stamp ## Measure the GPU planner (needs an NVIDIA GPU and the gpu extra)
	$(BIN)/python -m benchmarks.planners.gpu

# Each example of the gallery runs, and draws its picture.
docs: .venv/.stamp ## Build the documentation site into out/docs; warnings are errors
	$(BIN)/python -m sphinx --builder html --fresh-env --fail-on-warning --keep-going --quiet --jobs $(JOBS) docs out/docs

test-site: docs chromium ## Build the site, and open every page of it in a real Chromium (two minutes)
	$(BIN)/python -m pytest -m browser tests/test_site_pages.py

# On Linux PyTorch without CUDA has an index of its own: where pip does not know it, add TORCH="--extra-index-url ADDRESS".
TORCH ?=
.venv-ppo/.pins: requirements/ppo.txt requirements/ppo-torch.txt
	$(PYTHON) -m venv --clear .venv-ppo
	.venv-ppo/bin/python -m pip install $(PIP_QUIETLY) --no-deps --require-hashes $(TORCH) $(addprefix --requirement ,$^)
	@touch $@

# PyTorch is too large for the environment of the tests, and the run takes two minutes: this is no part of make test.
example-ppo: .venv-ppo/.pins ## Train MaskablePPO beside the exact plan (Python 3.11 on Linux; two minutes)
	PYTHONPATH=src .venv-ppo/bin/python examples/maskable_ppo.py $(OPTIONS)

.venv-dist/.pins: requirements/dist.txt
	$(PYTHON) -m venv --clear .venv-dist
	.venv-dist/bin/python -m pip install $(PIP_QUIETLY) --no-deps --require-hashes --requirement requirements/dist.txt
	@touch $@

# A commit with a tag is a release, and the tag its version (hatch_build.py).
dist: .venv-dist/.pins ## Build the wheel and the sdist into dist/, and check them
	rm -rf dist
	.venv-dist/bin/python -m build --no-isolation --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*

# Name the Pythons: make smoke PYTHONS="python3.11 python3.12 python3.13".
PYTHONS ?= python3.11 python3.12 python3.13
smoke: dist ## Install both into empty environments, and run the README's commands there
	.venv-dist/bin/python tests/release/smoke.py dist $(PYTHONS)

# Add UPGRADE=--upgrade to move every pin to its newest release.
pins: .venv-pins/bin/uv ## Rewrite requirements/*.txt from pyproject.toml and requirements/bench.in
	$(COMPILE) pyproject.toml --extra dev --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml requirements/bench.in --output-file requirements/bench.txt
	$(COMPILE) requirements/dist.in --output-file requirements/dist.txt
	MACOSX_DEPLOYMENT_TARGET=14.0 $(subst --universal,--python-platform aarch64-apple-darwin,$(COMPILE)) --no-emit-package torch \
	    pyproject.toml --extra gymnasium requirements/ppo.in --output-file requirements/ppo.txt  # for macOS: Linux would add CUDA

.venv-pins/bin/uv: Makefile
	$(PYTHON) -m venv --clear .venv-pins
	.venv-pins/bin/python -m pip install $(PIP_QUIETLY) uv==$(UV_VERSION)
	@touch $@

clean: ## Remove the environments, caches and build outputs
	rm -rf .venv .venv-bench .venv-dist .venv-pins .venv-ppo .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* dist out
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +
