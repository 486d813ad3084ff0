"""What may follow a card that is laid, as its player can judge it: points, replies, what the opponent may hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.opponent_hands import MOST_HANDS, Hands, posterior
from crib_env.agents.belief.rest_of_deal import habits
from crib_env.cards import N_CARDS
from crib_env.engine import DEALER, PONE
from crib_env.kernels import mask_of
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

N_RANKS = 13
_MADE = {15: "fifteen", 31: "thirty-one"}
_ALIKE = {2: "a pair", 6: "three of a kind", 12: "four of a kind"}
_BITS = 4  # of a packed hand for each rank


class After(NamedTuple):
    """What follows from a card laid."""

    card: int
    total: int
    """The count with this card."""
    points: int
    """Scored at once."""
    replies: dict[int, int]
    """The points that the opponent would score at once, by the rank that it lays; without those that score nothing."""
    reply: float
    """Its best reply's points, on average over the hands that it may hold."""
    silent: float
    """The chance that it has no card that fits the count."""
    follows: int
    """How many unseen cards, laid next by the opponent, let this player score."""
    followed: float
    """The points of the best such follower, on average over the unseen cards."""
    alone: int
    """The most points to the end of the count, this card included, if the opponent does not lay any more; without cards
    of the opponent, to the end of the play."""


class Sight:
    """What a player sees before it lays a card.

    Args:
        view: one decision in the play.
    """

    def __init__(self, view: PlayerViews) -> None:
        self._view = view
        self.held = [card for card in view.hand[0].tolist() if card >= 0]
        self.laid = [card for card in view.laid[0].tolist() if card >= 0]
        start = int(view.pile_start[0])
        self._pile = [card % N_RANKS for card in self.laid[start:]]
        self.count = int(view.count[0])
        seen = {int(card) for cards in (view.hand, view.discards, view.laid, view.starter) for card in np.ravel(cards)}
        self.unseen = [card for card in range(N_CARDS) if card not in seen]
        self.opponents_cards = int(view.opponent_cards[0])
        laid_by = view.laid_by[0, start : len(self.laid)].tolist()
        self.go_at = _go_at(self._pile, laid_by) if view.said_go[0, 1] else None
        """The count at which the opponent said go, if it did in this count."""

    @property
    def is_alone(self) -> bool:
        """Whether the opponent lays no more in this count."""
        return self.go_at is not None or not self.opponents_cards

    @property
    def others_laid(self) -> list[int]:
        """The cards that the opponent has laid in this deal."""
        return [card for card, by in zip(self.laid, self._view.laid_by[0].tolist()) if by == 1]

    @cached_property
    def _likely(self) -> tuple[np.ndarray, np.ndarray]:
        """The hands (N, 13) that the opponent may hold, as numbers of ranks, and their probabilities."""
        view = self._view
        hands = Hands(*(np.zeros(MOST_HANDS, kind) for kind in (np.int64, np.float64, np.int64, np.int64)))
        own = [card for card, by in zip(self.laid, view.laid_by[0].tolist()) if by == 0]
        thrown = [card for card in view.discards[0].tolist() if card >= 0]
        keeping = habits().keeping[DEALER if view.is_dealer[0] else PONE]
        n = len(self.laid)
        size = posterior(
            mask_of(np.array(self.held + own + thrown)),
            np.int64(view.starter[0]),
            view.laid[0],
            view.laid_by[0],
            np.int64(n),
            n > 0 and int(view.pile_start[0]) == n,
            keeping,
            hands,
        )
        ranks = hands.held[:size, None] >> (_BITS * np.arange(N_RANKS)) & (2**_BITS - 1)
        return ranks, hands.weights[:size]

    def chance_of(self, ranks: Sequence[int]) -> float:
        """The chance that the opponent holds a card of one of these ranks."""
        hands, weights = self._likely
        return float(weights[hands[:, list(ranks)].any(axis=1)].sum())

    def after(self, card: int) -> After:
        """What follows from laying a card."""
        rank = card % N_RANKS
        pile, rest = [*self._pile, rank], [other % N_RANKS for other in self.held if other != card]
        total, follows, followed, reply, silent = self.count + card_value(rank), 0, 0, 0.0, 0.0
        replies: dict[int, int] = {}
        if not self.is_alone and total < COUNT_LIMIT:
            fits = _fit(pile, range(N_RANKS))
            replies = {other: points for other in fits if (points := _points([*pile, other]))}
            bests = {other: _best([*pile, other], rest) for other in fits}
            followers = [bests[other % N_RANKS] for other in self.unseen if other % N_RANKS in bests]
            follows, followed = sum(map(bool, followers)), sum(followers)
            hands, weights = self._likely
            scores = np.array([replies.get(other, 0) for other in range(N_RANKS)])
            reply = float(weights @ ((hands > 0) * scores).max(axis=1))
            silent = float(weights[~hands[:, fits].any(axis=1)].sum())
        alone = _alone(pile, rest, self.opponents_cards == 0)
        return After(card, total, _points(pile), replies, reply, silent, follows, followed / len(self.unseen), alone)

    def name_reply(self, after: After, rank: int) -> str:
        """What the opponent would score with a rank, as in ``"fifteen and a run of 3 for 5"``."""
        points, count = after.replies[rank], after.total + card_value(rank)
        names = [_MADE[count]] if count in _MADE else []
        rest = points - 2 * len(names)
        if rest:
            is_run = after.card % N_RANKS != rank
            names.append(f"a run of {rest}" if is_run else _ALIKE[rest])
        return f"{' and '.join(names)} for {points}"


def _go_at(pile: Sequence[int], laid_by: Sequence[int]) -> int:
    """The count at which the opponent has said go: before all but the first of the cards that this player laid since.

    Args:
        pile: the ranks of the count.
        laid_by: who laid each.
    """
    alone = next((k for k, by in enumerate(reversed(laid_by)) if by == 1), len(pile))
    return _count(pile[: len(pile) - max(alone - 1, 0)])


def _count(pile: Sequence[int]) -> int:
    return sum(map(card_value, pile))


def _points(pile: Sequence[int]) -> int:
    """The points of the last rank of a pile."""
    return int(pile_points(np.array(pile, np.int8), 0, len(pile), _count(pile)))


def _fit(pile: Sequence[int], ranks: Iterable[int]) -> list[int]:
    left = COUNT_LIMIT - _count(pile)
    return [rank for rank in ranks if card_value(rank) <= left]


def _best(pile: Sequence[int], ranks: Sequence[int]) -> int:
    """The most points that one of these ranks makes on a pile."""
    return max((_points([*pile, rank]) for rank in _fit(pile, ranks)), default=0)


def _alone(pile: Sequence[int], rest: Sequence[int], goes_on: bool) -> int:
    """The most points of the pile's last card and of cards laid alone after it, with the point for the last one.

    Args:
        pile: the ranks of the count.
        rest: the ranks still held.
        goes_on: whether another count follows, in which the player is alone too.
    """
    points, fitting = _points(pile), _fit(pile, rest)
    if fitting:
        return points + max(_alone([*pile, rank], _without(rest, rank), goes_on) for rank in fitting)
    points += _count(pile) < COUNT_LIMIT
    if goes_on and rest:
        points += max(_alone([rank], _without(rest, rank), goes_on) for rank in rest)
    return points


def _without(ranks: Sequence[int], rank: int) -> list[int]:
    left = list(ranks)
    left.remove(rank)
    return left
