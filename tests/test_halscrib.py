"""Mueller (1987), Halscrib: when each strategy applies, what it maximises, and mixed frequencies."""

from itertools import combinations

import numpy as np
import pytest

import crib_env.cards
from crib_env import parse_cards, score_show_many
from crib_env.agents import make_agent
from crib_env.agents.halscrib import (
    ANSWERS_PAIR,
    LEADS_PAIR,
    OPTIMAL,
    RISKY,
    SAFE,
    SURE,
    discard_situations,
    discard_values,
    play_situations,
)
from crib_env.evaluate.makers.papers.measures import Effort, optimal_share
from crib_env.exact.discard_statistics import PLACES


def situation(own, other, *, dealer, sure=4.0, hand=8.0, deal=None):
    deal = hand + (8.2 if dealer else 2.1) if deal is None else deal
    scores, role = np.array([[own, other]], np.int16), np.array([dealer])
    return discard_situations(scores, role, np.array([sure]), np.array([hand]), np.array([deal]))[0]


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [(30, 45, OPTIMAL), (30, 46, RISKY), (45, 30, OPTIMAL), (46, 30, SAFE), (60, 60, OPTIMAL)],
)
def test_a_margin_of_more_than_fifteen_decides(own, other, expected):
    for dealer in (True, False):
        assert situation(own, other, dealer=dealer) == expected
    assert play_situations(np.array([[own, other]], np.int16))[0] == expected


def test_safe_when_it_can_reach_game():
    assert situation(112, 100, dealer=False) == SAFE
    assert situation(106, 104, dealer=True) == SAFE
    assert situation(104, 100, dealer=False) == OPTIMAL


def test_four_cards_that_go_out_need_no_starter():
    assert situation(112, 100, dealer=False, sure=9) == SURE
    assert situation(112, 100, dealer=False, sure=8) == SAFE


def test_risky_when_the_opponent_counts_first_and_is_expected_to_reach_game():
    assert situation(115, 111, dealer=True) == RISKY
    assert situation(115, 110, dealer=True) == SAFE
    assert situation(95, 111, dealer=False) == RISKY  # by the margin alone: the opponent counts last


@pytest.mark.parametrize(("line", "other"), [(90, 110), (60, 110)])
def test_safe_when_the_hand_saves_a_skunk_and_the_opponent_is_expected_to_reach_game(line, other):
    assert situation(line - 7, other, dealer=False, hand=8) == SAFE  # exceeds the line
    assert situation(line - 8, other, dealer=False, hand=8) == RISKY  # reaches the line, which saves nothing
    assert situation(line + 1, other, dealer=False, hand=8) == RISKY  # is past it already
    assert situation(line - 7, other - 10, dealer=False, hand=8) == RISKY  # the opponent is not expected to go out


@pytest.mark.parametrize("line", [90, 60])
def test_risky_when_the_opponent_would_pass_a_skunk_line_first(line):
    assert situation(112, line - 5, dealer=True) == RISKY
    assert situation(112, line - 11, dealer=True) == SAFE  # is not expected to pass it
    assert situation(112, line + 1, dealer=True) == SAFE  # has passed it
    assert situation(112, line - 5, dealer=False) == SAFE  # counts last


@pytest.mark.parametrize("dealer", [True, False])
def test_the_seven_discard_strategies(dealer):
    """Each against all starters and all completions of the crib, counted one by one."""
    six = np.array(sorted(parse_cards("5H 6H 7H JH 2C KD")))
    unseen = np.setdiff1d(np.arange(52), six)
    rest = np.array([[a, b, c] for a, b in combinations(unseen, 2) for c in unseen if c not in (a, b)])
    values, ties, _ = discard_values(six[None], np.array([dealer]))
    for k in (0, 6, 14):
        pair = six[PLACES[k]]
        kept = np.setdiff1d(six, pair)
        hand = score_show_many(np.tile(kept, (46, 1)), unseen).astype(int)
        crib = score_show_many(np.hstack([np.tile(pair, (len(rest), 1)), rest[:, :2]]), rest[:, 2], True).astype(int)
        assert values[SAFE, 0, k] == pytest.approx(hand.mean() + (crib.mean() if dealer else -crib.max()))
        assert values[OPTIMAL, 0, k] == pytest.approx(hand.mean() + (crib.mean() if dealer else -crib.mean()))
        assert values[RISKY, 0, k] == pytest.approx(hand.max() + (crib.max() if dealer else -crib.min()))
        assert ties[SAFE, 0, k] == hand.min()
        assert ties[OPTIMAL, 0, k] == hand.max()
    place = [sorted(six[pair]) for pair in PLACES].index(sorted(parse_cards("2C KD")))
    assert values[SURE, 0, place] == 3 + 2 + 4  # a run, fifteen, a flush: without starter and crib


