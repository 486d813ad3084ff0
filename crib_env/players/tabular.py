"""Policies of the pegging game as tables by information states: what a player knows, as one line of text.

``p 45`` is pone's lead with a four and a five, ``d 7T p4`` the dealer's reply to a four with a seven and a ten. The
ranks dealt come first, in ascending order, then who laid which rank, oldest first. A state at which all legal cards are
of one rank needs no line. OpenSpiel's games of this project (:mod:`crib_env.open_spiel`) have the same states.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS
from crib_env.players.agent import Powers
from crib_env.views import PlayerViews


def information_state(role: int, dealt: Sequence[int], laid: Sequence[tuple[int, int]]) -> str:
    """What a player knows: its role, the ranks dealt to it, and who laid which rank.

    Args:
        role: ``PONE`` or ``DEALER``.
        dealt: ranks of its hand.
        laid: role and rank of each card laid, oldest first.
    """
    cards = " ".join(f"{'pd'[by]}{RANKS[rank]}" for by, rank in laid)
    return f"{'pd'[role]} {''.join(RANKS[rank] for rank in sorted(dealt))} {cards}".rstrip()


def state_of(views: PlayerViews, row: int) -> str:
    """The information state of a decision of views of the pegging game."""
    role = DEALER if views.is_dealer[row] else PONE
    hand, laid = views.hand[row], views.laid[row]
    n = int((laid >= 0).sum())
    is_own = views.laid_by[row][:n] == 0
    ranks = (laid[:n] % N_RANKS).tolist()
    dealt = (hand[hand >= 0] % N_RANKS).tolist() + [rank for rank, own in zip(ranks, is_own) if own]
    return information_state(role, dealt, [(role if own else 1 - role, rank) for own, rank in zip(is_own, ranks)])


class StatePolicy:
    """Lays each rank as often as a function of the information state says.

    Args:
        chances: gives 13 chances of ranks for an information state; those of ranks that cannot be laid do not count.
        seed: of the cards that it draws.
    """

    name = "tabular"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, chances: Callable[[str], ArrayLike], seed: int = 0) -> None:
        self._chances, self._rng = chances, np.random.default_rng(seed)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`.

        Raises:
            ValueError: a decision is not one of the pegging game, or the policy lays no legal card at one.
        """
        if len(views) and (views.is_discard.any() or (views.starter >= 0).any()):
            raise ValueError(f"{self.name} plays the pegging game alone: it knows no discards and no starter")
        chances, legal = np.zeros((len(views), 4 * N_RANKS)), views.action_mask.reshape(-1, 4, N_RANKS)
        for row in range(len(views)):
            ranks = legal[row].any(axis=0).nonzero()[0]
            cards = N_RANKS * legal[row].argmax(axis=0)[ranks] + ranks
            chances[row, cards] = 1 if len(ranks) == 1 else np.asarray(self._chances(state_of(views, row)))[ranks]
            if not chances[row].any():
                raise ValueError(f"{self.name} has no card to lay at {state_of(views, row)!r}")
        return chances / chances.sum(axis=1, keepdims=True)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        chances = self.probabilities(views).cumsum(axis=1)
        return (chances > self._rng.random((len(views), 1))).argmax(axis=1)


class TabularAgent(StatePolicy):
    """A table of a file, which ``numpy.savez(path, states=…, chances=…)`` writes.

    Args:
        path: holds ``states`` (n,) of text (:func:`information_state`) and ``chances`` (n, 13) of ranks, not negative.
        seed: of the cards that it draws.

    Raises:
        ValueError: the file is missing, packed, damaged or holds something else; the message names it.
    """

    def __init__(self, path: str, seed: int = 0) -> None:
        fault = f"{path} is no table of a policy: numpy.savez(path, states=…, chances=…) writes one"
        try:
            with np.load(Path(path), allow_pickle=False) as file:
                if any(entry.compress_type != zipfile.ZIP_STORED for entry in file.zip.infolist()):
                    raise ValueError("it is packed, and may unpack to more than there is memory")
                if damaged := file.zip.testzip():  # arrays that end early are read without a look at their checksum
                    raise ValueError(f"{damaged} is damaged")
                states, chances = file["states"], file["chances"]
        except Exception as error:  # a damaged archive raises errors of many kinds
            raise ValueError(f"{fault} ({str(error) or type(error).__name__})") from error
        is_text, is_number = states.dtype.kind == "U", chances.dtype.kind in "fiu"
        if not (is_text and is_number and states.ndim == 1 and chances.shape == (len(states), N_RANKS)):
            raise ValueError(f"{fault}, (n,) text and (n, {N_RANKS}) numbers")
        if not (np.isfinite(chances).all() and (chances >= 0).all()):
            raise ValueError(f"{path} has chances below 0 or beyond all numbers")
        rows = {state: row for row, state in enumerate(states.tolist())}

        def chances_at(state: str) -> np.ndarray:
            if state not in rows:
                raise ValueError(f"{path} has no line for {state!r}")
            row: np.ndarray = chances[rows[state]]
            return row

        super().__init__(chances_at, seed)
        self.name = f"tabular:{path}"
