"""A play that is solved in a moment: three cards each."""

from __future__ import annotations

from functools import cache

import pytest

from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import best
from crib_env.train.best import SolvedPlay


@cache
def small_game() -> tuple[PlayGame, SolvedPlay]:
    """The game, and its solution after some iterations."""
    game = PlayGame(start=start_of_play(3), threads=1)
    solver = PlaySolver(game)
    for _ in range(3):
        solver.iterate()
    return game, SolvedPlay.of(start_of_play(3), -1, game.prior, game.tree, solver.average)


def learn_from_a_small_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives ``train best`` decisions of the small game, instead of solving real games for half an hour."""
    monkeypatch.setattr(best, "decisions_of", lambda game, settings, *_: small_game()[1].sample(settings.decisions, 1))
