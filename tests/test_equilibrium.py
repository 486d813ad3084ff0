"""The agent that plays an equilibrium: blueprint, stakes and choices; its leads and answers, and rules of thumb."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.choosing import RARE, six_dealt
from crib_env.agents.equilibrium import (
    N_CARDS,
    NO_STARTER,
    SHIPPED,
    chances_to_win,
    load_blueprint,
    net_points,
    pair_chances,
    ranges,
    rank_shows,
    situation,
)
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.commands.analyse import leads
from crib_env.hands import HAND_TABLES, HANDS, hand_number
from crib_env.kernels import kernel, streams
from crib_env.scoring import score_play, score_show
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, lay_rank, start_of_play
from crib_env.tables.shipped import standard_leads
from docs.rules_of_thumb import (
    answer_habits,
    answers_found,
    lead_habits,
    leads_found,
    rules_for_answers,
    rules_for_leads,
    tally,
)
from tests.helpers.decided import decided
from tests.helpers.refusals import refused


def test_stakes_are_chances_to_win():
    crib, table = np.zeros(30), np.full((121, 121), 0.25)
    crib[5] = 1
    shows = np.zeros((2, 1820), np.int64)
    worth = chances_to_win((110, 115), shows, crib, table).worth
    assert worth[0, 0] == 0.25 * (115 + 5 < 121)  # pone deals next
    assert worth[0, 1] == 0  # the crib takes the dealer out
    assert worth[11, 40] == 1  # pone counts first
    assert worth[10, 6] == 0


def test_shows_by_rank():
    shows = rank_shows()
    for starter, cards in ((4, (17, 30, 9, 23)), (0, (1, 15, 29, 12))):
        ranks = sorted(card % 13 for card in cards)
        assert shows[starter, hand_number(ranks)] == score_show(list(cards), starter)


def test_the_blueprint_is_small_and_checked(tmp_path):
    assert SHIPPED.stat().st_size < 8_000_000
    damaged = tmp_path / "blueprint.npz"
    shutil.copy(SHIPPED, damaged)
    raw = bytearray(damaged.read_bytes())
    raw[len(raw) // 2] ^= 1
    damaged.write_bytes(raw)
    with refused(damaged):
        load_blueprint(damaged)
    with refused("nowhere"):
        load_blueprint(damaged.with_name("nowhere"))


def test_the_blueprints_chances_add_up():
    blueprint = load_blueprint()
    leads = np.zeros((NO_STARTER + 1, 1820))
    for rank in range(13):
        for left, ranks in enumerate(HANDS[3].tolist()):
            leads[:, hand_number([*ranks, rank])] += blueprint.lead[:, rank, left]
    possible = blueprint.weights[:, PONE] > 0
    assert (abs(leads[possible] - 255) <= 2).all()


def test_ranges_hold_what_was_laid_out_of_it():
    blueprint, ranks = load_blueprint(), np.array([9, 4, 8])
    before = blueprint.weights[NO_STARTER]
    for role, held in zip((PONE, DEALER), ranges(blueprint, NO_STARTER, ranks, 0.05)):
        weights = before[role, [hand_number([*left, *ranks[role::2]]) for left in HANDS[2 + role].tolist()]]
        assert (held > 0).all()
        assert (held <= weights + 1e-6).all()
        assert (held < weights).any()


def positions(decisions, n=12, episode="game", seed=1, scores=(0, 0)):
    batch = decided(decisions, n, seed, episode=episode, scores=scores)
    return batch, batch.acting()


def test_it_takes_the_points_that_win():
    """At 119 a pair or a fifteen wins the game, whatever the opponent holds."""
    n = 0
    for decisions in (5, 6, 7, 8, 9):
        batch, rows = positions(decisions, n=60, scores=(119, 119), seed=5)
        views = batch.views(rows)
        wins = np.array([can_win(views, b) for b in range(len(views))], bool)
        if not wins.any():
            continue
        chances = make_agent("equilibrium").probabilities(views[wins])
        for b in range(len(chances)):
            winning = winning_ranks(views[wins], b)
            assert chances[b].reshape(4, 13).sum(axis=0)[winning].sum() > 0.99
            n += 1
    assert n > 5


def test_near_the_end_its_discards_and_first_cards_are_those_of_expert():
    for decisions, scores, near in ((0, (100, 60), True), (4, (100, 60), True), (4, (95, 95), False)):
        batch, rows = positions(decisions, n=40, scores=scores)
        views = batch.views(rows)
        same = make_agent("equilibrium").act(views) == make_agent("expert").act(views)
        assert same.all() if near else 0.2 < same.mean() < 1


def test_away_from_the_end_it_discards_as_the_blueprint_says():
    """Of two discards either comes first, and the other follows."""
    blueprint, agent = load_blueprint(), make_agent("equilibrium")
    batch, rows = positions(0, n=200, seed=8)
    views = batch.views(rows)
    pairs, chances = pair_chances(blueprint, six_dealt(views), views.is_dealer)
    assert (abs(chances.sum(axis=1).astype(int) - 255) <= 3).all()
    assert ((chances > 0).sum(axis=1) > 1).any()  # some are mixed
    shares = chances / chances.sum(axis=1, keepdims=True)
    first = agent.probabilities(views)
    for b in range(len(rows)):
        expected = np.zeros(52)
        for pair, share in zip(pairs[b], shares[b]):
            expected[pair] += share / 2
        np.testing.assert_allclose(first[b], expected, atol=1e-9)
    batch.step(rows, agent.act(views))
    after = batch.views(rows)  # pone again, with five cards
    then = agent.probabilities(after)
    for b in range(len(rows)):
        is_open = (pairs[b] == after.discards[b, 0]).any(axis=1)
        expected = np.zeros(52)
        for pair, share in zip(pairs[b][is_open], shares[b][is_open]):
            expected[pair.sum() - after.discards[b, 0]] += share
        np.testing.assert_allclose(then[b], expected / expected.sum(), atol=1e-9)


def winning_ranks(views, b):
    pile = [int(card) for card in views.laid[b, views.pile_start[b] :] if card >= 0]
    legal = np.flatnonzero(views.action_mask[b])
    return sorted({int(card) % 13 for card in legal if score_play([*pile, int(card)]) >= 121 - views.scores[b, 0]})


def can_win(views, b):
    return bool(winning_ranks(views, b)) and len({card % 13 for card in np.flatnonzero(views.action_mask[b])}) > 1


def test_the_root_is_the_same_at_every_later_decision_of_a_deal():
    batch = GameBatch(streams(3, 30), episode="deal")
    seen = {}
    while len(rows := batch.acting()):
        views = batch.views(rows)
        for b in range(len(views)):
            if views.laid[b, N_CARDS - 1] >= 0 and not views.is_discard[b]:
                found = situation(views, b)
                key = (int(views.game_ids[b]), found.role)
                about = (found.root.tolist(), found.hand, found.scores, found.kept, found.discards, found.laid)
                assert seen.setdefault(key, about) == about
                assert found.root[CARDS : CARDS + 2].tolist() == [2, 3]
        batch.step(rows, batch.native_cards(rows, 0))
    assert len(seen) == 60


@kernel
def leave_out_rare(nodes, first, last, hands, rare, policy):
    """Sets choices of a hand to 0 that are less likely than ``rare`` times its likeliest, as the agent does."""
    most = np.empty(1820, np.float32)
    for at in range(first, last):
        node = nodes[at]
        role = node["actor"]
        k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
        if k >= 2 and high > low:
            n_left = hands.n_hands[k - 1, low]
            for turn in range(2):
                slot = node["first_slot"]
                if turn == 0:
                    most[: hands.n_hands[k, low]] = 0
                for rank in range(low, high):
                    for left in range(n_left):
                        h = hands.with_rank[k - 1, rank, left]
                        if turn == 0:
                            most[h] = max(most[h], policy[slot + left])
                        elif policy[slot + left] < rare * most[h]:
                            policy[slot + left] = 0
                    slot += n_left


def whole_policy(game):
    """What the agent plays in the pegging game, at every hand that it may hold."""
    agent = make_agent("equilibrium")
    blueprint, policy = load_blueprint(), np.zeros(game.extent.slots, np.float32)
    parts = game.tree.parts
    for at in range(parts[0]):
        laid = game.histories[at] & 15
        n = np.count_nonzero(game.histories[at] >= 0)
        table = (blueprint.lead, blueprint.reply, blueprint.third)[n][NO_STARTER][tuple(laid[:n])]
        policy[game.nodes[at]["first_slot"] :][: table.size] = table.ravel()
    for first in parts[:-1]:  # a part is the tree of a subgame, in the same order
        ranks = (game.histories[first][:N_CARDS] & 15).astype(np.int64)
        root = start_of_play()
        for rank in ranks.tolist():
            lay_rank(root, rank)
        hands = agent.solved(root, ranks, NO_STARTER, net_points()).policy
        policy[game.nodes[first]["first_slot"] :][: len(hands)] = hands
    leave_out_rare(game.nodes, 0, len(game.nodes), HAND_TABLES, RARE, policy)
    return policy


@pytest.mark.slow
def test_its_exploitability_in_the_pegging_game_is_small():
    """Exact best responses to the agent; about three minutes of one core."""
    game = PlayGame(threads=1)
    policy = whole_policy(game)
    responses = game.best_responses(policy)
    print(f"{responses}: {responses.nash_conv / 2:.4f} points a deal")
    assert 0 <= responses.nash_conv / 2 <= 0.02


def test_first_cards_are_those_of_the_blueprint():
    blueprint, agent, n = load_blueprint(), make_agent("equilibrium"), 0
    for decisions in range(N_CARDS):
        batch, rows = positions(decisions, episode="pegging")
        views = batch.views(rows)
        chances = agent.probabilities(views).reshape(-1, 4, 13).sum(axis=1)
        table = (blueprint.lead, blueprint.reply, blueprint.third)[decisions][NO_STARTER]
        for b in range(len(views)):
            laid = tuple(card % 13 for card in views.laid[b, :decisions])
            held = [int(card) % 13 for card in views.hand[b] if card >= 0]
            expected = np.zeros(13)
            for rank in set(held):
                rest = held.copy()
                rest.remove(rank)
                expected[rank] = table[laid][rank, hand_number(rest)]
            expected[expected < RARE * expected.max()] = 0
            np.testing.assert_allclose(chances[b], expected / expected.sum(), atol=1e-9)
            n += 1
    assert n == 36


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def table():
    return standard_leads()


def first_of_rank():
    return np.c_[np.ones(len(HANDS[4]), bool), np.diff(HANDS[4], axis=1) > 0]


def test_chances_add_up_and_what_is_laid_costs_nothing(table):
    for chances, costs in ((table.lead_chance[None], table.lead_cost[None]), (table.answer_chance, table.answer_cost)):
        assert (chances.astype(float) * first_of_rank()).sum(axis=2) == pytest.approx(1, abs=0.005)
        assert (costs >= 0).all()
        assert (costs.min(axis=2) == 0).all()
    assert (table.lead_cost.astype(float) * (table.lead_chance > 0.2)).mean() < 0.005
    held = (HANDS[4][:, :, None] == np.arange(13)).sum(axis=1)
    possible = held.max(axis=1) < 4
    assert table.led.sum(axis=0)[possible] == pytest.approx(1, abs=1e-3)
    assert (table.led.T[held == 4] == 0).all()


def test_the_shares_of_leads_are_the_same_from_both_sides(table):
    """Pone leads a rank as often by its own hands as by the dealer's."""
    for led, answered in zip(lead_habits(table), answer_habits(table)):
        assert led[0] == pytest.approx(answered[0], abs=1e-3)
    assert sum(share for share, *_ in lead_habits(table)) == pytest.approx(1, abs=1e-3)


