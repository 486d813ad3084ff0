"""Tree search: ``ismcts`` and ``uct-determinized``."""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.agents import Agent, make_agent
from crib_env.agents.belief import habits
from crib_env.agents.tree_search import Settings, begin_decision, new_work, search, unseen_cards, walk
from crib_env.batch import GameBatch
from crib_env.engine import OVER, PLAY
from crib_env.kernels import streams
from crib_env.players.policies import RANDOM
from tests.helpers import engine_calls
from tests.helpers.decided import decided
from tests.helpers.drawn_worlds import NO_LIKELIHOOD, drawn, weighed
from tests.helpers.hidden_cards import cards_of, mask_of

HONEST = ("ismcts", "uct-determinized")
NO_SHIFT = np.zeros((2, 13, 13))
QUICK = {"ismcts": "ismcts:iterations=40", "uct-determinized": "uct-determinized:iterations=60,determinizations=5"}


def settings(iterations=1, exploration=2**0.5, **others):
    return Settings(iterations, exploration, 0, True, NO_LIKELIHOOD, NO_SHIFT)._replace(**others)


def games_after(decisions, n=60, seed=0):
    """Games between random players after so many decisions, and the rows that go on."""
    batch = decided(decisions, n, seed)
    return batch, batch.acting()


def endings(n, own, others, seed=0):
    """Games whose seat to act holds ``own`` cards and the other ``others``, in the play."""
    batch, found = GameBatch(streams(seed, 40 * n), episode="deal"), []
    while len(rows := batch.acting()) and len(found) < n:
        views = batch.views(rows)
        fits = (views.discards[:, 1] >= 0) & ((views.hand >= 0).sum(axis=1) == own) & (views.opponent_cards == others)
        ranks = [{card % 13 for card in np.flatnonzero(mask)} for mask in views.action_mask]
        found += [batch.games[row].copy() for row, fit, choice in zip(rows, fits, ranks) if fit and len(choice) > 1]
        batch.step(rows, batch.native_cards(rows, RANDOM))
    return np.array(found[:n])


def views_of_turn(games):
    return crib_env.views.views_of(games, np.arange(len(games)), games["turn"].astype(np.int64), np.arange(len(games)))


def after(game, card):
    """A copy of a game with one more card laid."""
    games = np.array([game])
    engine_calls.act(games, np.array([0]), np.array([card]))
    return games[0]


def legal(game):
    masks = np.zeros(1, np.int64)
    engine_calls.legal(np.array([game]), np.array([0]), masks)
    return cards_of(masks[0])


@pytest.mark.parametrize("likely", [NO_LIKELIHOOD, habits().keeping], ids=["uniform", "likelihood"])
def test_draws_agree_with_all_that_is_known(likely):
    for decisions in range(14):
        batch, rows = games_after(decisions, n=12, seed=decisions)
        views = batch.views(rows)
        for b, root in enumerate(views.games):
            known = [*views.hand[b], *views.discards[b], views.starter[b], *views.laid[b]]
            known = {int(card) for card in known if card >= 0}
            theirs = {int(card) for card, by in zip(views.laid[b], views.laid_by[b]) if by == 1}
            for world in drawn(root, 8, likely):
                hand, discarded = cards_of(world["hand"][1]), cards_of(world["discards"][1])
                assert len(hand) == min(int(views.opponent_cards[b]), 4)
                assert len(discarded) == 2
                hidden = {*hand, *discarded} | ({int(world["cards"][12])} if views.starter[b] < 0 else set())
                assert len(hidden) == len(hand) + 2 + (views.starter[b] < 0)
                assert not hidden & known
                assert set(cards_of(world["kept"][1])) == {*hand, *theirs}
                for field in ("laid", "laid_by", "scores", "dealer", "count", "pile_start", "turn", "phase"):
                    np.testing.assert_array_equal(world[field], root[field])


def test_the_true_hand_is_among_the_weighed_hands():
    for decisions in range(20):
        batch, rows = games_after(decisions, seed=decisions)
        for row, root in zip(rows, batch.views(rows).games):
            game = batch.games[row]
            if game["phase"] == PLAY:
                held = sum(1 << 4 * (card % 13) for card in cards_of(game["hand"][1 - game["turn"]]))
                for likely in (NO_LIKELIHOOD, habits().keeping):
                    hands, weights = weighed(root, likely)
                    assert np.diff(weights, prepend=0)[hands == held].sum() > 0


