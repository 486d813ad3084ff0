"""Twenty endgames of the play, in each of which one rank wins for certain, and at least two others do not.

A card wins for certain if the player, whatever the opponent holds and lays, can reach 121 in this deal before the
opponent does (:mod:`crib_env.evaluate.skill.suite.sure_wins`). So the answer depends on no belief about the opponent.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.skill.suite.data import ENDGAMES
from crib_env.evaluate.skill.suite.positions import after_cards, chosen_cards
from crib_env.evaluate.skill.suite.task import Measured, Work

NAME = "endgames"


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`; all twenty are asked for, whatever the share."""
    return ENDGAMES


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data = work.data
    games = after_cards(data.end_deals, data.end_dealers, data.end_scores, data.end_cards)
    ranks = chosen_cards(agent, games, 1, work.on_progress)[:, 0] % 13
    solved = data.end_best[np.arange(ENDGAMES), ranks]
    return {"endgames solved, of 20": Measured(float(solved.sum()), None, ENDGAMES)}
