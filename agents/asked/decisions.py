"""Decisions of one role on the way through the public tree: which come next, and what the player sees at each."""

from __future__ import annotations

import numpy as np

from crib_env.agents.asked.asking import Suits
from crib_env.engine import DEALER, GAME, PEGGING_EPISODE, PLAY_EPISODE, act, begin_deal, begin_game
from crib_env.hands import HAND_TABLES, KING, N_RANKS
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mix, popcount
from crib_env.solver.play_game import PlayGame
from crib_env.views import PlayerViews, views_of

DECISION = np.dtype(
    [
        ("node", "i8"),  # of the public tree, where this player acts
        ("hand", "i8"),  # mask of the cards held
        ("laid", "i1", 8),  # cards laid, oldest first, then -1
        ("n_laid", "i8"),
        ("weight", "f8"),  # share of the hand among those of its ranks, times the chances of the player's own choices
        ("word", "u8"),  # random, the same for all that follows from one hand dealt
    ],
    align=True,
)
_MOST_HELD = 4
_TO_LAY = 128  # more than there are cards and goes between two decisions


def first_decisions(game: PlayGame, role: int, cards: np.ndarray, shares: np.ndarray, seed: int) -> np.ndarray:
    """(D,) DECISION, the first ones of a role that is dealt hands ``cards`` (H, n) with weights ``shares`` (H,); the
    seed is of the suits that the opponent's cards get."""
    dealt = np.zeros(len(cards), DECISION)
    dealt["hand"] = (np.int64(1) << cards).sum(axis=1)
    dealt["laid"], dealt["weight"] = -1, shares
    dealt["word"] = np.random.default_rng([seed, 1]).integers(2**64, size=len(cards), dtype=np.uint64)
    return _next(game, role, dealt)


def decisions_after(game: PlayGame, role: int, decisions: np.ndarray, chances: np.ndarray, suits: Suits) -> np.ndarray:
    """(E,) DECISION, the next ones of the same player, whatever the opponent does.

    Args:
        role: whose decisions they are.
        decisions: (D,) DECISION.
        chances: (D, 52) how likely each card is laid.
        suits: what the player's choices depend on. Decisions that look the same to it become one.
    """
    row, card = np.empty(_MOST_HELD * len(decisions), np.int64), np.empty(_MOST_HELD * len(decisions), np.int64)
    n = _cards_laid(decisions, chances, row, card)
    after = decisions.take(row[:n])  # numpy takes records much faster than it indexes them
    _lay(game.tree, after, card[:n], chances[row[:n], card[:n]], suits)
    after = after.compress(after["node"] >= 0)
    if suits is not Suits.ALL and len(after):
        after = after.take(np.lexsort((after["hand"], after["node"])))
        new = np.r_[True, (np.diff(after["node"]) != 0) | (np.diff(after["hand"]) != 0)]
        first = new.nonzero()[0]
        weights = np.add.reduceat(after["weight"], first)
        after = after.take(first)
        after["weight"] = weights
    return _next(game, role, after)


NO_STARTER = -1
"""In place of a starter's rank: the pegging game, in which nobody has discarded."""


def views_at(
    game: PlayGame,
    decisions: np.ndarray,
    role: int,
    game_ids: np.ndarray,
    n_laid: int = 8,
    starter: int = NO_STARTER,
) -> PlayerViews:
    """What the player sees at decisions (D,), in games of these ids (D,), or when only ``n_laid`` cards were laid.

    The opponent's cards that the player does not see are the highest that there are, which fit no more after a go than
    before. Beside a starter of a rank both players have discarded two of the lowest cards that are left.
    """
    n = len(decisions)
    games = np.zeros(n, GAME)
    games["fewer"] = 4 - game.cards
    _set_up(games, game.histories, decisions, n_laid, role, starter)
    return views_of(games, np.arange(n), np.full(n, role), game_ids)


def laid_by(game: PlayGame, decisions: np.ndarray, role: int) -> np.ndarray:
    """(D, 8) bool, which of the cards laid before decisions (D,) were this role's."""
    by = game.histories[decisions["node"]]
    return (by >= 0) & (by >> 4 == role)


