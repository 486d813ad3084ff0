# make train   set up, and train the first learner (about five minutes on two cores)
# make test    set up, and run linters, type checks and all quick tests
# make board   open TensorBoard on runs/
# make slow    the long statistical and strength checks

PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup train test board slow
.DELETE_ON_ERROR:

train: setup
	$(BIN)/python -m train ddqn

test: setup .venv-oldest/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not slow"
	.venv-oldest/bin/python -m pytest tests/test_single_agent.py tests/test_aec_pettingzoo.py

slow: setup
	$(BIN)/python -m pytest -m slow

board: setup
	@echo 'strength first, then learning and speed: http://localhost:6006/#custom_scalars'
	$(BIN)/tensorboard --logdir runs

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[workbench,dev]"
	touch $@

# The oldest Gymnasium and PettingZoo that must work, in an environment of their own.
.venv-oldest/ready: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -e . gymnasium==1.2.2 "pettingzoo==1.26.*" pytest
	touch $@
