"""Compiled kernels on disk: never older than the rules, each made by one process, and not needed to run."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "crib_env"
TOLD = "crib_env: compiling kernels"

# `greedy_play` is quick to compile, and holds kernels of other files: ten counts as much as a pair, and ties go to it.
CHOOSE = """
import numpy as np
from crib_env.kernels import KERNELS
from crib_env.players.policies import greedy_play
FIVE_OF_DIAMONDS, TEN_OF_DIAMONDS = 17, 22
legal = 1 << FIVE_OF_DIAMONDS | 1 << TEN_OF_DIAMONDS
card = greedy_play(legal, np.array([4, -1, -1, -1, -1, -1, -1, -1], np.int8), 0, 1, 5)
print(card, sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS))
"""


def environment(**changes):
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "CRIB_ENV_QUIET")}
    # Python's own cache goes by the length and the time of a file, which `rewrite` keeps.
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **changes}


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


def rewrite(file, old, new):
    """Replaces a piece of a file. Its length and its time remain, where those of the pieces are equal."""
    times, text = (file.stat().st_atime, file.stat().st_mtime), file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    os.utime(file, times)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A copy of the package with the kernels of `CHOOSE` beside it, and how many they are."""
    folder = copy_of_the_package(tmp_path_factory.mktemp("compiled"))
    card, n_compiled, said = choose(folder)
    assert (card, n_compiled > 0) == (22, True)
    assert said.count("\n") == 1
    assert said.startswith(TOLD)
    return folder, n_compiled


def test_a_rule_changed_in_one_file_reaches_kernels_of_another_and_what_was_compiled_before_is_removed(compiled):
    folder = compiled[0] / "crib_env"
    rewrite(folder / "scoring.py", "return same * (same - 1)", "return same * (same + 4)")
    assert choose(compiled[0])[:2] == (17, compiled[1])
    assert len([*(folder / "__pycache__").glob("kernels-*")]) == 1
    rewrite(folder / "scoring.py", "return same * (same + 4)", "return same * (same - 1)")
    assert choose(compiled[0])[:2] == (22, compiled[1])


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


def file_of(module):
    """The file of a module of this project."""
    first, *rest = module.split(".")[1:] or ["__init__"]
    path = (PACKAGE.parent if first in ("agents", "evaluate", "train") else PACKAGE).joinpath(first, *rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def read_names(*trees):
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


@cache
def tree_of(file):
    """Its syntax, and the names in each of its assignments."""
    tree = ast.parse(file.read_text())
    return tree, [read_names(node) for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]


@cache
def meaning(file, names):
    """The files with what these names of a file mean: of constants, all from which they are made."""
    tree, assigned = tree_of(file)
    while more := set().union(*(found for found in assigned if found & names)) - names:
        names = names | more
    files = {file}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "crib_env":
            imported = {alias.name for alias in node.names if (alias.asname or alias.name) in names}
            if imported:
                files |= meaning(file_of(node.module), frozenset(imported))
    return files


def test_the_hash_is_of_all_files_whose_constants_kernels_use():
    files = [
        file for name in ("crib_env", "agents", "evaluate", "train") for file in PACKAGE.parent.glob(f"{name}/**/*.py")
    ]
    used = set()
    for file in files:
        functions = [node for node in ast.walk(tree_of(file)[0]) if isinstance(node, ast.FunctionDef)]
        kernels = [function for function in functions if "kernel" in read_names(*function.decorator_list)]
        if kernels:
            used |= meaning(file, frozenset(read_names(*kernels)))
    assert len(used) > 50
    assert [str(file) for file in sorted(used) if "kernel" not in file.read_text()] == []


def test_a_change_of_a_file_without_kernels_compiles_nothing(compiled):
    other = compiled[0] / "crib_env" / "cards_of_nobody.py"
    other.write_text("# nothing is compiled of this\n")
    assert choose(compiled[0]) == (22, 0, "")


def test_without_a_folder_to_write_to_there_is_one_warning_and_no_error(tmp_path):
    folder = copy_of_the_package(tmp_path)
    (folder / "crib_env" / "__pycache__").write_text("a file: nothing can be kept here, not even by root")
    card, n_compiled, said = choose(folder, HOME=str(folder / "crib_env" / "py.typed"))
    assert card == 22
    assert n_compiled > 0
    assert said.count("compiled kernels cannot be kept") == 1
    assert said.count(TOLD) == 1


def test_kernels_compiled_ahead_are_used_where_nothing_can_be_written(compiled, tmp_path):
    refuse = """
import os
real = os.mkdir
def refuse(path, *mode):
    if "__pycache__" in str(path): raise PermissionError(path)
    real(path, *mode)
os.mkdir = refuse
"""
    assert finish(start(compiled[0], refuse + CHOOSE, HOME=str(tmp_path))) == (22, 0, "")
    assert (tmp_path / ".cache" / "crib_env").is_dir()


def test_processes_that_start_together_say_it_once_and_later_ones_have_what_one_compiled(tmp_path):
    folder = copy_of_the_package(tmp_path)
    cards, _, said = zip(*map(finish, [start(folder) for _ in range(2)]))
    assert cards == (22, 22)
    assert "".join(said).count(TOLD) == 1
    assert list(map(finish, [start(folder) for _ in range(4)])) == [(22, 0, "")] * 4


def test_import_runs_no_kernel():
    code = (
        "import crib_env\nfrom crib_env.kernels import KERNELS\n"
        "print(len(KERNELS) > 50, [kernel.__name__ for kernel in KERNELS if kernel.overloads])"
    )
    process = start(PACKAGE.parent, code)
    assert process.communicate(timeout=300) == ("True []\n", "")


USE_ALL = """
import sys, gymnasium, numpy as np, crib_env
from crib_env import compile
from crib_env.kernels import KERNELS

def n_compiled():
    return {kernel: sum(kernel.stats.cache_misses.values()) for kernel in KERNELS}

sys.argv[1:] = ["expert"]
assert compile.main() == 0
before = n_compiled()
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
env.restore(env.games.copy())
env.redeal(env.agent_selection, 1)
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
print([kernel.__name__ for kernel, n in n_compiled().items() if n > before.get(kernel, 0)])
"""


def test_nothing_is_left_to_compile_after_the_command_that_compiles_ahead():
    process = start(PACKAGE.parent, USE_ALL)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == "[]"


def test_kernels_that_are_not_as_listed_are_compiled_anew_once(compiled):
    (file,) = (compiled[0] / "crib_env" / "__pycache__").rglob("checksums")
    listed = json.loads(file.read_text())
    damaged = next(kernel for kernel in listed if "greedy_play" in kernel)
    other = dict.fromkeys(listed[damaged], 0)  # as if another content had been written
    file.write_text(json.dumps({**listed, damaged: other}))
    assert [choose(compiled[0])[:2] for _ in range(2)] == [(22, 1), (22, 0)]


def test_a_function_that_is_not_of_this_project_keeps_its_own_folder(compiled, tmp_path):
    (tmp_path / "own.py").write_text(
        "import numba, crib_env.engine\n@numba.njit(cache=True)\ndef one():\n    return 1\n"
    )
    assert start(tmp_path, "import own; print(own.one(), own.one.stats.cache_path)").communicate(timeout=300) == (
        f"1 {tmp_path / '__pycache__'}\n",
        "",
    )