def test_uniform_draws_are_uniform():
    """Opponent holds one card: each unseen card that may be it comes as often."""
    (game,) = endings(1, own=2, others=1)
    root = views_of_turn(np.array([game])).games[0]
    hands, _ = weighed(root)
    ranks = {int(hand).bit_length() // 4 for hand in hands}
    possible = [card for card in cards_of(unseen_cards(root)) if card % 13 in ranks]
    held = [cards_of(world["hand"][1])[0] for world in drawn(root, 200 * len(possible))]
    counts = np.bincount(held, minlength=52)[possible]
    assert counts.sum() == len(held)
    assert ((counts - 200) ** 2 / 200).sum() < 2 * len(possible) + 20


def test_a_go_is_evidence():
    """Pone leads a ten, dealer a ten, pone a nine (29): dealer says go, so no ace or two is in its hand."""
    env = crib_env.raw_env(episode="play")
    pone, dealer = parse_cards("TC 9C 8C 7D 2D 3D"), parse_cards("TH JH QH KH 4D 5D")
    env.reset(options={"first_dealer": 1, "deals": [[*pone, *dealer, parse_card("6S")]]})
    for card in ("TC", "TH", "9C"):
        env.step(parse_card(card))
    assert env.agent_selection == "player_1"  # pone cannot go on either: a new count
    root = env.views("player_1").games[0]
    assert {card % 13 for world in drawn(root, 300) for card in cards_of(world["hand"][1])}.isdisjoint({0, 1})


def test_visits_and_availability_on_a_tree_worked_out_by_hand():
    """Player holds A and 2, opponent one card: a queen in worlds X, a king in worlds Y; any card fits.

    With exploration beyond all rewards the move with the most log(available) / visits is taken.

    ===== =========================== ======================= =====================================
    world root: first move, second    taken                   below it
    ===== =========================== ======================= =====================================
    X     untried                     first (1 visit of 1)
    X     second untried              second (1 of 1)         (first was available: 1 of 2)
    X     log 2 / 1 > log 1 / 1       first (2 of 3)          queen tried (1 of 1)
    Y     log 3 / 2 < log 2 / 1       second (2 of 3)         king tried (1 of 1)
    Y     log 4 / 2 > log 3 / 2       first (3 of 5)          king tried (1 of 1); queen not available
    X     log 5 / 3 < log 4 / 2       second (3 of 5)         queen tried (1 of 1); king not available
    X     log 6 / 3 > log 5 / 3       first (4 of 7)          queen (2 of 2), and the last card tried
    ===== =========================== ======================= =====================================
    """
    worlds = []
    for king in (False, True):
        (game,) = np.zeros(1, crib_env.engine.GAME)
        game["hand"] = mask_of(parse_cards("AC 2C")), mask_of([parse_card("KD" if king else "QD")])
        game["laid"][:5], game["laid_by"][:5] = parse_cards("TH TS TD 9H 8H"), (0, 1, 0, 1, 1)
        game["laid"][5:], game["n_laid"], game["pile_start"] = -1, 5, 5  # a new count: ranks stay empty
        game["phase"], game["episode"], game["cards"][12] = PLAY, 2, parse_card("7S")
        worlds.append(game)
    work, how = new_work(20), settings(exploration=1e6)
    begin_decision(work, how, worlds[0], np.uint64(1))
    search(work, how, 0)
    for world in "XXXYYXX":
        work.games[1] = worlds["XY".index(world)]
        walk(work, how)

    nodes = work.nodes
    visits_and_available = [(int(node["visits"]), int(node["available"])) for node in nodes[: work.state["n_nodes"][0]]]
    #            root    first   second  1st,QD  2nd,KD  1st,KD  2nd,QD  1st,QD,last
    expected = [(7, 0), (4, 7), (3, 6), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1)]
    assert visits_and_available == expected
    first = next(move for move in (0, 1) if nodes[0]["child"][move] == 1)
    assert nodes[1]["child"][11] == 3
    assert nodes[1]["child"][12] == 5
    assert nodes[2]["child"][12] == 4
    assert nodes[2]["child"][11] == 6
    assert nodes[3]["child"][1 - first] == 7


