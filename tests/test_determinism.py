"""Same seed, same actions, same game: in any batch, after saving, in every environment. And the shuffle is fair."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, PLAY
from crib_env.kernels import streams
from crib_env.players.policies import GREEDY, RANDOM
from tests.helpers import engine_calls


def finish(batch, policy=RANDOM):
    """Plays all games of a batch to their ends."""
    rows = batch.acting()
    while len(rows):
        batch.step(rows, batch.native_cards(rows, policy))
        rows = batch.acting()
    return batch


@pytest.mark.parametrize("episode", ["game", "deal", "play", "pegging"])
@pytest.mark.parametrize("policy", [RANDOM, GREEDY])
def test_a_game_is_the_same_whatever_the_batch_it_is_in(episode, policy):
    seeds = streams(7, 1000)
    together = finish(GameBatch(seeds, episode=episode), policy)
    for i in (0, 1, 500, 999):
        alone = finish(GameBatch(seeds[i : i + 1], episode=episode), policy)
        assert alone.games[0] == together.games[i]
        np.testing.assert_array_equal(alone.tally[0], together.tally[i])
    backwards = finish(GameBatch(seeds[::-1], episode=episode), policy)
    np.testing.assert_array_equal(backwards.games[::-1], together.games)


def test_skipping_forced_cards_changes_no_game():
    """``greedy`` lays the lowest card of a rank, and so does the batch where it skips a forced decision."""
    seeds = streams(8, 300)
    for episode in ("game", "play", "pegging"):
        asked = finish(GameBatch(seeds, episode=episode), GREEDY)
        skipped = GameBatch(seeds, episode=episode, skip_forced=True)
        rows = skipped.acting()
        while len(rows):
            ranks = skipped.views(rows).action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
            assert (ranks[skipped.games["phase"][rows] == PLAY] > 1).all()
            skipped.step(rows, skipped.native_cards(rows, GREEDY))
            rows = skipped.acting()
        np.testing.assert_array_equal(skipped.games, asked.games)
        np.testing.assert_array_equal(skipped.tally, asked.tally)


def test_the_number_of_games_does_not_change_the_first_ones():
    np.testing.assert_array_equal(streams(7, 10), streams(7, 1000)[:10])
    assert (streams(7, 10) != streams(8, 10)).all()


@pytest.mark.parametrize(
    "options", [{}, *({"episode": name} for name in ("deal", "play", "pegging")), {"start_spread": 60}], ids=str
)
def test_a_seed_gives_the_same_game_in_the_environment_and_in_a_batch(options):
    for seed in (0, 1, 12345):
        env = raw_env(**options, events=True)
        env.reset(seed=seed)
        batch = GameBatch(streams(seed, 1), **options)
        while len(batch.acting()):
            assert env.games[0] == batch.games[0]
            card = batch.native_cards(batch.acting(), RANDOM)
            env.games["policy_stream"] = batch.games["policy_stream"]  # the player's own draws, not the environment's
            batch.step(batch.acting(), card)
            env.step(int(card[0]))
        assert env.games[0] == batch.games[0]
        assert all(env.terminations.values())
        assert env.scores == tuple(batch.games["scores"][0].tolist())


def test_a_saved_game_has_the_same_future():
    batch = GameBatch(streams(3, 200))
    for n_decisions in range(40):
        rows = batch.acting()
        batch.step(rows, batch.native_cards(rows, RANDOM))
        if n_decisions % 13 == 7:
            saved = batch.games.tobytes()
            assert len(saved) == 200 * GAME.itemsize
            restored = GameBatch(streams(0, 200))
            restored.games = np.frombuffer(saved, GAME).copy()
            original = GameBatch(streams(0, 200))
            original.games = batch.games.copy()
            np.testing.assert_array_equal(finish(original).games, finish(restored).games)


# The shuffle. Chi-square with f degrees of freedom has mean f and a standard deviation of sqrt(2 f); seeds are fixed.


def chi_square_in_deviations(found):
    mean = found.mean()
    chi_square, freedom = ((found - mean) ** 2).sum() / mean, found.size - 1
    return abs(chi_square - freedom) / np.sqrt(2 * freedom)


def deals_of_many_seeds(n):
    return GameBatch(streams(11, n)).games["cards"]


def deals_of_one_seed(n):
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(12, 1)
    nil = np.zeros(1, np.int64)
    engine_calls.begin(games, 0, nil, nil, nil, -1)
    deals = np.empty((n, 13), np.int8)
    for i in range(n):
        engine_calls.shuffle(games)
        deals[i] = games["cards"][0]
    return deals


@pytest.mark.parametrize("deals", [deals_of_many_seeds, deals_of_one_seed])
def test_every_card_comes_equally_often_in_every_place(deals):
    cards = deals(100_000)
    assert (np.sort(cards, axis=1)[:, 1:] != np.sort(cards, axis=1)[:, :-1]).all()  # no card twice
    assert cards.min() == 0
    assert cards.max() == 51
    for place in range(13):
        assert chi_square_in_deviations(np.bincount(cards[:, place], minlength=52)) < 4
    # Two places together: every pair of cards equally often.
    for first, second in ((0, 1), (0, 12), (5, 6), (11, 12)):
        pairs = np.bincount(52 * cards[:, first].astype(np.int64) + cards[:, second], minlength=52 * 52)
        assert chi_square_in_deviations(np.delete(pairs, np.arange(52) * 53)) < 4


def test_one_deal_tells_nothing_about_the_next():
    cards = deals_of_one_seed(100_000).astype(np.int64)
    for place in (0, 12):
        pairs = np.bincount(52 * cards[:-1, place] + cards[1:, place], minlength=52 * 52)
        assert chi_square_in_deviations(pairs) < 4
