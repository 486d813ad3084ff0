"""The table as a picture: what it shows, what it hides, and that all people can read it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

import crib_env
from crib_env.aec import PLAYERS
from crib_env.batch import GameBatch
from crib_env.cards import N_CARDS
from crib_env.engine import CRIB, DEAL, DEALERS_HAND, DISCARD, EPISODES, EVENTS, OVER, PLAY, PONES_HAND, WIN
from crib_env.evaluate.play.page.pictures import DARK, FOUR_COLOURS
from crib_env.kernels import streams
from crib_env.picture.drawing import LIGHT, Sheet, draw_discard_game, draw_table, hole_at
from crib_env.picture.seen import HIDDEN, card_name, see, stages
from crib_env.players.hidden import deal_hidden
from crib_env.players.policies import RANDOM
from tests.helpers import engine_calls
from tests.helpers.aec_play import act_randomly, is_over
from tests.helpers.hidden_cards import cards_of

ZERO = np.zeros(1, np.int64)


def decisions(n_games, episode="game", seed=0):
    """Random games, decision by decision: the game before it, the card, and the stages it leads through."""
    rng = np.random.default_rng(seed)
    env = crib_env.raw_env(episode=episode)
    for k in range(n_games):
        env.reset(seed=seed + k)
        games = env.games.copy()
        while games["phase"][0] != OVER:
            masks = np.zeros(1, np.int64)
            engine_calls.legal(games, ZERO, masks)
            card = int(rng.choice(cards_of(masks[0])))
            steps = list(stages(games, card))
            yield games, card, steps
            games = steps[-1].copy()
            if games["phase"][0] == DEAL:
                engine_calls.shuffle(games)
                engine_calls.deal(games, ZERO)


def moments(n_decisions=12):
    """One game in each of many states."""
    for episode in EPISODES:
        batch = GameBatch(streams(5, 2), episode=episode)
        for _ in range(n_decisions):
            rows = batch.acting()
            if not len(rows):
                break
            for row in rows:
                yield batch.games[row : row + 1].copy()
            batch.step(rows, batch.native_cards(rows, RANDOM))


def shown_cards(table):
    """The cards that lie face up."""
    laid = [one.card for one in table.laid if not table.counted]  # players pick them up for the show
    starter = [] if table.starter is None else [table.starter]
    cards = [*table.sides[0].hand, *table.sides[1].hand, *table.crib, *starter, *laid]
    return [card for card in cards if card != HIDDEN]


def pixels(table):
    return draw_table(table).pixels()


def test_a_player_sees_the_own_cards_and_no_hidden_one():
    for games in moments():
        game = games[0]
        seen = {card for card in game["laid"].tolist() if card >= 0}
        if game["phase"] == PLAY and game["cards"][12] >= 0:
            seen.add(int(game["cards"][12]))
        for seat in (0, 1):
            own = {*cards_of(game["hand"][seat]), *cards_of(game["discards"][seat])}
            assert set(shown_cards(see(games, seat))) == seen | own


def test_hidden_cards_change_nothing_in_a_players_picture_and_much_in_a_spectators():
    rng, n_differ, n = np.random.default_rng(1), 0, 0
    for games in moments():
        for seat in (0, 1):
            again = games.copy()
            deal_hidden(again[0], seat, False, rng.integers(2**63))
            assert see(again, seat) == see(games, seat)
            np.testing.assert_array_equal(pixels(see(again, seat)), pixels(see(games, seat)))
            n_differ += (pixels(see(again, None)) != pixels(see(games, None))).any()
            n += 1
    assert n_differ > 0.9 * n


def test_a_spectator_sees_every_card_on_the_table():
    for games in moments():
        game = games[0]
        on_table = [*game["hand"].tolist(), *game["discards"].tolist()]
        cards = {card for mask in on_table for card in cards_of(mask)} | set(game["laid"].tolist()) - {-1}
        cards |= {int(game["cards"][12])} if game["phase"] == PLAY and game["cards"][12] >= 0 else set()
        shown = shown_cards(see(games, None))
        assert set(shown) == cards
        assert len(shown) == len(cards)


def test_legal_cards_are_marked_for_the_player_to_act_alone():
    for games in moments():
        turn, masks = int(games["turn"][0]), np.zeros(1, np.int64)
        engine_calls.legal(games, ZERO, masks)
        for viewer in (None, 0, 1):
            legal = {card for side in see(games, viewer).sides for card in side.legal}
            assert legal == ({*cards_of(masks[0])} if viewer in (None, turn) else set())


def test_counts_points_and_pegs_are_those_of_the_game():
    """The points beside the cards laid add up to what was pegged, and the rear peg is where the front peg was."""
    fronts, rears, pegged, n_deals = [0, 0], [0, 0], [0, 0], 0
    for before, _, steps in decisions(6):
        if before["decisions"][0] == 0:
            fronts, rears = [0, 0], [0, 0]
        if before["phase"][0] == DISCARD:
            pegged = [0, 0]
        for step in steps:
            table = see(step, None)
            events = [
                (int(step["event_player"][0, k]), int(step["event_points"][0, k]), int(step["event_kind"][0, k]))
                for k in range(step["n_events"][0])
            ]
            for seat in (0, 1):
                points = sum(points for by, points, _ in events if by == seat)
                if points:
                    rears[seat], fronts[seat] = fronts[seat], fronts[seat] + points
                pegged[seat] += sum(
                    points for by, points, kind in events if by == seat and kind in range(1, PONES_HAND)
                )
            assert [side.score for side in table.sides] == fronts
            assert [side.rear_peg for side in table.sides] == rears
            if max(fronts) < WIN:
                assert [sum(c.points for c in table.laid if c.seat == seat) for seat in (0, 1)] == pegged
            if step["phase"][0] == PLAY:
                assert table.count == (0 if step["pile_start"][0] == step["n_laid"][0] else table.laid[-1].count)
            n_deals += any(kind == CRIB for *_, kind in events)
    assert n_deals > 30


def test_the_show_is_counted_hand_by_hand():
    """Pone's, the dealer's, the crib, face up in turn, with their points. The last stage is the engine's."""
    kinds = []
    for before, card, steps in decisions(4):
        after = before.copy()
        engine_calls.act(after, ZERO, np.array([card]))
        for field in after.dtype.names:
            if "event" not in field:
                np.testing.assert_array_equal(steps[-1][field], after[field])
        counted = [see(step, 0).counted for step in steps]
        assert counted[0] is None
        for step, shown in zip(steps[1:], counted[1:]):
            kinds.append(shown.kind)
            points = int(step["event_points"][0, 0])
            assert shown.points == points or step["scores"].max() == WIN
            assert shown_cards(shown_table := see(step, 0))
            assert shown_table.crib.count(HIDDEN) == (0 if shown.kind == "crib" else 2)
            assert len(shown_cards(shown_table)) == 4 + 4 + 1 + (4 if shown.kind == "crib" else 2)
    wanted = [EVENTS[kind] for kind in (PONES_HAND, DEALERS_HAND, CRIB)]
    assert Counter(kinds).keys() == set(wanted)
    assert kinds[:3] == wanted