def points_of_laying(game, card, opponents):
    """Mean net points of laying a card when everything after it is forced, by trying every hand."""
    seat, nets = int(game["turn"]), []
    for held in opponents:
        world = np.array([game])[0]
        world["hand"][1 - seat], world["episode"] = mask_of([held]), 2
        world = after(world, card)
        while world["phase"] != OVER:
            world = after(world, legal(world)[0])
        made = world["scores"] - game["scores"]
        nets.append(made[seat] - made[1 - seat])
    return np.mean(nets)


def test_against_every_hand_of_an_ending():
    """Two own cards against one hidden card: after the first everything is forced, and can be counted out."""
    games = endings(25, own=2, others=1, seed=4)
    views = views_of_turn(games)
    roots = views.games
    how, work = settings(), new_work(4001)
    chosen = make_agent("ismcts:iterations=4000,draw=uniform").act(views)
    apart = 0
    for game, root, card in zip(games, roots, chosen):
        hands, _ = weighed(root)
        ranks = {int(hand).bit_length() // 4 for hand in hands}
        opponents = [card for card in cards_of(unseen_cards(root)) if card % 13 in ranks]
        exact = {move: points_of_laying(game, move, opponents) for move in legal(game)}
        begin_decision(work, how, root, np.uint64(5))
        search(work, how, 4000)
        for move, value in exact.items():
            node = work.nodes[work.nodes[0]["child"][move % 13]]
            assert node["reward"] / node["visits"] == pytest.approx(value, abs=5 * 3 / node["visits"] ** 0.5)
        best, other = max(exact.values()), min(exact.values())
        if best - other > 0.3:
            apart += 1
            assert exact[int(card)] == best
    assert apart > 10


def test_the_show_of_a_discard_counts_as_its_mean():
    batch = GameBatch(streams(2, 4), episode="deal")
    views = batch.views(batch.acting())
    how, work, statistics = settings(), new_work(10), crib_env.discard_statistics(views.hand)
    for b, root in enumerate(views.games):
        begin_decision(work, how, root, np.uint64(0))
        exact = statistics[b]
        sign = 1 if views.is_dealer[b] else -1
        np.testing.assert_allclose(work.show_value, exact["hand_mean"] + sign * exact["crib_mean"])


def test_discards_keep_the_best_four():
    """Three fives and a jack, at the beginning of a game and near its end."""
    env = crib_env.raw_env()
    six = parse_cards("5C 5D 5H JS 9C KD")
    for scores in ((0, 0), (100, 100)):
        env.reset(
            options={"first_dealer": 1, "scores": scores, "deals": [[*six, *parse_cards("AC 2C 3C 4C 6C 7C"), 51]]}
        )
        agent = make_agent("ismcts:iterations=600")
        discarded = []
        for _ in range(2):
            discarded.append(int(agent.act(env.views("player_0"))[0]))
            env.step(discarded[-1])
        assert sorted(discarded) == parse_cards("9C KD")


@pytest.mark.parametrize("name", HONEST)
def test_choices_follow_the_seed_and_not_batch_or_threads(name):
    batch, rows = games_after(4, n=100)
    views = batch.views(rows)
    assert isinstance(make_agent(name), Agent)
    together = make_agent(f"{QUICK[name]},threads=2").act(views)
    assert (make_agent(f"{QUICK[name]},threads=1").act(views) == together).all()
    agent = make_agent(QUICK[name])
    assert [agent.act(views[k : k + 1])[0] for k in range(0, len(views), 9)] == together[::9].tolist()
    assert (make_agent(f"{QUICK[name]},seed=1").act(views) != together).any()


@pytest.mark.parametrize("spec", QUICK.values())
def test_a_search_changes_nothing_outside_it(spec):
    batch, rows = games_after(5, n=10)
    views = batch.views(rows)
    before = batch.games.tobytes(), [field.tobytes() for field in views.arrays]
    cards = make_agent(spec).act(views)
    assert (batch.games.tobytes(), [field.tobytes() for field in views.arrays]) == before
    assert views.action_mask[np.arange(len(cards)), cards].all()
