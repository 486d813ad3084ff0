"""Solving whole deals: regrets of discards and of the play together, by discounted CFR.

The play is that of thirteen games, one for each rank of the starter. What a hand earns in them flows back to the
discards that keep it, and how often it is kept flows into the play. In the play a player forgets its own two discards
(:class:`DealSolver`); :mod:`crib_env.solver.deal.best_response` measures what one who remembers them gains on it.

Then the play is solved again (:class:`RecallSolver`), with the same discards. The two cards that a player has discarded
are two that its opponent does not hold, so they change a little what its cards are worth in the play. Of each hand that
it may keep, the discards are put in two groups: those are together after which each of its first cards is worth about
as much, to one who remembers them (:func:`group_discards`). In the play beside each starter a player knows to which
group its own discards belong. So there are two policies of each role, and the opponent meets one of them without
knowing which. One thing is approximate: beside each of its own hands, a player takes the opponent's two policies to be
as likely as they are over all of its own hands, given what the opponent holds.

The state of a solver is a folder: eleven gigabytes, written anew beside the last one. What is solved again, six more,
lies inside and goes with it. Reading a damaged file raises ``ValueError``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from crib_env.cards import RANKS
from crib_env.engine import ROLES
from crib_env.exact.deal_classes import N_CLASSES
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.files.checked_file import Column, SavedArrays, load_arrays, save_arrays
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.solver.cfr import AlternatingSolver
from crib_env.solver.deal.best_response import DealPolicy, to_chances
from crib_env.solver.deal.kinds import (
    N_CHOICES,
    by_choice,
    choices,
    crib_means,
    discard_totals,
    kept,
    meetings,
    sixes,
)
from crib_env.solver.play_game import PlayGame
from crib_env.solver.sweeps import Blend, Blended, Step, Weights

_ALL_CHOICES = np.ones((N_RANKS, N_CHOICES), np.bool_)


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
        self._game, self._threads = game, threads
        self.regrets, self.average = np.zeros((2, N_RANKS, game.extent.slots), np.float32)
        self.discard_regrets, self.discard_average = np.zeros((2, len(ROLES), N_CLASSES, N_DISCARDS), np.float32)

    def _update(self, step: Step) -> None:
        role, kinds = step.role, sixes()
        discards = [matched(regrets) for regrets in self.discard_regrets]
        self.discard_average[1 - role] += step.average * discards[1 - role]
        chances = [by_choice(of_role) for of_role in discards]
        play = np.zeros(len(kinds.six))
        met_beside = meetings(chances[role], chances[1 - role], _ALL_CHOICES, self._threads)
        for starter, met in enumerate(met_beside):
            weights = Weights(self.regrets[starter], self.regrets[starter], self.average[starter])
            prior = [kept(of_role, starter) for of_role in chances]
            values = self._game.hand_values(weights, step, prior, pairs_of(met, prior[1 - role]))
            play += (4 - kinds.counts[kinds.six, starter]) / STARTERS * values[kinds.kept]
        values = discard_totals(role, crib_means(chances[1 - role], self._threads), play, choices())
        add_regrets(values, discards[role], step, self.discard_regrets[role])

    def policy(self) -> DealPolicy:
        """The average policy, which converges to an equilibrium."""
        discards = self.discard_average / self.discard_average.sum(axis=2, keepdims=True)
        return DealPolicy.of(discards, lambda starter, role: self.average[starter][None])


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


N_GROUPS = 2
_MEANS_ROUNDS = 20  # of two means; few hands need more than five


def two_groups(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(N,) int8 in which group each of N vectors (N, F) is: two means (Lloyd 1982, "Least squares quantization in
    PCM"), beginning with the vectors that lie farthest from the mean and from each other.

    Args:
        weights: (N,) of the vectors, some above 0.
    """

    def distances(point: np.ndarray) -> np.ndarray:
        found: np.ndarray = ((values - point) ** 2).sum(axis=1)
        return found

    first = values[(weights * distances(weights @ values / weights.sum())).argmax()]
    means = [first, values[(weights * distances(first)).argmax()]]
    groups = np.zeros(len(values), np.int8)
    for _ in range(_MEANS_ROUNDS):
        before = groups
        groups = (distances(means[1]) < distances(means[0])).astype(np.int8)
        if (groups == before).all():
            break
        for group in range(N_GROUPS):
            own = weights * (groups == group)
            if own.any():
                means[group] = own @ values / own.sum()
    return groups


def group_discards(
    chances: tuple[np.ndarray, np.ndarray], groups: np.ndarray, role: int, starter: int, hand: int, first: np.ndarray
) -> None:
    """Groups the discards of a hand by what first cards are worth to best responders.

    Args:
        chances: (C,) by role, how often each choice is made (:func:`crib_env.solver.deal.kinds.by_choice`).
        groups: (2, 13, C) int8 by role and starter, to be filled.
        first: (13, 13, 91) what each rank earns that is laid first, by the rank led before and by the discards.
    """
    kinds = sixes()
    here = ((kinds.choice[hand] >= 0) & (first != 0).any(axis=(0, 1))).nonzero()[0]
    if not len(here):
        return
    choice = kinds.choice[hand, here]
    weights = chances[role][choice] * kinds.ways()[kinds.six[choice]]
    if not weights.any():
        weights = kinds.ways()[kinds.six[choice]]
    values = first[..., here].reshape(-1, N_RANKS, len(here))
    held = (values != 0).any(axis=(0, 2))
    values = values[:, held] - values[:, held].mean(axis=1, keepdims=True)
    groups[role, starter, choice] = two_groups(values.reshape(-1, len(here)).T, weights)


