"""The win table: against hand-worked games, against play, and in files that are checked in full."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, DISCARD, GAME, OVER, PONE, WIN, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.makers import win_table as command
from crib_env.evaluate.makers.calibration import Positions, draw_positions
from crib_env.evaluate.makers.late_deals import (
    LATE_SCORES,
    SIZE,
    LateDeals,
    Sums,
    deals_at,
    explore_late,
    explore_plays,
    fill_crib_means,
    fit_plays,
    fit_styles,
    points_of,
    roles_of,
    smoothed_parts,
    sums_of,
)
from crib_env.evaluate.makers.pegging import simulate_pegging
from crib_env.evaluate.makers.win_table import (
    N_VARIATES,
    PARTS,
    Plan,
    Played,
    make_win_table,
    solve_endings,
    variates,
    weights_of,
)
from crib_env.evaluate.skill.positions import before_discards
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import FOURS, hand_of_mask
from crib_env.kernels import kernel, mask_of, streams
from crib_env.players.policies import GREEDY, native_card
from crib_env.tables.analysis import late_play
from crib_env.tables.outlook import outlook
from crib_env.tables.shipped import (
    LATE,
    N_STYLES,
    WinTable,
    as_from_nothing,
    standard_pegging,
    standard_win_table,
)
from crib_env.views import views_of
from tests.helpers.reference import ReferenceGame
from tests.helpers.refusals import refused
from tests.helpers.small_commands import make_win_table_small

NOWHERE = np.zeros((0, 2), np.int64)


def table_of(start, *played):
    return WinTable("greedy", len(start.made), **solve_endings(start, *played), **as_from_nothing())


def solved_from_nothing(points, luck=None):
    """The table of deals from 0–0 alone."""
    n = len(points)
    luck = np.zeros((n, 0)) if luck is None else luck
    nothing = Played(NOWHERE, np.zeros((n, 0, 2), np.int8), np.zeros((n, 0)))
    return table_of(Played(None, points, luck), nothing)


@pytest.fixture(scope="module")
def points():
    return points_of(make_agent("greedy"), streams(1, 2_000))


@pytest.fixture(scope="module")
def win_table(points):
    return solved_from_nothing(points, variates(streams(1, 2_000)))


def rows(*deals):
    """The points of some deals, pone's negative, in the form of `points_of`; each as often as there are parts."""
    out = np.zeros((len(deals), 32, 2), np.int8)
    for row, deal in zip(out, deals):
        for k, made in enumerate(deal):
            row[k, int(made < 0)] = abs(made)
    return np.repeat(out, PARTS, axis=0)


def test_one_outcome_by_hand():
    """Pone makes 1, dealer 2, pone 10 in every deal, so the end of a game can be counted by hand."""
    win_table = solved_from_nothing(rows([-1, 2, -10]))
    assert win_table.endings[119, 120].tolist() == [0, 0, 0, 1, 0, 0]  # pone pegs first
    assert win_table.endings[119, 119].tolist() == [1, 0, 0, 0, 0, 0]  # then the dealer, before pone's hand
    assert win_table.endings[118, 111].tolist() == [0, 0, 0, 1, 0, 0]  # pone's hand: 111 + 11
    assert win_table.endings[119, 90].tolist() == [1, 0, 0, 0, 0, 0]  # pone has 91: no skunk
    assert win_table.endings[119, 89].tolist() == [0, 1, 0, 0, 0, 0]  # pone has 90
    assert win_table.endings[119, 59].tolist() == [0, 0, 1, 0, 0, 0]  # pone has 60
    assert win_table.endings[58, 110].tolist() == [0, 0, 0, 0, 0, 1]
    # 117–109 makes 119–120 after the deal, and pone deals next: the other pegs 1, it wins with 2
    assert win_table.endings[117, 109].tolist() == [0, 0, 0, 1, 0, 0]
    assert (win_table.win_error == 0).all()


