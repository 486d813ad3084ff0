"""No player sees what is hidden: deal the hidden cards again, and nothing that the player is shown may change."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from crib_env import decisions, parse_cards
from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.engine import CRIB, DEALERS_HAND, DISCARD, PLAY, PONES_HAND
from crib_env.kernels import streams
from crib_env.observation import OBSERVATIONS, write_mask, write_observation, writing
from crib_env.players.games import deal_result, ended_deals
from crib_env.players.policies import NATIVE, RANDOM
from crib_env.players.text import as_json, in_words
from crib_env.views import PlayerViews
from tests.helpers.engine_calls import compiled
from tests.helpers.hidden_cards import N_GAMES, batches, cards_of, mask_of, views, with_hidden_dealt_again


def differing_rows(one, two):
    """Which decisions differ in any field."""
    differ = np.zeros(len(one), bool)
    for name in [*(field.name for field in fields(PlayerViews)), "kept", "pile_ranks", "said_go"]:
        a, b = getattr(one, name), getattr(two, name)
        differ |= (a != b).reshape(len(one), -1).any(axis=1)
    return differ


@pytest.mark.parametrize("to_act", [True, False])
def test_views_hold_nothing_hidden(to_act):
    """Of the seat to act, and of the seat that waits."""
    rng = np.random.default_rng(0)
    phases, n_other_side = set(), []
    for batch, rows in batches():
        turns = batch.games["turn"][rows].astype(np.int64)
        seats = turns if to_act else 1 - turns
        again = with_hidden_dealt_again(batch.games, rows, seats, rng)
        assert not differing_rows(views(batch.games, rows, seats), views(again, rows, seats)).any()
        # The other side of the table does see another hand, so hidden cards did change and a leak would show.
        other_side = differing_rows(views(batch.games, rows, 1 - seats), views(again, rows, 1 - seats))
        n_other_side.append(other_side.mean())
        phases |= set(batch.games["phase"][rows].tolist())
    assert phases == {DISCARD, PLAY}
    assert np.mean(n_other_side) > 0.9


@pytest.mark.parametrize("say", [in_words, as_json], ids=lambda one: one.__name__)
def test_positions_in_text_hold_nothing_hidden(say):
    rng, n_changed = np.random.default_rng(0), 0
    for batch, acting in batches():
        rows = acting[::10]
        seats = batch.games["turn"][rows].astype(np.int64)
        again = with_hidden_dealt_again(batch.games, rows, seats, rng)
        mine, mine_again, theirs, theirs_again = (
            [say(view) for view in decisions(views(games, rows, of))]
            for of in (seats, 1 - seats)
            for games in (batch.games, again)
        )
        assert mine == mine_again
        n_changed += sum(one != two for one, two in zip(theirs, theirs_again))
    assert n_changed > 500  # hidden cards did change: the opponent is told of others


def hide_again(game, seat, rng):
    """Gives the opponent other cards in place of those that had not been shown when this deal ended."""
    other, shown = 1 - seat, set(game["event_kind"][: game["n_events"]].tolist())
    laid, by = game["laid"][: game["n_laid"]], game["laid_by"][: game["n_laid"]]
    own = {*cards_of(game["kept"][seat]), *cards_of(game["discards"][seat]), int(game["cards"][12])}
    unseen = rng.permutation([card for card in range(52) if card not in own | set(laid.tolist())])
    if (DEALERS_HAND if game["dealer"] == other else PONES_HAND) not in shown:
        held, unseen = unseen[: 4 - np.count_nonzero(by == other)], unseen[4:]
        game["kept"][other] = mask_of([*laid[by == other], *held])
    if CRIB not in shown:
        game["discards"][other] = mask_of(unseen[:2])
    game["deal_stream"], game["episode_stream"], game["hand"] = 0, 0, 0


def test_results_of_deals_hold_nothing_that_was_not_shown():
    rng, n_hidden = np.random.default_rng(3), np.zeros(2, int)
    batch = GameBatch(streams(19, N_GAMES), scores=(112, 108))
    while len(rows := batch.acting()):
        cards = batch.native_cards(rows, RANDOM)
        ended, tables = ended_deals(batch.games[rows], cards)
        batch.step(rows, cards)
        for seat in (0, 1):
            again = tables.copy()
            for game, table, row in zip(again, tables, rows[ended].tolist()):
                hide_again(game, seat, rng)
                assert deal_result(game, seat, row) == deal_result(table, seat, row)
                mine, yours = (deal_result(one, 1 - seat, row) for one in (game, table))
                n_hidden += mine.hand != yours.hand, mine.discards != yours.discards  # there the cards did change
    assert (n_hidden > [25, 200]).all()


def test_native_players_use_nothing_hidden():
    rng = np.random.default_rng(1)
    for batch, rows in batches():
        twin = GameBatch(streams(0, N_GAMES))
        for policy in range(len(NATIVE)):
            games = batch.games.copy()  # `random` moves its own stream on
            twin.games = games
            choices = twin.native_cards(rows, policy)
            twin.games = with_hidden_dealt_again(batch.games, rows, batch.games["turn"][rows], rng)
            np.testing.assert_array_equal(twin.native_cards(rows, policy), choices)


@compiled
def observe_all(games, rows, seats, observations, masks):
    for b in range(len(rows)):
        write_observation(games[rows[b]], seats[b], observations, b)
        write_mask(games[rows[b]], seats[b], masks, b)


def observe(games, rows, seats, seen):
    observations, masks = np.zeros((len(rows), seen.size), np.int8), np.zeros((len(rows), 52), np.int8)
    writing(observe_all, seen.write)(games, rows, seats, observations, masks)
    return observations, masks


@pytest.mark.parametrize("seen", OBSERVATIONS.values(), ids=lambda one: one.name)
def test_observations_and_masks_hold_nothing_hidden(seen):
    rng = np.random.default_rng(2)
    for batch, rows in batches():
        for seat in (0, 1):
            seats = np.full(len(rows), seat)
            again = with_hidden_dealt_again(batch.games, rows, seats, rng)
            before, after = observe(batch.games, rows, seats, seen), observe(again, rows, seats, seen)
            np.testing.assert_array_equal(before[0], after[0])
            np.testing.assert_array_equal(before[1], after[1])


def test_the_mask_of_the_player_who_waits_is_all_zeros():
    for batch, rows in batches():
        turns = batch.games["turn"][rows].astype(np.int64)
        assert not observe(batch.games, rows, 1 - turns, OBSERVATIONS["209"])[1].any()
        assert observe(batch.games, rows, turns, OBSERVATIONS["209"])[1].any(axis=1).all()
        assert not views(batch.games, rows, 1 - turns).action_mask.any()


def test_the_starter_and_the_discards_are_not_shown_before_their_time():
    """The same in the environment: two games that differ by the starter and the opponent's cards look the same."""
    own, rest = parse_cards("AC 2C 3C 4C 5C 6C"), parse_cards("7D 8D 9D TD JD QD KD")
    one, two = raw_env(observation="board"), raw_env(observation="board")
    one.reset(options={"first_dealer": 1, "deals": [[*own, *rest]]})
    two.reset(options={"first_dealer": 1, "deals": [[*own, *rest[::-1]]]})
    for card in (0, 1):
        np.testing.assert_array_equal(one.observe("player_0")["observation"], two.observe("player_0")["observation"])
        one.step(card)
        two.step(card)
    for env in (one, two):
        env.step(int(np.flatnonzero(env.observe("player_1")["action_mask"])[0]))
    np.testing.assert_array_equal(one.observe("player_0")["observation"], two.observe("player_0")["observation"])
    assert (one.observe("player_1")["observation"] != two.observe("player_1")["observation"]).any()