_NOTHING = np.zeros(0, np.float32)
_HALF = np.float32(0.5)


class Held(NamedTuple):
    """What the roles hold beside one starter, by role and then by group of discards."""

    prior: np.ndarray
    """(2, 2, 1820) how often each hand is kept."""
    pairs: np.ndarray
    """(2, 2, 1820, 1820) float32, as :meth:`crib_env.solver.play_game.PlayGame.hand_values` takes them."""


def held_beside(chances: tuple[np.ndarray, np.ndarray], groups: np.ndarray, threads: int = 2) -> list[Held]:
    """What the roles hold beside each of thirteen starters.

    Args:
        chances: (C,) by role, of :func:`crib_env.solver.deal.kinds.by_choice`.
        groups: (2, 13, C) int8 by role and starter.
    """
    of_groups = [[groups[role] == group for group in range(N_GROUPS)] for role in range(len(ROLES))]
    prior = np.zeros((N_RANKS, len(ROLES), N_GROUPS, N_FOURS))
    for starter, role, group in np.ndindex(prior.shape[:3]):
        prior[starter, role, group] = kept(chances[role] * of_groups[role][group][starter], starter)
    pairs = np.zeros((N_RANKS, len(ROLES), N_GROUPS, N_FOURS, N_FOURS), np.float32)
    for role in range(len(ROLES)):
        for group, counted in enumerate(of_groups[role]):
            met = meetings(chances[role], chances[1 - role], counted, threads)
            for starter in range(N_RANKS):
                pairs[starter, role, group] = pairs_of(met[starter], prior[starter, 1 - role].sum(axis=0))
    return [Held(*both) for both in zip(prior, pairs)]


def solve_again(
    game: PlayGame,
    state: Path,
    policy: DealPolicy,
    iterations: int,
    threads: int = 2,
    on_progress: Callable[[int], None] = lambda iterations: None,
) -> None:
    """Solves the play beside each starter again, unless that has been done.

    Args:
        state: of ``solve deal``, with the regrets to begin with; the play goes there (:func:`save_recall`).
        policy: has the discards and their groups.
        iterations: beside each starter; ``on_progress`` is called with the number of further ones.
    """
    before = int(load_discards(state)["iterations"])
    for starter, held in enumerate(held_beside(policy.discards, policy.groups, threads)):
        file = recall_file(state, iterations, starter)
        if file.exists():
            on_progress(iterations)
            continue
        regrets = load_play(state, starter, game.extent.slots)["regrets"]
        solver = RecallSolver(game, held, regrets, before)
        for _ in range(iterations):
            solver.iterate()
            on_progress(1)
        for of_group in solver.average:
            for role in range(len(ROLES)):
                to_chances(game, of_group, role, threads)
        save_recall(file, solver.average)


class RecallSolver(AlternatingSolver):
    """Solves the play beside a starter for players who remember the group of their discards.

    Args:
        game: the pegging game; its threads are used.
        regrets: (S,) of players who forget them, from which it goes on.
        iterations: how many these have behind them.

    Attributes:
        regrets: (2, S) float32 by group.
        average: (2, S) float32 by group, the weighted sum of the policies of all iterations from here on.
    """

    def __init__(self, game: PlayGame, held: Held, regrets: np.ndarray, iterations: int) -> None:
        self._game, self._held = game, held
        self.regrets = np.array([regrets] * N_GROUPS)
        self.average = np.zeros_like(self.regrets)
        self._met = np.zeros_like(regrets)
        self.iterations = iterations

    def _update(self, step: Step) -> None:
        role, other = step.role, 1 - step.role
        prior = self._held.prior
        one, two = self.regrets
        into = Blended(self._met, tuple(self.average), step.average)
        self._game.blend(Blend(one, _HALF, two), other, into, (list(prior[:, 0]), list(prior[:, 1])))
        for regrets, pairs in zip(self.regrets, self._held.pairs[role]):
            weights = Weights(regrets, self._met, _NOTHING)
            self._game.hand_values(weights, step._replace(average=np.float32(0)), list(prior.sum(axis=1)), pairs)


_KIND = "solution of whole deals"
_VERSION = 1
_NAME = "iteration-"
_DISCARDS = "discards.npz"  # written last: a state without it is half of one
GROUPS = "groups.npz"


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


@dataclass(frozen=True)
class Groups(SavedArrays, kind=_KIND, version=_VERSION):
    """Groups of discards, and what was measured with them."""

    groups: Annotated[np.ndarray, Column("i", (len(ROLES), N_RANKS, N_CHOICES))]
    """Of :func:`group_discards`."""
    responses: Annotated[np.ndarray, Column("f", (len(ROLES),))]
    """What best responses in each role earn against the play that forgets its discards, net points a deal."""


def recall_file(state: Path, iterations: int, starter: int) -> Path:
    """Where the play beside a starter is, if it has been solved again with so many iterations."""
    return state / f"again-{iterations}-{RANKS[starter]}.npz"


def save_recall(file: Path, chances: np.ndarray) -> None:
    """Writes how likely each choice of the play is made, (2, S) by group, as 16-bit numbers."""
    save_arrays(file, _KIND, _VERSION, {"chances": chances.astype(np.float16)}, compressed=False)


def load_recall(file: Path, slots: int) -> np.ndarray:
    """The (2, S) float32 of :func:`save_recall`."""
    columns = {"chances": Column("f", (N_GROUPS, slots))}
    return load_arrays(file, _KIND, _VERSION, columns)["chances"].astype(np.float32)


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