def test_two_outcomes_are_weighed():
    win_table = solved_from_nothing(rows([5], [-5]))
    assert win_table.win_probability[116, 116] == 0.5
    # from 111 each: whoever wins this deal needs one more, and the right to deal changes nothing
    assert win_table.win_probability[111, 116] == 0.25


def test_deals_are_played_where_they_begin():
    """Scores after a deal are those of a batch that began there, also where somebody wins."""
    agent, seeds, scores = make_agent("careful"), streams(3, 40), np.array([[0, 0], [118, 97], [120, 120], [97, 118]])
    after = deals_at(agent, seeds, scores)
    for place, pair in enumerate(scores.tolist()):
        batch = GameBatch(seeds, episode="deal", first_dealer=0, scores=tuple(pair))
        while len(rows := batch.acting()):
            batch.step(rows, agent.act(batch.views(rows)))
        assert np.array_equal(after[:, place], batch.games["scores"])


class ToTheScore:
    """Lays and discards its lowest id, or its highest if what it needs is odd: every score changes how it plays."""

    name = "to the score"

    def act(self, views):
        allowed = np.where(views.action_mask, np.arange(52), -1)
        lowest, highest = views.action_mask.argmax(axis=1), allowed.max(axis=1)
        return np.where(views.scores[:, 0] % 2, highest, lowest)


def test_the_last_holes_are_those_of_an_enumeration():
    """A world of sixty deals, all as likely: its chances to win follow from the plain rules, deal by deal."""
    seeds, scores = streams(9, 60), np.array([*product(range(117, WIN), repeat=2)])
    batch = GameBatch(seeds, episode="deal", first_dealer=0)
    deals = batch.games["cards"].tolist()
    exact = {}
    for dealer, pone in sorted(map(tuple, scores.tolist()), key=sum, reverse=True):
        total = Fraction(0)
        for cards in deals:
            game = ReferenceGame(0, (dealer, pone))
            game.deal(cards)
            while game.phase in ("discard", "play"):
                game.act((max if game.scores[game.turn] % 2 else min)(game.legal()))
            after = tuple(game.scores)
            total += 1 - exact[after[::-1]] if max(after) < WIN else int(after[0] == WIN)  # the deal passes
        exact[dealer, pone] = total / len(deals)

    nothing = np.zeros((len(seeds), 0))
    played = Played(scores, deals_at(ToTheScore(), seeds, scores), nothing)
    table = table_of(Played(None, points_of(ToTheScore(), seeds), nothing), played)
    assert len({*exact.values()}) > 10
    assert sum(0 < chance < 1 for chance in exact.values()) == len(exact)
    for (dealer, pone), chance in exact.items():
        assert table.win_probability[dealer, pone] == pytest.approx(float(chance), abs=1e-6)


def test_luck_has_mean_zero_and_is_taken_out_without_bias():
    luck = variates(streams(2, 1_000))
    assert luck.shape == (1_000, N_VARIATES)
    assert (np.abs(luck.mean(axis=0)) < 4.5 * luck.std(axis=0) / np.sqrt(1_000)).all()
    weights = weights_of(luck)
    assert weights.sum() == pytest.approx(1)
    assert np.allclose(weights @ luck, 0)
    assert weights @ (3 + luck @ np.arange(N_VARIATES)) == pytest.approx(3)


def test_chances_are_chances_and_more_points_are_never_worse(win_table):
    assert win_table.endings.min() >= 0
    np.testing.assert_allclose(win_table.endings.sum(axis=-1), 1, rtol=1e-6)
    wins = win_table.win_probability
    assert (np.diff(wins, axis=0) >= -1e-6).all()
    assert (np.diff(wins, axis=1) <= 1e-6).all()
    assert (np.abs(win_table.match_points) <= 3 + 1e-6).all()


