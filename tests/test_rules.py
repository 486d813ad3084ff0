"""The rules of the American Cribbage Congress, one hand-built game after another.

player_0 is pone ("p") and player_1 the dealer ("d") in all of them. Moves are written "p:5C d:TD", which also says
whose turn it must be; points come back as "d 2 fifteen".
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.engine import PONE
from crib_env.kernels import streams
from tests.helpers.refusals import refused

WHO, KINDS = "pd", ("pone's hand", "dealer's hand", "crib")


def begin_play(pone, dealer, *, scores=(0, 0)):
    """The play alone, four cards each."""
    held = parse_cards(f"{pone} {dealer}")
    rest = [card for card in range(52) if card not in held][:5]
    env = raw_env(events=True, episode="play")
    env.reset(options={"first_dealer": 1, "scores": scores, "deals": [[*held[:4], *rest[:2], *held[4:], *rest[2:]]]})
    return env


def begin_deal(pone, dealer, starter, *, scores=(0, 0), **options):
    """A game in which each player has discarded the last two of six cards, so that a starter is cut."""
    env = raw_env(events=True, **options)
    env.reset(options={"first_dealer": 1, "scores": scores, "deals": [parse_cards(f"{pone} {dealer} {starter}")]})
    discarded = [*pone.split()[4:], *dealer.split()[4:]]
    heels = act(env, " ".join(f"{who}:{card}" for who, card in zip("ppdd", discarded)))
    return env, heels


def step(env, card):
    agent = env.agent_selection
    env.step(card)
    return [f"{WHO[event.player]} {event.points} {event.kind}" for event in env.infos[agent]["events"]]


def act(env, moves):
    """Discards or lays cards; what they pegged."""
    pegged = []
    for move in moves.split():
        who, card = move.split(":")
        assert not env.terminations[env.agent_selection], f"the game was over before {move}"
        assert env.agent_selection == f"player_{WHO.index(who)}", f"it was not {who}'s turn to lay {card}"
        pegged += step(env, parse_card(card))
    return pegged


def legal(env):
    mask = env.observe(env.agent_selection)["action_mask"]
    return {crib_env.format_card(card) for card in np.flatnonzero(mask)}


def is_over(env):
    return all(env.terminations.values())


def finish_deal(env):
    """Lays the lowest legal card until the deal is over; what that pegged."""
    dealer, pegged = env.dealer, []
    while env.dealer == dealer and not is_over(env):
        mask = env.observe(env.agent_selection)["action_mask"]
        pegged += step(env, int(np.flatnonzero(mask)[0]))
    return pegged


def show(pegged):
    """The counts of the show alone."""
    return [event for event in pegged if event.endswith(("hand", "crib"))]


# 1. The first dealer, and the scores.


def test_the_first_dealer_is_a_fair_coin():
    """For the first game of each seed, and for all games of one."""
    env = raw_env(events=True)
    of_seeds, of_one = [], []
    for seed in range(2000):
        env.reset(seed=seed)
        of_seeds.append(env.dealer)
    env.reset(seed=0)
    for _ in range(2000):
        env.reset()
        of_one.append(env.dealer)
    changes = [one != two for one, two in pairwise(of_one)]  # neither alternating nor stuck
    assert all(900 < sum(found) < 1100 for found in (of_seeds, of_one, changes))  # four and a half standard deviations


def test_the_first_dealer_may_be_given():
    env = raw_env(events=True)
    for seat in (0, 1, np.int64(1)):
        for seed in range(5):
            env.reset(seed=seed, options={"first_dealer": seat})
            assert env.dealer == seat
            assert env.agent_selection == f"player_{1 - seat}"


@pytest.mark.parametrize(("spread", "n"), [(0, 2_000), (10, 60_000)])
def test_start_spread_is_uniform_over_all_pairs_within_it(spread, n):
    assert not GameBatch(streams(0, 100)).games["scores"].any()  # nil unless a spread is given
    scores = GameBatch(streams(0, n), start_spread=spread).games["scores"]
    # Chi-square over the pairs; its standard deviation is the root of twice its degrees of freedom.
    pairs = [(a, b) for a in range(121) for b in range(121) if abs(a - b) <= spread]
    found = np.zeros((121, 121))
    np.add.at(found, (scores[:, 0], scores[:, 1]), 1)
    mean = n / len(pairs)
    chi_square = sum((found[pair] - mean) ** 2 for pair in pairs) / mean
    freedom = len(pairs) - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5
    assert sum(found[pair] for pair in pairs) == n


# 2. The deal and the discards.


def test_the_discards_leave_the_hand():
    env = raw_env(events=True)
    env.reset(options={"first_dealer": 1, "deals": [parse_cards("AC 2C 3C 4C 5C 6C AD 2D 3D 4D 5D 6D KS")]})
    assert legal(env) == {"AC", "2C", "3C", "4C", "5C", "6C"}
    act(env, "p:AC")
    assert legal(env) == {"2C", "3C", "4C", "5C", "6C"}
    act(env, "p:6C")
    assert legal(env) == {"AD", "2D", "3D", "4D", "5D", "6D"}
    act(env, "d:AD d:6D")
    assert legal(env) == {"2C", "3C", "4C", "5C"}  # pone leads


def test_the_deal_alternates():
    env = raw_env(events=True)
    env.reset(seed=4, options={"first_dealer": 1})
    dealers = []
    while not is_over(env):
        dealers.append(env.dealer)
        assert env.agent_selection == f"player_{1 - env.dealer}"
        finish_deal(env)
    assert len(dealers) > 3
    assert dealers == [(k + 1) % 2 for k in range(len(dealers))]


# 3. The starter. Here all cards but jacks have even ranks, so that nothing else scores in the show.

EVENS = ("2H 4C 8H TH 2C 4D", "2S 4S 8S TC 8D 6D")


HEELS = ["d 2 heels"]


@pytest.mark.parametrize(
    ("pone", "dealer", "starter", "heels", "shown"),
    [
        (*EVENS, "JD", HEELS, (0, 0, 0)),  # a starter jack is never nobs
        *((*EVENS, starter, [], (0, 0, 0)) for starter in ("QD", "KD")),
        ("JC 4C 8H TH 2C 4D", "JD 4S 8S TC 8D 6D", "KD", [], (0, 1, 0)),  # nobs is the jack of the starter's suit
        ("JC 4C 8H TH 2C 4D", "JD 4S 8S TC 8D 6D", "KC", [], (1, 0, 0)),
        ("2H 4C 8H TH 2C JD", EVENS[1], "KD", [], (0, 0, 1)),  # in the crib too
        # Four of a suit: pone holds hearts, the dealer spades, and the crib is all clubs.
        ("2H 4H 8H TH 2C 4C", "2S 4S 8S TS 8C TC", "KD", [], (4, 4, 0)),
        ("2H 4H 8H TH 2C 4C", "2S 4S 8S TS 8C TC", "KH", [], (5, 4, 0)),
        ("2H 4H 8H TH 2C 4C", "2S 4S 8S TS 8C TC", "KS", [], (4, 5, 0)),
        ("2H 4H 8H TH 2C 4C", "2S 4S 8S TS 8C TC", "KC", [], (4, 4, 5)),
        ("2H 4H 8H TC 2C 4C", "2S 4S 8S TS 8C 6D", "KH", [], (0, 4, 0)),  # with the starter's help they are no flush
        ("5C 5H 5S JD TC KH", "4C 6C 4D 6D QS 2C", "5D", [], (29, 24, 6)),
    ],
)
def test_heels_and_the_show_of_pone_then_the_dealer_then_the_crib(pone, dealer, starter, heels, shown):
    env, pegged = begin_deal(pone, dealer, starter, episode="deal")
    assert pegged == heels
    assert env.scores == (0, 2 * len(heels))
    assert env.agent_selection == "player_0"
    kinds = [f"{who} {points} {kind}" for who, points, kind in zip("pdd", shown, KINDS)]
    pegged = finish_deal(env)
    assert pegged[-3:] == show(pegged) == kinds


@pytest.mark.parametrize(("before", "points"), [(119, 2), (120, 1), (118, 0)])
def test_heels_can_win_the_game(before, points):
    env, heels = begin_deal(*EVENS, "JD", scores=(120, before))
    assert heels == [f"d {points or 2} heels"]  # the peg stops in the last hole
    assert is_over(env) == (points > 0)
    assert env.scores == (120, min(before + 2, 121))


# 4. The play: fifteens, pairs and runs.


def test_cards_that_pass_thirty_one_may_not_be_laid():
    env = begin_play("KC 9C 3C 2C", "QD 8D 7D AD")
    act(env, "p:KC d:QD")
    assert legal(env) == {"9C", "3C", "2C"}
    act(env, "p:9C")  # 29
    assert legal(env) == {"AD"}
    with refused("7D"):
        env.step(parse_card("7D"))


@pytest.mark.parametrize(
    ("pone", "dealer", "moves", "last"),
    [
        ("TC 9C 2C AC", "5D 8D 3D KD", "p:TC d:5D", ["d 2 fifteen"]),
        ("2C 2H 9C KC", "2D 2S 9D QD", "p:2C d:2D", ["d 2 pair"]),
        ("2C 2H 9C KC", "2D 9S 9D QD", "p:2C d:2D p:2H", ["p 6 three of a kind"]),
        ("2C 2H 9C KC", "2D 2S 9D QD", "p:2C d:2D p:2H d:2S", ["d 12 four of a kind"]),
        ("2C 8C JC KC", "2D 2S 2H QD", "p:2C d:2D p:8C d:2S", []),  # no longer in a row
        ("KC QC 9C 2C", "JD TD 9D 3D", "p:KC d:JD", []),  # ten each, but no pair
        ("3C 4C KC QC", "5D 6D TD TS", "p:3C d:5D p:4C", ["p 3 run"]),  # any order
        ("3C 4C 2C 7C", "5D 6D AD TS", "p:3C d:5D p:4C d:6D", ["d 4 run"]),
        ("3C 4C 2C 7C", "5D 6D AD TS", "p:3C d:5D p:4C d:6D p:2C", ["p 5 run"]),
        ("3C 4C 2C 7C", "5D 6D AD TS", "p:3C d:5D p:4C d:6D p:2C d:AD", ["d 6 run"]),
        ("3C 4C 2C 7C", "5D 6D AD 3S", "p:3C d:5D p:4C d:6D p:2C d:AD p:7C", ["p 7 run"]),
        ("JC 5C 3C 9C", "4D 4H KD AD", "p:JC d:4D p:5C d:4H p:3C", ["p 3 run"]),  # an older 4 is in the pile
        ("JC 5C 3C 9C", "4D 4H KD AD", "p:JC d:4D p:5C d:4H", []),  # 4 5 4 is no run
        ("QC AC 2C 3C", "KD TD 9D 8D", "p:QC d:KD p:AC", []),  # not round the corner
        ("AC 3C 9C 8C", "2D KD QD TD", "p:AC d:2D p:3C", ["p 3 run"]),  # the ace is low
        ("4C 5C KC QC", "6D TD 9D 8D", "p:4C d:6D p:5C", ["p 2 fifteen", "p 3 run"]),
        ("5C 5H KC QC", "5D TD 9D 8D", "p:5C d:5D p:5H", ["p 2 fifteen", "p 6 three of a kind"]),
        ("KC 7C 7H QC", "7D TD 9D 8D", "p:KC d:7D p:7C", ["p 2 pair"]),
        ("7C 7H QC JC", "KD 3D 9D 8D", "p:7C d:KD p:7H", []),  # a card between them
        ("9C 7C 2C QC", "7D 8D 9D KD", "p:9C d:7D p:7C d:8D", ["d 2 thirty-one"]),  # 9 7 7 8: the pair breaks the run
        ("TC AC 6H QC", "7D 8D 9D KD", "p:TC d:7D p:6H d:8D", ["d 2 thirty-one", "d 3 run"]),
    ],
)
def test_what_the_last_card_earns(pone, dealer, moves, last):
    env = begin_play(pone, dealer)
    first, final = moves.rsplit(" ", 1)
    act(env, first)
    assert act(env, final) == last


# 5. Go, thirty-one, last card: both hands, moves, and after = what they peg.


COURSES = """
# Go is one, and the opponent leads: 30, and nobody has an ace. Then the count is 10 again.
KC JC 9C 8C | TD QD 9D 8D | p:KC d:TD p:JC = p 1 go; d:QD p:9C
# Thirty-one is two and never three, and the opponent of whoever made it leads.
KC JC 9C 8C | TD AD 9D 8D | p:KC d:TD p:JC d:AD = d 2 thirty-one; p:9C
# After a go the other goes on while able: at 29 pone lays both aces, paid as thirty-one and not as a go too.
KC 9C AC AH | TD QD 9D 8D | p:KC d:TD p:9C p:AC p:AH = p 2 thirty-one, p 2 pair; d:QD d:9D d:8D = d 1 last card
# A go is paid once, for the last card of the count.
KC 9C AC 7C | TD QD 9D 8D | p:KC d:TD p:9C p:AC = p 1 go; d:QD p:7C
# Who said go first gets nothing and leads: at 30 pone says go, and the dealer has an ace.
KC QC 9C 8C | TD 2D AD 7D | p:KC d:TD p:8C d:2D d:AD = d 2 thirty-one; p:QC
# Several goes in one deal.
KC KH QC QH | TD JS TH JD | p:KC d:TD p:KH = p 1 go; d:JS p:QC d:JD = d 1 go; p:QH d:TH = d 1 last card
# A player with no cards says go too. Pone lays the last of four; the dealer's 9 makes 29, and the 8 must wait.
9C 8C 2C TC | KD QD 9D 8D | p:9C d:KD p:8C p:2C = p 1 go; d:QD p:TC d:9D = d 1 go; d:8D = d 1 last card
# A player alone goes on within the count, and scores with own cards.
9C 8C 3C AC | KD QD JD TD | p:9C d:KD p:8C p:3C p:AC = p 2 thirty-one; d:QD d:TD d:JD = d 3 run, d 1 last card
# The last card is one, with a fifteen three, and with thirty-one two. At 26 pone's 8 and the dealer's 9 wait.
KC TC 9C 8C | QD JD 9D 7D | p:KC d:QD p:TC d:JD p:9C d:7D = p 1 go, d 1 go; p:8C d:9D = d 1 last card
KC TC 9C 8C | QD JD 9D 7D | p:KC d:9D p:TC d:QD p:9C d:JD = p 1 go, d 1 go; p:8C d:7D = d 2 fifteen, d 1 last card
KC QC JC 9C | TD AD 9D 3D | p:KC d:TD p:QC d:AD = d 2 thirty-one; p:JC d:9D p:9C d:3D = p 2 pair, d 2 thirty-one
# Pairs and runs do not reach back across a reset: K, then K; K K, then K; 5 6, then 7; 5 6, then 4.
TC KH 6C 4C | JD KS KD 7S | p:TC d:JD p:KH = p 1 go; d:KS
9C KH 5C 4C | KD KS 8D 7S | p:9C d:KD p:KH = p 2 pair, p 1 go; d:KS
TC 5C 7C 9C | TD 6D KD QD | p:TC d:TD p:5C d:6D = d 2 pair, d 2 thirty-one; p:7C
TC 5C 4C 9C | TD 6D KD QD | p:TC d:TD p:5C d:6D = d 2 pair, d 2 thirty-one; p:4C
# Three kings after a reset are not four; a run after a reset has the cards of its count only: 7 8 9.
TC KH KC 4C | JD KS KD 7S | p:TC d:JD p:KH = p 1 go; d:KS p:KC d:KD = p 2 pair, d 6 three of a kind, d 1 go
TC 5C 7C 9C | TD 6D 8D 2D | p:TC d:TD p:5C d:6D = d 2 pair, d 2 thirty-one; p:7C d:8D p:9C = d 2 fifteen, p 3 run
"""


@pytest.mark.parametrize("course", [line for line in COURSES.splitlines() if "|" in line])
def test_the_course_of_the_play(course):
    pone, dealer, steps = course.split(" | ")
    env = begin_play(pone, dealer)
    for step in steps.split("; "):
        moves, _, pegged = step.partition(" = ")
        assert ", ".join(act(env, moves)) == pegged
    assert is_over(env) == (steps.count(":") == 8)


# 6. The game ends the instant a player reaches 121.

# Pone shows 29, the dealer 24, the crib 6. In this play pone pegs 1 and the dealer 9.
RICH = ("5C 5H 5S JD TC KH", "4C 6C 4D 6D QS 2C", "5D")
RICH_PLAY = "p:JD d:4C p:5C d:6C p:5H d:4D p:5S d:6D"


def test_what_the_rich_deal_is_worth():
    env, _ = begin_deal(*RICH)
    assert act(env, RICH_PLAY) == [
        "d 3 run",
        "p 1 go",
        "d 2 fifteen",
        "d 3 run",
        "d 1 last card",
        "p 29 pone's hand",
        "d 24 dealer's hand",
        "d 6 crib",
    ]
    assert env.scores == (30, 39)


@pytest.mark.parametrize(
    ("start", "show_events", "scores"),
    [
        # Pone counts first and wins, though the dealer would pass 121 too.
        ((110, 110), ["p 10 pone's hand"], (121, 119)),
        ((91, 111), ["p 29 pone's hand"], (121, 120)),
        # One hole short: now the dealer's hand wins, and the crib is not counted.
        ((90, 110), ["p 29 pone's hand", "d 2 dealer's hand"], (120, 121)),
        ((0, 88), ["p 29 pone's hand", "d 24 dealer's hand"], (30, 121)),
        ((0, 87), ["p 29 pone's hand", "d 24 dealer's hand", "d 1 crib"], (30, 121)),
        ((0, 82), ["p 29 pone's hand", "d 24 dealer's hand", "d 6 crib"], (30, 121)),
    ],
)
def test_the_show_stops_at_121(start, show_events, scores):
    env, _ = begin_deal(*RICH, scores=start)
    assert show(act(env, RICH_PLAY)) == show_events
    assert env.scores == scores
    assert is_over(env)


@pytest.mark.parametrize(
    ("start", "last", "scores"),
    [
        ((120, 118), "d 3 run", (120, 121)),
        ((120, 117), "p 1 go", (121, 120)),
        ((110, 112), "d 1 last card", (111, 121)),  # before the show
        ((0, 117), "d 1 fifteen", (1, 121)),  # the run of three with it is not pegged
    ],
)
def test_a_peg_in_the_play_wins(start, last, scores):
    env, _ = begin_deal(*RICH, scores=start)
    pegged = []
    for move in RICH_PLAY.split():
        pegged += act(env, move)
        if is_over(env):
            break
    assert (pegged[-1], env.scores) == (last, scores)
    assert legal(env) == set()


def test_at_120_the_game_goes_on():
    env, _ = begin_deal(*RICH, scores=(90, 81))
    act(env, RICH_PLAY)
    assert env.scores == (120, 120)
    assert not is_over(env)
    assert env.dealer == 0


def test_the_rest_of_the_hand_stays_unplayed():
    env, _ = begin_deal(*RICH, scores=(0, 118))
    act(env, "p:JD d:4C p:5C d:6C")
    views = env.views("player_0")
    assert views.opponent_cards.tolist() == [2]
    assert (views.hand >= 0).sum() == 2


# 7. Skunks, by the final scores alone.


@pytest.mark.parametrize(("loser", "points"), [(120, 2), (91, 2), (90, 3), (61, 3), (60, 3), (0, 3)])
def test_match_points(loser, points):
    env, _ = begin_deal(*EVENS, "JD", scores=(loser, 119), reward="match")
    assert env.rewards == {"player_0": -points, "player_1": points}
    # The same with the seats changed.
    env = raw_env(events=True, reward="match")
    pone, dealer = EVENS
    env.reset(options={"first_dealer": 0, "scores": (119, loser), "deals": [parse_cards(f"{dealer} {pone} JD")]})
    for card in ["2C", "4D", "8D", "6D"]:
        env.step(parse_card(card))
    assert env.rewards == {"player_0": points, "player_1": -points}


def test_the_winner_is_who_reaches_121_not_who_made_more():
    env, _ = begin_deal(*RICH, scores=(0, 101), reward="win")
    act(env, RICH_PLAY)
    assert env.scores == (30, 121)  # 30 points against 20
    assert env.rewards == {"player_0": -1, "player_1": 1}


# 8. Whole games.


def test_random_games_end_at_121_and_not_before():
    games = GameBatch(streams(9, 2000))
    rows = games.acting()
    while len(rows):
        assert games.games["scores"][rows].max() <= 120
        games.step(rows, games.native_cards(rows, 0))
        rows = games.acting()
    scores = games.games["scores"]
    assert (scores.max(axis=1) == 121).all()
    assert (scores.min(axis=1) <= 120).all()
    # All points are accounted for: by seat, as pone or dealer, by source.
    assert (games.tally.sum(axis=(2, 3)) == scores).all()
    assert not games.tally[:, :, PONE, 1].any()  # heels are the dealer's
    assert not games.tally[:, :, PONE, 3].any()  # and so is the crib
