# Two commands do everything on a machine with Python 3.11, git and make: `make figures` and `make test`.

PYTHON ?= $(shell command -v python3.11 || echo python3)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
VENV := .venv
BIN := $(VENV)/bin
# The stamp carries the content of the pins, so that a changed pin rebuilds the environment and a touched file does not.
STAMP := $(VENV)/.complete-$(shell cat envs/requirements.txt pyproject.toml | cksum | cut -d ' ' -f 1)

.PHONY: figures counting extensions test smoke benchmark calibration lint environment clean

figures: $(STAMP)
	$(BIN)/snakemake -j $(JOBS)

counting: $(STAMP)
	$(BIN)/snakemake -j $(JOBS) counting

extensions: $(STAMP)
	$(BIN)/snakemake -j $(JOBS) extensions

test: $(STAMP)
	$(BIN)/python -m pytest

smoke: $(STAMP)
	$(BIN)/snakemake -j $(JOBS) all counting extensions --configfile workflow/config/smoke.yaml

benchmark: $(STAMP)
	$(BIN)/python benchmarks/theory.py
	$(BIN)/python benchmarks/descent.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/maps.py

calibration: $(STAMP)
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/transitions.py

lint: $(STAMP)
	$(BIN)/ruff check .

environment: $(STAMP)

$(STAMP):
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v[:2] == (3, 11) else "PYTHON: is %d.%d, allowed is 3.11 (make PYTHON=python3.11 ...)" % v[:2])'
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement envs/requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) .snakemake logs results
