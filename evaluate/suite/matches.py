"""Matches against the four fixed players, with the luck of coin, cards and starters taken out."""

from __future__ import annotations

from typing import NamedTuple

from crib_env.agents import Agent, make_agent
from evaluate.luck.table import NET_POINTS, WINS
from evaluate.matches.match import less_luck, play_games
from evaluate.matches.mirrored import Games, mean_of_pairs
from evaluate.suite.data import SEED
from evaluate.suite.task import Measured, Work


class Match(NamedTuple):
    """The task of a match; see :class:`evaluate.suite.task.Task`."""

    opponent: str
    games: int

    @property
    def NAME(self) -> str:
        """As in the table and in files."""
        return f"against-{self.opponent}"

    def _games(self, share: float) -> int:
        return max(4, 2 * round(share * self.games / 2))

    def steps(self, share: float) -> int:
        """See :class:`evaluate.suite.task.Task`."""
        return self._games(share)

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`evaluate.suite.task.Task`."""
        games = Games.merged(
            list(
                play_games(
                    agent,
                    make_agent(self.opponent),
                    self._games(work.share),
                    SEED,
                    threads=work.threads,
                    measure_luck=True,
                    on_progress=work.on_progress,
                )
            )
        )
        pairs = mean_of_pairs(less_luck(games))
        won, points = (
            Measured.of(pairs[:, result])._replace(sample=len(games.scores)) for result in (WINS, NET_POINTS)
        )
        return {
            f"wins against {self.opponent} less luck, %": Measured(
                100 * won.mean, _percent(won.half_width), won.sample
            ),
            f"net points a game against {self.opponent} less luck": points,
        }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


MATCHES = (Match("random", 10_000), Match("greedy", 10_000), Match("careful", 10_000), Match("expert", 1_000))
