"""From values and chances to cards: what agents of every kind share.

Random numbers follow from seed, game and decision, so that a game is the same in every batch.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from crib_env import PlayerViews
from crib_env.engine import DEALER, PONE, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import ranks_in
from crib_env.kernels import GOLDEN, bit, kernel, lowest, mask_of, mix
from crib_env.observation import N_ACTIONS

Part = TypeVar("Part")
_SAME = 1e-9  # values are sums of a few exact fractions: smaller differences are rounding
# Values of a network, percent or points, are some tens in float32, whose last digits depend on the batch they are in.
# Pairs that differ only in suits may have exactly the same value, and these digits must not decide between them.
SAME_TO_A_NETWORK = 1e-4


def by_phase(
    views: PlayerViews, discard: Callable[[PlayerViews], np.ndarray], lay: Callable[[PlayerViews], np.ndarray]
) -> np.ndarray:
    """(B,) cards: from ``discard`` for the discards, from ``lay`` for the decisions of the play."""
    discarding = views.is_discard
    if discarding.all():
        return discard(views)
    if not discarding.any():
        return lay(views)
    cards = np.empty(len(views), np.int64)
    cards[discarding], cards[~discarding] = discard(views[discarding]), lay(views[~discarding])
    return cards


def on_threads(threads: int, fill: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Calls ``fill`` for each part of a batch, on threads if there are several."""
    if len(parts) <= 1:
        for part in parts:
            fill(part)
    else:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:  # the page without a server has its own
            list(pool.map(fill, parts))


@kernel
def cards_of(action_mask):
    """The legal cards as a mask, from a row of ``action_mask``."""
    legal = np.int64(0)
    for card in range(N_ACTIONS):
        if action_mask[card]:
            legal |= bit(card)
    return legal


@kernel
def read_play(views, b, ranks, roles):
    """Fills the ranks laid before decision ``b`` and the roles that laid them, (8,) both; returns the player's role,
    and the lowest rank that it holds."""
    role = DEALER if views.is_dealer[b] else PONE
    for k in range(views.n_laid[b]):
        ranks[k] = np.int64(views.laid[b, k]) % 13
        roles[k] = role if views.laid_by[b, k] == 0 else 1 - role
    return role, np.int64(lowest(ranks_in(mask_of(views.hand[b]))))


def check_four_cards(name: str, views: PlayerViews) -> None:
    """For agents whose tables and searches are of hands of four cards.

    Raises:
        ValueError: the players of these decisions of the play (B,) were dealt fewer.
    """
    if (views.kept[:, 0] < 0).any():
        raise ValueError(f"{name} does not play pegging with fewer than four cards each")


def legal_ranks(views: PlayerViews) -> np.ndarray:
    """(B, 13) bool, which ranks can be laid."""
    ranks: np.ndarray = views.action_mask.reshape(-1, 4, 13).max(axis=1) > 0
    return ranks


def lowest_of_rank(views: PlayerViews, ranks: np.ndarray) -> np.ndarray:
    """(B,) the lowest legal card of each of ``ranks`` (B,); suits do not matter in the play."""
    return 13 * views.action_mask.reshape(-1, 4, 13)[np.arange(len(ranks)), :, ranks].argmax(axis=1) + ranks


def six_dealt(views: PlayerViews) -> np.ndarray:
    """(B, 6) int64: held and discarded cards at a discard, sorted, as the exact values require."""
    return np.sort(np.concatenate([views.hand, views.discards], axis=1), axis=1)[:, 2:].astype(np.int64)


def pairs_open(views: PlayerViews, six: np.ndarray) -> np.ndarray:
    """(B, 15) bool: which pairs of the sorted six cards contain the card already discarded."""
    discarded = views.discards[:, 0]
    return (discarded[:, None] < 0) | (six[:, PLACES] == discarded[:, None, None]).any(axis=2)


def next_discard(views: PlayerViews, values: np.ndarray, ties: np.ndarray, same: float = _SAME) -> np.ndarray:
    """The next card (B,) of the best pair that holds what is already discarded.

    Args:
        values: (B, 15) the value of each pair, in the order of :func:`crib_env.discard_statistics`.
        ties: (B, 15) decides between pairs of equal value; if these are equal too, the first in the order of ids.
        same: values that differ by less are equal.
    """
    six = six_dealt(views)
    pairs, discarded = six[:, PLACES], views.discards[:, 0]
    values = np.where(pairs_open(views, six), values, -np.inf)
    best = values >= values.max(axis=1, keepdims=True) - same
    pair = pairs[np.arange(len(views)), np.where(best, ties, -np.inf).argmax(axis=1)]
    return np.where(pair[:, 0] == discarded, pair[:, 1], pair[:, 0])


