"""Exploitability in real deals: what an agent may hold, and best responses to it, against engine and by counting."""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import crib_env
from crib_env import score_show
from crib_env.engine import DEALER, OVER, PONE, act, legal_cards
from crib_env.evaluate.commands.exploitability import exploitability as command
from crib_env.evaluate.skill.exploitability.asking import Suits
from crib_env.evaluate.skill.exploitability.discards import ask_for_discards, discard_policy, held_hands
from crib_env.evaluate.skill.exploitability.real_deals import (
    RealDeals,
    Responder,
    Roots,
    _mean_show,
    seen,
    start_plays,
)
from crib_env.exact.deal_classes import representatives
from crib_env.players.agent import mixes
from crib_env.views import views_of
from tests.helpers.refusals import refused

ALL = (1 << 52) - 1


class Plain:
    """Discards the two lowest ranks. Lays the highest rank that fits, or the lowest from a count of ten on."""

    name, powers = "plain", crib_env.Powers(suits="unseen")

    def act(self, views):
        order = 4 * (np.arange(52) % 13) + np.arange(52) // 13
        low = views.is_discard | (views.count >= 10)
        return np.where(views.action_mask > 0, np.where(low[:, None], 99 - order, 1 + order), 0).argmax(axis=1)


class Mixes(Plain):
    """Lays each legal card with a chance in proportion to its rank."""

    powers = crib_env.Powers(suits="unseen", mixes="known")

    def probabilities(self, views):
        chances = views.action_mask * (1.0 + np.arange(52) % 13)
        return chances / chances.sum(axis=1, keepdims=True)


def mask(cards):
    return sum(1 << int(card) for card in cards)


def cards_in(mask):
    return [card for card in range(52) if mask >> card & 1]


def split(cards):
    """What Plain keeps and discards."""
    ordered = sorted(cards, key=lambda card: (card % 13, card))
    return mask(ordered[2:]), mask(ordered[:2])


@pytest.fixture(scope="module")
def kept():
    """What Plain keeps, without asking it."""
    four = np.array(representatives())
    by_rank = np.array([13 * suit + rank for rank in range(13) for suit in range(4)])
    for _ in range(2):
        four ^= np.int64(1) << by_rank[((four[:, None] >> by_rank) & 1).argmax(axis=1)]
    return discard_policy(four, by_discards=True)


def random_deals(n, seed=0):
    return np.array([np.random.default_rng([seed, k]).permutation(52)[:13] for k in range(n)])


def by_ranks(cards):
    return tuple(sorted(card % 13 for card in cards_in(cards)))


# --- What an agent may hold ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_range_counts_every_deal_of_a_small_deck(kept, seed):
    """Of a deck of 16 cards, seven of them known: 84 deals of six, by the ranks kept and discarded."""
    deck = np.random.default_rng(seed).permutation(52)[:16]
    known = ALL ^ mask(deck[7:])
    found = held_hands(kept, known, 2, seed)
    expected = Counter(tuple(map(by_ranks, split(six))) for six in combinations(deck[7:].tolist(), 6))
    kinds = found.weights.nonzero()[0]
    for hand in range(2):
        held = zip(found.four[hand, kinds].tolist(), found.two[hand, kinds].tolist())
        assert dict(zip([(by_ranks(a), by_ranks(b)) for a, b in held], found.weights[kinds])) == expected
        assert not ((found.four[hand, kinds] | found.two[hand, kinds]) & known).any()


def test_hands_are_drawn_evenly_among_the_deals_of_their_ranks(kept):
    """One card of each of six ranks, in either of two suits: 64 deals of one kind."""
    deck = [13 * suit + rank for rank in range(6) for suit in range(2)]
    counts = Counter()
    for seed in range(4):
        found = held_hands(kept, ALL ^ mask(deck), 160, seed)
        kind = int(found.weights.argmax())
        assert found.weights[kind] == 64
        counts.update((found.four[:, kind] | found.two[:, kind]).tolist())
    assert len(counts) == 64
    assert sum((n - 10) ** 2 / 10 for n in counts.values()) < 120  # chi-squared with 63 degrees of freedom, p < 0.0001


