"""The expert: its search and its choices, against plain and slow Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from crib_env import analyse_discard, format_card, parse_card, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.belief import MOST_HANDS
from crib_env.agents.expert import (
    AFTER_PLAY_COLUMNS,
    DEPTH,
    HAND,
    OPPONENTS,
    SHEET_ROWS,
    AtScores,
    Position,
    card_values,
)
from crib_env.agents.expert import (
    SCORES as ROW_OF_SCORES,
)
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, PLAY, WIN
from crib_env.kernels import streams
from crib_env.players.policies import CAREFUL, RANDOM
from crib_env.tables.shipped import standard_win_table
from tests.helpers import reference
from tests.helpers.decided import decided
from tests.helpers.engine_calls import deal
from tests.helpers.plain_beliefs import (
    beliefs,
    pack,
    plain_beliefs,
    plain_crib_chances,
    said_go,
    unpack,
    win_after_play,
)
from tests.helpers.plain_play import World, own_values, points_of, replay
from tests.helpers.positions import PAIRINGS, batches_in_play, positions, positions_of
from tests.helpers.reference import rank

ROOT = Path(__file__).parents[1]


def searched(position, scores, hands, weights, kinds, shows, after_play):
    """The kernel's values by rank, for hands (ranks held) that the opponent may hold; also amid other scores."""
    lists = np.zeros((DEPTH, len(hands)), HAND)
    lists["cards"][0], lists["weight"][0] = [pack(hand) for hand in hands], weights
    lists["kind"][0], lists["show"][0] = kinds, shows
    pile = np.zeros(10, np.int64)
    pile[: len(position.laid)] = [rank(card) for _, card in position.laid]
    count = sum(reference.value(card) for _, card in position.laid[position.pile_start :])
    held = pack(map(rank, position.held))

    def values_at(pairs):
        sheet, values = np.zeros((SHEET_ROWS, AFTER_PLAY_COLUMNS)), np.zeros((len(pairs), 13))
        sheet[:WIN], sheet[ROW_OF_SCORES : ROW_OF_SCORES + 2, : len(pairs)] = after_play, np.transpose(pairs)
        at = AtScores(*(WIN - np.max(pairs, axis=0)), len(pairs))
        numbers = 0, 0, position.pile_start, len(position.laid), count, OPPONENTS, len(position.hidden)
        seen = Position(held, *map(np.int64, numbers), at)
        card_values(seen, np.int64(len(hands)), lists, pile, sheet, values)
        return values

    alone = values_at([scores])[0]
    others = [(max(own - 3, 0), min(other + 2, 120)) for own, other in [scores]] + [(0, 0), (120, 120), (119, 3)]
    assert np.array_equal(values_at([*others, scores])[-1], alone)
    return alone


def world(position, scores, hand, weight, kind, show):
    """A possible world: a game in which the opponent holds cards of these ranks."""
    suits, held = Counter(), []
    for r in hand:
        held.append(r + 13 * suits[r])
        suits[r] += 1
    game = replay(position.own_four, [*position.other_laid, *held], position.is_dealer, position.laid)
    assert game is not None
    assert len(game.laid) - len(game.pile) == position.pile_start
    game.scores = list(scores)
    return World(weight, kind, show, game)


def compare_search(position, scores, hands, weights, kinds, shows, after_play):
    """Both searches; how many ranks there were to choose from, and how far their values lie apart."""
    found = searched(position, scores, hands, weights, kinds, shows, after_play)
    worlds = [world(position, scores, *one) for one in zip(hands, weights, kinds, shows)]
    expected = own_values(worlds, after_play)
    pile = [card for _, card in position.laid[position.pile_start :]]
    assert all(expected[r] == pytest.approx(1) for r in expected if scores[0] + points_of(pile, r) >= 121)
    assert {r for r in range(13) if found[r] != -np.inf} == set(expected)
    for r, value in expected.items():
        assert found[r] == pytest.approx(value, abs=1e-9), (position, scores, hands, format_card(r))
    return len(expected), max(expected.values()) - min(expected.values())


def some_hands(position, most, rng):
    """Hands that the evidence allows, with kinds and any weights and shows."""
    hands, _, _, kinds = beliefs(position)
    some = np.sort(rng.choice(len(hands), min(most, len(hands)), replace=False))
    weights = rng.random(len(some))
    return (
        [unpack(hands[k]) for k in some],
        weights / weights.sum(),
        kinds[some].tolist(),
        rng.integers(25, size=len(some)),
    )


SCORES = [(0, 0), (100, 105), (113, 116), (118, 119), (120, 120), (119, 120), (120, 119), (117, 117)]


