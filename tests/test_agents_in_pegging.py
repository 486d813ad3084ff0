"""Every agent plays the pegging episode, in which there are no discards, no starter and nothing after the play."""

from __future__ import annotations

import copy
import itertools
from math import comb

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.belief import DEALT, MOST_HANDS, Hands, habits, posterior
from crib_env.agents.tree_search import unseen_cards
from crib_env.batch import GameBatch
from crib_env.hands import FOURS
from crib_env.kernels import streams
from tests.helpers.decided import decided
from tests.helpers.drawn_worlds import drawn
from tests.helpers.hidden_cards import cards_of
from tests.helpers.pegging_matches import net_points
from tests.helpers.players import player
from tests.helpers.reference import ReferenceGame, rank


@pytest.mark.parametrize(("better", "worse"), [("greedy", "random"), ("ismcts", "random"), ("best", "random")])
def test_strong_players_are_strong_in_pegging(better, worse):
    mean, error = net_points(player(better), player(worse), pairs=250)
    assert mean > 3 * error


def some_views(decisions, n=40):
    """The views after some decisions at random, and the games."""
    batch = decided(decisions, n, 3, episode="pegging")
    return batch.views(batch.acting()), batch


def hands_of(views, b):
    """What the opponent may hold at the b-th of some decisions: cards packed, weights, and numbers of all four."""
    held, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    numbers, kinds = np.zeros((2, MOST_HANDS), np.int64)
    laid, by = views.laid[b], views.laid_by[b]
    n = np.int64((laid >= 0).sum())
    own = sum(1 << int(card) for card in [*views.hand[b, :4], *laid[by == 0]] if card >= 0)
    hands = Hands(held, weights, numbers, kinds)
    fresh = bool(n and views.pile_start[b] == n)
    size = posterior(own, np.int64(-1), laid, by, n, fresh, habits().keeping[DEALT], hands)
    return held[:size], weights[:size], numbers[:size]


def test_at_first_all_hands_of_the_unseen_cards_are_equally_likely():
    views, _ = some_views(0, n=20)
    for b in range(len(views)):
        own = views.hand[b, :4].tolist()
        _, weights, numbers = hands_of(views, b)
        found = np.bincount(numbers, weights=weights, minlength=1820)
        unseen = [4 - sum(rank(card) == r for card in own) for r in range(13)]
        plain = np.array([
            np.prod([comb(unseen[r], ranks.count(r)) for r in set(ranks)]) / comb(48, 4)
            for ranks in FOURS.tolist()
        ])  # fmt: skip
        assert plain.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(found, plain, atol=1e-12)


def test_drawn_worlds_have_no_discards_and_no_starter():
    for decisions in range(8):
        views, batch = some_views(decisions, n=10)
        for b, root in enumerate(views.games):
            known = {int(card) for card in (*views.hand[b], *views.laid[b]) if card >= 0}
            assert set(cards_of(unseen_cards(root))) == set(range(52)) - known
            for likely in (np.zeros((0, 1820)), habits().keeping):
                for world in drawn(root, 5, likely):
                    assert len(cards_of(world["hand"][1])) == views.opponent_cards[b]
                    assert not {*cards_of(world["hand"][1])} & known
                    assert world["discards"].tolist() == [0, 0]
                    assert world["cards"][12] == -1
        assert (batch.games["discards"] == 0).all()


def endings():
    """Views with two own cards and one of the opponent's: from here on only the player has a choice."""
    found = []
    for decisions in (4, 5):
        views, _ = some_views(decisions, n=300)
        wanted = ((views.hand >= 0).sum(axis=1) == 2) & (views.opponent_cards == 1)
        found += [views[k : k + 1] for k in np.flatnonzero(wanted)[:12]]
    return found


def best_net(game, own, before):
    """Net points from ``before`` on, if the player in seat ``own`` plays best."""
    if game.phase == "over":
        return game.scores[own] - game.scores[1 - own] - before
    nets = []
    for card in sorted(game.legal()):
        after = copy.deepcopy(game)
        after.act(card)
        nets.append(best_net(after, own, before))
    return max(nets) if game.turn == own else nets[0]


def test_expert_values_net_points_of_the_play_alone():
    """Against every card that the opponent may hold last, played out on the reference."""
    expert, n = make_agent("expert:hands=3640"), 0
    for views in endings():
        values, (held, weights, _) = expert.rank_values(views)[0], hands_of(views, 0)
        holds = np.bincount([(int(one).bit_length() - 1) // 4 for one in held], weights=weights, minlength=13)
        net = views.scores[0].astype(int) @ [1, -1]
        np.testing.assert_allclose(holds.sum(), 1.0)
        laid = [(int(by), int(card)) for card, by in zip(views.laid[0], views.laid_by[0]) if card >= 0]
        hand = [int(card) for card in views.hand[0] if card >= 0]
        known = {*hand, *(card for _, card in laid)}
        for card in hand:
            if not views.action_mask[0, card]:
                assert values[rank(card)] == -np.inf or rank(card) in [rank(c) for c in hand if c != card]
                continue
            expected = 0.0
            for r in np.flatnonzero(holds):
                last = next(c for c in itertools.count(int(r), 13) if c not in known)
                game = ReferenceGame(0 if views.is_dealer[0] else 1, episode="pegging")
                fours = [[c for by, c in laid if by == seat] for seat in (0, 1)]
                game.deal([*fours[0], *hand, *fours[1], last])
                for _, c in laid:
                    game.act(c)
                before = game.scores[0] - game.scores[1]
                game.act(card)
                expected += holds[r] * best_net(game, 0, before)
            # One own card is left then, so that nothing is chosen by what the opponent turns out to hold.
            assert values[rank(card)] == pytest.approx(0.5 + (net + expected) / 242)
            n += 1
    assert n > 20


def test_expert_does_not_look_at_the_score_while_121_is_far():
    from_zero, apart = (GameBatch(streams(9, 30), episode="pegging", scores=pair) for pair in ((0, 0), (60, 20)))
    expert = make_agent("expert:hands=20")
    for _ in range(3):
        rows = from_zero.acting()
        one, two = (expert.rank_values(batch.views(rows)) for batch in (from_zero, apart))
        shift = np.where(from_zero.games["turn"][rows] == 0, 40, -40) / 242
        np.testing.assert_allclose(two, one + shift[:, None])
        cards = from_zero.native_cards(rows, 1)
        for batch in (from_zero, apart):
            batch.step(rows, cards)
