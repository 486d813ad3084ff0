"""Matches against the four fixed players, with the luck of coin, cards and starters taken out."""

from __future__ import annotations

from typing import NamedTuple

from crib_env.agents import Agent, make_agent
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.skill.suite.task import SEED, Measured, Work
from crib_env.evaluate.statistics import half_width


class Match(NamedTuple):
    """The task of a match; see :class:`crib_env.evaluate.skill.suite.task.Task`."""

    opponent: str
    games: int
    VERSION: int = 1

    @property
    def NAME(self) -> str:
        """As in the table and in files."""
        return f"against-{self.opponent}"

    def takes(self, share: float) -> str:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        return f"{self.steps(share):,} of {self.games:,} games"

    def steps(self, share: float) -> int:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`: the number of games."""
        return max(4, 2 * round(share * self.games / 2))

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        result = play_match(
            *(agent, make_agent(self.opponent), self.steps(work.share), SEED),
            threads=work.threads,
            measure_luck=True,
            on_progress=work.on_progress,
        )
        found = result.luck_adjusted
        assert found is not None
        low, high = (100 * end for end in found.interval)
        return {
            f"wins against {self.opponent} less luck, %": Measured(
                100 * found.win_rate, (high - low) / 2, result.games, (low, high)
            ),
            f"net points a game against {self.opponent} less luck": Measured(
                found.margin, half_width(found.margin_interval), result.games
            ),
        }


MATCHES = (Match("random", 10_000), Match("greedy", 10_000), Match("careful", 10_000), Match("expert", 1_000))
