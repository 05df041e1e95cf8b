# Everything works in .venv; the first target that needs it sets it up.
#   make demo [BOOK=84] [QUESTION="…"]    build a book and ask it one question three ways
#   make test                             lint, types, import rules, tests, the wheel
#   make lab [STUDY=cliff LLM=…]        list the studies of experiments/, or run one on a model
#   make studio                           LangGraph's server for Studio and its test, in an environment of its own
#   make dev                              Dagster's UI on :3000 and the page on :8000
#   make soak                             kill builds at random points, forty times: benchmarks/soak.md
# PYTHON picks the interpreter (3.11 or 3.12). TORCH_INDEX, if set, is the package index that has a CPU build of torch
# (see README: on Linux the default index serves a CUDA build of several GB).

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BOOK ?= 0
PASSAGES ?= 5
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test soak lint types imports unit wheel dev lab setup clean studio

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; ok = (3, 11) <= sys.version_info[:2] < (3, 13); sys.exit(None if ok else "GutenGraph needs Python 3.11 or 3.12; point make at one: make PYTHON=/path/to/python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing the tested set of packages into $(VENV) (about two minutes on a fast line) …"
	$(if $(TORCH_INDEX),$(PIP) install -q -c constraints.txt torch --index-url $(TORCH_INDEX))
	$(PIP) install -q -c constraints.txt -e '.[assets,query,embedded,s3,dev]'
	@touch $@

demo: setup
	@BOOK=$(BOOK) QUESTION="$(QUESTION)" PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo.sh

test: setup lint types imports unit wheel

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

unit: setup
	$(BIN)/coverage erase
	$(BIN)/pytest --cov --cov-report=term

wheel: setup
	$(BIN)/python scripts/check_wheel.py

# Compiling prompts wants DSPy, which nothing else does.
lab: setup
	$(if $(filter dspy,$(STUDY)),@$(PIP) install -q -c constraints.txt -e '.[lab]')
	@$(BIN)/python -m experiments.lab $(if $(STUDY),run $(STUDY) --passages $(PASSAGES) $(if $(LLM),--llm $(LLM)),list --passages $(PASSAGES))

# Dagster's storage lies in the data folder, whichever GUTENGRAPH_HOME names.
dev: setup
	$(BIN)/python scripts/dev.py

# Takes more than an hour on two cores; carries on where it was stopped (build/soak.jsonl).
soak: setup
	$(BIN)/python scripts/soak.py --rounds 20 --state build/soak.jsonl --out benchmarks/soak.md
	GUTENGRAPH_TEST_SOAK=1 $(BIN)/pytest tests/contract/test_backfill.py tests/fault

# LangGraph's server wants an older jsonschema-rs than schemathesis does: it gets an environment of its own over .venv.
STUDIO := .venv-studio
STUDIO_SERVER := langgraph-cli[inmem]==0.4.40 langgraph-api==0.16.7 langgraph-runtime-inmem==0.36.7
_PTH := import pathlib, site, sys; \
  pathlib.Path(site.getsitepackages()[0], "over.pth").write_text(f"import site; site.addsitedir({sys.argv[1]!r})")

studio: $(STUDIO)/.ready

$(STUDIO)/.ready: $(VENV)/.ready
	$(BIN)/python -m venv $(STUDIO)
	$(STUDIO)/bin/python -c '$(_PTH)' "$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')"
	$(STUDIO)/bin/python -m pip --disable-pip-version-check install -q '$(subst $() $(),' ',$(STUDIO_SERVER))'
	@touch $@

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
