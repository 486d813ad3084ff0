"""The play as a game: its tree against the engine, its solution against linear programming and brute force."""

import json
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from crib_env.agents.belief import GREEDY_SHARE, SLIP, careful_choice, greedy_chance, simple_policy, weigh_cards
from crib_env.engine import DEALER, GAME, PEGGING_EPISODE, PONE, act, begin_deal, begin_game, legal_cards, shuffle
from crib_env.evaluate.commands.solve import solve_play
from crib_env.hands import HANDS, N_RANKS, ORDERINGS, hand_number
from crib_env.kernels import kernel, lowest, streams
from crib_env.solver.cfr import DISCOUNTS, Discounts, PlaySolver, Population, discounted
from crib_env.solver.endings import OF_ACTOR, OF_OTHER, ending_key, ending_points, make_endings
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import (
    ACTOR,
    CARDS,
    COUNT,
    FLOOR,
    GONE,
    N_FIELDS,
    POINTS,
    gone_of,
    lay_rank,
    n_playable_ranks,
    net_points,
    say_go,
    start_of_play,
)
from crib_env.solver.subgame import Stakes, Subgame
from crib_env.solver.sweeps import EXPECTED
from crib_env.solver.tree import build_tree
from crib_env.tables.prior import UNUSUAL, prior_of_discards
from tests.helpers import reference
from tests.helpers.refusals import refused


@kernel
def first_difference(games, n, start):
    """Random plays in the engine and as public states: the number of the first deal that differs, or n."""
    g = games[0]
    s = np.empty(N_FIELDS, np.int64)
    for deal in range(n):
        begin_game(g, PEGGING_EPISODE, -1, 0, 0, -1)
        shuffle(g)
        begin_deal(g)
        s[:] = start
        dealer = np.int64(g["dealer"])
        word = np.int64(g["cards"][0]) + deal
        while g["n_laid"] < 8:
            seat = np.int64(g["turn"])
            role = 1 if seat == dealer else 0
            while s[ACTOR] != role:
                if legal_ranks(g["hand"][1 - seat], s[COUNT]):
                    return deal
                say_go(s)
            legal = legal_cards(g)
            if not legal_ranks(g["hand"][seat], s[COUNT]):
                say_go(s)  # nobody can lay a card: both say go
                continue
            for _ in range(word % 4):
                legal = legal & (legal - 1) if legal & (legal - 1) else legal
            word = word * 5 + 3
            card = lowest(legal)
            lay_rank(s, card % 13)
            act(g, card)
            settle(g, s)
            if net_points(s) != g["scores"][1 - dealer] - g["scores"][dealer]:
                return deal
    return n


@kernel
def legal_ranks(hand, count):
    """Whether a hand has a card that fits."""
    while hand:
        if lowest(hand) % 13 < n_playable_ranks(count):
            return True
        hand &= hand - 1
    return False


@kernel
def settle(g, s):
    """Lets both say go in the public state where neither can lay a card, as the engine has done by itself."""
    dealer = np.int64(g["dealer"])
    while s[COUNT] and g["n_laid"] < 8:
        actor = s[ACTOR]
        seat = dealer if actor else 1 - dealer
        if legal_ranks(g["hand"][0], s[COUNT]) or legal_ranks(g["hand"][1], s[COUNT]):
            return
        if not g["hand"][seat]:
            return
        say_go(s)


def test_points_of_random_plays_are_the_engines():
    n = 100_000
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(7, 1)
    assert first_difference(games, n, start_of_play()) == n


def test_a_go_never_makes_lower_ranks_possible_again():
    state = start_of_play()
    for rank in (12, 4, 12):
        lay_rank(state, rank)
    say_go(state)
    say_go(state)  # at 25: neither player has a six or less
    assert state[FLOOR : FLOOR + 2].tolist() == [6, 6]
    for rank in (12, 9, 12):
        lay_rank(state, rank)
    say_go(state)
    say_go(state)  # at 30, which says less
    assert state[FLOOR : FLOOR + 2].tolist() == [6, 6]


