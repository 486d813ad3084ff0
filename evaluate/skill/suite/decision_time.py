"""The time of a decision, one decision at a time as in a game against a person."""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.evaluate.skill.suite.task import SEED, Measured, Work, part_of
from crib_env.kernels import streams
from crib_env.players.turns import turns

NAME, VERSION = "time", 1
_DEALS, _WARM_UP = 100, 3


def time_deals(agent: Agent, seeds: np.ndarray) -> tuple[float, float]:
    """Mean seconds of a discarded card and of a card in the play, of an agent that plays deals against itself."""
    spent, plays = {True: 0.0, False: 0.0}, 0
    for k in range(len(seeds)):
        batch = GameBatch(seeds[k : k + 1], episode="deal", first_id=k)
        for turn in turns(batch, [agent]):
            discarding = bool(turn.views.is_discard[0])
            spent[discarding] += turn.seconds
            plays += not discarding
            turn.play()
    return spent[True] / (2 * len(seeds)), spent[False] / plays


def takes(share: float) -> str:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return f"{part_of(share, _DEALS)} of {_DEALS} deals"


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return 0


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    time_deals(agent, streams(SEED + 1, _WARM_UP))  # compiles
    n = work.part_of(_DEALS)
    discard, card = time_deals(agent, streams(SEED, n))
    return {"µs a discarded card": Measured(1e6 * discard, None, n), "µs a card laid": Measured(1e6 * card, None, n)}
