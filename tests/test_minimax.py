"""Anderson et al. (2022), the minimax player, against brute force that is written down plainly here."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards, score_show_many
from crib_env.agents import make_agent
from crib_env.agents.choosing import six_dealt
from crib_env.agents.lookahead import Pile, least_value, look_ahead, new_levels, packed, possible_hands
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import N_FOURS
from crib_env.kernels import streams
from tests.helpers.hidden_cards import mask_of
from tests.helpers.reference import score_play, value

OWN, OTHER = 0, 1


def fits(pile, card):
    return sum(map(value, pile)) + value(card) <= 31


def after(pile, hands, player, card):
    """Lays a card: the points, the pile, the hands, and who is to lay next (``None`` when no card is left)."""
    pile = [*pile, card]
    hands = [[held for held in hand if held != card] for hand in hands]
    points = sum(points for points, _ in score_play(pile))
    other = 1 - player
    for following in (other, player):
        if any(fits(pile, held) for held in hands[following]):
            return points, pile, hands, following
    if sum(map(value, pile)) != 31:
        points += 1
    return points, [], hands, other if hands[other] else player if hands[player] else None


def net_of(pile, hands, player, card, depth):
    """What OWN makes less what OTHER makes, from a card and the next ``depth - 1``, both seeing both hands."""
    points, pile, hands, following = after(pile, hands, player, card)
    net = points if player == OWN else -points
    if depth == 1 or following is None:
        return net
    nets = [net_of(pile, hands, following, held, depth - 1) for held in hands[following] if fits(pile, held)]
    return net + (max(nets) if following == OWN else min(nets))


def pile_if_laid_so(laid, laid_by, hand, other):
    """The pile, if the players would have laid in this order with these cards still in hand; else ``None``."""
    hands = [[*hand, *laid[laid_by == OWN]], [*other, *laid[laid_by == OTHER]]]
    pile, player = [], int(laid_by[0]) if len(laid) else OWN
    for card, by in zip(laid, laid_by):
        if player != by or not fits(pile, card):
            return None
        _, pile, hands, player = after(pile, hands, player, card)
    return pile if player == OWN else None


def expected_nets(view, depth):
    """Mean net points of each legal card over every hand of the opponent that is possible, card by card."""
    laid = view.laid[0][view.laid[0] >= 0].astype(int)
    laid_by = view.laid_by[0][: len(laid)]
    hand = [int(card) for card in view.hand[0] if card >= 0]
    known = {*hand, *laid, *view.discards[0], view.starter[0]}
    totals, hands = Counter(), 0
    for other in combinations([card for card in range(52) if card not in known], int(view.opponent_cards[0])):
        pile = pile_if_laid_so(laid, laid_by, hand, other)
        if pile is not None:
            hands += 1
            for card in np.flatnonzero(view.action_mask[0]):
                totals[int(card)] += net_of(pile, [hand, list(other)], OWN, int(card), depth)
    return {card: total / hands for card, total in totals.items()}


def endings(opponent_cards, n):
    """Views of random play with so many opposing cards, in which something is to be decided."""
    found = []
    batch = GameBatch(streams(9, 60), episode="deal")
    while len(rows := batch.acting()):
        views = batch.views(rows)
        for k in np.flatnonzero((views.opponent_cards == opponent_cards) & ~views.is_discard):
            if len({int(card) % 13 for card in np.flatnonzero(views.action_mask[k])}) > 1:
                found.append(views[k : k + 1])
        batch.step(rows, batch.native_cards(rows, 0))
    return found[:n]


@pytest.mark.parametrize(("opponent_cards", "n"), [(0, 5), (1, 30), (2, 6), pytest.param(3, 4, marks=pytest.mark.slow)])
def test_endings_are_exact_and_three_cards_are_the_best_mean(opponent_cards, n):
    views = endings(opponent_cards, n)
    assert len(views) == n
    for view in views:
        is_whole = opponent_cards < 3 or np.count_nonzero(view.hand >= 0) == 2
        nets = expected_nets(view, depth=8 if is_whole else 3)
        assert nets[int(make_agent("minimax").act(view)[0])] == pytest.approx(max(nets.values()))


def open_hands(rng, n_own, n_other):
    cards = [int(card) for card in rng.choice(52, n_own + n_other, replace=False)]
    return cards[:n_own], cards[n_own:]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6, 8])
def test_look_ahead_is_minimax(depth):
    """From the lead to the end, many opposing hands in one walk, against one hand after the other."""
    rng = np.random.default_rng(depth)
    levels, ranks = new_levels(), np.zeros(8, np.int64)
    for sizes in ((4, 4), (3, 4), (2, 4), (4, 1)):
        own, _ = open_hands(rng, sizes[0], 0)
        others = [[card for card in rng.permutation(52).tolist() if card not in own][: sizes[1]] for _ in range(3)]
        levels[0]["rest"][:3] = [packed(mask_of(other)) for other in others]
        for card in own:
            n = 8 - sum(sizes)
            look_ahead(Pile(ranks, n, n, 0), packed(mask_of(own)), card % 13, depth, 3, levels)
            assert levels[0]["net"][:3].tolist() == [net_of([], [own, other], OWN, card, depth) for other in others]


def test_possible_hands_are_all_hands_by_ranks():
    unseen = parse_cards("AC AD AH 5C 9C 9D TC JC KH")
    hands, weights = np.zeros(N_FOURS, np.int64), np.zeros(N_FOURS, np.int64)
    for least in (1, 5, 10):
        for size in range(4):
            n = possible_hands(packed(mask_of(unseen)), least, size, hands, weights)
            allowed = [card for card in unseen if value(card) >= least]
            plain = Counter(int(packed(mask_of(hand))) for hand in combinations(allowed, size))
            assert dict(zip(hands[:n].tolist(), weights[:n].tolist())) == plain


@pytest.mark.parametrize(
    ("laid", "laid_by", "pile_start", "least"),
    [
        ("", "", 0, 1),
        ("TC JC", "01", 0, 1),
        ("TC JC 7D", "010", 0, 5),  # the opponent has just said go at 27
        ("TC JC 7D 2D", "0100", 0, 5),  # and again at 29: 5 rules out more than 3 does
        ("TC JC 7D 4D", "0100", 4, 5),  # thirty-one says nothing more
        ("TC JC 5D KD", "0101", 3, 7),  # nobody could go on at 25
        ("TC JC 5D", "010", 3, 7),  # the same, and this player leads
        ("TC JC 6D 5D KH", "01001", 4, 6),  # the go of the last count is remembered
    ],
)
def test_a_go_says_how_high_the_opponents_cards_are(laid, laid_by, pile_start, least):
    cards = np.full(8, -1)
    by = np.full(8, -1)
    cards[: len(laid_by)] = parse_cards(laid)
    by[: len(laid_by)] = [int(player) for player in laid_by]
    assert least_value(cards, by, pile_start, len(laid_by)) == least


def test_discards_by_hand_and_worst_or_best_crib():
    """As dealer hand plus minimum crib, as pone hand minus maximum crib, every crib counted one by one."""
    batch = GameBatch(streams(2, 2))
    pones = batch.acting()
    agent = make_agent("minimax")
    for step in range(4):
        views = batch.views(pones)
        cards = agent.act(views)
        if step % 2 == 1:
            six, discarded = six_dealt(views)[0], sorted([int(cards[0]), int(views.discards[0, 0])])
            unseen = np.setdiff1d(np.arange(52), six)
            rest = np.array([[a, b, c] for a, b in combinations(unseen, 2) for c in unseen if c not in (a, b)])
            hand = discard_statistics(six[None])["hand_mean"][0]
            values = []
            for k, (i, j) in enumerate(PLACES):
                pair = np.tile([six[i], six[j]], (len(rest), 1))
                cribs = score_show_many(np.hstack([pair, rest[:, :2]]), rest[:, 2], True)
                values.append(hand[k] + (int(cribs.min()) if views.is_dealer[0] else -int(cribs.max())))
            place = next(k for k, (i, j) in enumerate(PLACES) if sorted([six[i], six[j]]) == discarded)
            assert values[place] == pytest.approx(max(values))
        batch.step(pones, cards)