@pytest.mark.parametrize(
    ("n_cards", "nodes", "links", "endings"),
    [
        (2, 14, 182, 148),
        (3, 9_022, 67_462, 4_156),
        pytest.param(4, 1_877_592, 13_382_170, 52_843, marks=pytest.mark.slow),
    ],
)
def test_the_size_of_the_public_tree(n_cards, nodes, links, endings):
    _, extent, keys = build_tree(start_of_play(n_cards), 0)
    assert (extent.nodes, extent.links, len(keys)) == (nodes, links, endings)


def ending_states(n, rng):
    """Public states in which each player has at most one card, after random cards and goes."""
    for _ in range(n):
        s = start_of_play()
        while s[CARDS] > 1 or s[CARDS + 1] > 1:
            held_back = [rank for rank in range(N_RANKS) if gone_of(s[GONE], rank) == 4]
            ranks = [rank for rank in range(n_playable_ranks(s[COUNT])) if rank not in held_back]
            if ranks and (n_playable_ranks(s[COUNT]) == N_RANKS or rng.random() < 0.8):
                lay_rank(s, rng.choice(ranks))
            else:
                say_go(s)
        if s[CARDS] + s[CARDS + 1]:
            yield s


def test_endings_have_the_points_of_their_cards():
    """A key leaves out cards that no pair or run can reach any more; the points are those of the whole count."""
    states = list(ending_states(2_000, np.random.default_rng(0)))
    keys = np.array([ending_key(s) for s in states])
    assert len(np.unique(keys)) < len(np.unique([s[:COUNT].tolist() for s in states], axis=0))
    tables, points = make_endings(keys, 1), ending_points(keys)
    for s, table, both in zip(states, tables, points):
        actor = int(s[ACTOR])
        for own in range(N_RANKS if s[CARDS + actor] else 1):
            for other in range(N_RANKS if s[CARDS + 1 - actor] else 1):
                end, ranks = s.copy(), (own, other)
                while end[CARDS] + end[CARDS + 1]:
                    rank = N_RANKS - 1 - ranks[int(end[ACTOR] != actor)]
                    if rank < n_playable_ranks(end[COUNT]):
                        lay_rank(end, rank)
                    else:
                        say_go(end)
                made = (end - s)[[POINTS + actor, POINTS + 1 - actor]]
                assert both[:, own, other].tolist() == made.tolist()
                assert table[OF_ACTOR, other, own] == made[0] - made[1] == -table[OF_OTHER, own, other]


# --- A deck of three ranks, two cards each; two cards in hand: no count passes thirty-one ---------------------------

RANKS = (0, 4, 9)
PAIRS = [(a, b) for i, a in enumerate(RANKS) for b in RANKS[i:]]


def small_game(threads=1):
    start = start_of_play(2)
    start[GONE] = sum(2 << (3 * rank) for rank in RANKS)
    prior = np.zeros(91)
    for pair in PAIRS:
        prior[hand_number(pair)] = ORDERINGS[2][hand_number(pair)]
    return PlayGame([prior, prior], start, threads)


@cache
def points(laid):
    """Net points of pone when four cards are laid in turn."""
    net = 1 * -1  # the dealer lays the last card
    for n in range(1, 5):
        earned = sum(points for points, _ in reference.score_play(list(laid[:n])))
        net += earned if n % 2 else -earned
    return net


def payoffs():
    """(8, 512) what pone earns in the mean, by pure strategies of pone and the dealer."""
    mixed = [pair for pair in PAIRS if pair[0] != pair[1]]
    pones = [dict(zip(mixed, choice)) for choice in product(range(2), repeat=3)]
    spots = [(pair, lead) for pair in mixed for lead in RANKS]
    dealers = [dict(zip(spots, choice)) for choice in product(range(2), repeat=9)]
    deck = [rank for rank in RANKS for _ in range(2)]
    out, deals = np.zeros((len(pones), len(dealers))), 0
    for i, j, k, m in product(range(6), repeat=4):
        if len({i, j, k, m}) < 4 or i > j or k > m:
            continue
        own, other = (deck[i], deck[j]), (deck[k], deck[m])
        deals += 1
        for p, pone in enumerate(pones):
            first = pone.get(own, 0)
            for d, dealer in enumerate(dealers):
                answer = dealer.get((other, own[first]), 0)
                out[p, d] += points((own[first], other[answer], own[1 - first], other[1 - answer]))
    return out / deals