def test_all_deals_are_counted_once(kept):
    assert held_hands(kept, 0, 1, 0).weights.sum() == 20_358_520
    assert held_hands(kept, mask(range(7)), 1, 0).weights.sum() == 8_145_060


def test_own_cards_are_split_as_the_agent_splits_them(kept):
    for deal in random_deals(50):
        four, two = kept.split(np.sort(deal[:6]))
        assert four | two == mask(deal[:6])
        assert (by_ranks(four), by_ranks(two)) == tuple(map(by_ranks, split(deal[:6])))


# --- Best responses --------------------------------------------------------------------------------------------------


def roots_of(deals, seat, groups, starter=51):
    """Deals of six and six cards, both discarded as Plain does; the responder has the seat."""
    masks = np.array([[split(deal[:6]), split(deal[6:12])] for deal in deals])
    return Roots(start_plays(masks, starter), seat, np.array(groups))


def value(agent, held, seat):
    """What the best response earns, in the plainest way. ``held`` is a list of weights and games."""
    total, deciding = 0.0, {}
    while held:
        weight, game = held.pop()
        if game["phase"] == OVER:
            total += weight * float(game["scores"][seat] - game["scores"][1 - seat])
        elif game["turn"] == seat:
            about = tuple((int(card) % 13, int(by)) for card, by in zip(game["laid"], game["laid_by"]) if card >= 0)
            deciding.setdefault(about, []).append((weight, game))
        else:
            views = views_of_one(game)
            for card, chance in enumerate(chances_of(agent, views)):
                if chance:
                    held.append((weight * chance, after(game, card)))
    for games in deciding.values():
        options = {card % 13: card for card in cards_in(int(legal_cards(games[0][1])))}.values()
        total += max(value(agent, [(weight, after(game, card)) for weight, game in games], seat) for card in options)
    return total


def after(game, card):
    copy = np.array([game])
    act(copy[0], card)
    return copy[0]


def views_of_one(game):
    return views_of(np.array([game]), np.zeros(1, np.int64), np.array([game["turn"]], np.int64), np.zeros(1, np.int64))


def chances_of(agent, views):
    return agent.probabilities(views)[0] if mixes(agent) else np.eye(52)[agent.act(views)[0]]


@pytest.mark.parametrize("agent", [Plain(), Mixes()], ids=["plain", "mixes"])
@pytest.mark.parametrize("seat", [PONE, DEALER])
def test_a_best_response_is_the_best_there_is(agent, seat):
    """Against eight hands of the agent, in two deals side by side, of few ranks: so there are pairs and goes, and some
    hands leave the agent no choice where others do."""
    deck = [13 * suit + rank for suit in range(4) for rank in (2, 3, 6, 8, 11)]
    rng, rows, groups = np.random.default_rng(seat), [], np.repeat([0, 1], 8)
    for _ in range(2):
        own = rng.choice(deck, 6, replace=False)
        for _ in range(8):
            other = rng.choice(np.setdiff1d(deck, own), 6, replace=False)
            rows.append(np.r_[own, other] if seat == PONE else np.r_[other, own])
    roots, weights = roots_of(rows, seat, groups), rng.integers(1, 9, 16).astype(float)
    responder = Responder(agent, Suits.UNSEEN)
    best, as_agent_does = responder.respond(roots, np.stack([weights, weights[::-1]]))
    for fit, some in enumerate((weights, weights[::-1])):
        for group in range(2):
            mine = groups == group
            held = list(zip(some[mine], roots_of(rows, seat, groups).games[mine]))
            assert best[fit][mine] @ some[mine] == pytest.approx(value(agent, held, seat))
    assert (best[0] @ weights) >= (as_agent_does @ weights)
    assert responder.asked > 20


@pytest.mark.parametrize("suits", Suits)
def test_an_agent_in_the_responders_place_earns_what_it_loses_in_its_own(suits):
    """Over the same deal, with the same cards: so what it earns adds up to nothing over both roles."""
    deals = random_deals(300, seed=5)
    for agent in (Plain(), Mixes()):
        earned = []
        for seat in (PONE, DEALER):
            roots = roots_of(deals, seat, np.arange(len(deals)))
            earned.append(Responder(agent, suits).respond(roots, np.ones((1, len(deals)))))
        np.testing.assert_allclose(earned[0][1], -earned[1][1], atol=1e-9)
        assert all((best >= own - 1e-9).all() for best, own in earned)


