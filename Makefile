# Requires make and Python 3.11 or newer. Everything else is installed into .venv from the committed lock files.
#   make demo [DEMO_ARGS=--exit]   make up   make env   make test   make coverage   make lint   make types   make bench   make chaos   make chaos-planted   make hosts   make compose-test   make mutants   make product-mutants   make lock
#   make test-long   make bench-peers   make gallery   make nginx   make promtool   make simulate   make clean

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# --no-deps, because the lock files are complete; --no-compile, because Python compiles the modules that it imports.
INSTALL := $(PIP) install --no-deps --no-compile
LOCKED := $(INSTALL) --require-hashes
COMPILE = .lock/bin/uv pip compile --quiet --universal --python .lock/bin/python --python-version 3.11 --no-python-downloads \
	--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command 'make lock' $(LOCK_ARGS)
DEMO_ARGS ?=
UP_ARGS ?=
BENCH_ARGS ?=
GALLERY_ARGS ?=
CHAOS_ARGS ?=
HOSTS_ARGS ?=
COMPOSE_ARGS ?=
MUTANTS_ARGS ?=
SIMULATE_ARGS ?=
LOCK_ARGS ?=
PYTEST_ARGS ?=
PYTEST_PROCESSES ?= 4  # two of them mostly wait; see tests/lanes.py

# If this were set, every command would compile all its imports, which takes longer than the imports themselves.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo up env test test-long coverage lint types browser nginx promtool gallery bench bench-peers chaos chaos-planted hosts compose-test mutants product-mutants simulate lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/.runtime
	@$(BIN)/referee demo $(DEMO_ARGS)

up: $(VENV)/.runtime
	@$(BIN)/referee up $(UP_ARGS)

# Write .env for docker-compose.yml: a service for this machine alone, with random secrets.
env:
	@$(PYTHON) deploy/make_env.py

test: lint browser nginx promtool
	$(BIN)/python -m pytest -n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Run whole campaigns, of which `make test` runs a short slice each: the tests with the mark `long`.
test-long: $(VENV)/.dev browser nginx
	$(BIN)/python -m pytest -m long -n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Report the lines that no test runs. Tracing makes the tests a third slower.
coverage: $(VENV)/.dev browser nginx promtool
	$(BIN)/python -m pytest -n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Find a Chromium and a Firefox for tests/browser, or install them.
browser: $(VENV)/.dev
	@$(BIN)/python tests/browser/chromium.py

# Find an nginx for tests/deploy, or put one into the environment.
nginx: $(VENV)/.dev
	@$(BIN)/python -m tests.deploy.nginx

# Find a promtool for tests/metrics, or put one into the environment; without one, make test goes on and says so.
promtool: $(VENV)/.dev
	@$(BIN)/python -m tests.metrics.promtool

# Write pictures of every kind of page as one file, gallery.html. GALLERY_ARGS="--out FILE --only TEXT"
gallery: browser
	@$(BIN)/python -m tests.browser.gallery $(GALLERY_ARGS)

bench: $(VENV)/.dev
	@$(BIN)/python -m bench $(BENCH_ARGS)

# Compare benchmarks with other projects, in a separate environment. Skip those that cannot be installed, with a message.
bench-peers: $(PEERS)/.made
	@$(PEERS)/bin/python -m bench.peers $(BENCH_ARGS)

# Injure a running service 300 times, for example with CHAOS_ARGS="--injuries 500 --seed 1 --postgres".
chaos: $(VENV)/.dev
	@$(BIN)/python -m tools.chaos $(CHAOS_ARGS)

# Run a shorter campaign with each planted fault, and report which invariants it breaks.
chaos-planted: $(VENV)/.dev
	@$(BIN)/python -m tools.chaos --planted $(CHAOS_ARGS)

# Run the service on hosts made of network namespaces and injure whole hosts; needs root. HOSTS_ARGS="--only 'API cut off'"
hosts: $(VENV)/.dev
	@$(BIN)/python -m tools.hosts $(HOSTS_ARGS)

# Build the image and run docker-compose.yml, in a container engine of its own if run as root.
compose-test: $(VENV)/.dev
	@$(BIN)/python -m tools.compose $(COMPOSE_ARGS)

# Plant faults in a copy of the rules and report those that no test catches, e.g. MUTANTS_ARGS="--count 20 prisoners".
mutants: $(VENV)/.dev
	@$(BIN)/python -m tools.mutants $(MUTANTS_ARGS)

# Plant faults in every room of the product outside the games, e.g. MUTANTS_ARGS="--count 60 referee/db api/matches".
product-mutants: $(VENV)/.dev
	@$(BIN)/python -m tools.mutants.product --pytest "-n $(strip $(PYTEST_PROCESSES)) --dist loadfile --no-loadscope-reorder" $(MUTANTS_ARGS)

# Simulate thousands of tournaments and check invariants, for example with SIMULATE_ARGS="--count 3000 --seed 1 swiss".
simulate: $(VENV)/.dev
	@$(BIN)/python -m tools.simulate $(SIMULATE_ARGS)

# Pin what pyproject.toml requires, with the hashes of all files of each version. Versions that are pinned already remain;
# LOCK_ARGS="--upgrade-package flask" takes the newest one that pyproject.toml allows, LOCK_ARGS=--upgrade all of them.
lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements-uv.lock
	$(COMPILE) --group lock -o requirements-uv.lock
	$(COMPILE) --group build pyproject.toml -o requirements.lock
	$(COMPILE) --group build --extra dev --constraint requirements.lock pyproject.toml -o requirements-dev.lock
	$(COMPILE) --group peers -o bench/peers/requirements.lock
	rm -rf .lock

clean:
	rm -rf $(VENV) $(PEERS) build dist *.egg-info .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "make: Python 3.11 or newer was not found on PATH. Name it with 'make PYTHON=/path/to/python3'." >&2; \
		exit 1; fi
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("make: Python 3.11 or newer is required, but $(PYTHON) is " + sys.version.split()[0])'
	@echo "Creating $(VENV) with $(PYTHON)."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing requirements.lock."
	@$(LOCKED) -r requirements.lock
	@$(INSTALL) --no-build-isolation -e .
	@touch $@

# What requirements-dev.lock pins contains requirements.lock.
$(VENV)/.dev: requirements-dev.lock requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing requirements-dev.lock."
	@$(LOCKED) -r requirements-dev.lock
	@$(INSTALL) --no-build-isolation -e .
	@touch $(VENV)/.runtime $@

$(PEERS)/.made: bench/peers/requirements.lock
	@echo "Creating $(PEERS) from bench/peers/requirements.lock."
	@[ -x $(PEERS)/bin/python ] || $(PYTHON) -m venv $(PEERS)
	@sed -e '/^#/d' -e ':joined' -e '/\\$$/{N;s/\\\n//;bjoined' -e '}' $< | while read -r pin; do \
		echo "$$pin" > $(PEERS)/pin && \
		$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet --quiet --quiet install --no-deps --require-hashes \
		-r $(PEERS)/pin || echo "$${pin%% *} cannot be installed on this machine and is skipped." >&2; done
	@touch $@