@pytest.mark.parametrize(("cards", "n_positions", "most"), [(1, 30, 12), (2, 60, 12), (3, 40, 8), (4, 6, 4)])
def test_values_are_those_of_plain_expectimax(cards, n_positions, most):
    """With any utilities after the play, so that nothing but the right tree gives the right values."""
    rng = np.random.default_rng(cards)
    found = [p for pairing in PAIRINGS for p in positions(60, seed=cards, pairing=pairing) if len(p.held) == cards]
    spreads, n_go = [], 0
    for place in rng.choice(len(found), n_positions, replace=False):
        position = found[place]
        after_play = rng.random((121, 150))
        scores = SCORES[rng.integers(len(SCORES))]
        spreads.append(compare_search(position, scores, *some_hands(position, most, rng), after_play))
        n_go += said_go(position)
    n_choices = sum(n > 1 and spread > 1e-6 for n, spread in spreads)
    assert n_choices >= (0 if cards == 1 else n_positions // 3)
    assert n_go >= (0 if cards == 4 else n_positions // 10)


def test_a_player_does_not_look_at_the_hand_it_plays_against():
    """The value for a list of hands is less than the mean of the values for each alone: one choice for them all."""
    rng = np.random.default_rng(0)
    less = []
    for position in positions(40, seed=10):
        if len(position.held) == 3 and len(position.hidden) >= 2:
            hands, weights, kinds, shows = some_hands(position, 10, rng)
            after_play = rng.random((121, 150))
            args = (position, (50, 50))
            together = searched(*args, hands, weights, kinds, shows, after_play)
            alone = [
                weight * searched(*args, [hand], [1.0], [kind], [show], after_play)
                for hand, weight, kind, show in zip(hands, weights, kinds, shows)
            ]
            legal = together != -np.inf
            less.append(np.sum(alone, axis=0)[legal] - together[legal])
    less = np.concatenate(less)
    assert (less > -1e-12).all()
    assert (less > 1e-3).mean() > 0.25


def small_search():
    """Values of one position, also for a process of its own."""
    position = next(p for p in positions(3, seed=0) if len(p.held) == 2 and len(p.hidden) == 2)
    after_play = np.add.outer(np.arange(121), -np.arange(150)) / 300 + 0.5
    hands, weights, numbers, kinds = beliefs(position)
    hands = [unpack(hand) for hand in hands]
    return searched(position, (0, 0), hands, weights, kinds, numbers % 20, after_play).tolist()


def test_a_search_loaded_from_the_cache_gives_the_same_values():
    """Numba cannot load functions that call each other: the search, which calls itself, must be compiled only once."""
    here = small_search()  # the machine code is on disk now
    program = "import json, tests.test_expert as here; print(json.dumps(here.small_search()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == here
    assert max(here) > 0


def all_hands():
    return make_agent(f"expert:hands={MOST_HANDS}")


def plain_values(position, scores):
    """The expert's chance to win by rank laid, computed without any code of the expert."""
    starter, own_show = position.starter, reference.score_show(position.own_four, position.starter, crib=False)
    crib, win_table = plain_crib_chances(position), standard_win_table().win_probability.astype(float)
    after_play = np.zeros((121, 150))
    for own in range(scores[0], min(scores[0] + 30, 121)):
        for shown in range(scores[1], min(scores[1] + 60, 150)):
            after_play[own, shown] = win_after_play(position.is_dealer, own, shown, own_show, crib, win_table)
    worlds = []
    for (hand, kind), weight in plain_beliefs(position).items():
        # A hand is shown with its points of ranks: the opponent's suits are not known.
        ranks = [rank(starter), *hand, *map(rank, position.other_laid)]
        show = reference.points_of_ranks(tuple(sorted(ranks)))
        worlds.append(world(position, scores, hand, weight, kind, show))
    return own_values(worlds, after_play)


@pytest.mark.parametrize("near_the_end", [False, True])
def test_the_card_laid_is_the_best_by_plain_expectimax(near_the_end):
    rng, agent = np.random.default_rng(near_the_end), all_hands()
    n_real = 0
    for batch, rows in batches_in_play(60, seed=20 + near_the_end, pairing=(CAREFUL, RANDOM)):
        batch.games["scores"][rows] = rng.integers(102, 121, (len(rows), 2)) if near_the_end else rng.integers(90)
        for row, position in zip(rows, positions_of(batch, rows)):
            if len(position.held) != 2 or not 0 < len(position.hidden) <= 2 or n_real >= 8:
                continue
            seen = batch.views(np.array([row]))
            values = plain_values(position, seen.scores[0].tolist())
            card = rank(agent.act(seen)[0])
            assert values[card] == pytest.approx(max(values.values()), abs=1e-9), position
            n_real += max(values.values()) - min(values.values()) > 1e-3
    assert n_real == 8


@pytest.mark.parametrize(
    ("laid", "held", "discards", "starter", "hidden", "scores"),
    [
        ("9C AC TH 7H", "7S 8S", "JS KS", "3C", "TC 6D", (82, 66)),
        ("TC 6D 7D 4H", "5C 7S", "9C QH", "2S", "6C 8H", (71, 62)),
        ("9C 5D 5H 6H", "9D TD", "KC QS", "8D", "QC 8S", (86, 101)),
        ("4C 9S JH 3S", "8C 7H", "QD 2S", "KH", "JD JS", (90, 85)),
    ],
)
def test_a_count_that_the_opponent_ended_says_what_it_does_not_hold(laid, held, discards, starter, hidden, scores):
    """Here another card would be best if it did not."""
    laid, held, discards, hidden = map(parse_cards, (laid, held, discards, hidden))
    own, theirs, cut = laid[::2] + held, laid[1::2] + hidden, parse_card(starter)
    rest = [card for card in range(52) if card not in {*own, *theirs, *discards, cut}]
    batch = GameBatch(streams(0, 1), episode="play")
    game = batch.games[0]
    game["cards"], game["dealer"], game["n_deals"] = [*own, *discards, *theirs, *rest[:2], cut], 1, 0
    deal(batch.games, np.array([0]))
    for card in laid:
        batch.step(np.array([0]), np.array([card]))
    game["scores"] = scores
    (position,) = positions_of(batch, np.array([0]))
    assert (position.laid, position.is_fresh) == ([(k % 2, card) for k, card in enumerate(laid)], True)
    values = plain_values(position, list(scores))
    card = rank(all_hands().act(batch.views(np.array([0])))[0])
    assert values[card] == pytest.approx(max(values.values()), abs=1e-9)
    assert max(values.values()) - min(values.values()) > 1e-4


@pytest.mark.parametrize("own_score", [119, 120])
def test_a_card_that_wins_at_once_is_laid(own_score):
    agent, n_wins = make_agent("expert:hands=5"), 0
    for batch, rows in batches_in_play(60, seed=5, pairing=(CAREFUL, RANDOM)):
        batch.games["scores"][rows] = own_score
        for position, card in zip(positions_of(batch, rows), agent.act(batch.views(rows))):
            pile = [laid for _, laid in position.laid[position.pile_start :]]
            legal = [held for held in position.held if sum(map(reference.value, [*pile, held])) <= 31]
            winning = {held for held in legal if own_score + points_of(pile, held) >= 121}
            assert not winning or card in winning
            n_wins += 0 < len(winning) < len(legal)
    assert n_wins > 40


def test_choices_do_not_depend_on_threads():
    batch = decided(2, 200, 1)
    one, three = make_agent("expert:hands=5,threads=1"), make_agent("expert:hands=5,threads=3")
    phases = set()
    for _ in range(6):
        rows = batch.acting()
        cards = one.act(batch.views(rows))
        assert (cards == three.act(batch.views(rows))).all()
        phases |= set(batch.games["phase"][rows].tolist())
        batch.step(rows, batch.native_cards(rows, RANDOM))
    assert phases == {DISCARD, PLAY}


def test_discards_are_those_of_the_analysis():
    """With every third first card somebody else's choice: then the best pair with it."""
    agent, rng = make_agent("expert"), np.random.default_rng(0)
    batch = GameBatch(streams(6, 30), start_spread=120)
    batch.games["scores"][:15] = rng.integers(105, 121, (15, 2))
    discarded = np.zeros((30, 2), np.int64)
    for decision in range(4):
        rows = batch.acting()
        seen = batch.views(rows)
        discarded[:, decision % 2] = agent.act(seen)
        if decision % 2 == 0:
            discarded[::3, 0] = [rng.choice(hand) for hand in seen.hand[::3]]
        batch.step(rows, discarded[:, decision % 2])
        if decision % 2:
            for b in range(30):
                six = [int(card) for card in (*seen.hand[b], *seen.discards[b]) if card >= 0]
                scores = tuple(seen.scores[b].tolist())
                rows_of = analyse_discard(six, dealer=bool(seen.is_dealer[b]), scores=scores)
                allowed = [row for row in rows_of if b % 3 or discarded[b, 0] in row["discard"]]
                chosen = [row for row in allowed if set(row["discard"].tolist()) == set(discarded[b].tolist())]
                best = max(row["win_probability"] for row in allowed)
                assert chosen[0]["win_probability"] == pytest.approx(best, abs=2e-9)
