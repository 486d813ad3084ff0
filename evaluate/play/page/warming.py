"""Kernels compiled before anybody waits for them: whole games played behind the page, in the order of their need."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.games import COACH, READY, REVIEWS, Games
from crib_env.evaluate.play.saved_game import GameSoFar
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_STARTS = ((0, 0), (105, 105))  # the second has the kernels of the end of a game soonest


def warmed_up(agent: str, judge: PlayJudge | None = None) -> Iterator[str]:
    """What is made ready next, each time that something is."""
    play_through(agent)
    yield COACH
    with tempfile.TemporaryDirectory() as folder:
        games = _games(folder, "random", judge)
        played = _play(games, "random", coached=True)
        yield REVIEWS
        for game, decisions in played.items():
            games.review(game)
            games.bring(games.share(game)["code"])  # the same game again, by its link
            for at in decisions[:4]:
                games.choices(game, at)
        games.lesson("")  # answers are judged as decisions of games are
    for other in {LEVELS[0].agent, LEVELS[-1].agent} - {agent}:  # the levels between err as the first does
        play_through(other)
    yield READY


def play_through(agent: str) -> None:
    """Plays whole games against an agent, without the coach."""
    with tempfile.TemporaryDirectory() as folder:
        _play(_games(folder, agent), agent)


def _games(folder: str, agent: str, judge: PlayJudge | None = None) -> Games:
    games = Games(Path(folder), Path(folder, "games.jsonl"), GameSoFar(agent, 0, None, (0, 0), ()), judge=judge)
    games.warm = READY
    return games


def _play(games: Games, agent: str, coached: bool = False) -> dict[str, list[int]]:
    """Plays games in which a person chooses its lowest cards, and the coach says all that it can; the decisions of each
    game by its id."""
    decisions: dict[str, list[int]] = {}
    for scores in reversed(_STARTS) if coached else _STARTS:
        state = games.new(agent, "cut", scores, 0, False, "on")
        ats = decisions[game := state["game"]] = []
        while not state["over"]:
            ats.append(state["at"])
            if coached:
                games.hint(game, ats[-1])
            state = games.play(game, ats[-1], tuple(state["frames"][-1]["sides"][0]["legal"][: state["choose"]]))
            if coached:
                games.notes(game)
    return decisions