@pytest.fixture(scope="module")
def matrix():
    return payoffs()


def value_of(payoffs):
    """The most that pone wins for certain: v over mixtures x, at most what each strategy of the dealer leaves."""
    n_pone, n_dealer = payoffs.shape
    found = linprog(
        np.r_[np.zeros(n_pone), -1],
        A_ub=np.c_[-payoffs.T, np.ones(n_dealer)],
        b_ub=np.zeros(n_dealer),
        A_eq=[[*np.ones(n_pone), 0]],
        b_eq=[1],
        bounds=[(0, 1)] * n_pone + [(None, None)],
    )
    return -found.fun


def test_the_value_of_a_small_deck_is_that_of_linear_programming(matrix):
    value = value_of(matrix)
    game = small_game()
    solver = PlaySolver(game)
    for _ in range(300):
        solver.iterate()
    responses = solver.best_responses()
    assert -1e-6 < responses.nash_conv < 1e-4
    assert -responses.as_dealer - 1e-6 <= value <= responses.as_pone + 1e-6
    assert game.expected(solver.average) == pytest.approx(value, abs=1e-4)


def test_best_responses_to_even_play_are_those_of_brute_force(matrix):
    responses = small_game().best_responses(np.zeros(small_game().extent.slots, np.float32))
    assert responses.as_pone == pytest.approx(matrix.mean(axis=1).max(), abs=1e-6)
    assert responses.as_dealer == pytest.approx(-matrix.mean(axis=0).min(), abs=1e-6)


def test_with_a_population_the_value_is_that_of_linear_programming(matrix):
    """A row meets a column of the fixed policy with this probability, else one of the game; and the other way round."""
    game, share = small_game(), 0.3
    even = np.zeros(game.extent.slots, np.float32)  # all choices alike, as all pure strategies alike
    solver = PlaySolver(game, Population(even, share))
    for _ in range(300):
        solver.iterate()
    of_both = (1 - share) * matrix + share * (matrix.mean(axis=1, keepdims=True) + matrix.mean(axis=0))
    average = solver.average
    value = (1 - share) * game.expected(average)
    value += share * game.earned(average, even, PONE, EXPECTED) - share * game.earned(average, even, DEALER, EXPECTED)
    assert value == pytest.approx(value_of(of_both), abs=1e-4)


# --- Three cards each ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_cards():
    return PlayGame(start=start_of_play(3), threads=1)


def solved(game, iterations):
    solver = PlaySolver(game)
    for _ in range(iterations):
        solver.iterate()
    return solver


@pytest.mark.parametrize(
    ("discounts", "iterations", "positive", "negative", "average"),
    [(DISCOUNTS, 0, 0, 1 / 2, 1), (DISCOUNTS, 4, 8 / 9, 1 / 2, 125), (Discounts(1.0, 1.0, 1.0), 3, 3 / 4, 3 / 4, 4)],
)
def test_discounts_and_weights_are_those_of_the_paper(discounts, iterations, positive, negative, average):
    assert discounted(iterations, discounts) == pytest.approx((average, positive, negative))


