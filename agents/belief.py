"""What the opponent may hold in the play, and estimates of the rest of a deal: the crib, the chance to win.

Suits do not matter in the play, so a hand is packed (:mod:`crib_env.agents.lookahead`). Its probability is proportional
to how often a sensible opponent keeps it (:class:`crib_env.tables.shipped.CribTables`), times the ways to draw it from
the unseen cards, times the likelihood of the cards that the opponent has laid. A go, or a count that ended below 31,
excludes hands.

The opponent has one of two types, which the cards laid in this deal tell apart. Most look one card ahead and choose by
a softmax (``CAREFUL_TYPE``); some always take the most points at once (``GREEDY_TYPE``). They are the simple players
among whom the solver can solve the play (:func:`simple_policy`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env.agents.lookahead import one_of, packed, that_fit, ways_to_draw, without_rank
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.hands import FOUR_SIZES, FOURS, HAND_TABLES, HANDS, N_FOURS, N_RANKS
from crib_env.hands import packed as packed_ranks
from crib_env.kernels import bit, kernel, lowest
from crib_env.players.hidden import DECK
from crib_env.players.policies import expected_reply
from crib_env.scoring import COUNT_LIMIT, add_rank, card_value, pile_points, rank_points, show_points
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, COUNT, N_FIELDS, N_PILE, lay_rank, say_go
from crib_env.tables.deal_chances import fill_before_crib
from crib_env.tables.shipped import standard_cribs

CAREFUL_TYPE, GREEDY_TYPE = range(2)
KINDS = 2
GREEDY_SHARE = 0.2  # of all opponents
_CARE = 0.7  # the weight of a point of the expected reply to a careful player
_TEMPERATURE = 0.5  # points: a careful player lays a card that is this much worse 1/e times as often
SLIP = 0.02  # how often a greedy player lays some other card
_UNUSUAL = 0.03  # how often an opponent keeps any four, as if at random

ONES = np.int64(0x1111111111111)
_SPARE = 8 * ONES  # the spare bit of each rank: a count up to 4 needs only three of four bits
_FOURS = packed_ranks(FOURS)
_WALK = np.lexsort(FOURS.T)  # hands that share high ranks together: a part of them, spread evenly, has all kinds
MOST_HANDS = KINDS * N_FOURS


class Hands(NamedTuple):
    """Hands that the opponent may hold, from the start of arrays (``MOST_HANDS``,)."""

    held: np.ndarray  # int64, cards still held, packed
    weights: np.ndarray  # float64, how likely each is
    numbers: np.ndarray  # int64, of all four cards kept
    kinds: np.ndarray  # int64, the kind of opponent


def keeping_weights(kept: np.ndarray) -> np.ndarray:
    """The probability of keeping one given set of four cards, by its number (1820,), up to a factor.

    Args:
        kept: (1820,) how often each class is kept, of :class:`crib_env.tables.shipped.CribTables`.
    """
    anything = FOUR_SIZES / FOUR_SIZES.sum()
    return ((1 - _UNUSUAL) * kept + _UNUSUAL * anything) / FOUR_SIZES


@kernel
def weigh_cards(present, pile, start, n, count, other_cards, care, greed):
    """How attractive each of the ranks ``present`` (packed) is to a careful and to a greedy player who is to lay.

    Args:
        pile: at least ``n + 2`` ranks; from ``start`` to ``n`` those of this count, from ``n`` on overwritten.
        other_cards: how many cards the other player holds.
        care, greed: (13,) to be filled: relative chances for careful players, an order for greedy ones.
    """
    while present:
        rank = lowest(present) >> 2
        present = without_rank(present, rank)
        value = card_value(rank)
        pile[n] = rank
        points = pile_points(pile, start, n + 1, count + value)
        reply = expected_reply(pile, start, n + 1, count + value, other_cards)
        care[rank] = np.exp((points - _CARE * reply) / _TEMPERATURE)
        greed[rank] = 16 * points + value


@kernel
def careful_choice(hand, care, least):
    """What a careful holder of ``hand`` (the playable part) considers: cards that it would lay with a probability of
    at least ``least``. Returns the least ``care`` of such a card, and the sum over them."""
    total, rest = 0.0, hand
    while rest:
        other = lowest(rest) >> 2
        rest = without_rank(rest, other)
        total += care[other]
    considered, rest = 0.0, hand
    while rest:
        other = lowest(rest) >> 2
        rest = without_rank(rest, other)
        if care[other] >= least * total:
            considered += care[other]
    return least * total, considered


@kernel
def greedy_chance(rank, hand, greed, slip):
    """The same for a greedy holder, who lays any other card with probability ``slip`` in all."""
    equals, ranks, rest, beaten = 0, 0, hand, False
    while rest:
        other = lowest(rest) >> 2
        rest = without_rank(rest, other)
        ranks += 1
        equals += greed[other] == greed[rank]
        beaten = beaten or greed[other] > greed[rank]
    return slip / ranks + (0.0 if beaten else (1 - slip) / equals)


@kernel
def _gather_evidence(laid, laid_by, n, fresh, moves, care, greed, barred):
    """What the play so far says about the opponent's cards: how many moves it made, and rows of ``barred``.

    Args:
        laid, laid_by: cards, and who laid them (0 this player, 1 the opponent); ``n`` of them.
        fresh: whether the count is zero again now.
        moves: (4, 2) to be filled: rank laid by the opponent, and the count before it.
        care, greed: (4, 13) to be filled as by :func:`weigh_cards`, for all ranks that could have been laid.
        barred: (9, 2) to be filled: how much was left to 31 when no card of the opponent fitted, and how many it had
            laid then.
    """
    pile = np.zeros(10, np.int64)
    start, count, n_moves, n_barred, own_cards = 0, 0, 0, 0, 4
    for k in range(n + 1):
        value = card_value(laid[k] % 13) if k < n else 0
        over = count + value > COUNT_LIMIT or count == COUNT_LIMIT or (k == n and fresh)  # the count has ended
        own_last = k > 0 and laid_by[k - 1] == 0
        # The player laid twice running: the opponent said go. The count ended below 31: nobody could lay.
        go = own_last and (k == n or laid_by[k] == 0)
        if k > start and count < COUNT_LIMIT and (over or go):
            barred[n_barred, 0], barred[n_barred, 1] = COUNT_LIMIT - count, n_moves
            n_barred += 1
        if over:
            start, count = k, 0
        if k == n:
            break
        if laid_by[k] == 1:
            moves[n_moves, 0], moves[n_moves, 1] = laid[k] % 13, count
            weigh_cards(that_fit(ONES, count), pile, start, k, count, own_cards, care[n_moves], greed[n_moves])
            n_moves += 1
        else:
            own_cards -= 1
        pile[k] = laid[k] % 13
        count += value
    return n_moves, n_barred


@kernel
def _removed(hand, part):
    """A packed hand without the cards of another; -1 if it does not hold them all."""
    left = (hand | _SPARE) - part  # no rank borrows from the next: there are at most four of it
    return left ^ _SPARE if left & _SPARE == _SPARE else np.int64(-1)


@kernel
def posterior(own_six, starter, laid, laid_by, n, fresh, keeping, hands):
    """Fills every hand that the opponent may hold, and how likely it is; returns how many there are.

    Args:
        own_six: mask of the own six cards, or of the four of the pegging episode.
        starter: its id; -1 where it is not known, or there is none.
        laid, laid_by, n, fresh: as :func:`_gather_evidence`.
        keeping: (1820,) of :func:`keeping_weights` for the opponent's role; or ones, for all sets of four alike.
        hands: :class:`Hands` to be filled, with weights that add up to 1.
    """
    seen = own_six | (bit(starter) if starter >= 0 else np.int64(0))
    shown = np.zeros(5, np.int64)  # the opponent's cards laid, packed, after each of its moves
    n_shown = 0
    for k in range(n):
        if laid_by[k] == 1:
            seen |= bit(laid[k])
            shown[n_shown + 1] = shown[n_shown] + one_of(laid[k] % 13)
            n_shown += 1
    unseen = packed(DECK & ~seen)
    moves, barred = np.zeros((4, 2), np.int64), np.zeros((9, 2), np.int64)
    care, greed = np.zeros((4, 13)), np.zeros((4, 13), np.int64)
    n_moves, n_barred = _gather_evidence(laid, laid_by, n, fresh, moves, care, greed, barred)

    size, total = 0, 0.0
    for number in _WALK:
        held = _removed(_FOURS[number], shown[n_shown])
        if held < 0:
            continue
        ways = ways_to_draw(held, unseen)
        allowed = ways > 0
        for k in range(n_barred):
            allowed = allowed and not that_fit(_FOURS[number] - shown[barred[k, 1]], COUNT_LIMIT - barred[k, 0])
        if not allowed:
            continue
        for kind in range(KINDS):
            weight = keeping[number] * ways * (GREEDY_SHARE if kind == GREEDY_TYPE else 1 - GREEDY_SHARE)
            for k in range(n_moves):
                then = that_fit(_FOURS[number] - shown[k], moves[k, 1])
                if kind == CAREFUL_TYPE:
                    weight *= care[k, moves[k, 0]] / careful_choice(then, care[k], 0.0)[1]
                else:
                    weight *= greedy_chance(moves[k, 0], then, greed[k], SLIP)
            hands.held[size], hands.weights[size] = held, weight
            hands.numbers[size], hands.kinds[size] = number, kind
            total += weight
            size += 1
    for k in range(size):
        hands.weights[k] /= total
    return size


@kernel
def resample(size, most, hands):
    """Keeps at most ``most`` hands, their weights whole multiples of one weight, spread evenly; returns how many."""
    if size <= most:
        return size
    held, weights, numbers, kinds = hands
    passed, taken, kept = 0.0, 0, 0
    for k in range(size):
        passed += weights[k]
        times = 0
        while taken < most and taken + 0.5 < passed * most:
            times += 1
            taken += 1
        if times:
            held[kept], numbers[kept], kinds[kept] = held[k], numbers[k], kinds[k]
            weights[kept] = times / most
            kept += 1
    return kept


# The third row of ``Habits.keeping``: in a hand that was dealt, not kept of six, all sets of four are equally likely.
DEALT = len(ROLES)


class Habits(NamedTuple):
    """How players discard, by the role of the player who estimates the opponent's cards."""

    keeping: np.ndarray  # (3, 1820), ``keeping_weights`` of the opponent; then `DEALT`
    discarding: np.ndarray  # (2, 13, 13), how likely it is to discard a given pair of cards, by ranks, up to a factor


