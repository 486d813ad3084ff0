"""Rules of thumb for discards, measured against a solution of whole deals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from crib_env.cards import RANKS
from crib_env.engine import DEALER
from crib_env.evaluate.rules_of_thumb import Tally, Weighed, tally
from crib_env.exact.deal_classes import N_DEALS, class_sizes
from crib_env.hands import FOURS, HANDS
from crib_env.scoring import card_value
from crib_env.solver.deal.shows import choices
from crib_env.solver.deal.sixes import sixes
from crib_env.tables.shipped import DealValues

_FIVE, _NINE = RANKS.index("5"), RANKS.index("9")
_UNLIKELY = 1e-6
_PURE = 0.97


def solved(values: DealValues, chances: np.ndarray, role: int) -> Weighed:
    """What a role discards in a solution, of each class of six cards, and what each discard costs it if the player goes
    on as well as it can.

    Args:
        values: against the solution.
        chances: (962988, 15) of the solution, in any unit.
        role: ``PONE`` or ``DEALER``.
    """
    totals = values.totals(role, choices())
    made = chances / chances.sum(axis=1, keepdims=True, dtype=np.float32)
    return Weighed(made, totals.max(axis=1, keepdims=True) - totals, class_sizes())


def _is_run(ranks: np.ndarray) -> np.ndarray:
    """Whether hands (n, 4), lowest rank first, hold three ranks in a row."""
    held = (ranks[:, :, None] == np.arange(15)).any(axis=1)
    return (held[:, :-2] & held[:, 1:-1] & held[:, 2:]).any(axis=1)


def rules(role: int) -> Iterator[tuple[str, np.ndarray]]:
    """Rules of a role: what each says, and (C,) bool, which choices keep it. The others break it."""
    low, high = HANDS[2][sixes().discards].T
    value = np.array([card_value(rank) for rank in range(len(RANKS))])
    adds = value[low] + value[high]
    if role == DEALER:
        yield "a five", (low == _FIVE) | (high == _FIVE)
        yield "a pair", low == high
        yield "two in a row", high - low == 1
        yield "two that make five", adds == 5
        yield "two that make fifteen", adds == 15
    else:
        yield "no five", (low != _FIVE) & (high != _FIVE)
        yield "no pair", low != high
        yield "no two in a row", high - low != 1
        yield "no two that make five", adds != 5
        yield "no two that make fifteen", adds != 15
        yield "two that cannot be in a run", high - low >= 5
    yield "a king or queen with six to nine", (high >= 11) & (low > _FIVE) & (low <= _NINE)
    yield "keep three in a row", _is_run(FOURS)[sixes().kept]


def tally_discards(role: int, found: Weighed) -> Iterator[Tally]:
    """How the rules of a role fare over all deals, and that of keeping the most points."""
    of_classes = choices()
    for says, keeps in rules(role):
        of_rule = keeps[of_classes.choice]
        yield tally(says, of_rule, ~of_rule, found)
    most = of_classes.hand >= of_classes.hand.max(axis=1, keepdims=True) - _UNLIKELY
    yield tally("keep the hand of most points", most, ~most, found)


class Discards(NamedTuple):
    """How a role discards in a solution, over all deals."""

    loss: float
    """Points a deal that its discards lose to the best ones."""
    pure: float
    """The share of deals in which it makes one discard at least 97 % of the time."""
    hand: float
    """Mean points of its hand."""
    crib: float
    """Mean points of the crib, which is the dealer's."""


def overall(role: int, found: Weighed, values: DealValues) -> Discards:
    """How a role discards in a solution."""
    of_classes = choices()
    crib = values.cribs[role][of_classes.choice] + of_classes.suited
    loss, hand, crib = ((found.chances * one).sum(axis=1) for one in (found.costs, of_classes.hand, crib))
    pure = found.chances.max(axis=1) >= _PURE
    return Discards(*(float(found.weights @ one.astype(float)) / N_DEALS for one in (loss, pure, hand, crib)))


class PairDiscarded(NamedTuple):
    """How two ranks are discarded."""

    ranks: str
    share: float
    """Of all discards."""
    when_held: float
    """How often they are discarded from six cards that have both."""
    crib: float
    """Mean points of the crib with them, over the deals in which they are."""


def pairs_discarded(role: int, found: Weighed, values: DealValues) -> list[PairDiscarded]:
    """All 91 sets of two ranks, the most frequent first."""
    of_classes, sizes, kinds = choices(), class_sizes().astype(float), sixes()
    by_choice = np.bincount(of_classes.choice.ravel(), (found.chances * sizes[:, None]).ravel(), len(kinds.six))
    share = np.bincount(kinds.discards, by_choice)
    held = np.bincount(kinds.discards, kinds.ways()[kinds.six])
    suited = np.bincount(
        of_classes.choice.ravel(), (found.chances * sizes[:, None] * of_classes.suited).ravel(), len(kinds.six)
    )
    cribs = np.bincount(kinds.discards, by_choice * values.cribs[role] + suited)
    rows = [
        PairDiscarded(" ".join(RANKS[rank] for rank in HANDS[2][k]), share[k] / N_DEALS, share[k] / held[k], mean)
        for k, mean in enumerate(np.divide(cribs, share, out=np.full(len(share), np.nan), where=share > _UNLIKELY))
    ]
    return sorted(rows, key=lambda row: -row.share)
