"""Anderson et al. (2022), the heuristic player: each rule alone, and that no rule sacrifices a good hand."""

import numpy as np
import pytest

import crib_env
from crib_env import discard_statistics, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.choosing import six_dealt
from crib_env.agents.heuristic import DEALER_RULES, PONE_RULES, keeps_double_run, preferences
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams


def place_of(six, discarded):
    """Hands (1, 6), and the number of one discard."""
    cards = sorted(parse_cards(six))
    return np.array([cards]), [[cards[i], cards[j]] for i, j in PLACES].index(sorted(parse_cards(discarded)))


@pytest.mark.parametrize(
    ("six", "discarded", "keeps"),
    [
        ("3C 4H 4S 5D TC KH", "TC KH", True),
        ("3C 4H 4S 5D TC KH", "3C KH", False),
        ("3C 4H 5S 6D TC KH", "TC KH", False),  # a run of four is no double run
    ],
)
def test_a_double_run_is_seen(six, discarded, keeps):
    hands, place = place_of(six, discarded)
    assert keeps_double_run(hands)[0, place] == keeps


@pytest.mark.parametrize(
    ("rules", "words", "discarded", "times"),
    [
        (DEALER_RULES, "fives", "5C 5H", 2),
        (DEALER_RULES, "fives", "5C KH", 1),
        (DEALER_RULES, "fifteens", "5C TC", 1),
        (DEALER_RULES, "fifteens", "6S 9D", 1),
        (DEALER_RULES, "fifteens", "7C 9D", 0),
        (DEALER_RULES, "pair", "7C 7H", 1),
        (DEALER_RULES, "d 7-8", "7C 8H", 1),
        (DEALER_RULES, "d 7-8", "7C 9D", 0),
        (DEALER_RULES, "make five", "2C 3H", 1),
        (DEALER_RULES, "make five", "4S AD", 1),
        (PONE_RULES, "no fives", "5C 2S", 1),
        (PONE_RULES, "no fifteens", "5C KH", 1),
        (PONE_RULES, "no pair", "TC TH", 1),
        (PONE_RULES, "makes five", "4S AD", 1),
        (PONE_RULES, "touching", "QC KH", 1),
        (PONE_RULES, "touching", "AD KH", 0),  # no round the corner
        (PONE_RULES, "gap of two", "TC QH", 1),
        (PONE_RULES, "3 4 7 8 J Q", "3H QH", 2),
        (PONE_RULES, "3 4 7 8 J Q", "AD TC", 0),
        (PONE_RULES, "one suit", "2C TC", 1),
        (PONE_RULES, "one suit", "2C AD", 0),
        (PONE_RULES, "far apart", "AD QH", 1),
        (PONE_RULES, "far apart", "TC 6D", 0),
    ],
)
def test_rules(rules, words, discarded, times):
    found = next(rule for rule in rules if words in rule.says)
    first, second = parse_cards(discarded)
    ranks = sorted((first % 13, second % 13))
    assert found.holds[(*ranks, int(first // 13 == second // 13))] == times


def test_preferences_add_up_the_rules_of_the_role():
    six, place = place_of("5C 5H 2S 9D TC TH", "5C TC")
    as_dealer, as_pone = preferences(np.repeat(six, 2, axis=0), np.array([True, False]))[:, place]
    assert as_dealer == pytest.approx(1.9 + 1.3)  # the ten and the five of the paper's example
    assert as_pone == pytest.approx(-1.9 - 1.3 - 0.1 + 0.1)  # of one suit, and far apart


def discards_from(six, *, dealer):
    """Both cards that the agent discards from six cards, as text."""
    cards = parse_cards(six)
    rest = [card for card in range(52) if card not in cards]
    env = crib_env.raw_env(episode="deal")
    deal = [*cards, *rest[:7]]
    env.reset(seed=0, options={"first_dealer": 0 if dealer else 1, "deals": [deal]})
    agent, discarded = make_agent("heuristic"), []
    while len(discarded) < 2:
        player = env.agent_selection
        card = int(agent.act(env.views(player))[0])
        if player == "player_0":
            discarded.append(card)
        env.step(card)
    return {crib_env.format_card(card) for card in discarded}


@pytest.mark.parametrize(
    ("six", "dealer", "discarded"),
    [
        ("6C 7H 7S 8D KC 2H", False, {"KC", "2H"}),  # a double run is kept
        ("2C 2H 9S TD JC QH", True, {"2C", "2H"}),  # a pair goes to the own crib where the hand does not suffer
        ("5C 5H 5S JD KC 2H", True, {"KC", "2H"}),  # fives would suit the crib, and no rule sacrifices a good hand
    ],
)
def test_known_discards(six, dealer, discarded):
    assert discards_from(six, dealer=dealer) == discarded


@pytest.mark.parametrize("name", ["heuristic", "strategy-weights:random"])
def test_plays_as_greedy_does_after_the_discard(name):
    batch, greedy = GameBatch(streams(3, 100), episode="deal"), make_agent("greedy")
    agent = make_agent(name)
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards = agent.act(views)
        playing = ~views.is_discard
        np.testing.assert_array_equal(cards[playing], greedy.act(views[playing]))
        batch.step(rows, cards)


def test_the_second_card_completes_a_pair_with_the_first_whatever_it_was():
    batch = GameBatch(streams(4, 200))
    agent, rows = make_agent("heuristic"), batch.acting()
    batch.step(rows, batch.native_cards(rows, 0))  # a random first card
    views = batch.views(rows)
    six = six_dealt(views)
    values = discard_statistics(six)["hand_mean"] + preferences(six, views.is_dealer)
    for k, card in enumerate(agent.act(views)):
        pairs = six[k][PLACES]
        fits = (pairs == views.discards[k, 0]).any(axis=1)
        chosen = {int(card), int(views.discards[k, 0])}
        value = next(values[k, p] for p in range(15) if set(pairs[p].tolist()) == chosen)
        assert value == pytest.approx(values[k][fits].max())
