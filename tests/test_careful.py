"""The careful player against its rule in plain Python, in the discard and in the play."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from crib_env import crib_distribution, format_card, hand_distribution, parse_card, parse_cards
from crib_env.exact.discard_means import HAND_SCALE
from crib_env.players.policies import (
    careful_discard,
    careful_play,
    expected_reply,
    greedy_discard,
    greedy_play,
)
from tests.helpers import plain_play
from tests.helpers.positions import PAIRINGS, mask, positions
from tests.helpers.reference import rank, value
from tests.helpers.six_cards import KINDS, six_cards

# The discard: the best exact mean of the hand plus one's own crib or minus the opponent's; ties go to the first ids.


def totals(six, is_dealer):
    """By pair, on the crib's scale, from the whole distributions: whole numbers, so that ties are exact."""
    points = np.arange(30)
    hands, cribs = hand_distribution([six])[0] @ points * HAND_SCALE, crib_distribution([six])[0] @ points
    values = hands + cribs if is_dealer else hands - cribs
    return dict(zip(combinations(sorted(six), 2), values.tolist()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_dealer", [False, True])
def test_the_pair_of_move_has_the_best_exact_mean(kind, is_dealer):
    rng = np.random.default_rng(KINDS.index(kind))
    n_ties = n_other_than_greedy = 0
    for _ in range(60):
        six = six_cards(kind, rng)
        by_pair = totals(six, is_dealer)
        best = max(by_pair, key=by_pair.get)  # the first of the best
        n_ties += list(by_pair.values()).count(by_pair[best]) > 1
        assert careful_discard(mask(six), 0, is_dealer) == best[0]
        assert careful_discard(mask(six) ^ mask(best[:1]), mask(best[:1]), is_dealer) == best[1]
        n_other_than_greedy += greedy_discard(mask(six), 0, is_dealer) != best[0]

        discarded = int(rng.choice(six))  # any card, of which the best is to be made
        rest = max((pair for pair in by_pair if discarded in pair), key=by_pair.get)
        (second,) = set(rest) - {discarded}
        assert careful_discard(mask(six) ^ mask([discarded]), mask([discarded]), is_dealer) == second
    assert (n_other_than_greedy == 0) == is_dealer  # only pone differs, because it counts the opponent's crib
    if kind == "fives and tens":
        assert n_ties > 0


def replied(pile, cards):
    """The kernel's result, with cards of an older count before the pile."""
    ranks = np.full(9, 4)
    ranks[2 : 2 + len(pile)] = pile
    return expected_reply(ranks, 2, 2 + len(pile), sum(map(value, pile)), cards)


def random_pile(rng):
    """Ranks that may lie in one count, often of few kinds."""
    pile = []
    few = rng.choice(13, int(rng.integers(2, 14)), replace=False)
    for card in rng.choice(few, int(rng.integers(1, 6))).tolist():
        if sum(map(value, [*pile, card])) <= 31 and pile.count(card) < 4:
            pile.append(card)
    return pile


@pytest.mark.parametrize("cards", [0, 1, 2, 3, 4])
def test_the_expected_reply_equals_its_plain_definition(cards):
    rng = np.random.default_rng(cards)
    values = []
    for _ in range(150):
        pile = random_pile(rng)
        values.append(replied(pile, cards))
        assert values[-1] == pytest.approx(plain_play.expected_reply(tuple(pile), cards), abs=1e-12), pile
    assert (min(values) < 0 < max(values)) == (cards > 0)


@pytest.mark.parametrize(
    ("pile", "cards", "reply"),
    [
        ("TC 5C", 0, 0.0),  # the opponent has no cards
        ("TC KC JC AC", 4, -1.0),  # thirty-one: nothing fits
        ("TC JC KC", 1, 2 / 13 - 12 / 13),  # an ace makes thirty-one, anything else is a go
        ("TC KC", 1, 2 / 13),  # a pair, and everything fits
        ("2C 2C", 1, 6 / 13),  # three of a kind
        ("2C 2C", 3, 6 * (1 - (12 / 13) ** 3)),
        ("2C 2C 2C 2C", 1, 2 / 13 - 1 / 13),  # a seven makes fifteen; there is no fifth two, which is taken for a go
        ("5C 9C", 1, 1 / 13 * 2 + 12 / 13 * 1 / 13 * 2),  # an ace or a pair
    ],
)
def test_known_replies(pile, cards, reply):
    ranks = [rank(parse_card(card)) for card in pile.split()]
    assert replied(ranks, cards) == pytest.approx(reply)


def plain_careful_play(legal, pile, opponent_cards):
    ranks = tuple(map(rank, pile))
    worth = {card: plain_play.careful_value(ranks, rank(card), opponent_cards) for card in legal}
    return min(card for card in legal if worth[card] > max(worth.values()) - 1e-9)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_card_laid_follows_the_rule(pairing):
    n_choices = n_other_than_greedy = 0
    for position in positions(60, seed=1, pairing=pairing):
        pile = [card for _, card in position.laid[position.pile_start :]]
        count = sum(map(value, pile))
        legal = [card for card in position.held if count + value(card) <= 31]
        laid = np.full(8, -1, np.int8)
        laid[: len(position.laid)] = [card for _, card in position.laid]
        place = mask(legal), laid, position.pile_start, len(position.laid), count
        card = careful_play(*place, len(position.hidden))
        assert card == plain_careful_play(legal, pile, len(position.hidden)), position
        n_choices += len({rank(card) for card in legal}) > 1
        n_other_than_greedy += rank(card) != rank(greedy_play(*place))
    assert n_choices > 100
    assert n_other_than_greedy > 20


@pytest.mark.parametrize(
    ("legal", "pile", "opponent_cards", "card"),
    [
        ("5C 9D", "", 4, "9D"),  # a five is answered with fifteen
        ("5C 9D", "", 0, "5C"),  # by nobody: the lowest id
        ("4C 7D", "8S", 3, "7D"),  # fifteen at once
        ("6D KD", "TS", 3, "6D"),  # either is answered by its pair alone: the lowest id
        ("TD 6H", "TS", 0, "TD"),  # the pair is worth more than nothing
        ("AH 4C", "TS KS QC", 2, "AH"),  # thirty-one
        ("3D TD", "8S", 3, "3D"),  # after the ten, a nine makes a run
        ("KS KC", "2D", 3, "KC"),  # the lowest id
    ],
)
def test_known_choices(legal, pile, opponent_cards, card):
    pile = parse_cards(pile)
    laid = np.full(8, -1, np.int8)
    laid[: len(pile)] = pile
    chosen = careful_play(mask(parse_cards(legal)), laid, 0, len(pile), sum(map(value, pile)), opponent_cards)
    assert format_card(chosen) == card
