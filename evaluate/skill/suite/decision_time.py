"""The time of a decision, one decision at a time as in a game against a person."""

from __future__ import annotations

from crib_env.agents import Agent
from crib_env.evaluate.skill.suite.task import SEED, Measured, Work, part_of
from crib_env.evaluate.speed.decision_times import time_deals
from crib_env.kernels import streams

NAME, VERSION = "time", 1
_DEALS, _WARM_UP = 100, 3


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
