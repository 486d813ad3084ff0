"""The win table: how a game ends from any pair of scores, by dynamic programming over the outcomes of deals.

An outcome lists the points of one deal *in order* (heels, the play, pone's hand, dealer's hand, crib): the first
to reach 121 wins, and the rest is not counted. Outcomes are sampled by letting an agent play deals against
itself; the table is computed exactly from them. The sample is also solved in ``BATCHES`` parts, and the spread of
their results gives the standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import DEALER, DOUBLE_SKUNK, PONE, SKUNK, WIN
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.kernels import kernel, streams
from crib_env.views import PlayerViews

# How a game can end, seen from the dealer of the coming deal: the loser has 91 to 120, 61 to 90 (skunk), or 60 or less.
ENDINGS = ("dealer wins", "dealer skunks", "dealer double-skunks", "pone wins", "pone skunks", "pone double-skunks")
MATCH_POINTS = np.array([2, 3, 3, -2, -3, -3])  # ACC, to the dealer
BATCHES = 10
VERSION = 2
_KIND = "win table"
_COLUMNS = {
    "agent": Column("U"),
    "deals": Column("i"),
    "endings": Column("f", (WIN, WIN, len(ENDINGS))),
    "errors": Column("f", (WIN, WIN, 2)),
}
_MOST_PEGS = 32  # enough: each of eight cards scores at most three times, then there are heels and three hands


class Player(Protocol):
    """The player of the deals: any agent."""

    name: str

    def act(self, views: PlayerViews) -> np.ndarray:
        """(B,) legal cards."""
        ...


def sample_outcomes(agent: Player, n: int, seed: int = 0) -> np.ndarray:
    """Deals that an agent plays against itself from 0–0, (n, 32) int8: points in order, pone's negative, then zeros."""
    outcomes = np.zeros((n, _MOST_PEGS), np.int8)
    batch = GameBatch(streams(seed, n), episode="deal")
    length = np.zeros(n, np.int64)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        _append_events(batch.games, rows, outcomes, length)
    return outcomes


@kernel
def _append_events(games, rows, outcomes, length):
    for i in rows:
        g = games[i]
        for k in range(g["n_events"]):
            points = g["event_points"][k]
            if points:
                outcomes[i, length[i]] = points if g["event_player"][k] == g["dealer"] else -points
                length[i] += 1


@kernel
def _solve(outcomes, endings):
    """Fills ``endings`` (121, 121, 6), by dealer's and pone's score, from high scores to low."""
    n = len(outcomes)
    made = np.zeros((n, 2), np.int64)
    for k in range(n):
        for points in outcomes[k]:
            made[k, DEALER if points > 0 else PONE] += abs(points)
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            here = endings[dealer, pone]
            for k in range(n):
                if dealer + made[k, DEALER] < WIN and pone + made[k, PONE] < WIN:
                    after = endings[pone + made[k, PONE], dealer + made[k, DEALER]]  # the deal passes
                    for ending in range(6):
                        here[ending] += after[(ending + 3) % 6]
                else:
                    here[_ending(outcomes[k], dealer, pone)] += 1
            for ending in range(6):
                here[ending] /= n


@kernel
def _ending(outcome, dealer, pone):
    """How a game ends in this deal."""
    for points in outcome:
        if points > 0:
            dealer += points
        else:
            pone -= points
        if dealer >= WIN or pone >= WIN:
            break
    loser = min(dealer, pone)
    size = 2 if loser <= DOUBLE_SKUNK else 1 if loser <= SKUNK else 0
    return size if dealer >= WIN else 3 + size


@dataclass(frozen=True)
class WinTable:
    """Expected results at every pair of scores below 121, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        endings: (121, 121, 6) float32, chances of ``ENDINGS`` by [dealer's score, pone's score].
        errors: (121, 121, 2) float32, standard errors of :attr:`win_probability` and of :attr:`match_points`.
    """

    agent: str
    deals: int
    endings: np.ndarray
    errors: np.ndarray

    @property
    def win_probability(self) -> np.ndarray:
        """(121, 121) chance that the dealer wins."""
        return self.endings[..., :3].sum(axis=-1)

    @property
    def match_points(self) -> np.ndarray:
        """(121, 121) the dealer's expected ACC match points minus pone's."""
        return self.endings @ MATCH_POINTS

    @property
    def win_error(self) -> np.ndarray:
        """(121, 121) standard error of the chance that the dealer wins."""
        return self.errors[..., 0]

    def save(self, path: str | Path) -> None:
        """Writes the win table, whole or not at all."""
        save_arrays(path, _KIND, VERSION, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> WinTable:
        """Reads a win table.

        Raises:
            ValueError: the file does not exist, is damaged, has another version or is not a win table.
        """
        found = load_arrays(path, _KIND, VERSION, _COLUMNS)
        return cls(str(found["agent"]), int(found["deals"]), found["endings"], found["errors"])


def solve_win_table(
    outcomes: np.ndarray, agent: str, threads: int = 2, on_progress: Callable[[int], None] = lambda done: None
) -> WinTable:
    """The win table that follows from sampled outcomes.

    Args:
        outcomes: (n, 32) from :func:`sample_outcomes`.
        agent: the agent's name, saved with the table.
        threads: the number of threads; the result does not depend on it.
        on_progress: called with the number of outcomes done since the last call; in all, twice as many as sampled.

    Raises:
        ValueError: there are fewer outcomes than ``BATCHES``.
    """
    if len(outcomes) < BATCHES:
        raise ValueError(f"{len(outcomes)} outcomes are too few: give at least {BATCHES}")
    samples = [outcomes, *np.array_split(outcomes, BATCHES)]
    results = [np.zeros((WIN, WIN, len(ENDINGS))) for _ in samples]
    with ThreadPoolExecutor(threads) as pool:
        for sample, _ in zip(samples, pool.map(_solve, samples, results)):
            on_progress(len(sample))
    parts = np.stack(results[1:])
    found = np.stack([parts[..., :3].sum(axis=-1), parts @ MATCH_POINTS], axis=-1)
    errors = found.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    return WinTable(agent, len(outcomes), results[0].astype(np.float32), errors.astype(np.float32))
