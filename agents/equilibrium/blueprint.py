"""The blueprint: what an equilibrium discards and lays first, and what both players may hold when the play begins.

It holds the discards of every six cards, and the first three cards of the play: pone's lead, the dealer's reply, pone's
second card. Until then the count is at most 20, so every card fits and nobody has said go.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import chances_of_pairs, six_dealt
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.exact.deal_classes import N_CLASSES, class_of
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import HAND_TABLES, N_HANDS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.tree import PublicTree

SHIPPED = Path(__file__).parent / "data" / "blueprint.npz"
N_CARDS = 3
"""How many cards of a deal it covers."""
NO_STARTER = N_RANKS
"""The place of the pegging game, behind those of the thirteen starters."""
_KIND = "blueprint of the play"
_VERSION = 2
_N_STARTERS = N_RANKS + 1
_THREE, _TWO, _FOUR = (int(N_HANDS[k, 0]) for k in (3, 2, 4))
_COLUMNS = {
    "weights": Column("f", (_N_STARTERS, 2, _FOUR)),
    "lead": Column("u", (_N_STARTERS, N_RANKS, _THREE)),
    "reply": Column("u", (_N_STARTERS, N_RANKS, N_RANKS, _THREE)),
    "third": Column("u", (_N_STARTERS, N_RANKS, N_RANKS, N_RANKS, _TWO)),
    "discards": Column("u", (len(ROLES), N_CLASSES, N_DISCARDS)),
}


class Blueprint(NamedTuple):
    """Arrays by starter. Chances are in 255ths, by the ranks laid so far, the rank to lay and the hand left then."""

    weights: np.ndarray  # (14, 2, 1820) float32 weights of the hands that pone and the dealer may hold, before the play
    lead: np.ndarray  # (14, 13, 455) uint8
    reply: np.ndarray  # (14, 13, 13, 455) uint8
    third: np.ndarray  # (14, 13, 13, 13, 91) uint8
    discards: np.ndarray  # (2, 962988, 15) uint8 by role and class (crib_env.exact.deal_classes); 0 where unknown

    def save(self, path: Path) -> None:
        """Writes it with a checksum, whole or not at all."""
        save_arrays(path, _KIND, _VERSION, self._asdict())


@cache
def load_blueprint(path: Path = SHIPPED) -> Blueprint:
    """Reads a blueprint.

    Raises:
        ValueError: there is no such file, or it is damaged, of another version or no blueprint.
    """
    return Blueprint(**load_arrays(path, _KIND, _VERSION, _COLUMNS))


def pair_chances(blueprint: Blueprint, six: np.ndarray, is_dealer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How likely each pair is discarded of six cards.

    Args:
        six: (B, 6) card ids, each row sorted.
        is_dealer: (B,) whether the player deals.

    Returns:
        (B, 15, 2) the pairs, and (B, 15) uint8 their chances in 255ths, all 0 where the blueprint has none.
    """
    classes, renamed = class_of(six)
    # the pairs of a class stand in the order of its representative's cards
    pairs = np.take_along_axis(six, renamed.argsort(axis=1), axis=1)[:, PLACES]
    return pairs, blueprint.discards[is_dealer.astype(int), classes]


def discard_chances(blueprint: Blueprint, views: PlayerViews) -> np.ndarray:
    """How likely each card is discarded next, (B, 52) float64, at B discards; all 0 where the blueprint has none."""
    pairs, chances = pair_chances(blueprint, six_dealt(views), views.is_dealer)
    discarded = views.discards[:, 0]
    is_open = (discarded[:, None] < 0) | (pairs == discarded[:, None, None]).any(axis=2)
    return chances_of_pairs(views, pairs, chances * is_open)


@kernel
def first_chances(blueprint, starter, ranks, n, four, hand, hands, out):
    """Fills ``out`` (13,) with how likely the next card is of each rank, the first ``N_CARDS`` cards of a deal.

    Args:
        blueprint: :class:`Blueprint`.
        starter: its rank, or ``NO_STARTER``.
        ranks: laid so far, ``n`` of them.
        four: whether the player holds four cards, else three.
        hand: its number among those of its size.
        hands: :class:`crib_env.hands.HandTables`.
    """
    total = 0.0
    for rank in range(N_RANKS):
        out[rank] = 0.0
        left = hands.without_rank[4 if four else 3, rank, hand]
        if left >= 0:
            if n == 0:
                out[rank] = blueprint.lead[starter, rank, left]
            elif n == 1:
                out[rank] = blueprint.reply[starter, ranks[0], rank, left]
            else:
                out[rank] = blueprint.third[starter, ranks[0], ranks[1], rank, left]
            total += out[rank]
    for rank in range(N_RANKS):
        out[rank] /= total