def test_each_iteration_counts_with_its_weight(three_cards):
    solver, alone = PlaySolver(three_cards), PlaySolver(three_cards)
    solver.iterate()
    first, regrets = solver.average.copy(), solver.regrets.copy()
    solver.iterate()
    alone.regrets, alone.iterations = regrets, 1  # the second iteration by itself
    alone.iterate()
    np.testing.assert_allclose(solver.average, first + alone.average, rtol=1e-6)
    assert alone.average.max() > 7.9  # of 8


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_weights_too_small_for_a_share_are_as_none(three_cards, role):
    """Those of a hand that a policy as good as never comes to hold: 1e-40 has no inverse in float32."""
    weights = np.random.default_rng(0).random(three_cards.extent.slots).astype(np.float32)
    weights[::2] = 0
    tiny, none = weights.copy(), weights.copy()
    tiny[: len(tiny) // 2], none[: len(none) // 2] = 1e-40, 0
    value = three_cards.best_response(tiny, role)[0]
    assert np.isfinite(value)
    assert value == three_cards.best_response(none, role)[0]


def test_threads_change_nothing(three_cards):
    one, two = solved(three_cards, 2), solved(PlayGame(start=start_of_play(3), threads=2), 2)
    assert (one.average == two.average).all()
    assert one.best_responses() == two.best_responses()


def test_a_saved_solver_goes_on_to_the_same_numbers(three_cards, tmp_path):
    straight, stopped = solved(three_cards, 4), solved(three_cards, 2)
    stopped.save(tmp_path / "play", "three cards")
    resumed = PlaySolver(three_cards)
    resumed.load(tmp_path / "play", "three cards")
    for _ in range(2):
        resumed.iterate()
    assert (resumed.average == straight.average).all()
    assert (resumed.regrets == straight.regrets).all()
    with refused("not a solution of four cards"):
        resumed.load(tmp_path / "play", "four cards")


def test_simple_players_choose_as_the_posterior_expects(three_cards):
    """After a lead the greedier type of a hand that led it is likelier, and so is what it lays next."""
    policy = simple_policy(three_cards, start_of_play(3))
    pile, care, greed = np.zeros(10, np.int64), np.zeros(13), np.zeros(13, np.int64)

    def by_type(hand, laid):
        """(2, 13) how likely a careful and a greedy player lay each rank next, where no count has ended."""
        pile[: len(laid)] = laid
        count = sum(min(rank + 1, 10) for rank in laid)
        other_cards = 3 - len(laid) // 2 if len(laid) % 2 == 0 else 3 - (len(laid) + 1) // 2
        weigh_cards(np.int64(0x1111111111111), pile, 0, len(laid), count, other_cards, care, greed)
        packed = np.int64(sum(1 << (4 * rank) for rank in hand))
        ranks = sorted(set(hand))
        out = np.zeros((2, 13))
        for rank in ranks:
            out[0, rank] = care[rank] / careful_choice(packed, care, 0.0)[1]
            out[1, rank] = greedy_chance(rank, packed, greed, SLIP)
        return out

    shares = np.array([1 - GREEDY_SHARE, GREEDY_SHARE])
    hand = (3, 6, 9)
    first = by_type(hand, ())
    np.testing.assert_allclose(three_cards.chances_at(policy, 0, hand_number(hand)), shares @ first, atol=1e-6)
    lead, answer = 3, 10  # 4, then a jack: 14
    node = three_cards.node_at([(PONE, lead), (DEALER, answer)], PONE, 6)
    posterior = shares * first[:, lead]
    expected = posterior @ by_type((6, 9), (lead, answer)) / posterior.sum()
    found = three_cards.chances_at(policy, node, hand_number((6, 9)))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert abs(found - shares @ by_type((6, 9), (lead, answer))).max() > 0.001  # the lead tells the types apart


def test_a_population_of_simple_players_gives_more_away_and_wins_more_from_them(three_cards):
    simple, equal = simple_policy(three_cards, start_of_play(3)), solved(three_cards, 12)
    mixed = PlaySolver(three_cards, Population(simple, 0.4))
    for _ in range(12):
        mixed.iterate()

    def won(policy):
        return sum(three_cards.earned(policy, simple, role, EXPECTED) for role in (PONE, DEALER))

    assert won(mixed.average) > won(equal.average) + 0.1
    assert mixed.best_responses().nash_conv > equal.best_responses().nash_conv


# --- Real deals as priors --------------------------------------------------------------------------------------------


def test_hands_after_discards_are_as_frequent_as_kept_and_fit_beside_each_other():
    rng, starter = np.random.default_rng(0), 4
    kept = rng.random((13, 2, 1820)) * (rng.random((13, 2, 1820)) < 0.3)
    kept[..., hand_number([4] * 4)] = 0
    kept /= kept.sum(axis=2, keepdims=True)
    weights = prior_of_discards(starter, kept)
    ways = pairs_dealt(start_of_play(starter=starter))
    joint = weights[PONE][:, None] * ways * weights[DEALER]
    joint /= joint.sum()
    dealt = ORDERINGS[4][:, None] * ways * ORDERINGS[4]
    dealt /= dealt.sum()
    for role, axis in ((PONE, 1), (DEALER, 0)):
        expected = (1 - UNUSUAL) * kept[starter, role] + UNUSUAL * dealt.sum(axis=axis)
        np.testing.assert_allclose(joint.sum(axis=axis), expected, rtol=1e-3, atol=1e-9)
    fives, rest = hand_number([4, 4, 0, 1]), hand_number([4, 4, 9, 9])
    assert joint[fives, rest] == 0  # with the starter they would be five fives


# --- The command -----------------------------------------------------------------------------------------------------


def test_the_command_solves_continues_and_says_so(tmp_path, capsys):
    play, json_file = tmp_path / "play", tmp_path / "play.json"
    solve_play(play, cards=2, nash_conv=0.1, json_file=json_file)
    first = json.loads(json_file.read_text())
    assert "value to dealer" in capsys.readouterr().out
    solve_play(play, cards=2, nash_conv=0.001, json_file=json_file)
    assert f"{play} has {first['iterations']} iterations" in capsys.readouterr().out.replace("\n", "")
    second = json.loads(json_file.read_text())
    assert second["nash_conv"] <= 0.001 < first["nash_conv"] <= 0.1
    assert second["iterations"] > first["iterations"]
    with refused("not a solution of the pegging game with three cards each"):
        solve_play(play, cards=3)


# --- What each rank is worth against a policy -----------------------------------------------------------------------


def net_of_pone(laid_first, pones, dealers):
    """Net points of pone: these cards are laid, then each player's only card that is left, as soon as it fits."""
    state, left = start_of_play(2), (list(pones), list(dealers))
    for rank in laid_first:
        left[state[ACTOR]].remove(rank)
        lay_rank(state, rank)
    while left[0] or left[1]:
        own = left[state[ACTOR]]
        if own and own[0] < n_playable_ranks(state[COUNT]):
            lay_rank(state, own.pop())
        else:
            say_go(state)
    return net_points(state)


def test_ranks_are_worth_what_the_opponents_policy_leaves_them():
    prior, points = (ORDERINGS[2], ORDERINGS[2]), np.arange(64.0)
    stakes = Stakes(points[:, None] - points, np.zeros((2, len(HANDS[2])), np.int64))
    whole, game = Subgame(start_of_play(2), ([], []), stakes, prior), PlayGame(start=start_of_play(2), threads=1)
    rng = np.random.default_rng(4)
    policy = whole.policy
    policy[:] = rng.random(len(policy))
    hands = np.arange(len(HANDS[2]))
    ways = {  # of the dealer's hands beside pone's, in sets of cards
        (h, y): ORDERINGS[2][y]
        * np.prod([4 - (*HANDS[2][h], *HANDS[2][y][:k]).count(r) for k, r in enumerate(HANDS[2][y])])
        for h in (5, 60)
        for y in hands
    }
    # The dealer, after pone's lead: each of pone's hands with that lead, as likely as the policy makes it.
    lead, dealers = 4, (7, 4)
    values = whole.rank_values(DEALER, int(hand_number(dealers)), 16 + lead)
    for rank in dealers:
        total = weight = 0.0
        for h, pones in enumerate(HANDS[2].tolist()):
            if lead in pones:
                likely = ORDERINGS[2][h] * game.chances_at(policy, 0, h)[lead]
                likely *= np.prod([4 - (*dealers, *pones[:k]).count(r) for k, r in enumerate(pones)])
                weight += likely
                total -= likely * net_of_pone([lead, rank], pones, dealers)
        assert values[rank] == pytest.approx(total / weight, abs=1e-5)
    assert (np.isinf(values) == ~np.isin(np.arange(13), dealers)).all()
    # Pone, before the lead: the dealer answers by the policy.
    for h in (5, 60):
        pones = HANDS[2][h].tolist()
        values = whole.rank_values(PONE, h, 1)
        for rank in set(pones):
            at = game.node_at([(0, rank)], 1, 0)
            expected = sum(
                ways[h, y]
                * sum(
                    chance * net_of_pone([rank, answer], pones, HANDS[2][y].tolist())
                    for answer, chance in enumerate(game.chances_at(policy, at, y))
                    if chance
                )
                for y in hands
                if ways[h, y]
            ) / sum(ways[h, y] for y in hands)
            assert values[rank] == pytest.approx(expected, abs=1e-5)