@cache
def habits() -> Habits:
    """The habits of the shipped tables."""
    tables, ways = standard_cribs(), np.full((13, 13), 16.0)
    ways[np.diag_indices(13)] = 6.0
    anything = ways / 1326
    return Habits(
        np.stack([*(keeping_weights(tables.kept[other]) for other in (DEALER, PONE)), np.ones(N_FOURS)]),
        np.stack([(0.97 * tables.share[other] + 0.03 * anything) / ways for other in (DEALER, PONE)]),
    )


@kernel
def cards_laid(views, b, by):
    """The mask of the cards that the player (``by`` 0) or the opponent (1) of decision ``b`` has laid."""
    cards = np.int64(0)
    for k in range(views.n_laid[b]):
        if views.laid_by[b, k] == by:
            cards |= bit(views.laid[b, k])
    return cards


@kernel
def crib_chances(own_six, discarded, starter, seen, pair_chances, chances):
    """Fills the probabilities (30,) of the crib's points, from how often the opponent discards each pair of ranks.

    The own six cards, the discards among them, and all other cards seen are masks; ``pair_chances`` is (13, 13) of
    :class:`Habits`.
    """
    chances[:] = 0.0
    known = own_six | seen | bit(starter)
    total = 0.0
    for first in range(52):
        if (known >> first) & 1:
            continue
        for second in range(first):
            if not (known >> second) & 1:
                weight = pair_chances[first % 13, second % 13]
                chances[show_points(discarded | bit(first) | bit(second), starter, True)] += weight
                total += weight
    chances /= total


