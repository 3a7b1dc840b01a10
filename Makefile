# Needs Python 3.11 or newer and make; everything else is installed into .venv from the committed lock files.
#   make demo [DEMO_ARGS=--exit]   make up   make test   make coverage   make lint   make types   make bench   make chaos   make mutants   make lock
#   make bench-peers   make simulate   make clean

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# --no-deps: the lock files list everything. --no-compile: the interpreter compiles what it actually imports.
INSTALL := $(PIP) install --no-deps --no-compile
DEMO_ARGS ?=
UP_ARGS ?=
BENCH_ARGS ?=
CHAOS_ARGS ?=
MUTANTS_ARGS ?=
SIMULATE_ARGS ?=
PYTEST_ARGS ?=
PYTEST_PROCESSES ?= 3  # one of them mostly waits, see tests/lanes.py

# With this set no compiled module is kept, and every process compiles all its imports: `referee up` takes 28 CPU s, not 12.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo up test coverage lint types browser bench bench-peers chaos mutants simulate lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/.runtime
	@$(BIN)/referee demo $(DEMO_ARGS)

up: $(VENV)/.runtime
	@$(BIN)/referee up $(UP_ARGS)

test: lint types browser
	$(BIN)/python -m pytest -n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Report lines that no test runs; tracing makes the tests a third slower.
coverage: $(VENV)/.dev browser
	$(BIN)/python -m pytest -n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Find a Chromium for tests/browser, or install one.
browser: $(VENV)/.dev
	@$(BIN)/python tests/browser/chromium.py

bench: $(VENV)/.dev
	@$(BIN)/python -m bench $(BENCH_ARGS)

# Benchmark other projects beside ours, in a separate environment; those that do not install are skipped with a message.
bench-peers: $(PEERS)/.made
	@$(PEERS)/bin/python -m bench.peers $(BENCH_ARGS)

# Kill and stop processes at random for some minutes: CHAOS_ARGS="--seconds 300 --seed 1".
chaos: $(VENV)/.dev
	@$(BIN)/python -m tools.chaos $(CHAOS_ARGS)

# Plant faults in the rules of the games, in a copy, and report those that no test notices: MUTANTS_ARGS="--count 20 prisoners".
mutants: $(VENV)/.dev
	@$(BIN)/python -m tools.mutants $(MUTANTS_ARGS)

# Simulate thousands of tournaments of every format and check invariants: SIMULATE_ARGS="--count 3000 --seed 1 swiss".
simulate: $(VENV)/.dev
	@$(BIN)/python -m tools.simulate $(SIMULATE_ARGS)

# Pin again what pyproject.toml requires. async-timeout: only the oldest Pythons need it, for the Redis client.
lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/python -m pip install --quiet 'setuptools>=77' .
	{ echo '# Everything the service runs on, pinned by make lock.'; \
	  echo 'async-timeout==5.0.1; python_full_version < "3.11.3"'; \
	  .lock/bin/python -m pip freeze --all --exclude pip --exclude referee --exclude async-timeout; \
	} > requirements.lock
	.lock/bin/python -m pip install --quiet '.[dev]'
	{ echo '# Additional requirements of tests, lint and types, pinned by make lock.'; echo '-r requirements.lock'; \
	  .lock/bin/python -m pip freeze --all --exclude pip --exclude referee --exclude async-timeout \
	  | grep -vxFf requirements.lock; } > requirements-dev.lock
	rm -rf .lock

clean:
	rm -rf $(VENV) $(PEERS) build dist *.egg-info .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.runtime: requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "make: Python 3.11 or newer is needed and none is on PATH; name one with 'make PYTHON=/path/to/python3'" >&2; \
		exit 1; fi
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("make: Python 3.11 or newer is needed, $(PYTHON) is " + sys.version.split()[0])'
	@echo "making $(VENV) with $(PYTHON) from requirements.lock"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	@echo "adding the tools of requirements-dev.lock"
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

$(PEERS)/.made: bench/peers/requirements.lock
	@echo "making $(PEERS) from bench/peers/requirements.lock"
	@[ -x $(PEERS)/bin/python ] || $(PYTHON) -m venv $(PEERS)
	@grep -v '^#' $< | while read -r pin; do \
		$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet --quiet --quiet install --no-deps "$$pin" \
		|| echo "$$pin does not install here" >&2; done
	@touch $@