@kernel
def _dealer_wins(games, dealer, pone, n):
    g, won = games[0], 0
    for _ in range(n):
        begin_game(g, 0, 0, dealer, pone, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, GREEDY))
        won += g["scores"][0] == 121
    return won


@pytest.mark.parametrize(("dealer", "pone"), [(0, 0), (60, 91), (100, 100), (111, 111), (116, 120), (120, 116)])
def test_play_between_two_of_the_agent_agrees(win_table, dealer, pone):
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(7, 1)
    played = _dealer_wins(games, dealer, pone, 20_000) / 20_000
    error = np.hypot(win_table.win_error[dealer, pone], np.sqrt(played * (1 - played) / 20_000))
    assert abs(win_table.win_probability[dealer, pone] - played) < 4.5 * error


@pytest.fixture
def small(monkeypatch):
    """A win table of few deals at few scores."""
    make_win_table_small(monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_the_table_follows_from_the_plan_alone(tmp_path):
    """It depends neither on threads nor on an interruption, and deals of another plan are refused."""
    plan = Plan("greedy", PARTS, 1)
    first = make_win_table(plan, tmp_path / "one", 1)
    (tmp_path / "one" / "near-0-15.npz").unlink()
    again = make_win_table(plan, tmp_path / "one", 2)
    assert (again.endings == first.endings).all()
    assert (again.errors == first.errors).all()
    with refused("seed=1"):
        make_win_table(replace(plan, seed=2), tmp_path / "one", 1)


@pytest.fixture(scope="module")
def with_styles(tmp_path_factory):
    """The file of a win table whose opponents discard in styles that depend on the scores."""
    rng = np.random.default_rng(7)
    hands, cribs = 0.01 * rng.normal(size=(2, N_STYLES, 30)), rng.normal(size=(2, N_STYLES))
    hands -= hands.mean(axis=2, keepdims=True)
    hands[:, 0], cribs[:, 0] = 0, 0
    styles = 0.3 * rng.normal(size=(2, *SIZE, N_STYLES))
    styles[..., 0] = 1 - styles[..., 1:].sum(axis=-1)
    path = tmp_path_factory.mktemp("styles") / "table.npz"
    known = as_from_nothing() | {"style_hands": hands, "style_cribs": cribs, "styles": styles}
    replace(standard_win_table(), **known).save(path)
    return path


def discard_values(path, position):
    view = views_of(before_discards(*position), *np.zeros((3, 1), np.int64))
    return make_agent(f"expert:win_table={path}").discard_values(view)[0]


def test_what_is_explored_adds_up_to_the_result_of_the_deal(with_styles):
    """The chance before the play, what the play adds and what follows are together the value of the scores after it."""
    agent, seeds, known = make_agent("careful"), streams(8, 6), outlook(with_styles)
    found = explore_late(agent, seeds)
    assert {PONE, DEALER} == set(found.roles.tolist())
    for k, (role, seed, six) in enumerate(zip(found.roles.tolist(), seeds, found.sixes)):
        mine, pair = (0 if role == DEALER else 1), six[PLACES[found.places[k]]]
        sums = sums_of(found, np.array([k]), known)
        kept = hand_of_mask(mask_of(six) ^ mask_of(pair))
        assert np.flatnonzero(sums.n).tolist() == [kept]
        for own, other in [(85, 100), (112, 109), (119, 117), (120, 120)]:
            scores = (own, other) if mine == 0 else (other, own)
            batch = GameBatch(np.array([seed]), episode="deal", first_dealer=0, scores=scores)
            to_discard, row = pair.tolist(), np.zeros(1, np.int64)
            while len(batch.acting()):
                own_discard = batch.games["phase"][0] == DISCARD and batch.games["turn"][0] == mine
                batch.step(row, np.array([to_discard.pop(0)]) if own_discard else agent.act(batch.views(row)))
            after, table = batch.games["scores"][0, [mine, 1 - mine]].tolist(), known.win_table
            if max(after) >= WIN:
                value = float(after[0] >= WIN)
            else:
                value = 1 - table[after[1], after[0]] if role == DEALER else table[after[0], after[1]]
            position = Positions(six[None], np.array([role == DEALER]), np.array([[own, other]]))
            at = (own - LATE) * SIZE[1] + other - LATE
            added = sums.added[kept, at] + sums.later[at]
            assert added == pytest.approx(value - discard_values(with_styles, position)[found.places[k]], abs=1e-5)


def test_the_analysis_is_the_mean_over_styles(with_styles, tmp_path):
    """One style that shows points as the mixture does comes to the same chances."""
    table = WinTable.load(with_styles)
    table = replace(table, style_cribs=np.zeros_like(table.style_cribs))
    table.save(tmp_path / "styles.npz")
    rng = np.random.default_rng(3)
    for own, other in [(118, 111), (96, 120), (85, 85), (84, 120)]:
        position = draw_positions(rng, 1, 0, 120)._replace(scores=np.array([[own, other]]))
        late, role = min(own, other) >= LATE, int(position.is_dealer[0])
        mixed = np.zeros_like(table.style_hands)
        if late:
            mixed[role, 0] = table.styles[role, own - LATE, other - LATE] @ table.style_hands[role]
        replace(table, style_hands=mixed, styles=as_from_nothing()["styles"]).save(tmp_path / f"{own}.npz")
        values = discard_values(tmp_path / "styles.npz", position)
        assert np.allclose(values, discard_values(tmp_path / f"{own}.npz", position), atol=1e-6)
        replace(table, **as_from_nothing()).save(tmp_path / "none.npz")
        assert np.allclose(values, discard_values(tmp_path / "none.npz", position), atol=1e-6) != late


def test_styles_of_discarding_are_found_again():
    """Planted: the closer the opponent is, the less it shows, and the better for it is the crib."""
    rng, n = np.random.default_rng(0), 3_000
    usual = outlook()
    roles, near = rng.integers(0, 2, n), (LATE_SCORES[:, 1] - LATE) / 36
    more = np.linspace(-1, 1, 30)
    dealt = np.stack([rng.permutation(52)[:6] for _ in range(n)])
    deals = LateDeals(roles, np.sort(dealt, axis=1), rng.integers(0, 15, n), *np.zeros((3, n, 1296, 2), np.int8))
    for role in (PONE, DEALER):
        rows = np.flatnonzero(roles == role)
        mean = np.empty(len(rows))
        fill_crib_means(deals.sixes[rows], deals.places[rows], role == DEALER, usual, mean)
        for k in range(1296):
            chances = np.maximum(usual.hands[role, 0] * (1 - 0.6 * near[k] * more), 0)
            deals.shown[rows, k, 0] = rng.choice(30, len(rows), p=chances / chances.sum())
        deals.shown[rows, :, 1] = rng.poisson(np.maximum(mean[:, None] - near, 0.2))
    found = fit_styles(deals, usual)
    assert np.allclose(found["styles"].sum(axis=-1), 1, atol=1e-4)
    for role in (PONE, DEALER):
        for at in [(85, 85), (100, 110), (119, 120)]:
            weights = found["styles"][role][at[0] - LATE, at[1] - LATE]
            shift = near[(at[0] - LATE) * 36 + at[1] - LATE]
            planted = usual.hands[role, 0] * (1 - 0.6 * shift * more)
            assert (
                np.abs(weights @ found["style_hands"][role] + usual.hands[role, 0] - planted / planted.sum()).max()
                < 0.02
            )
            assert weights @ found["style_cribs"][role] == pytest.approx(-shift, abs=0.2)


def test_what_hands_differ_in_is_found_again():
    """Planted: low cards help pone at the very end; the noise of a single deal is three times as large."""
    rng = np.random.default_rng(0)
    low = (FOURS <= 3).sum(axis=1)
    effect = 0.04 * (low - low.mean())
    for role in (PONE, DEALER):
        n, added = np.zeros(1820, np.int64), np.zeros((1820, *SIZE))
        for kept in rng.integers(0, 1820, 750):
            n[kept] += 1
            added[kept] += rng.normal(0, 0.12)
            added[kept, 30:, 30:] += (role == PONE) * (0.1 + effect[kept])
        hands, scores = smoothed_parts(Sums(n, added.reshape(1820, -1), np.zeros(1296)), role)
        found = (hands @ scores.T).reshape(-1, *SIZE)
        assert np.abs(found[:, 33, 33] - (role == PONE) * (0.1 + effect)).mean() < 0.02
        assert np.abs(found[:, 5, 5]).mean() < 0.02


def test_discards_are_valued_with_what_the_play_adds(tmp_path):
    rng = np.random.default_rng(1)
    known = {name: 0.02 * rng.random(as_from_nothing()[name].shape) for name in ("late_hands", "late_scores")}
    replace(standard_win_table(), **as_from_nothing()).save(tmp_path / "without")
    replace(standard_win_table(), **as_from_nothing() | known).save(tmp_path / "with")
    added_by = outlook(tmp_path / "with")
    for own, other in ((84, 110), (110, 112), (112, 110)):
        position = draw_positions(rng, 1, 0, 120)._replace(scores=np.array([[own, other]]))
        added = discard_values(tmp_path / "with", position) - discard_values(tmp_path / "without", position)
        six, role = position.sixes[0], int(position.is_dealer[0])
        for k, pair in enumerate(six[PLACES]):
            kept = hand_of_mask(mask_of(six) ^ mask_of(pair))
            assert added[k] == pytest.approx(late_play(role, kept, own, other, added_by), abs=1e-12)
            assert (added[k] > 0) == (own >= LATE)


@pytest.mark.slow
def test_points_of_an_agents_play_are_found_again():
    """`greedy` plays otherwise than the player of the shipped records; its own records tell what is right."""
    records = simulate_pegging("greedy", "greedy", standard_error=0.7, seed=1)
    seeds = streams(4, 6_000)
    plays = explore_plays(make_agent("greedy"), seeds)
    assert (plays.roles == roles_of(seeds)).all()
    (found, errors), known = fit_plays(plays).values(), standard_pegging().mean
    weights = np.stack([np.bincount(plays.hands[plays.roles == role], minlength=1820) for role in range(2)])
    weights = weights[..., None] / weights.sum(axis=1)[:, None, None]
    noise = (weights * records.standard_error**2).sum(axis=1)
    left, before = ((weights * (values - records.mean) ** 2).sum(axis=1) - noise for values in (found, known))
    assert (left < 0.45 * before).all()
    assert errors**2 == pytest.approx(left, abs=0.2)  # of 3,000 plays each


def test_the_analysis_takes_points_of_the_play_from_the_table(tmp_path):
    rng = np.random.default_rng(2)
    means = (2 + rng.random((2, 1820, 2))).astype(np.float32)
    replace(standard_win_table(), plays=means).save(tmp_path / "table.npz")
    found = outlook(tmp_path / "table.npz").pegging
    assert np.allclose(found @ np.arange(61), means, atol=1e-6)
    assert np.allclose(found.sum(axis=-1), 1)


@pytest.mark.usefixtures("small")
def test_the_command(tmp_path, capsys):
    path = tmp_path / "b.npz"
    command.win_table(path, "greedy", PARTS)
    assert "b.npz: the dealer wins " in capsys.readouterr().out
    assert WinTable.load(path).deals == PARTS
    with refused(f"deals={PARTS - 1}"):
        command.win_table(path, "greedy", PARTS - 1)
    with refused(tmp_path / "no"):
        command.win_table(tmp_path / "no" / "b.npz", "greedy", PARTS)
