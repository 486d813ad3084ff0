"""Twenty endgames of the play, in each of which one rank wins for certain, and at least two others do not.

A card wins for certain if the player, whatever the opponent holds and lays, can reach 121 in this deal before the
opponent does. So the answer depends on no belief about the opponent. A full search has found them. What the other ranks
win is known from rollouts (:mod:`crib_env.evaluate.makers.suite`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.skill.positions import after_cards, chosen_cards
from crib_env.evaluate.skill.suite.task import Work, load_pinned
from crib_env.evaluate.statistics import Measured
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import N_RANKS
from crib_env.players.games import Z

NAME, VERSION = "endgames", 2
HASH = "edf4f8fdf5c6a8ebec6e9ec3ce3930ed"
N = 20
PATH = Path(__file__).parent / "data" / f"{NAME}-{VERSION}.npz"


@dataclass(frozen=True)
class Endgames(SavedArrays, kind="endgames of the suite", version=VERSION):
    """Endgames, and what wins.

    Attributes:
        deals, dealers, scores, cards: as :func:`crib_env.evaluate.skill.positions.after_cards` takes them.
        best: (20, 13) int8, 1 for each rank that wins for certain.
        chance: (20, 13) float32, the chance to win the game after each rank if ``agent`` plays on; NaN if the rank
            cannot be laid. After the best rank it is 1 for a player that goes on as well as possible.
        error: (20, 13) float32, its standard error.
        agent: in both seats.
    """

    deals: Annotated[np.ndarray, Column("i", (N, 13))]
    dealers: Annotated[np.ndarray, Column("i", (N,))]
    scores: Annotated[np.ndarray, Column("i", (N, 2))]
    cards: Annotated[np.ndarray, Column("i", (N, 11))]
    best: Annotated[np.ndarray, Column("i", (N, N_RANKS))]
    chance: Annotated[np.ndarray, Column("f", (N, N_RANKS), has_gaps=True)]
    error: Annotated[np.ndarray, Column("f", (N, N_RANKS), has_gaps=True)]
    agent: Annotated[str, Column("U")]

    def games(self) -> np.ndarray:
        """(20,) game records."""
        return after_cards(self.deals, self.dealers, self.scores, self.cards)


standard = partial(load_pinned, Endgames, PATH, HASH)
"""The endgames of this version; :func:`crib_env.evaluate.skill.suite.task.load_pinned` has the errors."""


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    ranks = chosen_cards(agent, standard().games(), 1, work.on_progress_of(N))[:, 0] % N_RANKS
    solved, chance, error = (of[np.arange(N), ranks] for of in (standard().best, standard().chance, standard().error))
    lost, error = (np.where(solved, 0.0, one) for one in (1 - chance, error))
    half_width = 100 * Z * float(np.sqrt((error**2).sum())) / N
    return {
        "endgames solved, of 20": Measured(float(solved.sum()), None, N),
        "chance to win lost an endgame, %": Measured(100 * float(lost.mean()), half_width, N),
    }