def test_the_environment_draws_what_an_agent_or_a_spectator_sees():
    env = crib_env.env()
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(9):
        act_randomly(env, rng)
    pictures = [np.asarray(env.picture(agent)) for agent in (None, *PLAYERS)]
    for one, other in itertools.combinations(pictures, 2):
        assert (one != other).any()
    while not is_over(env):
        act_randomly(env, rng)
    assert "wins 121 to" in see(env.games, None).caption


def test_the_discard_game_shows_hand_starter_and_discards():
    hand = crib_env.parse_cards("5H 5C 5S JD 2C 9S")
    before, after = draw_discard_game(hand, [], HIDDEN), draw_discard_game(hand[:4], hand[4:], 16)
    other = draw_discard_game(hand[:4], hand[4:], 17)
    assert (before.pixels() != after.pixels()).any()
    assert (other.pixels() != after.pixels()).any()


@pytest.mark.parametrize("text", ["", "é" * 99, "Ω & co", "ismcts:iterations=1000,seed=3,nobody=reads this to the end"])
def test_a_name_stays_within_its_width(text):
    sheet = Sheet(400, 60, "#ffffff")
    sheet.text(text, 20, 20, 18, "#000000", "left", 142)
    columns = (sheet.pixels() < 128).any(axis=(0, 2)).nonzero()[0]
    assert not len(columns) or (columns[0] >= 19 and columns[-1] <= 20 + 1.03 * 142)


def test_the_track_has_121_holes_a_side_in_fives():
    for is_below in (True, False):
        holes = np.array([hole_at(hole, is_below) for hole in range(-1, WIN + 1)])
        gaps = np.linalg.norm(holes[:, None] - holes[None], axis=2) + 1e9 * np.eye(len(holes))
        assert gaps.min() > 14
        steps = np.hypot(*np.diff(holes[2:-1], axis=0).T)
        assert all((step > 20) == (hole % 5 == 0) for hole, step in enumerate(steps, start=1))
    between = [np.hypot(*np.subtract(hole_at(hole, True), hole_at(hole, False))) for hole in range(-1, WIN)]
    assert np.allclose(between, 20)
    assert hole_at(WIN, True) == hole_at(WIN, False)


def linear(colour):
    """sRGB as linear light."""
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """As WCAG 2 defines it."""
    light, dark = sorted((float(linear(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# What people with protanopia, deuteranopia and tritanopia see (Machado, Oliveira and Fernandes 2009, severity 1).
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(colour, kind):
    """CIE L*a*b* of a colour as such a person sees it."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    seen = np.clip(np.array(BLINDNESS[kind]) @ linear(colour), 0, 1)
    xyz = np.array(to_xyz) @ seen / (0.9505, 1, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_have_enough_contrast(palette):
    for suits in (palette.suits, FOUR_COLOURS.suits):
        assert min(contrast(suit, palette.card) for suit in suits) >= 4.5
    assert min(contrast(palette.ink, ground) for ground in (palette.felt, palette.plate)) >= 7
    assert contrast(palette.faint, palette.felt) >= 4.5
    for seat, lane in zip(palette.seats, palette.lanes):
        assert contrast(seat, palette.felt) >= 3
        assert contrast(seat, palette.plate) >= 3
        assert contrast(palette.hole, lane) >= 2.3


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colour_blind_people_tell_players_and_suits_apart(palette, kind):
    for colours in (palette.seats, set(palette.suits), FOUR_COLOURS.suits):
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(lab(one, kind) - lab(other, kind)) > 25, (one, other)


def test_all_cards_differ():
    faces = [draw_discard_game([(card + k) % N_CARDS for k in range(1, 5)], [], card) for card in range(N_CARDS)]
    assert len({face.pixels()[50:200, 830:].tobytes() for face in faces}) == N_CARDS
    assert len({card_name(card) for card in range(N_CARDS)}) == N_CARDS
