# Everything a fresh clone needs: python3 and make. `make demo` and `make test` create .venv and install into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

TARGET ?= host

.PHONY: help install demo c-example test test-aarch64 lit unit lint clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/'

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Zeropoint needs Python 3.10 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,dev]'
	@touch $@

install: $(VENV)/.installed ## create .venv with Zeropoint and its test tools

demo: $(VENV)/.installed ## a real quantized network, from TFLite to machine code
	@$(BIN)/zeropoint demo

c-example: $(VENV)/.installed ## the demo's network in a C program; TARGET=aarch64-dotprod to emulate another machine
	@$(MAKE) -s -C examples/c PYTHON=$(CURDIR)/$(BIN)/python TARGET=$(TARGET)

test: lit unit ## all tests: IR tests (lit), then numbers (pytest)

# The JIT on an emulated machine, then what this machine compiles for it.
AARCH64_TESTS := $(addprefix test/unit/test_,codegen_loader.py codegen_driver.py runtime_saved.py targets_host.py aarch64_host.py)
CASES := ../shared/cases
ONLY ?= *
JIT_ONLY ?= tfl_fc_*

test-aarch64: $(VENV)/.installed ## the tests that an emulated AArch64 machine can run in ten minutes
	$(BIN)/python -m zeropoint.tools.aarch64 run zeropoint demo
	$(BIN)/python -m zeropoint.tools.aarch64 run pytest -q -p no:cacheprovider --timeout 900 $(AARCH64_TESTS)
	$(BIN)/python test/run_aarch64.py --models tools/demo
	$(BIN)/python -m bench.aarch64 tools/demo/digits_int8.tflite
	if [ -d $(CASES) ]; then $(BIN)/python -m zeropoint.tools.aarch64 run \
		python3 $(CASES)/run.py --only '$(JIT_ONLY)' --timeout 300; fi
	if [ -d $(CASES) ]; then $(BIN)/python test/run_aarch64.py --cases $(CASES) --only '$(ONLY)'; fi

lit: $(VENV)/.installed ## IR tests only
	$(BIN)/lit -j2 test

unit: $(VENV)/.installed ## pytest only
	$(BIN)/pytest -n2

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# The repository root is the package, so mypy has to see it under the package's name.
	@mkdir -p $(VENV)/mypy && ln -sfn $(CURDIR) $(VENV)/mypy/zeropoint
	cd $(VENV)/mypy && ../bin/mypy --config-file $(CURDIR)/pyproject.toml -p zeropoint

clean: ## remove .venv and caches
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