@kernel
def _as_played(chance, n_ranks, mistakes):
    return (1 - mistakes) * chance / 255 + mistakes / n_ranks


@kernel
def _fill_ranges(blueprint, starter, ranks, mistakes, hands, pone, dealer):
    lead, reply, third = ranks[0], ranks[1], ranks[2]
    weights = blueprint.weights[starter]
    for two in range(len(pone)):
        three = hands.with_rank[2, third, two]
        four = hands.with_rank[3, lead, three]
        led = _as_played(blueprint.lead[starter, lead, three], hands.n_playable[4, N_RANKS, four], mistakes)
        then = blueprint.third[starter, lead, reply, third, two]
        pone[two] = weights[PONE, four] * led * _as_played(then, hands.n_playable[3, N_RANKS, three], mistakes)
    for three in range(len(dealer)):
        four = hands.with_rank[3, reply, three]
        chance = blueprint.reply[starter, lead, reply, three]
        dealer[three] = weights[DEALER, four] * _as_played(chance, hands.n_playable[4, N_RANKS, four], mistakes)


def ranges(blueprint: Blueprint, starter: int, ranks: np.ndarray, mistakes: float) -> tuple[np.ndarray, np.ndarray]:
    """What both players may hold after the first ``N_CARDS`` cards: weights (91,) of pone's hands, (455,) of the
    dealer's.

    Args:
        starter: its rank, or ``NO_STARTER``.
        ranks: (3,) int64 that were laid.
        mistakes: how often a player lays any rank of its hand instead.
    """
    pone, dealer = np.empty(_TWO), np.empty(_THREE)
    _fill_ranges(blueprint, starter, ranks, mistakes, HAND_TABLES, pone, dealer)
    return pone, dealer


class FirstCards(NamedTuple):
    """One starter's part of :class:`crib_env.agents.equilibrium.blueprint.Blueprint`."""

    lead: np.ndarray  # (13, 455) uint8
    reply: np.ndarray  # (13, 13, 455) uint8
    third: np.ndarray  # (13, 13, 13, 91) uint8


def first_cards(tree: PublicTree, policy: np.ndarray) -> FirstCards:
    """The first cards of a policy of the whole play.

    Args:
        tree: of the play from its start, with four cards each.
        policy: (S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
    """
    three, two = N_HANDS[3, 0], N_HANDS[2, 0]
    found = FirstCards(*(np.zeros((*[N_RANKS] * k, n), np.uint8) for k, n in ((1, three), (2, three), (3, two))))
    found.lead[:] = _chances(tree, policy, 0)
    for lead, reply_at in enumerate(_follows(tree, 0)):
        found.reply[lead] = _chances(tree, policy, reply_at)
        for reply, third_at in enumerate(_follows(tree, reply_at)):
            found.third[lead, reply] = _chances(tree, policy, third_at)
    return found


def _follows(tree: PublicTree, at: int) -> list[int]:
    """The nodes to which each rank leads that is laid at a node where all fit."""
    first = tree.nodes[at]["first_link"]
    return tree.links["to"][first : first + N_RANKS].tolist()


def _chances(tree: PublicTree, policy: np.ndarray, at: int) -> np.ndarray:
    """(13, n) uint8 chances at a node where all ranks fit, by the rank laid and the hand left."""
    node = tree.nodes[at]
    k = int(node["n_cards"][node["actor"]])
    n_left = int(N_HANDS[k - 1, 0])
    weights = np.maximum(policy[node["first_slot"] :][: N_RANKS * n_left], 0).reshape(N_RANKS, n_left)
    hands = HAND_TABLES.with_rank[k - 1, :, :n_left]
    total = np.bincount(hands.ravel(), weights.ravel(), N_HANDS[k, 0])[hands]
    even = 1 / HAND_TABLES.n_playable[k, N_RANKS, hands]
    return np.rint(255 * np.divide(weights, total, out=even, where=total > 0)).astype(np.uint8)