# --- Real deals ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(kept):
    return lambda agent=None, **options: WithDiscards(agent or Plain(), kept, **options)


class WithDiscards(RealDeals):
    """Real deals of a player that discards as Plain does, without asking for all of its discards."""

    def __init__(self, agent, kept, draw_discards=False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("crib_env.evaluate.skill.exploitability.real_deals.ask_for_discards", lambda *_: kept.four)
            super().__init__(agent, 2, draw_discards)


def test_no_gain_is_below_zero_and_both_halves_agree_where_suits_do_not_matter(plain):
    measured = plain()
    (gains,) = measured.gains(1, seed=4)
    assert gains.min() > 0
    assert (gains[:, 0] == gains[:, 1]).all()
    assert measured.asked > 100_000


class ByDiscards(Plain):
    """Lays its lowest rank that fits if it has discarded a pair, else its highest."""

    def act(self, views):
        rank, paired = np.arange(52) % 13, views.discards[:, 0] % 13 == views.discards[:, 1] % 13
        return np.where(views.action_mask > 0, np.where(paired[:, None], 13 - rank, 1 + rank), 0).argmax(axis=1)


def test_drawn_discards_change_nothing_where_play_does_not_depend_on_them(plain):
    of_one_kind = plain()  # whatever Plain discards, it plays its four cards alike
    drawn = plain(draw_discards=True)
    for one in (of_one_kind, drawn):
        one._discarder = Plain()  # so nothing is gained in the crib, where draws matter
    (exact,), (bounds,) = of_one_kind.gains(1, seed=4), drawn.gains(1, seed=4)
    assert bounds == pytest.approx(exact)
    assert drawn.asked < of_one_kind.asked / 4


@pytest.mark.slow
def test_the_gain_on_an_agent_that_plays_by_its_discards_lies_between_bounds(plain):
    exact, bounds = (plain(agent=ByDiscards(), draw_discards=one) for one in (False, True))
    measured = [one.estimate(list(one.gains(3, seed=1))) for one in (exact, bounds)]
    assert [one["is_bound"] for one in measured] == [False, True]
    assert measured[1]["at_least"] < measured[0]["exploitability"] < measured[1]["exploitability"]


def test_what_a_responder_earns_in_the_show(kept):
    """Against the counts of every deal that the agent may have been dealt, and every starter."""
    rng = np.random.default_rng(3)
    rest = 13 * rng.integers(4, size=8) + rng.permutation(13)[:8]  # eight ranks: those discarded tell the cards
    own = np.setdiff1d(rng.permutation(52), rest, assume_unique=True)[:6].tolist()
    held = held_hands(kept, ALL ^ mask(rest), 1, 0)
    hand = np.mean([score_show(own[2:], starter) for starter in set(range(52)) - set(own)])
    cribs = [
        score_show([*own[:2], *cards_in(split(six)[1])], starter, crib=True)
        for six in combinations(rest.tolist(), 6)
        for starter in set(range(52)) - {*own, *six}
    ]
    for role, crib in ((PONE, np.mean(cribs)), (DEALER, -np.mean(cribs))):
        assert _mean_show(role, (mask(own[2:]), mask(own[:2])), held) == pytest.approx(hand + crib)


def test_a_responder_discards_as_equilibrium_does(plain, monkeypatch):
    """And what its cards earn is compared with what the agent's own cards would, in the play and in the show."""
    measured, six = plain(), np.array([4, 8, 12, 17, 21, 30])
    best, own = (mask([4, 17, 30, 12]), mask([8, 21])), split(six)  # the dealer keeps 5 5 5 K
    earned = {best: (np.array([7.0, 6.0]), 5.0), own: (np.array([3.0, 2.0]), 1.0)}
    monkeypatch.setattr(RealDeals, "_earned", lambda self, role, responder, starter, seed: earned[responder])
    held = held_hands(measured._discards[PONE], mask(six), 1, 0)
    shown = _mean_show(PONE, best, held) - _mean_show(PONE, own, held)
    assert shown > 4
    assert measured.gain(PONE, six, 51, 0) == pytest.approx((6 + shown, 5 + shown))


def test_what_cannot_be_measured_is_refused(monkeypatch):
    monkeypatch.setattr("crib_env.evaluate.commands.exploitability.RealDeals", None)
    with refused("ismcts", "`probabilities`"):
        command(("ismcts:iterations=4",), real=True)
    with refused("--real"):
        command(("td",), draw_discards=True)
    monkeypatch.setattr(Plain, "powers", crib_env.Powers(remembers=True))
    with refused("plain"):
        command(("tests.test_real_deals:Plain",), real=True)


@pytest.mark.slow  # a minute
def test_discards_are_those_of_the_agent_and_a_best_response_earns_in_the_engine_what_is_claimed(kept):
    """The responder's six cards and the starter are given; all else is dealt and discarded in the engine."""
    agent, n = Plain(), 200_000
    for role in (PONE, DEALER):
        assert (ask_for_discards(agent, role) == kept.four).all()
        deal = random_deals(1, seed=20 + role)[0]
        six, starter = np.sort(deal[:6]), int(deal[6])
        four, two = kept.split(six)
        held = held_hands(kept, mask([*six, starter]), 1, 0)
        masks = np.empty((len(held.weights), 2, 2), np.int64)
        masks[:, role, 0], masks[:, role, 1], masks[:, 1 - role] = held.four[0], held.two[0], (four, two)
        kinds = held.weights.nonzero()[0]
        games = start_plays(masks[kinds], starter)
        responder = Responder(agent, Suits.UNSEEN)
        best, _ = responder.respond(Roots(games, 1 - role, np.zeros(len(games), np.int64)), held.weights[None, kinds])
        exact = best[0] @ held.weights[kinds] / held.weights.sum()
        rest = np.setdiff1d(np.arange(52), deal[:7])
        dealt = np.random.default_rng(role).permuted(np.tile(rest, (n, 1)), axis=1)[:, :6]
        theirs = np.array([split(hand) for hand in dealt.tolist()])
        masks = np.empty((n, 2, 2), np.int64)
        masks[:, role], masks[:, 1 - role] = theirs, (four, two)
        games = start_plays(masks, starter)
        points = play_out(games, agent, responder.choices, 1 - role)
        error = points.std() / n**0.5
        print(f"role {role}: exact {exact:.4f}, {points.mean():.4f} ± {1.96 * error:.4f}")
        assert exact == pytest.approx(points.mean(), abs=3.5 * error)


def play_out(games, agent, choices, seat):
    """Plays games (n,), the responder by its choices or, without one, any card; its net points (n,)."""
    while len(rows := np.flatnonzero(games["phase"] != OVER)):
        cards = np.empty(len(rows), np.int64)
        turn = games["turn"][rows]
        numbers = seen(games[rows])
        agents = turn != seat
        views = views_of(games, rows[agents], turn[agents].astype(np.int64), rows[agents])
        cards[agents] = agent.act(views)
        for k in np.flatnonzero(~agents):
            legal = cards_in(int(legal_cards(games[rows[k]])))
            rank = choices.get(int(numbers[k]))
            cards[k] = next((card for card in legal if card % 13 == rank), legal[0])
        for row, card in zip(rows, cards):
            act(games[row], card)
    return (games["scores"][:, seat] - games["scores"][:, 1 - seat]).astype(float)


def test_no_total_is_shown_while_none_is_known(monkeypatch, capsys):
    class Measured:
        def __init__(self, agent, draws, draw_discards, on_progress):
            on_progress(50_000)

        def gains(self, deals, seed):
            return iter(())

    monkeypatch.setattr("crib_env.evaluate.commands.exploitability.RealDeals", Measured)
    command(("greedy",), real=True)
    assert "%" not in capsys.readouterr().out


@pytest.mark.slow  # half a minute
def test_the_command_writes_what_it_shows(tmp_path, capsys):
    command(("greedy",), real=True, deals=3, json_file=tmp_path / "x.json")
    (result,) = json.loads((tmp_path / "x.json").read_text())["agents"]
    assert result["exploitability"] == pytest.approx((result["as_pone"] + result["as_dealer"]) / 2)
    assert f"{result['exploitability']:.3f}" in capsys.readouterr().out
    assert 0 < result["at_least"] <= result["exploitability"] < 5
