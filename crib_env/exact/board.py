"""Every place on the board: how a game ends from any pair of scores, by dynamic programming over outcomes of a deal.

An outcome is the list of points of one deal *in the order in which they fall* (heels, the play, pone's hand, dealer's
hand, crib), so that whoever reaches 121 first has won and the rest is never counted. Outcomes are sampled by letting an
agent play deals against itself; what follows from them is exact. The sample is also solved in ``BATCHES`` parts, and
the spread of the parts' answers is the standard error of the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.exact.checked_file import load_arrays, save_arrays
from crib_env.kernels import kernel, streams
from crib_env.views import PlayerViews

# How a game can end, seen from the dealer of the coming deal: the loser has 91 to 120, 61 to 90 (skunk), or 60 or less.
ENDINGS = ("dealer wins", "dealer skunks", "dealer double-skunks", "pone wins", "pone skunks", "pone double-skunks")
MATCH_POINTS = np.array([2, 3, 3, -2, -3, -3])  # ACC, to the dealer
BATCHES = 10
VERSION = 2
_KIND = "board"
_MOST_PEGS = 32  # eight cards earn at most three times each, and there are heels, three shows


class Player(Protocol):
    """Who plays the deals: any agent."""

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
            made[k, 0 if points > 0 else 1] += abs(points)
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            here = endings[dealer, pone]
            for k in range(n):
                if dealer + made[k, 0] < WIN and pone + made[k, 1] < WIN:
                    after = endings[pone + made[k, 1], dealer + made[k, 0]]  # the deal passes
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
class Board:
    """What is to be expected at every pair of scores below 121, before a deal.

    Attributes:
        agent: whose outcomes these are.
        deals: how many were sampled.
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
        """(121, 121) ACC match points to be expected by the dealer, less the pone's."""
        return self.endings @ MATCH_POINTS

    @property
    def win_error(self) -> np.ndarray:
        """(121, 121) standard error of the chance that the dealer wins."""
        return self.errors[..., 0]

    def save(self, path: str | Path) -> None:
        """Writes the board, whole or not at all."""
        save_arrays(path, _KIND, VERSION, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> Board:
        """Reads a board.

        Raises:
            ValueError: there is no such file, or it is damaged, of another version or no board.
        """
        found = load_arrays(path, _KIND, VERSION)
        return cls(str(found["agent"]), int(found["deals"]), found["endings"], found["errors"])


def solve_board(
    outcomes: np.ndarray, agent: str, threads: int = 2, on_progress: Callable[[int], None] = lambda done: None
) -> Board:
    """The board that follows from sampled outcomes.

    Args:
        outcomes: (n, 32) from :func:`sample_outcomes`.
        agent: the name to remember.
        threads: how many work side by side; the answer does not depend on it.
        on_progress: is told how many more outcomes are done; in all there are twice as many as were sampled.

    Raises:
        ValueError: fewer outcomes than ``BATCHES``.
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
    return Board(agent, len(outcomes), results[0].astype(np.float32), errors.astype(np.float32))
