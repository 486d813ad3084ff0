"""The table as SVG: what it shows, what it hides, and that everybody can read it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

import crib_env
from crib_env import format_card
from crib_env.aec import PLAYERS
from crib_env.batch import GameBatch
from crib_env.cards import N_CARDS
from crib_env.engine import CRIB, DEAL, DEALERS_HAND, DISCARD, EPISODES, EVENTS, OVER, PLAY, PONES_HAND, WIN
from crib_env.kernels import streams
from crib_env.picture import letters
from crib_env.picture.board import hole_at
from crib_env.picture.cards import HIDDEN, card_face, card_name
from crib_env.picture.colours import DARK, LIGHT, STYLED, four_colours, style_variables
from crib_env.picture.seen import see, stages
from crib_env.picture.table import draw_discard_game, draw_table
from crib_env.players.hidden import deal_hidden
from crib_env.players.policies import RANDOM
from crib_env.single_agent import SingleAgentCribbage
from tests.helpers import engine_calls
from tests.helpers.aec_play import act_randomly, is_over
from tests.helpers.hidden_cards import cards_of

SVG = "{http://www.w3.org/2000/svg}"
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


def shown_cards(svg):
    """The cards that lie face up in a picture, by their groups."""
    return [group.get("data-card") for group in ElementTree.fromstring(svg).iter(SVG + "g") if group.get("data-card")]


def test_every_picture_is_valid_and_whole():
    """Well-formed XML, each drawing that is used is defined once, and there is no text that would need a font."""
    for games in moments():
        for viewer in (None, 0, 1):
            root = ElementTree.fromstring(str(draw_table(see(games, viewer, below=viewer or 0))))
            ids = Counter(element.get("id") for element in root.iter() if element.get("id"))
            used = {use.get("href").removeprefix("#") for use in root.iter(SVG + "use")}
            assert set(ids.values()) == {1}
            assert used <= set(ids)
            assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
                *("svg", "title", "defs", "g", "rect", "circle", "path", "use"),
            }


def test_a_player_sees_the_own_cards_and_no_hidden_one():
    for games in moments():
        game = games[0]
        seen = {card for card in game["laid"].tolist() if card >= 0}
        if game["phase"] == PLAY and game["cards"][12] >= 0:
            seen.add(int(game["cards"][12]))
        for seat in (0, 1):
            own = {*cards_of(game["hand"][seat]), *cards_of(game["discards"][seat])}
            svg = str(draw_table(see(games, seat)))
            assert set(shown_cards(svg)) == {format_card(card) for card in seen | own}
            words = set(re.findall(r"[0-9A-Z]+", svg))
            for card in set(range(N_CARDS)) - seen - own:  # nowhere, in no form
                assert format_card(card) not in words
                assert card_name(card) not in svg


def test_hidden_cards_change_nothing_in_a_players_picture_and_much_in_a_spectators():
    rng, n_differ, n = np.random.default_rng(1), 0, 0
    for games in moments():
        for seat in (0, 1):
            again = games.copy()
            deal_hidden(again[0], seat, False, rng.integers(2**63))
            assert draw_table(see(again, seat)) == draw_table(see(games, seat))
            n_differ += draw_table(see(again, None)) != draw_table(see(games, None))
            n += 1
    assert n_differ > 0.9 * n


def test_a_spectator_sees_every_card_on_the_table():
    for games in moments():
        game = games[0]
        on_table = [*game["hand"].tolist(), *game["discards"].tolist()]
        cards = {card for mask in on_table for card in cards_of(mask)} | set(game["laid"].tolist()) - {-1}
        cards |= {int(game["cards"][12])} if game["phase"] == PLAY and game["cards"][12] >= 0 else set()
        shown = shown_cards(str(draw_table(see(games, None))))
        assert set(shown) == {format_card(card) for card in cards}
        assert len(shown) == len(cards)


def test_legal_cards_are_marked_for_the_player_to_act_alone():
    for games in moments():
        turn, masks = int(games["turn"][0]), np.zeros(1, np.int64)
        engine_calls.legal(games, ZERO, masks)
        for viewer in (None, 0, 1):
            root = ElementTree.fromstring(str(draw_table(see(games, viewer))))
            legal = {group.get("data-card") for group in root.iter(SVG + "g") if "legal" in group.get("class", "")}
            assert legal == ({format_card(card) for card in cards_of(masks[0])} if viewer in (None, turn) else set())


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
            svg = str(draw_table(see(step, 0)))
            face_down = svg.count("<title>face-down card</title>")
            assert face_down == (0 if shown.kind == "crib" else 2)
            assert len(shown_cards(svg)) == 4 + 4 + 1 + (4 if shown.kind == "crib" else 2)
    wanted = [EVENTS[kind] for kind in (PONES_HAND, DEALERS_HAND, CRIB)]
    assert Counter(kinds).keys() == set(wanted)
    assert kinds[:3] == wanted


def test_the_environments_show_the_table_in_a_notebook():
    env = crib_env.env()
    assert env._repr_html_() is None
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(9):
        act_randomly(env, rng)
    agent = env.agent_selection
    assert env._repr_html_() == env.picture(agent) != env.picture()
    assert env.picture(PLAYERS[1 - PLAYERS.index(agent)]) != env.picture(agent)
    ElementTree.fromstring(env._repr_html_())
    while not is_over(env):
        act_randomly(env, rng)
    assert "wins 121 to" in env.picture()
    single = SingleAgentCribbage(opponent="greedy", seat=1)
    assert single._repr_html_() is None
    single.reset(seed=1)
    assert shown_cards(single._repr_html_()) == shown_cards(single._game.picture("player_1"))


def test_the_discard_game_hides_the_starter_until_it_is_cut():
    hand = crib_env.parse_cards("5H 5C 5S JD 2C 9S")
    starter = crib_env.parse_card("5D")
    assert sorted(shown_cards(str(draw_discard_game(hand, [], HIDDEN)))) == sorted(map(format_card, hand))
    after = str(draw_discard_game(hand[:4], hand[4:], starter))
    assert sorted(shown_cards(after)) == sorted(map(format_card, [*hand, starter]))
    assert "29 points" in after


def test_names_of_any_kind_are_drawn_and_spoken():
    env = crib_env.raw_env()
    env.reset(seed=2)
    names = ('<b>"Ω & co"</b>', "ismcts:iterations=1000,seed=3,nobody=reads this to the end")
    svg = str(draw_table(see(env.games, None, names=names)))
    assert ElementTree.fromstring(svg).find(SVG + "title").text.startswith(f"Cribbage: {names[0]} 0")
    for text in (*names, "", "é" * 99):
        drawn, height = letters.fitted(text, 18, 142)
        assert letters.width_of(drawn, height) <= 142


def test_every_letter_has_strokes_of_its_own():
    glyphs = [letters.strokes(letter, 0, 0, 10) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:'/=+()?"]
    assert len(set(glyphs)) == len(glyphs)
    assert letters.strokes("é", 0, 0, 10) == letters.strokes("E", 0, 0, 10)
    assert letters.strokes("A", 3, 4, 20) == "M3 24L9.4 4L15.8 24M5.2 17.4H13.6"


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
    for suits in (palette.suits, four_colours(palette).suits):
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
    for colours in (palette.seats, set(palette.suits), four_colours(palette).suits):
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(lab(one, kind) - lab(other, kind)) > 25, (one, other)


def test_a_page_can_choose_the_colours():
    env = crib_env.raw_env()
    env.reset(seed=3)
    table = see(env.games, None)
    styled = str(draw_table(table, STYLED))
    assert not re.search(r'(?:fill|stroke)="#(?!1f2a26)', styled)
    variables = dict(re.findall(r"--([\w-]+):(#\w+);", style_variables(DARK)))
    assert re.sub(r"var\(--([\w-]+)\)", lambda name: variables[name[1]], styled) == str(draw_table(table, DARK))


def test_all_cards_differ():
    faces = [card_face(card, LIGHT).split(">", 1)[1] for card in range(HIDDEN, N_CARDS)]
    assert len(set(faces)) == N_CARDS + 1
    assert len({card_name(card) for card in range(N_CARDS)}) == N_CARDS
