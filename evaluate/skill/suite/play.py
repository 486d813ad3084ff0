"""The play: 10,000 choices in the pegging game, against its equilibrium.

The pegging game has eight cards, four each, and no starter, discards or crib. What a card loses is exact: its opponent
plays the equilibrium, hands have the chances that follow from that, and the player goes on as well as it can. So a card
that an equilibrium mixes loses nothing but what this one is short of exact, at most its NashConv on average.
Positions come from deals between two equilibrium players. An agent that remembers is asked without its memory.
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

NAME, VERSION = "play", 1
HASH = "42dace64365fd56ad9b723c3cba9eb04"
N = 10_000
PATH = Path(__file__).parent / "data" / f"{NAME}-{VERSION}.npz"
BEST = 0.01
"""Points: a card that loses less counts as a best one."""


@dataclass(frozen=True)
class Play(SavedArrays, kind="choices of the suite", version=VERSION):
    """Choices, and what they lose.

    Attributes:
        deals, dealers, cards: pegging games before a choice, as
            :func:`crib_env.evaluate.skill.positions.after_cards` takes them.
        losses: (10000, 13) float32 points that each rank loses there, NaN where it cannot be laid.
        nash_conv: of the equilibrium behind these, points a deal.
    """

    deals: Annotated[np.ndarray, Column("i", (N, 8))]
    dealers: Annotated[np.ndarray, Column("i", (N,))]
    cards: Annotated[np.ndarray, Column("i", (N, 7))]
    losses: Annotated[np.ndarray, Column("f", (N, N_RANKS), has_gaps=True)]
    nash_conv: Annotated[float, Column("f")]


standard = partial(load_pinned, Play, PATH, HASH)
"""The choices of this version; :func:`crib_env.evaluate.skill.suite.task.load_pinned` has the errors."""


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data, n = standard(), work.part_of(N)
    games = after_cards(data.deals[:n], data.dealers[:n], np.zeros((n, 2), np.int64), data.cards[:n])
    ranks = chosen_cards(agent, games, work.threads, work.on_progress_of(n))[:, 0] % N_RANKS
    lost = data.losses[np.arange(n), ranks].astype(float)
    return {
        "points lost a card laid": Measured.of(lost),
        f"cards laid that lose less than {BEST}, %": Measured.percent(int((lost < BEST).sum()), len(lost)),
    }
