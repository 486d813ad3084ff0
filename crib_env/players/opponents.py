"""An opponent in Python: an agent, given or made from text by :func:`crib_env.make_agent`."""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.batch import checked_cards
from crib_env.options import OptionError
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent
from crib_env.players.policies import NATIVE
from crib_env.views import views_of


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
    try:
        return checked_cards(games, rows, opponent.act(views))
    except ValueError as error:
        raise ValueError(f"opponent {opponent.name!r} in {error}") from None
