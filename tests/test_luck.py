"""Luck: mean zero over every chance event, whoever plays; exact means over all deals; adjusted matches and leagues."""

import json
from itertools import permutations

import numpy as np
import pytest

from crib_env import parse_cards, score_show
from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, OVER, PONE
from crib_env.evaluate.makers.luck import N_DISJOINT, disjoint_total, exact_means, solve_luck_table
from crib_env.evaluate.matches.league import League, Standings
from crib_env.evaluate.matches.match import pairs_less_luck, play_games, play_match, summarise
from crib_env.evaluate.matches.mirrored import Games, Shard, mean_of_pairs, play_shard
from crib_env.evaluate.skill.luck.usual_deal import PLAYS, SHARES, new_scratch, usual_discards, value_cards
from crib_env.evaluate.skill.luck.variates import (
    CARDS,
    FIRST_DEAL,
    RESULTS,
    STARTER,
    WINS,
    Hands,
    LuckMeter,
    LuckTable,
    less_luck,
    result_with_starter,
    results,
    standard_luck_table,
)
from crib_env.evaluate.statistics import half_width, mean_interval, rate_less_luck
from crib_env.exact.deal_classes import N_CLASSES, class_sizes
from crib_env.exact.discard_means import hand_total
from crib_env.hands import hand_of_mask
from crib_env.kernels import kernel, mask_of, streams
from crib_env.tables.outlook import standard_values
from tests.helpers.refusals import refused

VALUES = standard_values()


@kernel
def value_all(cards, values, scratch, out):
    for n in range(len(cards)):
        value_cards(mask_of(cards[n, :6]), mask_of(cards[n, 6:]), values, scratch, out[n])


def random_cards(n, count, seed=0):
    return np.random.default_rng(seed).random((n, 52)).argsort(axis=1)[:, :count].astype(np.int64)


def to_the_cut(cards, scores, dealer, agents):
    """Games with these cards (N, 13) at these scores, played to the cut, and their luck meter."""
    batch = GameBatch(streams(0, len(cards)), first_dealer=dealer, scores=scores)
    batch.games["cards"] = cards
    for seat in range(2):
        batch.games["hand"][:, seat] = [mask_of(row[6 * seat : 6 * seat + 6]) for row in cards]
    meter = LuckMeter(batch.games, by_coin=False)
    rows = np.arange(len(batch))
    for _ in range(4):
        for seat in range(2):
            mine = rows[batch.games["turn"] == seat]
            if len(mine):
                batch.step(mine, agents[seat].act(batch.views(mine)))
                meter.note(mine)
                break
    return batch, meter


@pytest.mark.parametrize("scores", [(0, 0), (85, 30), (118, 117), (120, 120), (105, 112)])
@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize("names", [("greedy", "careful"), ("heuristic", "greedy")])
def test_the_luck_of_all_forty_starters_adds_up_to_zero(scores, dealer, names):
    twelve = random_cards(1, 12, seed=sum(scores) + dealer)[0]
    rest = np.setdiff1d(np.arange(52), twelve)
    cards = np.concatenate([np.tile(twelve, (40, 1)), rest[:, None]], axis=1)
    agents = [make_agent(name) for name in names]
    batch, meter = to_the_cut(cards, scores, dealer, agents)
    assert np.ptp(batch.games["discards"], axis=0).max() == 0
    luck = meter.luck[:, STARTER]
    assert abs(luck.sum(axis=0)).max() < 1e-10
    assert np.ptp(luck[:, 1]) > 0 or scores == (120, 120)
    assert np.ptp(meter.luck[:, CARDS], axis=0).max() == 0  # the starter has no part in the luck of the cards


def test_his_heels_that_win_are_luck():
    twelve = np.array(parse_cards("2C 4C 6C 8C TC QC 2D 4D 6D 8D TD QD"))
    cards = np.array([[*twelve, *parse_cards(starter)] for starter in ("JH", "KH")])
    batch, meter = to_the_cut(cards, (119, 110), 0, [make_agent("greedy")] * 2)
    assert (batch.games["phase"] == OVER).tolist() == [True, False]
    assert meter.luck[0, STARTER, 0] > 0

    scoreless = (mask_of(parse_cards(text)) for text in ("2H 4S 6C QD", "2C 4D 6H QS", "2D 4H 6S QC"))
    hands, nothing, result = Hands(*scoreless), np.zeros((PLAYS, 2), np.int64), np.zeros(3)
    for starter, won in (("JH", 1), ("KH", 0)):
        (card,) = parse_cards(starter)
        result_with_starter(hands, card, 119, 110, nothing, np.ones((121, 121, 3)), result)
        assert (result[0] > 0) == won