def add_to_policy(game: PlayGame, decisions: np.ndarray, chances: np.ndarray, weights: np.ndarray) -> None:
    """Adds how likely each rank is laid (D, 52) at decisions (D,), times their weight, to a policy's slots (S,)."""
    _add(game.nodes, decisions, chances, HAND_TABLES, weights)


@kernel
def number_of(hand, hands):
    """The number of a hand of cards among the hands of ranks of its size."""
    number, k = np.int64(0), 0
    while hand:
        number = np.int64(hands.with_rank[k, lowest(hand) % 13, number])
        k += 1
        hand &= hand - 1
    return number


@kernel
def _cards_laid(decisions, chances, row, card):
    """Writes which cards may be laid at which decisions; returns how many."""
    n = 0
    for i in range(len(decisions)):
        rest = decisions[i]["hand"]
        while rest:
            row[n], card[n] = i, lowest(rest)
            n += chances[i, card[n]] != 0
            rest &= rest - 1
    return n


@kernel
def _add(nodes, decisions, chances, hands, weights):
    for i in range(len(decisions)):
        node, hand = nodes[decisions[i]["node"]], decisions[i]["hand"]
        low, k = node["floor"][node["actor"]], popcount(hand)
        n_left = hands.n_hands[k - 1, low]
        rest = hand
        while rest:
            card = lowest(rest)
            rest &= rest - 1
            rank = card % 13
            if rank < node["high"] and chances[i, card] > 0:  # cards of one rank are the same choice
                slot = node["first_slot"] + (rank - low) * n_left + number_of(hand ^ bit(card), hands)
                weights[slot] += decisions[i]["weight"] * chances[i, card]


@kernel
def has_choices(hand):
    """Whether a hand has two ranks."""
    rank = lowest(hand) % 13 if hand else 0
    while hand:
        if lowest(hand) % 13 != rank:
            return True
        hand &= hand - 1
    return False


@kernel
def child(tree, node, rank):
    """Where laying a rank leads, or go if the rank is that of ``high``."""
    return tree.links[node["first_link"] + rank - min(node["floor"][node["actor"]], node["high"])]["to"]


@kernel
def _free(cards, rank):
    """How many cards of a rank are not among ``cards``."""
    n = 4
    for suit in range(4):
        n -= (cards >> (13 * suit + rank)) & 1
    return n


@kernel
def _take(cards, rank, k):
    """The k-th card of a rank that is not among ``cards``, from the lowest suit."""
    for suit in range(4):
        card = 13 * suit + rank
        if not (cards >> card) & 1:
            if not k:
                return card
            k -= 1
    return -1


@kernel
def _forget(decision, suits):
    """Renames suits so that decisions that look the same are equal."""
    hand, ordered, kept = decision["hand"], np.int64(0), np.int64(0)
    to = -1
    for suit in range(4):
        of_suit = (hand >> (13 * suit)) & 0x1FFF
        if of_suit:
            to += 1
            ordered |= of_suit << (13 * to)
    hand = ordered
    if suits == 0:
        while ordered:
            kept |= bit(_take(kept, lowest(ordered) % 13, 0))
            ordered &= ordered - 1
        hand = kept
    decision["hand"] = hand
    for k in range(decision["n_laid"]):
        card = _take(hand, decision["laid"][k] % 13, 0)
        decision["laid"][k] = card
        hand |= bit(card)


@kernel
def _lay(tree, decisions, cards, chances, suits):
    """Lays a card at each decision, with this chance (D,); a node below 0 means that nothing remains to be decided."""
    for i in range(len(decisions)):
        decision = decisions[i]
        node = tree.nodes[decision["node"]]
        decision["node"] = child(tree, node, cards[i] % 13)
        decision["weight"] *= chances[i]
        decision["hand"] ^= bit(cards[i])
        decision["laid"][decision["n_laid"]] = cards[i]
        decision["n_laid"] += 1
        if not has_choices(decision["hand"]):
            decision["node"] = -1
        elif suits < 2:
            _forget(decision, suits)


def _next(game: PlayGame, role: int, after: np.ndarray) -> np.ndarray:
    """The first decisions at these public states, where it may be anybody's turn, or after them."""
    stack, here = np.zeros(_TO_LAY, DECISION), np.zeros(1, DECISION)
    n = _follow(game.tree, after, role, stack, here, np.zeros(0, DECISION))
    found = np.zeros(n, DECISION)
    _follow(game.tree, after, role, stack, here, found)
    return found


