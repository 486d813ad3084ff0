"""Kernels compiled before anybody waits for them: whole games played behind the page, in the order of their need."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.games import READY, Games, Warm
from crib_env.evaluate.play.saved_game import GameSoFar
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_STARTS = ((0, 0), (105, 105))  # the second has the kernels of the end of a game soonest


def warmed_up(agent: str, judge: PlayJudge | None = None) -> Iterator[Warm]:
    """What is ready, each time that more of it is.

    Raises:
        ValueError: the agent cannot be made.
    """
    with _games(agent, judge) as games:
        _play(games, agent)
        yield Warm(True, False, False, "the coach")
        played = _play(games, "random", coached=True)
        yield Warm(True, True, False, "the review of games")
        for game, decisions in played.items():
            games.review(game)
            games.bring(games.share(game)["code"])  # the same game again, by its link
            for at in decisions[:4]:
                games.choices(game, at)
        games.lesson("")  # answers are judged as decisions of games are
        for other in {LEVELS[0].agent, LEVELS[-1].agent} - {agent}:  # the levels between err as the first does
            _play(games, other)
    yield READY


def play_through(agent: str) -> None:
    """Plays whole games against an agent, without the coach.

    Raises:
        ValueError: the agent cannot be made.
    """
    with _games(agent) as games:
        _play(games, agent)


@contextmanager
def _games(agent: str, judge: PlayJudge | None = None) -> Iterator[Games]:
    """The games of a folder that goes."""
    with tempfile.TemporaryDirectory() as folder:
        offered = GameSoFar(agent, 0, None, (0, 0), ())
        games = Games(Path(folder), Path(folder, "games.jsonl"), offered, judge=judge)
        games.warm = READY
        try:
            yield games
        finally:
            games.close()


def _play(games: Games, agent: str, coached: bool = False) -> dict[str, list[int]]:
    """Plays games in which a person chooses its lowest cards, and the coach says all that it can; the decisions of each
    game by its id."""
    decisions: dict[str, list[int]] = {}
    for scores in reversed(_STARTS) if coached else _STARTS:
        state = games.new(agent, "cut", scores, 0, False, "on", "table")
        ats = decisions[game := state["game"]] = []
        while not state["over"]:
            ats.append(state["at"])
            if coached:
                games.hint(game, ats[-1])
            state = games.play(game, ats[-1], tuple(state["frames"][-1]["sides"][0]["legal"][: state["choose"]]))
            if coached:
                games.notes(game)
    return decisions
