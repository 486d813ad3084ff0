"""Whole deals as a game: kinds of six, ranges, cribs and best responses, against counting and other code."""

from itertools import combinations

import numpy as np
import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.agents.equilibrium import load_blueprint
from crib_env.batch import GameBatch
from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.commands.exploitability import exploitability as command
from crib_env.evaluate.skill.exploitability import deal_policy, discard_chances
from crib_env.evaluate.statistics import mean_interval
from crib_env.exact.deal_classes import N_DEALS, cards_of, class_of, class_sizes, representatives
from crib_env.exact.discard_means import THREE_CARDS
from crib_env.exact.discard_statistics import PLACES, discard_statistics
from crib_env.hands import FOURS, HANDS, ORDERINGS, hand_number
from crib_env.kernels import streams
from crib_env.solver.cfr import DISCOUNTS, PlaySolver, discounted
from crib_env.solver.deal.best_response import best_responses, fill_chances, make_lanes, respond, to_chances
from crib_env.solver.deal.kinds import (
    WAYS,
    by_choice,
    choices,
    crib_means,
    discard_totals,
    fill_hands,
    kept,
    meetings,
    sixes,
)
from crib_env.solver.deal.solver import add_regrets, load, matched, save
from crib_env.solver.pairs import fitted_weights, pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.solver.sweeps import BEST_RESPONSE, UPDATE_REGRETS, Step, Weights
from tests.helpers.deal_responder import DealResponder, number_of_six
from tests.helpers.refusals import refused

NOTHING = np.zeros(0, np.float32)
SMALL = 3  # cards of each player: a tree of 9,022 nodes


@pytest.fixture(scope="module")
def kinds():
    return sixes()


@pytest.fixture(scope="module")
def some_chances(kinds):
    """(C,) how likely a made-up player makes each choice: a few of them, mixed, those of a kind adding up to 1."""
    rng = np.random.default_rng(0)
    chances = np.where(rng.random(len(kinds.six)) < 0.05, rng.random(len(kinds.six)), 0)
    chances[kinds.first[:-1]] += 0.01
    return chances / np.add.reduceat(chances, kinds.first[:-1])[kinds.six]


@pytest.fixture(scope="module")
def some_cribs(some_chances):
    """(C,) what the crib is worth beside this player."""
    return crib_means(some_chances)


@pytest.fixture(scope="module")
def solved():
    """The play with three cards each, and a policy after some iterations."""
    game = PlayGame(start=start_of_play(SMALL), threads=1)
    solver = PlaySolver(game)
    for _ in range(6):
        solver.iterate()
    return game, solver.average


# --- kinds and choices ----------------------------------------------------------------------------------------------


def test_kinds_stand_for_all_deals(kinds):
    assert len(kinds.counts) == 18_395
    assert (kinds.counts.sum(axis=1) == 6).all()
    assert kinds.ways().sum() == N_DEALS
    assert (np.diff(kinds.first) > 0).all()


def test_choices_take_two_ranks_from_each_kind(kinds):
    fours = (FOURS[kinds.kept][:, :, None] == np.arange(13)).sum(axis=1)
    discards = (HANDS[2][kinds.discards][:, :, None] == np.arange(13)).sum(axis=1)
    assert (fours + discards == kinds.counts[kinds.six]).all()
    assert (kinds.choice[kinds.kept, kinds.discards] == np.arange(len(kinds.six))).all()
    assert (kinds.choice >= 0).sum() == len(kinds.six)


def test_the_choices_of_classes_are_those_of_their_cards(kinds):
    of_classes = choices()
    for c in np.random.default_rng(1).integers(len(of_classes.choice), size=50):
        cards = np.flatnonzero(representatives()[c] >> np.arange(52) & 1)
        statistics = discard_statistics(cards[None])[0]
        for place, (first, second) in enumerate(PLACES):
            choice = of_classes.choice[c, place]
            assert number_of_six(cards[None] % 13) == kinds.six[choice]
            assert kinds.kept[choice] == hand_number(np.delete(cards, (first, second)) % 13)
            assert kinds.discards[choice] == hand_number(cards[[first, second]] % 13)
            assert of_classes.hand[c, place] == pytest.approx(statistics["hand_mean"][place])