@kernel
def _follow(tree, after, role, stack, here, found):
    """Fills ``found`` as far as it goes; returns how many decisions there are. ``here`` is (1,), to work in."""
    n, one = 0, here[0]
    for i in range(len(after)):
        if not has_choices(after[i]["hand"]):
            continue
        stack[0] = after[i]
        n_stack = 1
        while n_stack:
            n_stack -= 1
            here[0] = stack[n_stack]
            node, hand = tree.nodes[one["node"]], one["hand"]
            high, is_own = np.int64(node["high"]), node["actor"] == role
            if is_own:
                fitting = _fitting(hand, high)
                if popcount(fitting) > 1:
                    if n < len(found):
                        found[n] = one
                    n += 1
                    continue
                if fitting:
                    to = child(tree, node, lowest(fitting) % 13)
                    if to >= 0 and has_choices(hand ^ fitting):
                        stack[n_stack] = one
                        _moves(stack[n_stack], to, lowest(fitting))
                        stack[n_stack]["hand"] ^= fitting
                        n_stack += 1
                    continue
            else:
                seen = hand
                for k in range(one["n_laid"]):
                    seen |= bit(one["laid"][k])
                for rank in range(node["floor"][1 - role], high):
                    free, to = _free(seen, rank), child(tree, node, rank)
                    if free and to >= 0:
                        word = mix(one["word"] + np.uint64(to) * GOLDEN)
                        stack[n_stack] = one
                        _moves(stack[n_stack], to, _take(seen, rank, below(word, free)))
                        n_stack += 1
            if high < 13:
                to = child(tree, node, high)
                if to >= 0:
                    stack[n_stack] = one
                    stack[n_stack]["node"] = to
                    n_stack += 1
    return n


@kernel
def _fitting(hand, high):
    """The cards of the ranks below ``high``."""
    fitting = np.int64(0)
    while hand:
        if lowest(hand) % 13 < high:
            fitting |= hand & -hand
        hand &= hand - 1
    return fitting


@kernel
def _moves(decision, to, card):
    decision["node"] = to
    decision["laid"][decision["n_laid"]] = card
    decision["n_laid"] += 1


@kernel
def _discard_lowest(cards, known):
    """Fills the discards of both seats with the lowest cards that are not known."""
    card = np.int64(0)
    for k in (4, 5, 10, 11):
        while (known >> card) & 1:
            card += 1
        cards[k] = card
        card += 1


@kernel
def _set_up(games, histories, decisions, n_laid, role, starter):
    """Plays games until ``n_laid`` cards are laid. Pone is seat 0."""
    for i in range(len(decisions)):
        g, decision, by = games[i], decisions[i], histories[decisions[i]["node"]]
        own, other = decision["hand"], np.int64(0)
        for k in range(decision["n_laid"]):
            if by[k] >> 4 == role:
                own |= bit(decision["laid"][k])
            else:
                other |= bit(decision["laid"][k])
        rank, cut = np.int64(KING), np.int64(0)
        n_cards = 4 - g["fewer"]
        if starter >= 0:  # where it cannot be of this rank, the deal cannot be, and any starter does
            while not _free(own | other, (starter + cut) % N_RANKS):
                cut += 1
            cut = bit(_take(own | other, (starter + cut) % N_RANKS, 0))
        while popcount(other) < n_cards:
            if _free(own | other | cut, rank):
                other |= bit(_take(own | other | cut, rank, 0))
            else:
                rank -= 1
        if starter >= 0:
            _discard_lowest(g["cards"], own | other | cut)
            g["cards"][12] = lowest(cut)
        for k in range(n_cards):
            g["cards"][6 * role + k], g["cards"][6 * (1 - role) + k] = lowest(own), lowest(other)
            own &= own - 1
            other &= other - 1
        begin_game(g, PLAY_EPISODE if starter >= 0 else PEGGING_EPISODE, DEALER, 0, 0, -1)
        begin_deal(g)
        g["decisions"] = 4 if starter >= 0 else 0
        for k in range(min(decision["n_laid"], n_laid)):
            act(g, decision["laid"][k])