@kernel
def fill_after_play(is_dealer, scores, most, own_show, crib, win_table, out):
    """Fills ``out`` (121, 150) with the chance to win, by own score after the play and the opponent's after its show,
    for scores up to ``most`` points above ``scores`` (both pairs, own first)."""
    (own_score, score), (own_most, others_most) = scores, most
    last, most_shown = min(own_score + own_most + 1, WIN), min(score + others_most + 1, WIN) + N_POINTS - 1
    here = out[own_score:last, score:most_shown]
    fill_before_crib(own_score + own_show, score, crib, is_dealer, win_table, here)


@kernel
def hand_show(number, starter):
    """Points of a class of four ranks with a starter, without flush and nobs; 0 if there is no starter, and no show."""
    if starter < 0:
        return np.int64(0)
    ranks, sums = add_rank(np.int64(0), np.int64(1), starter % 13)
    for place in range(4):
        ranks, sums = add_rank(ranks, sums, FOURS[number, place])
    return rank_points(ranks, sums)


def simple_policy(game: PlayGame, start: np.ndarray) -> np.ndarray:
    """How opponents of both types together play, as a policy for the solver.

    Returns:
        (S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
    """
    greedy, careful, both = (np.zeros(game.extent.slots, np.float32) for _ in range(3))
    hands = np.zeros((len(HANDS), N_FOURS), np.int64)  # by number of cards and hand
    for k, of_size in enumerate(HANDS):
        hands[k, : len(of_size)] = packed_ranks(of_size)
    _fill_types(game.tree, start, HAND_TABLES, hands, greedy, careful)
    for role in (PONE, DEALER):
        game.blend((greedy, careful), GREEDY_SHARE, role, both)
    return both


