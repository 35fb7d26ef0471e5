# Needs only python3 (3.11 or newer) and make. Paths are relative, so any folder will do.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
# Every test starts processes: without compiled files each would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
BIN := .venv/bin
PIP := PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 $(BIN)/python -m pip
CODE := ppcfetch web workers migrations fixtures tests
COMPILE := $(BIN)/uv --quiet --no-config --system-certs pip compile --universal \
	--python-version 3.11 --fork-strategy fewest --no-annotate --generate-hashes \
	--custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help run test check bench simulate soak mutants lock clean servers

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

run: .venv/runtime.stamp ## start everything: database, stream, archive emulator, site, workers
	@exec $(BIN)/ppcfetch up

test: .venv/dev.stamp ## run every test but the benchmarks
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not bench"

check: .venv/dev.stamp ## lint, formatting, types and import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: .venv/dev.stamp ## ratios against a floor measured in the same run (ONLY=ingest)
	@$(BIN)/python -m pytest tests/bench$(if $(ONLY),/test_$(ONLY).py) -m bench -p no:randomly -s --timeout 1800

simulate: .venv/dev.stamp ## replay one simulated run and tell its story (SEED=7)
	@$(BIN)/python -m tests.simulation --seed $(or $(SEED),0)

soak: .venv/dev.stamp ## prove reliability at length and write the figures (SEEDS=10000 FIRST=0 CHAOS=100 DEPLOYS=20)
	@mkdir -p var $(dir $(or $(JSON),var/soak.json))
	@$(BIN)/python -m tests.simulation --first $(or $(FIRST),0) --seeds $(or $(SEEDS),10000) \
		--json $(or $(JSON),var/soak.json)
	@SOAK=1 FIGURES=var/matrix.json DEPLOYS=$(or $(DEPLOYS),20) $(BIN)/python -m pytest \
		tests/e2e/test_crash_matrix.py tests/e2e/test_deploys.py
	@$(BIN)/python -m tests.e2e.chaos --schedules $(or $(CHAOS),100) --json var/chaos.json
	@$(BIN)/python -m tests.reliability_page --simulation $(or $(JSON),var/soak.json) \
		--matrix var/matrix.json --chaos var/chaos.json

mutants: .venv/dev.stamp ## sabotage one line at a time and print what caught it
	@$(BIN)/python -m tests.simulation.sabotage

lock: .venv/dev.stamp ## pin all requirements again, with hashes (UPGRADE=--upgrade for newer ones)
	@$(COMPILE) $(UPGRADE) pyproject.toml --group install --output-file requirements.lock
	@$(COMPILE) $(UPGRADE) pyproject.toml --group install --group dev --constraints requirements.lock \
		--output-file requirements-dev.lock
	@$(COMPILE) $(UPGRADE) --group servers --no-deps --output-file requirements-servers.lock

servers: .venv/dev.stamp .venv/servers.stamp ## the stream's contract on all five servers
	@$(BIN)/python -m tests.server_matrix

clean: ## remove the environment and all caches; ./var stays
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment: each stamp is newer than what it was made from -----------------

.venv/created.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "ppcfetch needs Python 3.11 or newer as '$(PYTHON)' (make PYTHON=/path/to/python3 ...)." >&2; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		echo "This Python cannot make environments. On Debian: apt-get install python3-venv" >&2; \
		exit 1; }
	@echo "Making .venv (first start only) ..."
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/runtime.stamp: requirements.lock pyproject.toml .venv/created.stamp
	@if [ ! -e .venv/dev.stamp ] || [ requirements.lock -nt .venv/dev.stamp ] \
		|| [ pyproject.toml -nt .venv/dev.stamp ]; then \
		echo "Installing what ppcfetch needs ..."; \
		$(PIP) install --quiet --require-hashes -r requirements.lock; fi
	@$(PIP) install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

.venv/dev.stamp: requirements-dev.lock pyproject.toml .venv/created.stamp
	@echo "Installing what the tests need ..."
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

.venv/servers.stamp: requirements-servers.lock .venv/created.stamp
	@echo "Installing more servers to try ..."
	@$(PIP) install --quiet --require-hashes --no-deps --target .venv/servers \
		-r requirements-servers.lock
	@touch $@
