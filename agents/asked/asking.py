"""How agents are asked for millions of decisions: with which suits, and by quick layers of networks.

A public tree and a responder know ranks alone, agents see cards. All sets of cards of the same ranks are dealt equally
often, whatever the opponent holds. So an agent's policy by ranks is the mean over them, each played to the end of the
deal. How many must be asked for depends on how suits affect the agent's choice of a rank, which it may declare
(:class:`crib_env.players.agent.Agent`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import IntEnum
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from crib_env.hands import HANDS, N_RANKS, hand_number
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent


class Suits(IntEnum):
    """What an agent's choice of a rank depends on."""

    UNSEEN = 0
    """On ranks alone."""
    TIES = 1
    """On ranks, and where these leave it open, on the order of the ids of the cards held."""
    ALL = 2
    """Perhaps on the suits of all cards that the player sees."""


def suits_of(agent: Agent) -> Suits:
    """What an agent declares (:class:`crib_env.Powers`)."""
    return Suits[as_agent(agent).powers.suits.upper()]


@cache
def _hands(n_cards: int) -> tuple[np.ndarray, np.ndarray]:
    """All hands of so many cards, (H, n) ids by rank and then suit, and (H,) the number of their ranks; of four cards
    there are 270,725."""
    cards = np.array(list(combinations(range(52), n_cards)), np.int64)
    cards = np.take_along_axis(cards, np.argsort(cards % 13 * 4 + cards // 13, axis=1), axis=1)
    ranks, ways = np.unique(cards % 13, axis=0, return_inverse=True)
    return cards, hand_number(ranks)[ways.ravel()]


def hands_to_ask(suits: Suits, seed: int, n_cards: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Hands of cards that stand for all hands of their ranks.

    Args:
        suits: what matters; ``UNSEEN`` takes one hand for each set of ranks, ``TIES`` one for each order of ids, and
            ``ALL`` one drawn at random by the seed.

    Returns:
        (H, n_cards) ids, hands of equal ranks one after the other, and (H,) the share of each among those of its ranks.
    """
    cards, numbers = _hands(n_cards)
    if suits is Suits.ALL:
        order = np.argsort(np.random.default_rng(seed).random(len(cards)))
        _, first = np.unique(numbers[order], return_index=True)
        return cards[order[first]], np.ones(len(HANDS[n_cards]))
    held, suit = cards % N_RANKS, cards // N_RANKS
    if suits is Suits.UNSEEN:
        suit = np.tril(held[:, :, None] == held[:, None, :], -1).sum(axis=2)
    else:  # the lowest suit held becomes 0, the next 1
        is_held = (suit[:, :, None] == np.arange(4)).any(axis=1)
        suit = np.take_along_axis(is_held.cumsum(axis=1) - is_held, suit, axis=1)
    asked, first, counts = np.unique(N_RANKS * suit + held, axis=0, return_index=True, return_counts=True)
    of_ranks = numbers[first]
    order = np.argsort(of_ranks, kind="stable")
    return asked[order], (counts / np.bincount(numbers)[of_ranks])[order]


def layers_on_one_thread() -> None:
    """Layers of networks use one thread of torch, if it is loaded.

    By itself torch takes one for each core. Its threads wait for each other in a loop, so where other programs run on
    these cores too, most of the time is spent in waiting.
    """
    torch: Any = sys.modules.get("torch")  # agents without networks need not wait for it
    if torch is not None:
        torch.set_num_threads(1)


def layers_by_onednn() -> AbstractContextManager[object]:
    """Within this context float32 layers without gradients use oneDNN, where torch is loaded and has it.

    On an AMD processor oneDNN is faster than torch's own products, which are those of MKL. Both have the same precision
    and round differently, so games are played with torch's own. Values keep the format of oneDNN from one layer to the
    next: copies would cost what it gains.
    """
    torch: Any = sys.modules.get("torch")  # agents without networks need not wait for it
    if torch is None or not torch.backends.mkldnn.is_available():
        return nullcontext()
    from torch.nn.functional import linear
    from torch.overrides import TorchFunctionMode

    def dense(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(dense, value))
        return value.to_dense() if isinstance(value, torch.Tensor) and value.is_mkldnn else value

    class ByOneDNN(TorchFunctionMode):
        def __torch_function__(
            self,
            function: Callable[..., Any],
            types: Sequence[type],
            arguments: tuple[Any, ...] = (),
            named: Mapping[str, Any] | None = None,
        ) -> Any:
            if function is linear and len(arguments) == 3 and not named and not torch.is_grad_enabled():
                inputs, *layer = arguments
                if inputs.dtype is torch.float32 and not inputs.is_cuda:
                    return linear(inputs if inputs.is_mkldnn else inputs.to_mkldnn(), *layer)
            if function is torch.relu and arguments[0].is_mkldnn:
                return function(*arguments)
            return function(*dense(arguments), **{key: dense(value) for key, value in (named or {}).items()})

    return ByOneDNN()
