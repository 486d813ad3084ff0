"""Twenty endgames of the play, in each of which one rank wins for certain, and at least two others do not.

A card wins for certain if the player, whatever the opponent holds and lays, can reach 121 in this deal before the
opponent does. So the answer depends on no belief about the opponent. A full search has found them.
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

NAME, VERSION = "endgames", 1
HASH = "04be97986ce4e2fd2e3186162f54876e"
N = 20
PATH = Path(__file__).parent / "data" / f"{NAME}-{VERSION}.npz"


@dataclass(frozen=True)
class Endgames(SavedArrays, kind="endgames of the suite", version=VERSION):
    """Endgames, and what wins.

    Attributes:
        deals, dealers, scores, cards: as :func:`crib_env.evaluate.skill.positions.after_cards` takes them.
        best: (20, 13) int8, 1 for each rank that wins for certain.
    """

    deals: Annotated[np.ndarray, Column("i", (N, 13))]
    dealers: Annotated[np.ndarray, Column("i", (N,))]
    scores: Annotated[np.ndarray, Column("i", (N, 2))]
    cards: Annotated[np.ndarray, Column("i", (N, 11))]
    best: Annotated[np.ndarray, Column("i", (N, N_RANKS))]

    def games(self) -> np.ndarray:
        """(20,) game records."""
        return after_cards(self.deals, self.dealers, self.scores, self.cards)


standard = partial(load_pinned, Endgames, PATH, HASH)
"""The endgames of this version; :func:`crib_env.evaluate.skill.suite.task.load_pinned` has the errors."""


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    ranks = chosen_cards(agent, standard().games(), 1, work.on_progress_of(N))[:, 0] % N_RANKS
    solved = standard().best[np.arange(N), ranks]
    return {"endgames solved, of 20": Measured(float(solved.sum()), None, N)}
