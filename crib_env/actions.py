"""Actions from outside: a card id in any of the integer forms that libraries use."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from crib_env.cards import format_card
from crib_env.observation import N_ACTIONS


class CardSpace(Discrete):
    """``Discrete(52)``, whose ``sample`` takes boolean masks (``dtype="float32"``) too: Gymnasium takes int8 alone."""

    def __init__(self) -> None:
        super().__init__(N_ACTIONS)

    def sample(self, mask: np.ndarray | None = None, probability: np.ndarray | None = None) -> Any:
        """A random card, of those in ``mask`` (52,) int8 or bool, or by ``probability`` (52,) float64."""
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
            mask = mask.view(np.int8)
        return super().sample(mask, probability)


def read_card(action: Any) -> int:
    """Converts an integer, or an integer array of one element (Stable-Baselines3's ``predict`` returns one), to an int.

    It does not check that the integer is a card's id or that the card is legal.

    Raises:
        TypeError: the action is anything else.
    """
    if not isinstance(action, bool):
        try:
            return operator.index(action)
        except TypeError:  # NumPy refuses arrays of one element
            array = np.asarray(action) if hasattr(action, "__array__") else None
            if array is not None and array.size == 1 and array.dtype.kind in "iu":
                return int(array.item())
    raise TypeError(f"{action!r} is not the id of a card: give an integer, or an integer array of one element")


def name_card(card: int) -> str:
    """The name of a chosen card for an error message, or the bare number if it is not a card."""
    return f"{format_card(card)} (action {card})" if 0 <= card < N_ACTIONS else str(card)
