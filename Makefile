# Everything that is built or installed stays in this folder: .venv, .cache, out, build, dist.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

# Real profiles of five devices for `make shots`; without them the example runs alone are rendered.
PROFILES ?= $(wildcard $(addprefix ../shared/data/ncu-rep/, \
  AlpriElse__cs599k/2025-04-21_v1.ncu-rep AlpriElse__cs599k/profile.ncu-rep \
  Lashi0812__CudaProgramming/smemTranspose.ncu-rep NCAR__GPU_workshop/MW_Baseline.ncu-rep \
  Syswea__cuda-fused-linear-layer/profile_report.ncu-rep))

# The tests of `make quick`: the language, rules, units, readers and schema, with what they give by hand.
QUICK := tests/expression/test_language.py tests/expression/test_text.py tests/rules/test_load.py \
  tests/rules/test_evaluate.py tests/rules/test_gains.py tests/rules/test_verification.py \
  tests/readers/test_base.py tests/readers/test_ncu_report.py tests/test_wording.py \
  tests/reports/test_terminal.py tests/database/test_schema.py tests/database/test_names.py \
  tests/ingest/test_identity.py tests/ingest/test_refusing.py tests/tracking/test_scan.py \
  tests/test_docstrings.py tests/test_doors.py tests/test_documents.py tests/test_model.py \
  tests/test_quantities.py tests/test_units.py

# The tests of `make lowest`: some of what rests on each package that the program needs.
OLDEST := tests/expression/test_portable.py tests/expression/test_text.py tests/rules/test_evaluate.py \
  tests/readers/test_ncu_report.py tests/database/test_schema.py tests/database/test_migrations.py \
  tests/database/test_parquet.py tests/ingest/test_identity.py tests/tracking/test_scan.py \
  tests/facts/test_opened.py tests/reports/test_html.py tests/api/test_python.py \
  tests/api/test_agents.py tests/cli/test_commands.py

MADE := $(shell mkdir -p .cache/tmp)

# Tests start the program a thousand times; to compile it each time is most of what that costs.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.cache/python
export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
export RUFF_CACHE_DIR := $(CURDIR)/.cache/ruff
export MYPY_CACHE_DIR := $(CURDIR)/.cache/mypy
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/.cache/hypothesis
export TMPDIR := $(CURDIR)/.cache/tmp
export XDG_CACHE_HOME := $(CURDIR)/.cache/xdg

.PHONY: help
help:  ## Say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml requirements-dev.txt
	@python=""; \
	for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    python="$$name"; break; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "advisor needs Python 3.11 or newer, and found none in PATH" >&2; exit 2; \
	fi; \
	[ -x $(BIN)/python ] || "$$python" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)

.PHONY: demo
demo: $(READY)  ## Ingest the example runs, write their report and site to out/demo
	@mkdir -p out && rm -f out/demo.duckdb
	$(BIN)/advisor --db out/demo.duckdb demo --output out/demo

.PHONY: test
test: $(READY)  ## Run every test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder \
	  -o cache_dir=.cache/pytest

# As $(VENV), but with the oldest of each package that the program needs.
LOWEST := .cache/lowest

$(LOWEST)/ready: $(READY) requirements-lowest.txt
	$(BIN)/python -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --require-hashes --requirement requirements-dev.txt
	$(LOWEST)/bin/python -m pip install --quiet --require-hashes --requirement requirements-lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(LOWEST)/bin/python -m pip check
	@touch $@

.PHONY: oldest
oldest: $(LOWEST)/ready  ## Install the oldest packages that are allowed, beside the others

.PHONY: lowest
lowest: oldest  ## Run what rests on other packages with the oldest that are allowed
	$(LOWEST)/bin/python -m pytest -q -n $(JOBS) --dist loadfile -m 'not slow and not real' \
	  -o cache_dir=.cache/pytest $(OLDEST)

LOCK := .cache/lock/bin/uv pip compile pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-annotate --quiet --custom-compile-command "make lock" --upgrade

.PHONY: lock
lock:  ## Choose the newest packages to develop with, and the oldest allowed, with their hashes
	python3 -m venv .cache/lock
	.cache/lock/bin/python -m pip install --quiet uv
	$(LOCK) --group dev --output-file requirements-dev.txt
	$(LOCK) --extra mcp --resolution lowest-direct --output-file requirements-lowest.txt

.PHONY: generated
generated: $(READY)  ## Check that the generated pages and schemas are what the code and data say
	$(BIN)/python -m docs.generate --check
	$(BIN)/python -m docs.schemas --check

.PHONY: quick
quick: $(READY)  ## Format, lint, imports and the tests that matter most: a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --cache-dir .cache/imports
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m 'not slow and not real' \
	  -o cache_dir=.cache/pytest $(QUICK)

.PHONY: check
check: $(READY)  ## Format, lint, types, imports, generated pages, tests and wheel
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --cache-dir .cache/imports
	$(MAKE) generated
	$(MAKE) test
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

.PHONY: docs
docs: $(READY)  ## Write what is generated: pages on commands, schema, facts and rules; JSON Schemas
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.schemas

.PHONY: bench
bench: $(READY)  ## Measure, side by side in one run, and print ratios
	$(BIN)/python -m benchmarks

.PHONY: spark
spark: $(READY)  ## Install Spark, which needs Java 17 or newer
	@java -version 2>&1 | head -n 1 || { echo "Spark needs Java 17 or newer in PATH" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --editable '.[spark]'

# Most of what Spark does here is to plan, once each: its compiler for long runs costs more than it saves.
.PHONY: engines
engines: $(READY)  ## Check that Spark computes what DuckDB does
	JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" \
	  $(BIN)/python -m pytest -q -n 0 -o cache_dir=.cache/pytest -m spark tests/api/test_fleet.py

.PHONY: fleet
fleet: spark  ## Install Spark and check that it computes what DuckDB does
	$(MAKE) engines

.PHONY: shots
shots: demo  ## Render the reports in a browser, check the layout, keep the pictures in out/shots
	@mkdir -p out/real
	@pages="out/demo/report.html out/demo/site/index.html out/demo/site/rules/memory/local-memory.html"; \
	pages="$$pages $$(ls out/demo/site/series/*.html | head -n 2) $$(ls out/demo/site/runs/* | head -n 1)"; \
	number=0; \
	for profile in $(PROFILES); do \
	  number=$$((number + 1)); page="out/real/report-$$number.html"; \
	  rm -f "out/real/$$number.duckdb"; \
	  $(BIN)/advisor --db "out/real/$$number.duckdb" ingest "$$profile"; \
	  $(BIN)/advisor --db "out/real/$$number.duckdb" report --html -o "$$page"; \
	  pages="$$pages $$page"; \
	done; \
	$(BIN)/python -m studies.shots $$pages

.PHONY: clean
clean:  ## Remove everything that make has made
	rm -rf $(VENV) .cache build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
