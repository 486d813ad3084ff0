"""The pegging game: what an exact best response gains on an agent (:mod:`crib_env.evaluate.skill.exploitability`).

An agent is asked for every decision to which its own choices lead, five to ninety million. If these depend on suits in
more than ties, suits are drawn twice for each hand of ranks. Where that would take longer than ``LONGEST``, or where
the agent mixes and cannot say how, it is not measured.
"""

from __future__ import annotations

import time
from functools import lru_cache

from crib_env.agents import Agent
from crib_env.evaluate.skill.exploitability.pegging_game import exploitability
from crib_env.evaluate.skill.suite.task import Measured, NotMeasuredError, Work
from crib_env.solver.play_game import PlayGame

NAME, VERSION = "pegging", 1
LONGEST = 600.0
"""Seconds of one core: an agent that would take longer at the pace of its first decisions is not measured."""
_STEPS = 1_000  # how many decisions there are is not known in advance, but which share of them is done
_DRAWS = 2  # of suits: the fewest
_USUAL = 4_000_000  # decisions, about as many as an agent that does not mix is asked for
_AFTER = 20.0  # seconds of one core, when the pace is looked at


def takes(share: float) -> str:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return "every decision"


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return _STEPS


@lru_cache(maxsize=1)
def _game(threads: int) -> PlayGame:
    return PlayGame(threads=threads)


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    started, asked = time.process_time(), 0
    game = _game(work.threads)

    def on_progress(decisions: int, share: float) -> None:
        nonlocal started, asked
        if not asked:
            started = time.process_time()  # kernels have been compiled by now
        asked += decisions
        spent = time.process_time() - started
        needed = spent * _USUAL / asked
        if spent > _AFTER and asked < _USUAL and needed > LONGEST:
            raise NotMeasuredError(f"at its pace it would take about {needed / 60:,.0f} minutes")
        work.on_progress(_STEPS * share)

    try:
        found = exploitability(agent, game, _DRAWS, on_progress)
    except ValueError as error:
        if "probabilities" not in str(error):
            raise
        raise NotMeasuredError("it draws its cards by chance, and has no `probabilities`") from None
    return {"exploitable in the pegging game, points a deal": Measured(found.mean.most, None, found.decisions)}
