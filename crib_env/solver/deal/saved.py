"""The state of a solver of whole deals in a folder: eleven gigabytes, written anew beside the last one.

What :mod:`crib_env.solver.deal.recall` makes of it, six more, lies inside and goes with it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.cards import RANKS
from crib_env.engine import ROLES
from crib_env.exact.deal_classes import N_CLASSES
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import N_RANKS
from crib_env.solver.deal.groups import N_GROUPS
from crib_env.solver.deal.sixes import N_CHOICES
from crib_env.solver.deal.solver import DealSolver

_KIND = "solution of whole deals"
_VERSION = 1
_NAME = "iteration-"
_DISCARDS = "discards.npz"  # written last: a state without it is half of one
_GROUPS = "groups.npz"


def save(solver: DealSolver, folder: Path) -> None:
    """Writes the state of a solver, and removes the one before; a kill leaves one of them whole."""
    new = folder / f"{_NAME}{solver.iterations}"
    new.mkdir(parents=True, exist_ok=True)
    for starter, rank in enumerate(RANKS):
        of_play = {"regrets": solver.regrets[starter], "average": solver.average[starter]}
        save_arrays(new / f"{rank}.npz", _KIND, _VERSION, of_play, compressed=False)
    done = {"iterations": np.asarray(solver.iterations), "seconds": np.asarray(solver.seconds)}
    of_discards = {"regrets": solver.discard_regrets, "average": solver.discard_average}
    save_arrays(new / _DISCARDS, _KIND, _VERSION, done | of_discards, compressed=False)
    for old in folder.glob(f"{_NAME}*"):
        if old != new:
            shutil.rmtree(old)


def newest(folder: Path) -> Path | None:
    """The state in a folder, if there is one."""
    whole = [file.parent for file in folder.glob(f"{_NAME}*/{_DISCARDS}")]
    return max(whole, key=lambda path: int(path.name.removeprefix(_NAME)), default=None)


def load_play(state: Path, starter: int, slots: int) -> dict[str, np.ndarray]:
    """``regrets`` and ``average`` (S,) of the play beside a starter.

    Raises:
        ValueError: the file is damaged.
    """
    column = Column("f", (slots,))
    return load_arrays(state / f"{RANKS[starter]}.npz", _KIND, _VERSION, {"regrets": column, "average": column})


def load_discards(state: Path) -> dict[str, np.ndarray]:
    """``regrets`` and ``average`` (2, 962988, 15) of the discards, ``iterations`` and ``seconds``.

    Raises:
        ValueError: the file is damaged.
    """
    of_discards = Column("f", (len(ROLES), N_CLASSES, N_DISCARDS))
    columns = {"iterations": Column("i"), "seconds": Column("f"), "regrets": of_discards, "average": of_discards}
    return load_arrays(state / _DISCARDS, _KIND, _VERSION, columns)


class Groups(NamedTuple):
    """Groups of discards, and what was measured with them."""

    groups: np.ndarray
    """(2, 13, C) int8, of :class:`crib_env.solver.deal.groups.FirstCards`."""
    responses: np.ndarray
    """(2,) what best responses in each role earn against the play that forgets its discards, net points a deal."""


def save_groups(state: Path, found: Groups) -> None:
    """Writes the groups of a state."""
    save_arrays(state / _GROUPS, _KIND, _VERSION, found._asdict())


def load_groups(state: Path) -> Groups | None:
    """The groups of a state, if it has them.

    Raises:
        ValueError: the file is damaged.
    """
    if not (state / _GROUPS).exists():
        return None
    columns = {"groups": Column("i", (len(ROLES), N_RANKS, N_CHOICES)), "responses": Column("f", (len(ROLES),))}
    return Groups(**load_arrays(state / _GROUPS, _KIND, _VERSION, columns))


def recall_file(state: Path, iterations: int, starter: int) -> Path:
    """Where the play beside a starter is, if it has been solved again with so many iterations."""
    return state / f"again-{iterations}-{RANKS[starter]}.npz"


def save_recall(file: Path, chances: np.ndarray) -> None:
    """Writes how likely each choice of the play is made, (2, S) by group, as 16-bit numbers."""
    save_arrays(file, _KIND, _VERSION, {"chances": chances.astype(np.float16)}, compressed=False)


def load_recall(file: Path, slots: int) -> np.ndarray:
    """The (2, S) float32 of :func:`save_recall`.

    Raises:
        ValueError: the file is damaged.
    """
    columns = {"chances": Column("f", (N_GROUPS, slots))}
    return load_arrays(file, _KIND, _VERSION, columns)["chances"].astype(np.float32)


def load(solver: DealSolver, folder: Path) -> None:
    """Continues from the state in a folder, if there is one.

    Raises:
        ValueError: a file of it is damaged.
    """
    state = newest(folder)
    if state is None:
        return
    for starter in range(N_RANKS):
        found = load_play(state, starter, solver.regrets.shape[1])
        solver.regrets[starter], solver.average[starter] = found["regrets"], found["average"]
    found = load_discards(state)
    solver.discard_regrets, solver.discard_average = found["regrets"], found["average"]
    solver.iterations, solver.seconds = int(found["iterations"]), float(found["seconds"])
