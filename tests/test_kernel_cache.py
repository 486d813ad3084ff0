"""Compiled kernels on disk: never older than the rules, each made by one process, and not needed to run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crib_env import compile
from crib_env.agents.registry import NAMES

PACKAGE = Path(__file__).parents[1] / "crib_env"
TOLD = "crib_env: compiling kernels"

# `greedy_play` is quick to compile, and holds kernels of other files: ten counts as much as a pair, and ties go to it.
CHOOSE = """
import numpy as np
from numba.core import event
recorder = event.install_recorder("numba:compile")
compiled = recorder.__enter__()
from crib_env.players.policies import greedy_play
FIVE_OF_DIAMONDS, TEN_OF_DIAMONDS = 17, 22
legal = 1 << FIVE_OF_DIAMONDS | 1 << TEN_OF_DIAMONDS
card = greedy_play(legal, np.array([4, -1, -1, -1, -1, -1, -1, -1], np.int8), 0, 1, 5)
# Only what is kept: Numba's own functions, `card_value` and the lambdas behind `popcount` and `lowest` are compiled
# into the kernels that call them, by every process that compiles one.
from crib_env.compiling.kernel_cache import KernelCache
dispatchers = [e.data["dispatcher"] for _, e in compiled.buffer if e.is_start]
print(card, sum(isinstance(dispatcher._cache, KernelCache) for dispatcher in dispatchers))
"""


def environment(**changes):
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "CRIB_ENV_QUIET")}
    return {**kept, **changes}


def start(folder, code=CHOOSE, **changes):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment(**changes), text=True, **pipes)


def finish(process):
    """The card that was chosen, how many kernels were compiled for it, and what was printed."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    card, n_compiled = map(int, out.split())
    return card, n_compiled, err


def choose(folder, **changes):
    return finish(start(folder, **changes))


