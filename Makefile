# Each target does its own set-up; .venv is made again when a lock changes.
PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
READY := .venv/.ready
COMPILED := .venv/.compiled
MUTANTS := .piecework/mutants/venv
SITE := .piecework/site/venv
CROWD_KIT := .piecework/crowd-kit/venv
SYMSPELLPY := .piecework/symspellpy/venv
export DO_NOT_TRACK := 1
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export PREFECT_HOME ?= $(CURDIR)/.piecework/prefect

# Compiled files are kept: each of the many processes that tests start reads them.
unexport PYTHONDONTWRITEBYTECODE

# Of two cores a quarter is idle while three tests wait for browsers, servers and clocks.
AT_ONCE ?= 4

.PHONY: demo near test test-full test-clients mutants check fmt lint types imports docs bench bench-full peers truth truth-machine lock release clean

# Modules are compiled when they are first imported: most never are.
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile

$(RUNS): requirements.lock pyproject.toml packages/offline-markets/pyproject.toml  # what piecework needs to run
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) --require-hashes -r requirements.lock
	$(PIP_INSTALL) --no-build-isolation -e . -e packages/offline-markets
	mkdir -p -m 700 $(PREFECT_HOME)
	touch $@

$(READY): $(RUNS) requirements-dev.lock  # and the extras, and the tools to work on it
	$(PIP_INSTALL) --require-hashes -r requirements-dev.lock
	touch $@

# By one process, before a first run: each of several at once would compile all modules.
$(COMPILED): $(READY)
	-$(BIN)/pytest -q --collect-only > $@

demo: $(RUNS)  ## the main job: a whole campaign on simulated workers
	$(BIN)/piecework rehearse config/campaigns/demo.toml

near: $(READY)  ## the tests nearest to what changed, for 20 seconds
	$(BIN)/python -m tools.near

test: $(COMPILED)  ## all tests; installs chromium for the browser tests where it can
	@sh tests/need_chromium.sh
	$(BIN)/pytest -n $(AT_ONCE) --dist worksteal -q

test-full: $(COMPILED)  ## the long forms too, and a week's share of the largest; WEEK=, ALL=1
	@sh tests/need_chromium.sh
	$(BIN)/pytest -n $(AT_ONCE) --dist worksteal -q --hypothesis-profile=thorough -m "not clients" \
	  $(if $(ALL),,--week $(or $(WEEK),$(shell date +%V)))

test-clients: $(READY)  ## other people's clients, and our wheel, each in an environment of its own
	$(BIN)/pytest -q tests/clients -m "clients or not clients"

$(MUTANTS)/.ready: tests/mutants/cosmic-ray.lock
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

mutants: $(READY) $(MUTANTS)/.ready  ## small changes to money and exclusion: a test notices each of a week's sample; SEED=, FILE=, ALL=1
	$(MUTANTS)/bin/python -m tests.mutants $(if $(ALL),--all) $(if $(SEED),--seed $(SEED)) $(FILE)

check: fmt lint types imports docs test  ## what a change must pass

fmt: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/python -m tools.plain_english
	$(BIN)/python -m tools.names

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

$(SITE)/.ready: tools/site/requirements.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

docs: $(SITE)/.ready  ## site/: the docs with search; `python3 -m http.server -d site` serves it
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build -f tools/site/mkdocs.yml

bench: $(READY)  ## tables of cost, and a table of all targets; ONLY="heuristics labels"
	$(BIN)/python -m tests.bench $(ONLY)

bench-full: bench  ## ten million rows too: two hours more
	$(BIN)/python -m tests.bench.labels 10000000
	$(BIN)/python -m tests.bench.partitions 10000000

$(CROWD_KIT)/.ready: tests/bench/truth/labels/crowd-kit.lock
	$(PYTHON) -m venv $(CROWD_KIT)
	$(CROWD_KIT)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

$(SYMSPELLPY)/.ready: tests/bench/symspellpy.lock
	$(PYTHON) -m venv $(SYMSPELLPY)
	$(SYMSPELLPY)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	touch $@

peers: $(CROWD_KIT)/.ready $(SYMSPELLPY)/.ready  ## other programs that `make bench` measures beside ours, if they are installed

truth: $(READY) $(CROWD_KIT)/.ready  ## how true heuristics and labels are, from ../shared/data: qc/truth.json and pages
	$(BIN)/python -m tests.bench.truth.fit
	$(BIN)/python -m tests.bench.truth
	$(BIN)/python -m tests.bench.truth.labels
	$(BIN)/python -m tests.bench.truth.labels.constants
	$(BIN)/python -m tests.bench.truth.labels.scales
	$(BIN)/python -m tools.heuristics_page
	@echo "make truth-machine replays votes with labels of models: half an hour of processor time more"

truth-machine: $(READY)  ## answers that labels of models save, from ../shared/data: half an hour of processor time
	$(BIN)/python -m tests.bench.truth.machine

LOCK := uv pip compile --no-emit-package offline-markets --universal --no-strip-extras --generate-hashes --no-header --no-annotate --python-version 3.11

lock:  ## resolve again; writes names, versions and hashes, never a download host
	$(LOCK) pyproject.toml --group build -o requirements.lock
	$(LOCK) pyproject.toml --group dev --all-extras -c requirements.lock -o requirements-dev.lock
	$(LOCK) pyproject.toml --group build --extra backup --extra oidc --extra prolific --extra sql -c requirements-dev.lock \
	  | python3 -m tools.image_lock > docs/operations/deploy/extras.lock
	printf 'cosmic-ray\nparso\n' | $(LOCK) - -o tests/mutants/cosmic-ray.lock
	printf 'crowd-kit\nscikit-learn<1.7\n' | $(LOCK) - -o tests/bench/truth/labels/crowd-kit.lock
	printf 'symspellpy\n' | $(LOCK) - -o tests/bench/symspellpy.lock
	printf 'mkdocs-material\n' | $(LOCK) - -o tools/site/requirements.lock

release: $(READY)  ## dist/: the wheel and the source, tried in empty environments
	@test ! -e config/campaigns/out || { echo "the source would hold rehearsed examples: rm -r config/campaigns/out"; exit 1; }
	rm -rf dist .piecework/clients/wheel-*
	$(BIN)/python -m hatchling build -d dist
	cd packages/offline-markets && ../../$(BIN)/python -m hatchling build -d ../../dist
	PIECEWORK_DIST=dist $(BIN)/pytest -q tests/test_release.py tests/clients/test_installed.py -m "clients or not clients"

clean:
	rm -rf .venv dist out config/campaigns/out .piecework
