"""Tasks that an agent plays games for: matches, exact best responses in the pegging game, the time of a decision."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.skill.exploitability.pegging_game import exploitability
from crib_env.evaluate.skill.suite.task import SEED, NotMeasuredError, Work
from crib_env.evaluate.statistics import Measured, half_width
from crib_env.kernels import streams
from crib_env.players.games import turns
from crib_env.solver.play_game import PlayGame


class Match(NamedTuple):
    """A match against a fixed player, with the luck of coin, cards and starters taken out."""

    opponent: str
    games: int
    VERSION: int = 1

    @property
    def NAME(self) -> str:
        """As in the table and in files."""
        return f"against-{self.opponent}"

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        games = max(4, 2 * round(work.share * self.games / 2))
        opponent, on_progress = make_agent(self.opponent), work.on_progress_of(games)
        result = play_match(
            agent, opponent, games, SEED, threads=work.threads, measure_luck=True, on_progress=on_progress
        )
        found = result.luck_adjusted
        assert found is not None
        low, high = (100 * end for end in found.interval)
        return {
            f"wins against {self.opponent} less luck, %": Measured(
                100 * found.win_rate, (high - low) / 2, games, (low, high)
            ),
            f"net points a game against {self.opponent} less luck": Measured(
                found.margin, half_width(found.margin_interval), games
            ),
        }


MATCHES = (Match("random", 10_000), Match("greedy", 10_000), Match("careful", 10_000), Match("expert", 1_000))


@lru_cache(maxsize=1)
def _pegging_game(threads: int) -> PlayGame:
    return PlayGame(threads=threads)


class Pegging:
    """What an exact best response gains on an agent in the pegging game (docs/evaluate/exploitability.md).

    An agent is asked for every decision to which its own choices lead, five to ninety million. If these depend on suits
    in more than ties, suits are drawn twice for each hand of ranks. Where that would take longer than ``LONGEST``, or
    where the agent mixes and cannot say how, it is not measured.
    """

    NAME, VERSION = "pegging", 1
    LONGEST = 600.0
    """Seconds of one core: an agent that would take longer at the pace of its first decisions is not measured."""
    DRAWS = 2  # of suits: the fewest
    USUAL = 4_000_000  # decisions, about as many as an agent that does not mix is asked for
    AFTER = 20.0  # seconds of one core, when the pace is looked at

    @classmethod
    def measure(cls, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        started, asked = time.process_time(), 0

        def on_progress(decisions: int, share: float) -> None:
            nonlocal started, asked
            if not asked:
                started = time.process_time()  # kernels have been compiled by now
            asked += decisions
            spent = time.process_time() - started
            needed = spent * cls.USUAL / asked
            if spent > cls.AFTER and asked < cls.USUAL and needed > cls.LONGEST:
                raise NotMeasuredError(f"at its pace it would take about {needed / 60:,.0f} minutes")
            work.on_progress(100 * share)

        try:
            found = exploitability(agent, _pegging_game(work.threads), cls.DRAWS, on_progress)
        except ValueError as error:
            if "probabilities" not in str(error):
                raise
            raise NotMeasuredError("it draws its cards by chance, and has no `probabilities`") from None
        return {"exploitable in the pegging game, points a deal": Measured(found.mean.most, None, found.decisions)}


def time_deals(agent: Agent, seeds: np.ndarray) -> tuple[float, float]:
    """Mean seconds of a discarded card and of a card in the play, of an agent that plays deals against itself."""
    spent, plays = {True: 0.0, False: 0.0}, 0
    for k in range(len(seeds)):
        for turn in turns(GameBatch(seeds[k : k + 1], episode="deal", first_id=k), [agent]):
            discarding = bool(turn.views.is_discard[0])
            spent[discarding] += turn.seconds
            plays += not discarding
            turn.play()
    return spent[True] / (2 * len(seeds)), spent[False] / plays


class DecisionTime:
    """The time of a decision, one decision at a time as in a game against a person."""

    NAME, VERSION = "time", 1

    @staticmethod
    def measure(agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        time_deals(agent, streams(SEED + 1, 3))  # compiles
        n = work.part_of(100)
        discard, card = time_deals(agent, streams(SEED, n))
        return {
            "µs a discarded card": Measured(1e6 * discard, None, n),
            "µs a card laid": Measured(1e6 * card, None, n),
        }
