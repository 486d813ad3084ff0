"""A decision in steps for pictures: an environment goes from the last card of a deal straight to the next deal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crib_env.engine import DEAL, PLAY_EPISODE, PONES_HAND, act, peg
from crib_env.kernels import kernel


@kernel
def _act(games, card, episode):
    g = games[0]
    own = g["episode"]
    g["episode"] = episode
    act(g, card)
    g["episode"] = own


@kernel
def _peg_alone(games, seat, points, kind):
    g = games[0]
    g["n_events"] = 0
    peg(g, seat, points, kind)


def stages(games: np.ndarray, card: int) -> Iterator[np.ndarray]:
    """A decision step by step: the game with the card discarded or laid, then with each hand of the show counted.

    Args:
        games: (1,) ``GAME``; it does not change.
        card: a legal card.

    Yields:
        (1,) ``GAME``, each a copy, with the events of its own step only. The last one is the game after ``engine.act``.
        In the steps of the show before it the phase is ``DEAL``, in which nobody acts.
    """
    after, step = games.copy(), games.copy()
    _act(after, card, games["episode"][0])
    _act(step, card, PLAY_EPISODE)  # without the show
    shown = [k for k in range(after["n_events"][0]) if after["event_kind"][0, k] >= PONES_HAND]
    step["phase"] = DEAL if shown else after["phase"]
    yield step
    for k in shown:
        step = step.copy()
        _peg_alone(step, after["event_player"][0, k], after["event_points"][0, k], after["event_kind"][0, k])
        if k == shown[-1]:
            step["phase"] = after["phase"]
        yield step