# --- what a player may hold -----------------------------------------------------------------------------------------


def test_hands_beside_known_cards_are_those_counted(kinds, some_chances):
    """By going through all deals of six from what is left of a short deck: 2, 3, 4 and 5, of which some are known."""
    known, starter = np.array([1, 1, 2, 3, 3, 4]), 2
    deck = [rank for rank in range(1, 5) for _ in range(4)]
    for rank in [*known.tolist(), starter]:
        deck.remove(rank)
    short = some_chances * (kinds.counts[kinds.six][:, [0, *range(5, 13)]].sum(axis=1) == 0)
    expected = np.zeros(len(FOURS))
    for six in combinations(deck, 6):
        kind = number_of_six(np.array([six]))[0]
        for choice in range(kinds.first[kind], kinds.first[kind + 1]):
            expected[kinds.kept[choice]] += short[choice]
    found, ways = np.zeros(len(FOURS)), np.zeros(len(kinds.counts))
    fill_hands(short, short.nonzero()[0], number_of_six(known[None])[0], starter, kinds, ways, found)
    assert found == pytest.approx(expected)


@pytest.fixture(scope="module")
def some_meetings(some_chances):
    """What this player's hands meet, where the other discards alike, beside each starter."""
    return meetings(some_chances, some_chances)


@pytest.mark.slow
@pytest.mark.parametrize("starter", [0, 4, 12])
def test_hands_meet_as_often_as_counted(kinds, some_chances, some_meetings, starter):
    """By going through the deals of six cards of which a hand is kept, and what the other may hold beside each."""
    is_kept = np.bincount(kinds.kept, some_chances, len(FOURS)) > 0
    made, ways = some_chances.nonzero()[0], np.zeros(len(kinds.counts))
    for hand in np.random.default_rng(starter).choice(is_kept.nonzero()[0], 5):
        expected, held = np.zeros(len(FOURS)), np.zeros(len(FOURS))
        for choice in made[kinds.kept[made] == hand]:
            six = kinds.six[choice]
            starters = 4 - kinds.counts[six, starter]
            if starters:
                fill_hands(some_chances, made, six, starter, kinds, ways, held)
                expected += some_chances[choice] * kinds.ways()[six] * starters * held
        assert some_meetings[starter, hand] == pytest.approx(expected, rel=1e-3, abs=1e-6 * expected.max())