def test_a_five_is_never_led_and_pairs_are_answered(table):
    five = hand_number((4, 9, 10, 11))
    assert table.lead_chance[five, 0] < 0.001
    assert table.lead_cost[five, 0] > 0.3
    assert table.answer_chance[9, five, 0] > 0.9  # fifteen on a ten


def test_the_values_are_those_of_the_game(table):
    """In the mean over all hands pone loses what the dealer earns in equilibrium."""
    sets = np.array([np.prod([(1, 4, 6, 4, 1)[n] for n in np.bincount(hand, minlength=13)]) for hand in HANDS[4]])
    assert np.average(table.lead_value, weights=sets) == pytest.approx(-1.3629, abs=0.006)
    answered = np.average(table.answer_value, weights=table.led * sets)
    assert answered == pytest.approx(1.3629, abs=0.006)


def test_the_command_shows_a_hand_in_any_form(capsys):
    leads(("4C", "4D", "5H", "6S"))
    first = capsys.readouterr().out
    assert re.search(r"4 +100% +-0\.\d\d +0", first)
    leads(("6s4d4c5h",))
    assert capsys.readouterr().out == first
    with refused("4C 4D"):
        leads(("4C", "4D"))


def test_the_findings_page_has_the_figures_of_the_table(table):
    """Each row of its tables of rules: how often the rule applies and is kept, what keeping and breaking it cost."""
    page = (ROOT / "docs" / "findings.md").read_text()
    for one in (*tally(rules_for_leads(), leads_found(table)), *tally(rules_for_answers(), answers_found(table))):
        cells = (f"{one.applies:.1%}", f"{one.kept:.0%}", f"{one.keeping:.2f}", f"{one.breaking:.2f}")
        assert f"| {one.says} | {' | '.join(cells)} |" in page, one
