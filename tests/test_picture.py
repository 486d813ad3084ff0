"""The table as a picture: what it shows, what it hides, and that all people can read it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

import crib_env
from crib_env.aec import PLAYERS
from crib_env.batch import GameBatch
from crib_env.cards import N_CARDS
from crib_env.engine import CRIB, DEAL, DEALERS_HAND, DISCARD, EPISODES, EVENTS, OVER, PLAY, PONES_HAND, WIN
from crib_env.kernels import streams
from crib_env.picture.drawing import draw_discard_game, draw_table
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
            n_differ += see(again, None) != see(games, None)
            n += 1
            if n % 8 == 0:
                np.testing.assert_array_equal(pixels(see(again, seat)), pixels(see(games, seat)))
                assert (pixels(see(again, None)) != pixels(see(games, None))).any()
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
            assert [max(side.rear_peg, 0) for side in table.sides] == rears
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


def test_all_cards_differ():
    faces = [draw_discard_game([(card + k) % N_CARDS for k in range(1, 5)], [], card) for card in range(N_CARDS)]
    assert len({face.pixels()[50:200, 830:].tobytes() for face in faces}) == N_CARDS
    assert len({card_name(card) for card in range(N_CARDS)}) == N_CARDS