@pytest.mark.slow
def test_both_players_meet_equally_often(some_meetings, kinds, some_chances):
    hands = (np.bincount(kinds.kept, some_chances, len(FOURS)) > 0).nonzero()[0]
    both = some_meetings[:, hands][:, :, hands].astype(float)
    both /= both.sum(axis=(1, 2), keepdims=True)
    assert abs(both - both.transpose(0, 2, 1)).sum(axis=(1, 2)) == pytest.approx(np.zeros(13), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("starter", [0, 4])
def test_with_the_weights_of_hands_each_is_held_as_often_as_it_is_kept(kinds, some_chances, starter):
    """Of six cards dealt beside a starter, whatever the other player holds."""
    others = np.roll(some_chances, 1)
    pairs = pairs_dealt(start_of_play(starter=starter))
    pone, dealer = fitted_weights((kept(some_chances, starter), kept(others, starter)), pairs)
    held = pone[:, None] * pairs * dealer
    ways_of_six = WAYS[4 - (np.arange(13) == starter), kinds.counts].prod(axis=1)[kinds.six]
    for chances, found in ((some_chances, held.sum(axis=1)), (others, held.sum(axis=0))):
        expected = np.bincount(kinds.kept, chances * ways_of_six, len(FOURS))
        assert found / found.sum() == pytest.approx(expected / expected.sum(), abs=1e-9)


@pytest.mark.slow  # half a minute
def test_how_much_the_weights_of_hands_leave_out(kinds):
    """Of the discards of the solution beside a starter of rank five: the share of deals at wrong pairs of hands."""
    starter, chances = 4, [by_choice(made / made.sum(axis=1, keepdims=True)) for made in load_blueprint().discards]
    met = meetings(chances[PONE], chances[DEALER])[starter]
    is_kept = np.bincount(kinds.kept, chances[PONE], len(FOURS)) > 0
    exact = met * is_kept[:, None].astype(float)
    pairs = pairs_dealt(start_of_play(starter=starter))
    pone, dealer = fitted_weights(tuple(kept(of_role, starter) for of_role in chances), pairs)
    fitted = pone[:, None] * pairs * dealer
    distance = abs(exact / exact.sum() - fitted / fitted.sum()).sum() / 2
    print(f"total variation {distance:.3f}")
    assert 0.01 < distance < 0.1


def test_policies_by_class_become_policies_by_rank(kinds):
    even = np.full((len(representatives()), len(PLACES)), 1 / len(PLACES), np.float32)
    chances = by_choice(even)
    assert np.add.reduceat(chances, kinds.first[:-1]) == pytest.approx(np.ones(len(kinds.counts)), abs=1e-5)
    pairs = kinds.choice[hand_number([0, 0, 1, 2]), hand_number([3, 4])]  # A A 2 3 4 5: one of fifteen discards
    assert chances[pairs] == pytest.approx(1 / 15, abs=1e-6)
    assert chances[kinds.choice[hand_number([0, 1, 2, 3]), hand_number([0, 4])]] == pytest.approx(2 / 15, abs=1e-6)


@pytest.mark.slow  # ten seconds
def test_cribs_beside_random_discards_are_the_exact_means():
    """Which count every suit; jacks of the opponent are right on average alone."""
    of_classes = choices()
    even = np.full((len(representatives()), len(PLACES)), 1 / len(PLACES), np.float32)
    means = crib_means(by_choice(even))
    some = np.random.default_rng(3).integers(len(of_classes.choice), size=500)
    cards = np.stack([np.flatnonzero(representatives()[c] >> np.arange(52) & 1) for c in some])
    exact = discard_statistics(cards)["crib_mean"]
    found = means[of_classes.choice[some]] + of_classes.suited[some]
    assert found == pytest.approx(exact, abs=0.02)
    assert np.average(found - exact, axis=0) == pytest.approx(np.zeros(len(PLACES)), abs=0.002)


def test_a_crib_counts_the_starters_that_the_opponent_leaves(kinds, some_chances, some_cribs):
    """By going through all kinds of six that the opponent may hold, for one hand."""
    mine = number_of_six(np.array([[0, 0, 3, 4, 9, 10]]))[0]
    left = 4 - kinds.counts[mine]
    ways = WAYS[left, kinds.counts].prod(axis=1)[kinds.six] * some_chances
    starters = left - kinds.counts[kinds.six]
    for choice in range(kinds.first[mine], kinds.first[mine + 1], 3):
        low, high = HANDS[2][kinds.discards].T
        points = THREE_CARDS[kinds.discards[choice], low, high]
        nobs = 12 / 51 * ((low == JACK) + (high == JACK).astype(int))
        expected = (ways * ((points * starters).sum(axis=1) / 40 + nobs)).sum() / ways.sum()
        assert some_cribs[choice] == pytest.approx(expected)


def test_both_players_expect_the_same_crib(kinds, some_chances, some_cribs):
    """In the mean of all deals, if his nobs of own jacks is counted as that of the other's."""
    nobs = 12 / 51 * (HANDS[2][kinds.discards] == JACK).sum(axis=1)
    others = np.roll(some_chances, 1)
    others /= np.add.reduceat(others, kinds.first[:-1])[kinds.six]
    deals = kinds.ways()[kinds.six]
    expected = deals * some_chances @ (crib_means(others) + nobs)
    assert deals * others @ (some_cribs + nobs) == pytest.approx(expected, rel=1e-9)


# --- responses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_responders_earn_what_the_best_response_of_all_hands_does(solved, role):
    """If what the opponent holds depends on the hand alone; lanes with other weights are apart."""
    game, average = solved
    pairs = pairs_dealt(start_of_play(SMALL))
    met = pairs @ ORDERINGS[SMALL] if role == PONE else ORDERINGS[SMALL] @ pairs
    expected = game.response_values(average, role)[: len(met)] / met
    chances, lanes = np.zeros_like(average), make_lanes()
    fill_chances(game.arrays, average, 1 - role, 0, len(game.nodes), np.zeros((2, 1820), np.float32), chances)
    for hand in range(0, len(HANDS[SMALL]), 7):
        weights = (pairs[hand] if role == PONE else pairs[:, hand]) * ORDERINGS[SMALL]
        lanes.reach[:] = 0
        lanes.reach[SMALL, : len(weights), 5] = weights
        lanes.reach[SMALL, : len(weights), 90] = 2 * weights
        respond(game.arrays, chances, role, hand, lanes)
        assert lanes.values[0, 5] / weights.sum() == pytest.approx(expected[hand], abs=1e-4)
        assert lanes.values[0, 90] == pytest.approx(2 * lanes.values[0, 5], rel=1e-5)


def given(ways, prior):
    """`pairs` of PlayGame.hand_values, where only the ways to deal both hands count."""
    shares = ways * prior / (ways @ prior)[:, None]
    return (shares / prior).astype(np.float32)


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_the_tree_of_the_pegging_game_serves_beside_a_starter(solved, role):
    """It has choices that nobody can make then, and else is the game that has the starter from the beginning."""
    whole, starter, prior = solved[0], 9, ORDERINGS[SMALL]
    ways = pairs_dealt(start_of_play(SMALL, starter))
    own = PlaySolver(PlayGame(start=start_of_play(SMALL, starter), threads=1))
    regrets, average = np.zeros((2, whole.extent.slots), np.float32)
    pairs = [given(ways, prior), given(ways.T, prior)]
    for t in range(5):
        own.iterate()
        for of_role in range(2):
            step = Step(of_role, UPDATE_REGRETS, *map(np.float32, discounted(t, DISCOUNTS)))
            whole.hand_values(Weights(regrets, regrets, average), step, [prior, prior], pairs[of_role])
    weights = Weights(average, average, NOTHING)
    values = whole.hand_values(weights, Step(role, BEST_RESPONSE), [prior, prior], pairs[role])
    deals = prior * ((ways if role == PONE else ways.T) @ prior)
    assert values @ deals / deals.sum() == pytest.approx(own.best_responses()[role], abs=1e-3)  # ties


# --- the solver's discards ------------------------------------------------------------------------------------------


def test_regrets_of_discards_are_matched_and_discounted():
    rng = np.random.default_rng(4)
    regrets, values = rng.normal(size=(2, 20, 15)).astype(np.float32)
    regrets[0] = -1
    chances = matched(regrets)
    assert chances[0] == pytest.approx(np.full(15, 1 / 15))
    for row, found in zip(regrets[1:], chances[1:]):
        above = [max(regret, 0) for regret in row.tolist()]
        assert found == pytest.approx(np.array(above) / sum(above))
    step = Step(DEALER, UPDATE_REGRETS, *map(np.float32, discounted(3, DISCOUNTS)))
    new = regrets.copy()
    add_regrets(values, chances, step, new)
    for row, before, of_row, value in zip(new, regrets, chances, values):
        factors = [step.positive if regret > 0 else step.negative for regret in before]
        assert row == pytest.approx(before * factors + value - of_row @ value, abs=1e-5)


# --- agents ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_the_discards_of_an_agent_by_place(role, monkeypatch):
    """`random` mixes: all fifteen alike. `greedy` keeps the best."""
    here = "crib_env.evaluate.skill.exploitability"
    monkeypatch.setattr(f"{here}.N_CLASSES", 200)
    chances = discard_chances(make_agent("random"), role)[:200]
    assert chances == pytest.approx(np.full((200, 15), 1 / 15), abs=1e-6)
    chosen = discard_chances(make_agent("greedy"), role)[:200]
    assert (np.sort(chosen) == [0] * 14 + [1]).all()
    found, sign = discard_statistics(cards_of(np.arange(200))), (0, 1)[role == DEALER]
    values = found["hand_mean"] + sign * found["crib_mean"]
    assert values[np.arange(200), chosen.argmax(axis=1)] == pytest.approx(values.max(axis=1))


def test_agents_whose_play_depends_on_discards_are_refused():
    with refused("minimax"):
        command(("minimax",), whole=True)
    with refused("cards=3", "--whole"):
        command(("greedy",), whole=True, cards=3)


@pytest.fixture(scope="module")
def whole_game():
    return PlayGame(threads=1)


class HighestRanks:
    """Discards as `greedy` does and lays its highest rank, so that suits have no part in its play."""

    name = "highest-ranks"
    powers = crib_env.Powers(suits="unseen", remembers_discards=False, sees_starter=False)

    def act(self, views):
        highest = np.where(views.action_mask, 100 + 4 * (np.arange(52) % 13) - np.arange(52) // 13, 0).argmax(axis=1)
        return np.where(views.is_discard, make_agent("greedy").act(views), highest)


@pytest.mark.slow  # a quarter of an hour: best responses in both roles, and four million deals
def test_a_best_response_earns_in_the_engine_what_is_claimed(whole_game):
    """In whole deals, discards included; what its own cards are worth is taken out of the noise."""
    agent, n, parts = HighestRanks(), 500_000, 4
    policy = deal_policy(agent, whole_game)
    play = [policy.play(0, role).copy() for role in range(2)]
    for role, chances in enumerate(play):
        to_chances(whole_game, chances, role, 2)
    found = best_responses(whole_game, policy, threads=2)
    totals = [discard_totals(role, response.cribs, response.play, choices()) for role, response in enumerate(found)]
    for role, response in enumerate(found):
        responder = DealResponder(whole_game, policy.discards, play, totals)
        worth = totals[role].max(axis=1)
        worth -= np.average(worth, weights=class_sizes())
        nets = []
        for states in np.split(streams(role, parts * n), parts):
            batch = GameBatch(states, episode="deal", first_dealer=1)
            sixes_dealt = np.sort(batch.games["cards"][:, 6 * role : 6 * role + 6].astype(np.int64), axis=1)
            while len(rows := batch.acting()):
                for seat, player in ((role, responder), (1 - role, agent)):
                    mine = rows[batch.games["turn"][rows] == seat]
                    if len(mine):
                        batch.step(mine, player.act(batch.views(mine)))
            net = (batch.games["scores"][:, role] - batch.games["scores"][:, 1 - role]).astype(float)
            nets.append(net - worth[class_of(sixes_dealt)[0]])
        low, high = mean_interval(np.concatenate(nets))
        print(f"role {role}: exact {response.value:.4f}, in the engine {low:.4f} to {high:.4f}")
        assert low - 0.01 <= response.value <= high + 0.01


# --- The state of a solver ------------------------------------------------------------------------------------------


class SmallState:
    """What a state consists of, of another size."""

    def __init__(self, iterations):
        rng = np.random.default_rng(iterations)
        self.regrets, self.average = rng.random((2, 13, 40), np.float32)
        self.discard_regrets, self.discard_average = rng.random((2, 2, 30, 15), np.float32)
        self.iterations, self.seconds = iterations, 1.5 * iterations


def test_a_state_is_read_as_it_was_written_and_half_a_state_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("crib_env.solver.deal.solver.N_CLASSES", 30)
    first, second, found = SmallState(3), SmallState(12), SmallState(0)
    load(found, tmp_path)
    assert found.iterations == 0
    save(first, tmp_path)
    save(second, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["iteration-12"]
    (tmp_path / "iteration-40").mkdir()  # a kill in the middle of writing it
    load(found, tmp_path)
    for name, value in vars(second).items():
        assert np.array_equal(getattr(found, name), value)
    raw = bytearray((tmp_path / "iteration-12" / "7.npz").read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "iteration-12" / "7.npz").write_bytes(raw)
    with refused("7.npz"):
        load(found, tmp_path)
