# Everything is installed into .venv from PyPI by name, at the exact versions of requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KILLS ?= 500

.PHONY: demo serve test lint format bench chaos chaos-cluster chromium databases docs lock schema clean

demo: $(VENV)/.installed
	$(BIN)/gossamer demo

# The service with the demo sites: dashboard at http://127.0.0.1:8600
serve: $(VENV)/.installed-service
	$(BIN)/gossamer serve --demo

test: $(VENV)/.installed-tests chromium databases
	$(MAKE) --no-print-directory lint
	$(BIN)/python -m tests.run

lint: $(VENV)/.installed-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed
	$(BIN)/python -m bench

# The long crash test: KILLS real SIGKILLs.
chaos: $(VENV)/.installed-tests
	$(BIN)/python -m tests.crash.chaos --kills $(KILLS)

# The same for a cluster: workers, broker and database are killed, stopped and emptied. Figures go to bench/RESULTS.md.
chaos-cluster: $(VENV)/.installed-tests databases
	$(BIN)/python -m tests.cluster.kills.chaos

# Run the code in README.md and docs/.
docs: $(VENV)/.installed-tests chromium databases
	$(BIN)/python -m pytest tests/docs

# What pages are rendered with. Tests that need it are skipped, saying so, where it cannot be had. What Debian offers is
# asked anew first: an old list names an old Chromium.
chromium:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v $$name >/dev/null 2>&1 && exit 0; \
	done; \
	get() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "installing Chromium, to test rendering"; \
		{ apt-get update -qq; get; } >/dev/null 2>&1 && exit 0; \
	fi; \
	echo "there is no Chromium, and it cannot be installed from here: the tests of rendering will be skipped"

# Servers that tests start for themselves. Debian would start its own of each: policy-rc.d says no while it installs.
databases:
	@missing=""; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || missing="postgresql"; \
	command -v redis-server >/dev/null 2>&1 || missing="$$missing redis-server"; \
	[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing="$$missing rabbitmq-server"; \
	[ -n "$$missing" ] || exit 0; \
	get() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "installing$${missing:+ }$$missing, to test a cluster"; \
		policy=/usr/sbin/policy-rc.d; \
		if [ ! -e $$policy ]; then \
			trap 'rm -f $$policy' EXIT; \
			printf '#!/bin/sh\nexit 101\n' >$$policy && chmod 755 $$policy; \
		fi; \
		{ apt-get update -qq; get; } >/dev/null 2>&1 && exit 0; \
	fi; \
	echo "these are missing and cannot be installed from here, their tests will be skipped: $$missing"

# Exact versions, without naming where they come from.
lock:
	uv pip compile -q --universal --no-emit-index-url --no-header pyproject.toml -o requirements.lock
	uv pip compile -q --universal --no-emit-index-url --no-header pyproject.toml --extra service -o requirements-service.lock
	uv pip compile -q --universal --no-emit-index-url --no-header pyproject.toml --extra service --extra cluster -o requirements-cluster.lock
	uv pip compile -q --universal --no-emit-index-url --no-header pyproject.toml --group test -o requirements-test.lock

# Write the present form of the store anew, after a new migration.
schema: $(VENV)/.installed-tests
	$(BIN)/python -m gossamer.storage.migrations.write_head

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { [ "$$(id -u)" = 0 ] && apt-get install -y -qq python3-venv && $(PYTHON) -m venv $(VENV); }

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

$(VENV)/.installed-service: requirements-service.lock $(VENV)/.installed
	@echo "installing what the service needs, once: about two minutes"
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements-service.lock
	touch $@

$(VENV)/.installed-tests: requirements-test.lock $(VENV)/.installed
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements-test.lock
	touch $@

clean:
	rm -rf $(VENV) .bench .mypy_cache .ruff_cache .pytest_cache
