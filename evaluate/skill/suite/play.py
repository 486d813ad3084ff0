"""The play: 10,000 choices in the pegging game, against its equilibrium.

The pegging game has eight cards, four each, and no starter, discards or crib. What a card loses is exact: its opponent
plays the equilibrium, hands have the chances that follow from that, and the player goes on as well as it can. So a card
that an equilibrium mixes loses nothing but what this one is short of exact, at most its NashConv on average.
Positions come from deals between two equilibrium players. An agent that remembers is asked without its memory.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.skill.suite.data import CARDS_LAID
from crib_env.evaluate.skill.suite.positions import after_cards, chosen_cards
from crib_env.evaluate.skill.suite.task import Measured, Work

NAME = "play"
BEST = 0.01
"""Points: a card that loses less counts as a best one."""


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return round(share * CARDS_LAID)


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data, n = work.data, work.part_of(CARDS_LAID)
    scores = np.zeros((n, 2), np.int64)
    games = after_cards(data.play_deals[:n], data.play_dealers[:n], scores, data.play_cards[:n])
    ranks = chosen_cards(agent, games, work.threads, work.on_progress)[:, 0] % 13
    lost = data.play_losses[np.arange(n), ranks].astype(float)
    return {
        "points lost a card laid": Measured.of(lost),
        f"cards laid that lose less than {BEST}, %": Measured.of(100.0 * (lost < BEST)),
    }