def copy_of_the_package(folder):
    shutil.copytree(PACKAGE, folder / "crib_env", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A copy of the package with the kernels of `CHOOSE` beside it, and how many they are."""
    folder = copy_of_the_package(tmp_path_factory.mktemp("compiled"))
    card, n_compiled, said = choose(folder)
    assert (card, n_compiled > 0) == (22, True)
    assert said.count("\n") == 1
    assert said.startswith(TOLD)
    return folder, n_compiled


def test_a_rule_changed_in_one_file_reaches_kernels_cached_from_another(compiled, tmp_path):
    shutil.copytree(compiled[0], tmp_path / "changed")
    scoring = tmp_path / "changed" / "crib_env" / "scoring.py"
    scoring.write_text(scoring.read_text().replace("return same * (same - 1)", "return same * (same + 4)"))
    assert choose(tmp_path / "changed")[0] == 17


INSTRUCTIONS = """
from crib_env.kernels import kernel, lowest, popcount

@kernel
def cards(mask):
    return popcount(mask)

@kernel
def first_card(mask):
    return lowest(mask)

@kernel
def both(mask):
    return 100 * cards(mask) + first_card(mask)
"""


def test_kernels_of_two_processes_keep_their_instructions_when_they_are_linked(tmp_path):
    """Each process numbers the functions inside its kernels anew, so both instructions get the same number."""
    (tmp_path / "instructions.py").write_text(INSTRUCTIONS)
    found = []
    for name in ("cards", "first_card", "both"):
        out, err = start(tmp_path, f"from instructions import {name}; print({name}(0b11100))").communicate(timeout=300)
        assert out, err
        found.append(int(out))
    assert found == [3, 2, 302]


def test_a_copy_keeps_its_kernels_where_no_file_is_newer_in_content(compiled, tmp_path):
    shutil.copytree(compiled[0], tmp_path / "copy", copy_function=shutil.copyfile)  # all times are new
    other = tmp_path / "copy" / "crib_env" / "aec.py"
    other.write_text(other.read_text() + "\n# no kernel of the policies stands on this file\n")
    assert choose(tmp_path / "copy") == (22, 0, "")


@pytest.mark.slow
def test_without_a_folder_to_write_to_there_is_one_warning_and_no_error(tmp_path):
    folder = copy_of_the_package(tmp_path)
    for package in (folder / "crib_env", folder / "crib_env" / "exact"):
        (package / "__pycache__").write_text("a file: nothing can be kept here, not even by root")
    nowhere = {
        key: str(folder / "crib_env" / "py.typed" / key) for key in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    }
    card, n_compiled, said = choose(folder, **nowhere)
    assert card == 22
    assert n_compiled > 0
    assert said.count("compiled kernels cannot be kept") == 1
    assert said.count(TOLD) == 1


def test_kernels_compiled_ahead_are_used_where_nothing_can_be_written(compiled):
    nothing = "import tempfile\ndef refuse(*_, **__): raise PermissionError\ntempfile.TemporaryFile = refuse\n"
    assert finish(start(compiled[0], nothing + CHOOSE)) == (22, 0, "")


def test_processes_that_start_together_compile_once_and_say_it_once(compiled, tmp_path):
    workers = [start(compiled[0], NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    cards, counts, said = zip(*map(finish, workers))
    assert cards == (22, 22)
    assert sum(counts) == compiled[1]
    assert "".join(said).count(TOLD) == 1


@pytest.mark.slow
def test_nobody_waits_for_a_compiler_that_was_killed(compiled, tmp_path):
    hold = (
        "import time, crib_env\nfrom crib_env.compiling.kernel_cache import compiler_locks\n"
        "from crib_env.players.policies import greedy_play\nkernel = greedy_play._cache._cache_file._index_path\n"
        "with compiler_locks.at_work():\n"
        "    print(compiler_locks.wait(kernel), flush=True)\n    time.sleep(600)\n"
    )
    holder = start(compiled[0], hold, NUMBA_CACHE_DIR=str(tmp_path))
    assert holder.stdout.readline() == "True\n"
    waiting = start(compiled[0], NUMBA_CACHE_DIR=str(tmp_path), CRIB_ENV_QUIET="1")
    time.sleep(2)
    assert waiting.poll() is None
    holder.kill()
    holder.communicate()
    card, n_compiled, said = finish(waiting)
    assert (card, n_compiled > 0, said) == (22, True, "")


def test_import_runs_no_kernel():
    code = (
        "import sys, crib_env\nfrom crib_env.compiling.compiler import Kernel\n"
        "modules = [module for name, module in sys.modules.items() if name.startswith('crib_env')]\n"
        "kernels = [value for module in modules for value in vars(module).values() if isinstance(value, Kernel)]\n"
        "print(len(kernels) > 50, [kernel.__name__ for kernel in kernels if kernel.overloads])"
    )
    process = start(PACKAGE.parent, code)
    assert process.communicate(timeout=300) == ("True []\n", "")


USE_ALL = """
import sys, gymnasium, numpy as np, crib_env
from crib_env import compile

def overloads():
    modules = [module for name, module in sys.modules.items() if name.startswith("crib_env.")]
    kernels = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    return {f"{k.py_func.__module__}.{k.py_func.__name__}": len(k.overloads) for k in kernels}

sys.argv[1:] = ["expert"]
assert compile.main() == 0
before = overloads()
for options in (
    {"observation": "board"},
    {"copy": False, "reward": "win", "dtype": "float32"},
    {"observation": "ranks", "dtype": "float32"},
    {"start_spread": 60, "episode": "deal", "opponent": "careful"},
):
    for mode in ("NextStep", "SameStep"):
        envs = gymnasium.make_vec(
            "crib_env/Cribbage-v0", num_envs=3, vectorization_mode="vector_entry_point", autoreset_mode=mode, **options
        )
        observations, _ = envs.reset(seed=1)
        for _ in range(30):
            observations, *_ = envs.step(observations["action_mask"].argmax(axis=1))
batch = crib_env.GameBatch(crib_env.streams(3, 4), scores=(100, 3), first_dealer=1, skip_forced=True)
while len(rows := batch.acting()):
    batch.step(rows, batch.observe(rows, "ranks")[1].argmax(axis=1))
env = crib_env.env(reward="match", observation="ranks", dtype="float32", mask="info", render_mode="ansi")
env.reset(seed=2, options={"deals": [["5H", "5C", "JD", "QS", "2H", "3D", "6H", "6C", "TD", "KS", "AH", "4D", "7S"]]})
while env.agents:
    ended = env.terminations[env.agent_selection]
    env.step(None if ended else int(env.infos[env.agent_selection]["action_mask"].argmax()))
crib_env.analyse_discard("5H 5C JD QS 2H 3D", dealer=False, scores=(96, 101))
crib_env.discard_statistics(np.array([[0, 1, 2, 3, 4, 5]]))
crib_env.score_show_many(np.array([[0, 1, 2, 3]]), np.array([4]), np.array([True]))
expert = crib_env.make_agent("expert")
for seed in range(2):
    batch = crib_env.GameBatch(crib_env.streams(seed, 3), episode="deal", start_spread=60)
    while len(rows := batch.acting()):
        batch.step(rows, expert.act(batch.views(rows)))
print([name for name, n in overloads().items() if n > before.get(name, 0)])
"""


def test_nothing_is_left_to_compile_after_the_command_that_compiles_ahead():
    process = start(PACKAGE.parent, USE_ALL)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    *parts, total, left = out.splitlines()
    assert [part.split("  ")[0] for part in parts] == [
        "environments",
        "vector environments",
        "batches",
        "scores",
        "discards",
        "expert",
    ]
    assert total.startswith("the kernels of the environments and of expert are compiled: ")
    assert left == "[]"


def test_the_command_that_compiles_ahead_takes_every_player_that_needs_no_file():
    needs_no_compiler = {"human", "llm", "random"}
    sees_every_card = {"uct-determinized", "uct-cheating"}  # searches of `ismcts`'s kernels
    learners = {"clone", "ddqn", "drqn", "escher", "mmd", "mmd-tables", "nfsp", "ppo", "rnad", "strategy-weights", "td"}
    assert {*compile._PLAYERS, *compile._WITH_TORCH} == set(NAMES) - needs_no_compiler - sees_every_card - learners


def test_the_command_that_compiles_ahead_names_a_player_that_there_is_not(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compile", "export"])
    assert compile.main() == 1
    assert "there is no agent 'export'" in capsys.readouterr().err