def chances_of_pairs(views: PlayerViews, pairs: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """How likely each card is discarded next, (B, 52): either card of a pair first, equally often, and then its other.

    ``pairs`` (B, 15, 2) are card ids, and ``chances`` (B, 15) are 0 for those without a card that is discarded already.
    """
    cards, rows = np.zeros((len(views), N_ACTIONS)), np.arange(len(views))[:, None]
    for k in range(2):
        np.add.at(cards, (rows, pairs[:, :, k]), chances)
    cards *= views.action_mask
    total = cards.sum(axis=1, keepdims=True)
    return np.divide(cards, total, out=np.zeros_like(cards), where=total > 0)


@kernel
def word_of(seed, game_id, decision):
    """A random uint64 for a decision; ``seed`` is a uint64 of :func:`crib_env.kernels.streams`."""
    return mix(seed + mix(np.uint64(game_id) + GOLDEN * np.uint64(decision + 1)))


@kernel
def uniform(seed, game_id, decision):
    """:func:`word_of` as a number from 0 to 1."""
    return np.float64(word_of(seed, game_id, decision) >> np.uint64(11)) / 2.0**53


@kernel
def _uniforms(seed, game_ids, decisions, out):
    for b in range(len(out)):
        out[b] = uniform(seed, game_ids[b], decisions[b])


def uniforms(seed: np.uint64, views: PlayerViews) -> np.ndarray:
    """Random numbers from 0 to 1 for these decisions, (B,) float64, see :func:`uniform`."""
    out = np.empty(len(views))
    _uniforms(seed, views.game_ids, views.decisions, out)
    return out


@kernel
def draw_all(chances, rows, numbers, cards):
    """Fills the cards of these rows by their probability: see :func:`draw`."""
    for b in rows:
        total = 0.0
        for card in range(chances.shape[1]):
            total += chances[b, card]
        at = numbers[b] * total
        for card in range(chances.shape[1]):
            if chances[b, card] > 0.0:
                cards[b] = card  # if rounding leaves a remainder, the last possible card stays
                at -= chances[b, card]
                if at < 0.0:
                    break


def draw(chances: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Cards, or ranks, (B,) int64 by their chances (B, n) float64, which numbers (B,) from 0 to 1 decide."""
    cards = np.empty(len(chances), np.int64)
    draw_all(chances, np.arange(len(chances)), numbers, cards)
    return cards


def draw_rank(views: PlayerViews, chances: np.ndarray, seed: np.uint64) -> np.ndarray:
    """(B,) cards: the lowest of a rank that is drawn by its chance (B, 13)."""
    return lowest_of_rank(views, draw(chances, uniforms(seed, views)))


RARE = 0.03
"""Choices less likely than this share of the most likely one are dropped: they are errors of few iterations or of
what was learned."""
_NEAR = 25  # points to the end of the game


def near_end(views: PlayerViews) -> np.ndarray:
    """(B,) bool: whether a player is so near the end of a game that points do not stand for the chance to win. Never in
    the pegging episode."""
    return (views.scores.max(axis=1) >= WIN - _NEAR) & (views.is_discard | (views.starter >= 0))


def without_rare(chances: np.ndarray) -> np.ndarray:
    """Chances of ranks, cards or discards (B, n) without the rare ones (``RARE``); each row adds up to 1."""
    common = np.where(chances < RARE * chances.max(axis=1, keepdims=True), 0.0, chances)
    return common / common.sum(axis=1, keepdims=True)


def card_chances(
    views: PlayerViews,
    discard_chances: Callable[[PlayerViews], np.ndarray],
    rank_chances: Callable[[PlayerViews], np.ndarray],
) -> np.ndarray:
    """How likely each card is chosen in B decisions, (B, 52): from how likely each card is discarded, (b, 52), and each
    rank is laid, (b, 13); of a rank it is the lowest card."""
    chances, discards = np.zeros((len(views), N_ACTIONS)), np.flatnonzero(views.is_discard)
    if len(discards):
        chances[discards] = discard_chances(views[discards])
    play = np.flatnonzero(~views.is_discard)
    if len(play):
        by_rank = rank_chances(views[play])
        row, rank = by_rank.nonzero()
        chances[play[row], lowest_of_rank(views[play[row]], rank)] = by_rank[row, rank]
    return chances


class SameCards(NamedTuple):
    """B decisions in groups that differ in nothing but the scores."""

    rows: np.ndarray
    """(B,) int64, the decisions, group by group, and in a group by the scores of the dealer and of pone."""
    ends: np.ndarray
    """(G,) int64, where each group ends in ``rows``."""

    def parts(self, n: int) -> list[SameCards]:
        """The same, ``n`` groups at a time."""
        starts = np.concatenate([[0], self.ends[n - 1 :: n]])
        return [
            SameCards(self.rows[start:], self.ends[n * k : n * (k + 1)] - start)
            for k, start in enumerate(starts.tolist())
            if n * k < len(self.ends)
        ]

    @property
    def first(self) -> np.ndarray:
        """(G,) int64, a decision of each group."""
        return self.rows[np.concatenate([[0], self.ends[:-1]])]

    def spread(self, values: np.ndarray) -> np.ndarray:
        """What holds for each group, (G, …), for each decision, (B, …)."""
        out = np.empty((len(self.rows), *values.shape[1:]), values.dtype)
        out[self.rows] = np.repeat(values, np.diff(self.ends, prepend=0), axis=0)
        return out


def same_cards(views: PlayerViews) -> SameCards:
    """Groups decisions by all that the player sees but the scores."""
    fields = [views.hand, views.discards, views.laid, views.laid_by]
    fields += [np.stack([views.starter, views.is_dealer, views.pile_start, views.opponent_cards], axis=1)]
    keys = np.concatenate(fields, axis=1, dtype=np.int8)
    scores = np.where(views.is_dealer[:, None], views.scores, views.scores[:, ::-1]).astype(np.int8)
    full = np.concatenate([keys, scores], axis=1)
    order = full.view(f"V{full.shape[1]}")[:, 0].argsort(kind="stable")
    is_last = np.ones(len(keys), np.bool_)
    is_last[:-1] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    return SameCards(order, np.flatnonzero(is_last) + 1)