def views_of_play(hands, laid="", scores=(0, 0), n=1):
    """Views of ``n`` games in which seat 0 holds four given cards; seat 1 leads if cards are laid, else seat 0 does."""
    cards = parse_cards(hands)
    led = parse_cards(laid)
    unseen = [card for card in range(52) if card not in {*cards, *led}]
    env = crib_env.raw_env(episode="play")
    deal = [*cards, *unseen[:2], *led, *unseen[2 : 8 - len(led)], unseen[8]]
    env.reset(seed=0, options={"first_dealer": 1 if not led else 0, "deals": [deal], "scores": scores})
    for card in led:
        env.step(card)
    views = env.views(env.agent_selection)
    many = views[np.zeros(n, int)]
    many.game_ids[:] = np.arange(n)
    return many


def share_of(views, cards):
    return np.isin(make_agent("halscrib").act(views), parse_cards(cards)).mean()


def close(share, probability, n):
    return abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / n)


N = 2_000
SCORES = {SAFE: (60, 30), OPTIMAL: (40, 40), RISKY: (30, 60)}


@pytest.mark.parametrize("at", [SAFE, OPTIMAL, RISKY])
def test_a_pair_is_led_from_as_often_as_the_paper_says(at):
    views = views_of_play("4C 4D 9H KS", scores=SCORES[at], n=N)
    assert close(share_of(views, "4C 4D"), {SAFE: 0.8, OPTIMAL: 0.65, RISKY: 0.5}[at], N)
    assert LEADS_PAIR[at] == {SAFE: 0.8, OPTIMAL: 0.65, RISKY: 0.5}[at]


@pytest.mark.parametrize("at", [SAFE, OPTIMAL, RISKY])
def test_a_lead_is_paired_between_35_and_65_percent(at):
    views = views_of_play("9C KD 2H QS", laid="9D", scores=SCORES[at], n=N)
    assert close(share_of(views, "9C"), ANSWERS_PAIR[at], N)
    assert (np.diff(ANSWERS_PAIR[[SAFE, OPTIMAL, RISKY]]) > 0).all()
    assert (min(ANSWERS_PAIR), max(ANSWERS_PAIR)) == (0.35, 0.65)


def test_without_a_pair_the_best_card_is_led_every_time():
    views = views_of_play("4C 3D 9H KS", n=200)
    assert len(set(make_agent("halscrib").act(views).tolist())) == 1


def test_a_pair_of_fives_is_never_led():
    assert share_of(views_of_play("5C 5D 9H KS", n=200), "5C 5D") == 0


def test_safe_optimal_and_risky_play_choose_different_cards():
    """A king can be answered by 2 points at most, a nine nets most in the mean, a six may net 4, or lose a run."""
    views = views_of_play("AC 6D 9H KS", laid="7D", n=3)
    views.scores[:] = [SCORES[SAFE], SCORES[OPTIMAL], SCORES[RISKY]]
    assert crib_env.cards.format_cards(make_agent("halscrib").act(views)) == "KS 9H 6D"


# Pay-off matrices of the paper, Table I and Table II: the leader's, by lead from a pair or not, paired or not.
@pytest.mark.parametrize(
    ("matrix", "lead", "answer"), [((4, -2, -2, 2), 0.40, 0.40), ((0.40, -0.23, -0.25, 0.24), 0.44, 0.42)]
)
def test_equilibria_of_the_papers_tables(matrix, lead, answer):
    row, column = (optimal_share(Effort(1), matrix, k).value for k in range(2))
    assert row == pytest.approx(lead, abs=0.005)
    assert column == pytest.approx(answer, abs=0.005)


@pytest.mark.parametrize(
    ("matrix", "row", "column"), [((3, 2, 1, 0), 1, 0), ((0, 1, 2, 3), 0, 1), ((1, 1, 1, 1), 1, 1)]
)
def test_a_dominant_choice_is_not_mixed(matrix, row, column):
    assert [optimal_share(Effort(1), matrix, k).value for k in range(2)] == [row, column]
