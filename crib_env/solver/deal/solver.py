"""Solving whole deals: regrets of discards and of the play together, by discounted CFR.

The play is that of thirteen games, one for each rank of the starter. What a hand earns in them flows back to the
discards that keep it, and how often it is kept flows into the play. In the play a player forgets its own two discards;
:mod:`crib_env.solver.deal.best_response` measures what one who remembers them gains on it.

The state of a solver is a folder: eleven gigabytes, written anew beside the last one. Reading a damaged file raises
``ValueError``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from crib_env.cards import RANKS
from crib_env.engine import ROLES
from crib_env.exact.deal_classes import N_CLASSES
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import AlternatingSolver
from crib_env.solver.deal.best_response import DealPolicy
from crib_env.solver.deal.kinds import by_choice, choices, crib_means, discard_totals, kept, meetings, sixes
from crib_env.solver.play_game import PlayGame
from crib_env.solver.sweeps import Step, Weights


class DealSolver(AlternatingSolver):
    """Solves discards and play.

    Args:
        game: the pegging game; its threads are used.

    Attributes:
        regrets: (13, S) float32 by starter, of the play; 5.6 GB.
        average: (13, S) float32, the weighted sum of all iterations' policies of the play; 5.6 GB.
        discard_regrets: (2, 962988, 15) float32 by role and class.
        discard_average: (2, 962988, 15) float32.
    """

    def __init__(self, game: PlayGame, threads: int = 2) -> None:
        self.game, self._threads = game, threads
        self.regrets, self.average = np.zeros((2, N_RANKS, game.extent.slots), np.float32)
        self.discard_regrets, self.discard_average = np.zeros((2, len(ROLES), N_CLASSES, N_DISCARDS), np.float32)

    def _update(self, step: Step) -> None:
        role, kinds = step.role, sixes()
        discards = [matched(regrets) for regrets in self.discard_regrets]
        self.discard_average[1 - role] += step.average * discards[1 - role]
        chances = [by_choice(of_role) for of_role in discards]
        play = np.zeros(len(kinds.six))
        met_beside = meetings(chances[role], chances[1 - role], self._threads)
        for starter, met in enumerate(met_beside):
            weights = Weights(self.regrets[starter], self.regrets[starter], self.average[starter])
            prior = [kept(of_role, starter) for of_role in chances]
            values = self.game.hand_values(weights, step, prior, pairs_of(met, prior[1 - role]))
            play += (4 - kinds.counts[kinds.six, starter]) / STARTERS * values[kinds.kept]
        values = discard_totals(role, crib_means(chances[1 - role], self._threads), play, choices())
        add_regrets(values, discards[role], step, self.discard_regrets[role])

    def policy(self) -> DealPolicy:
        """The average policy, which converges to an equilibrium."""
        discards = self.discard_average / self.discard_average.sum(axis=2, keepdims=True)
        return DealPolicy.of(discards, lambda starter, role: self.average[starter])


def pairs_of(met: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """``pairs`` of :meth:`crib_env.solver.play_game.PlayGame.hand_values`, of deals (n, m) in which hands meet."""
    deals = met.sum(axis=1, dtype=np.float64)[:, None]
    shares = np.divide(met, deals, out=np.zeros_like(met), where=deals > 0)
    return np.divide(shares, prior.astype(np.float32), out=np.zeros_like(met), where=prior > 0)


def matched(regrets: np.ndarray) -> np.ndarray:
    """(N, 15) chances in proportion to regrets (N, 15) above 0, even where none is."""
    above = np.maximum(regrets, 0)
    total = above.sum(axis=1, keepdims=True)
    return np.divide(above, total, out=np.full_like(regrets, 1 / N_DISCARDS), where=total > 0)


def add_regrets(values: np.ndarray, chances: np.ndarray, step: Step, regrets: np.ndarray) -> None:
    """Discounts regrets (N, 15) and adds those of an iteration: what each discard is worth above their mean."""
    regrets *= np.where(regrets > 0, step.positive, step.negative)
    regrets += values - (chances * values).sum(axis=1, keepdims=True)


_KIND = "solution of whole deals"
_VERSION = 1
_NAME = "iteration-"
_DISCARDS = "discards.npz"  # written last: a state without it is half of one


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
    """``regrets`` and ``average`` (S,) of the play beside a starter."""
    column = Column("f", (slots,))
    return load_arrays(state / f"{RANKS[starter]}.npz", _KIND, _VERSION, {"regrets": column, "average": column})


def load_discards(state: Path) -> dict[str, np.ndarray]:
    """``regrets`` and ``average`` (2, 962988, 15) of the discards, ``iterations`` and ``seconds``."""
    of_discards = Column("f", (len(ROLES), N_CLASSES, N_DISCARDS))
    columns = {"iterations": Column("i"), "seconds": Column("f"), "regrets": of_discards, "average": of_discards}
    return load_arrays(state / _DISCARDS, _KIND, _VERSION, columns)


def load(solver: DealSolver, folder: Path) -> None:
    """Continues from the state in a folder, if there is one."""
    state = newest(folder)
    if state is None:
        return
    for starter in range(N_RANKS):
        found = load_play(state, starter, solver.regrets.shape[1])
        solver.regrets[starter], solver.average[starter] = found["regrets"], found["average"]
    found = load_discards(state)
    solver.discard_regrets, solver.discard_average = found["regrets"], found["average"]
    solver.iterations, solver.seconds = int(found["iterations"]), float(found["seconds"])
