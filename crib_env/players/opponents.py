"""An opponent in Python: an agent, given or made from text by :func:`crib_env.make_agent`."""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.actions import name_card
from crib_env.cards import format_cards
from crib_env.engine import legal_cards
from crib_env.kernels import kernel
from crib_env.options import OptionError
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent
from crib_env.players.policies import NATIVE
from crib_env.views import views_of


@kernel
def _first_illegal(games, rows, cards):
    """The index of the first card that is not legal, or -1."""
    for b in range(len(rows)):
        if not 0 <= cards[b] < 52 or not (legal_cards(games[rows[b]]) >> cards[b]) & 1:
            return b
    return -1


def read_opponent(opponent: Any) -> Agent | str:
    """Reads the option ``opponent``: the name of a native policy (:data:`crib_env.players.policies.NATIVE`), or else
    an agent (:func:`crib_env.players.agent_from_text.as_agent`).

    Raises:
        OptionError: it is none of these, or the agent cannot be made.
    """
    if isinstance(opponent, str) and opponent in NATIVE:
        return opponent
    try:
        return as_agent(opponent, "opponent")
    except ValueError as error:
        named = "" if str(error).startswith("opponent=") else f"opponent={opponent!r} is not allowed: "
        raise OptionError(f"{named}{error}") from None


def ask_opponent(opponent: Agent, games: np.ndarray, rows: np.ndarray, game_ids: np.ndarray) -> np.ndarray:
    """Asks an opponent for its cards, (B,) int64, in ``games[rows]`` (GAME records; B int64 row numbers).

    Raises:
        ValueError: an answer is not a legal card; the message names the opponent, the game's row and what is legal.
    """
    views = views_of(games, rows, games["turn"][rows].astype(np.int64), game_ids)
    answer = np.asarray(opponent.act(views))
    name = f"opponent {opponent.name!r}"
    if answer.shape != rows.shape or answer.dtype.kind not in "iu":
        raise ValueError(f"{name}: act() must return {len(rows)} card ids, not {answer.dtype} of shape {answer.shape}")
    cards = answer.astype(np.int64)
    bad = _first_illegal(games, rows, cards)
    if bad >= 0:
        allowed = format_cards(views.action_mask[bad].nonzero()[0])
        raise ValueError(
            f"{name}: in game {rows[bad]} {name_card(int(answer[bad]))} is not legal: it may choose one of {allowed}"
        )
    return cards