@kernel
def _fill_types(tree, start, hands, all_hands, greedy, careful):
    states = np.empty((len(tree.nodes), N_FIELDS), np.int64)
    states[0] = start
    care, greed, pile = np.empty(N_RANKS), np.empty(N_RANKS, np.int64), np.empty(10, np.int64)
    for at in range(len(states)):
        node, s = tree.nodes[at], states[at]
        role = np.int64(node["actor"])
        k, low, high = np.int64(node["n_cards"][role]), np.int64(node["floor"][role]), np.int64(node["high"])
        for rank in range(min(low, high), high + (high < N_RANKS)):
            child = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if child >= 0:
                states[child] = s
                if rank < high:
                    lay_rank(states[child], rank)
                else:
                    say_go(states[child])
        if k < 2 or low >= high:
            continue
        present = np.int64(0)
        for rank in range(low, high):
            present += one_of(rank)
        for n in range(s[N_PILE]):
            pile[n] = s[n]
        weigh_cards(present, pile, np.int64(0), s[N_PILE], s[COUNT], s[CARDS + 1 - role], care, greed)
        slot, n_left = node["first_slot"], hands.n_hands[k - 1, low]
        fits = present * 15
        for rank in range(low, high):
            for left in range(n_left):
                careful[slot + left] = care[rank]
                hand = all_hands[k, hands.with_rank[k - 1, rank, left]]
                greedy[slot + left] = greedy_chance(rank, hand & fits, greed, SLIP)
            slot += n_left