def test_the_luck_of_the_coin_adds_up_to_zero():
    luck = [LuckMeter(GameBatch(streams(1, 3), first_dealer=dealer, scores=(70, 60)).games).luck for dealer in range(2)]
    assert (luck[0] > 0)[:, FIRST_DEAL].all()
    assert not luck[0][:, [CARDS, STARTER]].any()
    assert np.allclose(luck[0], -luck[1])


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_usual_discards_do_not_depend_on_suits(role):
    """Else the mean over classes of hands would not be the mean over hands."""
    jacks = [parse_cards("JH JD 5C 5S 2H 9D"), parse_cards("JH JD JC 4S 4H 4D"), parse_cards("AC AD AH 2C 2D 2H")]
    for six in (*jacks, *random_cards(60, 6).tolist()):
        found = set()
        for suits in permutations(range(4)):
            cards = mask_of(np.array([13 * suits[card // 13] + card % 13 for card in six]))
            pairs, weights = np.zeros(2, np.int64), np.zeros(2, np.int64)
            usual_discards(cards, role, VALUES, pairs, weights)
            assert weights.sum() == SHARES
            found.add(
                tuple(
                    (int(hand_of_mask(cards ^ pair)), int(hand_total(cards ^ pair, cards)), int(weight))
                    for pair, weight in zip(pairs, weights)
                    if weight
                )
            )
        assert len(found) == 1


def test_hands_and_heels_are_means_over_the_forty_cards_that_may_be_cut():
    pairs, weights, out = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(5)
    for cards in random_cards(6, 12, seed=5).tolist():
        value_cards(mask_of(np.array(cards[:6])), mask_of(np.array(cards[6:])), VALUES, new_scratch(), out)
        starters = sorted(set(range(52)) - set(cards))
        heels = np.mean([2 * (starter % 13 == 10) for starter in starters])
        for role, six, found in ((PONE, cards[:6], out[0]), (DEALER, cards[6:], out[1])):
            usual_discards(mask_of(np.array(six)), role, VALUES, pairs, weights)
            expected = heels if role == DEALER else 0.0
            for pair, weight in zip(pairs.tolist(), weights.tolist()):
                four = [card for card in six if not pair >> card & 1]
                expected += weight / SHARES * np.mean([score_show(four, starter) for starter in starters])
            assert found == pytest.approx(expected)


def test_the_exact_means_are_those_of_many_deals():
    worth = np.zeros((20_000, 5))
    value_all(random_cards(len(worth), 12), VALUES, new_scratch(), worth)
    off = worth.mean(axis=0) - standard_luck_table().means
    assert (abs(off) < 4 * worth.std(axis=0) / np.sqrt(len(worth))).all()


def test_the_luck_table_discards_by_the_shipped_tables():
    table = standard_luck_table()
    assert np.array_equal(table.cribs, VALUES.cribs)
    assert np.array_equal(table.pegging, VALUES.pegging)


def test_a_small_luck_table_is_read_back(tmp_path):
    solved = solve_luck_table(make_agent("greedy"), 200, 0, standard_luck_table().means, VALUES)
    solved.save(tmp_path / "luck.npz")
    found = LuckTable.load(tmp_path / "luck.npz")
    assert np.array_equal(found.slopes, solved.slopes)
    assert (found.agent, found.deals) == ("greedy", 200)
    dealer_wins = solved.expected[..., 0]
    assert dealer_wins[120, 0] > 0.9 > 0.1 > dealer_wins[0, 120]
    assert np.allclose(solved.expected[60:, 60:, 2], 2 * (2 * dealer_wins[60:, 60:] - 1), atol=1)


def test_results_of_games():
    assert results(np.array([[121, 90], [60, 121], [121, 91]])).tolist() == [[1, 31, 3], [0, -61, -3], [1, 30, 2]]


@pytest.mark.slow
def test_luck_adjusted_results_vary_less_and_do_not_depend_on_threads():
    agents = make_agent("careful"), make_agent("greedy")
    games, same = (
        Games.merged(list(play_games(*agents, 1_200, seed=2, measure_luck=True, threads=threads))) for threads in (1, 2)
    )
    assert np.array_equal(games.luck, same.luck)
    assert games.luck.shape == (1_200, 3, len(RESULTS))
    adjusted, plain = pairs_less_luck(games), mean_of_pairs(results(games.scores))
    found = summarise("careful", "greedy", 2, games, 1.0).luck_adjusted
    assert found.variance_ratio["win rate"] > 1.6
    assert found.variance_ratio["net points"] == pytest.approx(plain[:, 1].var() / adjusted[:, 1].var())
    assert all(ratio > most for ratio, most in zip(found.single_variance_ratio.values(), (2.8, 4.2, 2.9)))
    assert found.interval[0] < found.win_rate < found.interval[1]
    assert found.win_rate == pytest.approx(adjusted[:, 0].mean())
    # The luck is that of the part that a shard plays, too.
    part = play_shard(*agents, Shard.of(seed=2, first=4, pairs=3, measure_luck=True))
    assert np.array_equal(part.luck, games.luck[8:14])


def test_a_player_against_itself_has_no_luck_in_mirrored_games():
    agent = make_agent("careful")
    result = summarise(
        "careful", "careful", 0, Games.merged(list(play_games(agent, agent, 40, measure_luck=True))), 1.0
    )
    assert result.luck_adjusted.win_rate == pytest.approx(0.5)
    assert result.luck_adjusted.variance_ratio["net points"] == 1
    assert play_match(agent, agent, 2).luck_adjusted is None


def test_luck_is_subtracted_from_a_lopsided_match_without_harm():
    games = Games.merged(list(play_games(make_agent("random"), make_agent("greedy"), 300, seed=3, measure_luck=True)))
    result = summarise("random", "greedy", 3, games, 1.0)
    less = result.luck_adjusted
    assert all(ratio > 0.9 for ratio in (*less.variance_ratio.values(), *less.single_variance_ratio.values()))
    assert 0 <= less.interval[0] <= less.win_rate <= less.interval[1] <= 1
    assert half_width(less.interval) < 1.05 * half_width(result.interval)


def test_a_luck_adjusted_league_can_be_resumed(tmp_path):
    league = League(("greedy", "careful", "random"), 20, 1, luck_adjusted=True)
    folder = league.begin(tmp_path / "league")
    played = Standings.of(league, league.play(folder))
    assert (folder / "matches" / "1-2.json").is_file()
    again = Standings.of(league, league.play(folder))
    assert np.array_equal(played.ratings.points, again.ratings.points)
    assert played.cells == again.cells
    path = folder / "matches" / "1-2.json"
    content = json.loads(path.read_text())
    assert played.cells[0, 1].win_rate == content["result"]["luck_adjusted"]["win_rate"]
    content["result"]["luck_adjusted"] = None
    path.write_text(json.dumps(content))
    with refused("greedy against careful, 20 games, seed 1"):
        league.play(folder)


@pytest.mark.slow
def test_the_exact_means_of_the_shipped_table():
    assert np.array_equal(np.array(exact_means(VALUES), float), standard_luck_table().means)


@pytest.mark.slow
def test_sums_over_disjoint_hands():
    """Against sums that follow without inclusion and exclusion: of nothing, and of one hand alone."""
    alone, one = np.zeros((N_CLASSES, 1), np.int64), np.ones((N_CLASSES, 1), np.int64)
    assert disjoint_total(alone, one, alone, one, np.ones((1, 1), np.int64)) == N_DISJOINT
    rng = np.random.default_rng(0)
    features, weights, table = (
        rng.integers(0, 9, (N_CLASSES, 2)),
        rng.integers(0, 3, (N_CLASSES, 2)),
        rng.integers(9, size=9),
    )
    expected = int(((table[features] * weights).sum(axis=1) * class_sizes()).sum()) * 9_366_819
    assert disjoint_total(features, weights, alone, one, table[:, None]) == expected
    assert disjoint_total(alone, one, features, weights, table[None]) == expected


@pytest.mark.slow
def test_intervals_hold_the_true_rate_between_equal_players():
    """1,000 matches of 100 games that are not mirrored."""
    agent = make_agent("careful")
    equal, held = np.array([0.5, 0, 0]), np.zeros(len(RESULTS))
    for seed in range(10):
        games = play_shard(agent, agent, Shard.of(seed, 0, 10_000, measure_luck=True))
        values = results(games.scores), games.luck.sum(axis=1)
        for played, luck in zip(*(of_all[::2].reshape(100, 100, 3) for of_all in values)):  # one game of each pair
            adjusted = less_luck(played, luck)
            bounds = np.array([mean_interval(values) for values in adjusted.T])
            _, bounds[WINS] = rate_less_luck(played[:, WINS], adjusted[:, WINS])
            held += (bounds[:, 0] <= equal) & (bounds[:, 1] >= equal)
    print("the interval holds the truth in", *(f"{rate:.1%} ({name})" for rate, name in zip(held / 1_000, RESULTS)))
    assert (abs(held / 1_000 - 0.95) < 0.0138).all()  # two standard errors of such a share
