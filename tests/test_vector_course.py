"""The native vector environments: the same games as the single ones, batched as Gymnasium batches them."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import crib_env  # noqa: F401 -- registers the ids
from crib_env.discard_game import DiscardGame
from crib_env.vector.environments import CribbageVectorEnv, DiscardVectorEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import (
    GAMES,
    IDS,
    MODES,
    FirstCard,
    assert_equal_observations,
    both,
    compare,
    one_game_a_chunk,
    some_cards,
)

DEALS = ["AC 2C 3C 4C 5C 6C AD 2D 3D 4D 5D 6D JH", "7C 8C 9C TC JC QC 7D 8D 9D TD JD QD KH"]


@pytest.mark.parametrize("opponent", ["random", "greedy", FirstCard()])
@pytest.mark.parametrize(
    ("episode", "reward", "observation", "mask", "dtype"),
    [
        choice
        for k, choice in enumerate(
            itertools.product(
                ("game", "deal", "play", "pegging"),
                ("points", "win", "match"),
                ("209", "board", "ranks"),
                ("observation", "info"),
                ("int8", "float32"),
            )
        )
        if k % 11 == 0  # every value of each option meets most values of the others
    ],
)
def test_the_same_games_as_single_environments(episode, reward, observation, mask, dtype, opponent):
    options = {"episode": episode, "reward": reward, "observation": observation, "mask": mask, "dtype": dtype}
    options["opponent"] = opponent
    n_ended = compare(*both(4, AutoresetMode.NEXT_STEP, **options), steps=120 if episode == "game" else 30, seed=17)
    assert n_ended >= 4


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("episode", ["game", "play", "pegging"])
@pytest.mark.parametrize("mode", MODES)
def test_autoreset_modes_are_those_of_gymnasium(mode, episode, mask):
    native, sync = both(5, mode, episode=episode, mask=mask, opponent="greedy", start_spread=60)
    assert native.metadata["autoreset_mode"] == mode
    assert compare(native, sync, steps=100, seed=3) >= 5


@pytest.mark.parametrize("seat", [0, 1, "alternate"])
@pytest.mark.parametrize("mode", MODES)
def test_seats_and_options_of_reset(mode, seat):
    options = {"first_dealer": 1, "scores": (90, 100), "deals": DEALS}
    assert compare(*both(3, mode, seat=seat, opponent="random"), steps=60, seed=8, options=options) >= 3


def test_given_deals_are_kept_by_the_games_that_a_masked_reset_leaves_alone():
    native, sync = both(3, AutoresetMode.DISABLED, opponent="random")
    mask = np.array([True, False, False])
    for env in (native, sync):
        env.reset(seed=2, options={"deals": DEALS[:1]})
    one, two = (
        env.reset(seed=[5, 6, 7], options={"reset_mask": mask.copy(), "deals": DEALS}) for env in (native, sync)
    )
    rng = np.random.default_rng(0)
    for _ in range(14):
        assert_equal_observations(one[0], two[0])
        cards = some_cards(one[0]["action_mask"], rng)
        one, two = native.step(cards), sync.step(cards)


@pytest.mark.parametrize("opponent", ["greedy", FirstCard()])
@pytest.mark.parametrize("reward", ["points", "win", "match"])
@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_card_ends_its_game_as_in_the_single_environment(mode, reward, opponent):
    native, sync = both(6, mode, reward=reward, opponent=opponent)
    assert compare(native, sync, steps=40, seed=3, share_of_any_card=0.2) >= 12


@pytest.mark.parametrize(
    ("env_id", "vectorization_mode"), [*((one, "sync") for one in IDS), *((one, "vector_entry_point") for one in GAMES)]
)
def test_what_gymnasiums_own_sampling_and_masked_sampling_do_under_the_default_autoreset(env_id, vectorization_mode):
    """Actions drawn without a mask, and logits of minus infinity where the mask is 0, at finished games too."""
    envs = gymnasium.make_vec(env_id, num_envs=4, vectorization_mode=vectorization_mode)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    n_illegal, n_ended = 0, 0
    for _ in range(20):
        _, _, over, _, infos = envs.step(envs.action_space.sample())
        n_illegal += infos["illegal_action"].sum()
        n_ended += over.sum()
        assert infos["action_mask"][over].all()
    assert n_ended >= n_illegal > 4
    rng = np.random.default_rng(0)
    _, infos = envs.reset()
    for _ in range(130):
        chances = np.exp(np.where(infos["action_mask"], 0.0, -np.inf))
        chances /= chances.sum(axis=1, keepdims=True)
        cards = np.array([rng.choice(52, p=chance) for chance in chances])
        infos = envs.step(cards)[4]
        assert not infos["illegal_action"].any()
    envs.close()


def test_an_opponent_is_asked_once_for_all_games_and_sees_one_id_for_each_episode():
    class Counting(FirstCard):
        def __init__(self):
            self.sizes, self.ids = [], []

        def act(self, views):
            self.sizes.append(len(views))
            self.ids.append(views.game_ids)
            return super().act(views)

    opponent = Counting()
    envs = CribbageVectorEnv(50, opponent=opponent, episode="play", autoreset_mode="SameStep", seat=0)
    _, infos = envs.reset(seed=0, options={"first_dealer": 0})
    assert opponent.sizes == [50]
    n_episodes = 50
    for _ in range(10):
        _, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        n_episodes += over.sum()
    assert len(opponent.sizes) < 60
    assert len(np.unique(np.concatenate(opponent.ids))) <= n_episodes


@pytest.mark.parametrize(("mask", "dtype"), [("observation", "int8"), ("info", "int8"), ("observation", "float32")])
@pytest.mark.parametrize("mode", MODES)
def test_discard_games_are_those_of_single_environments(mode, mask, dtype, monkeypatch):
    one_game_a_chunk(monkeypatch)
    sync = SyncVectorEnv([lambda: DiscardGame(mask=mask, dtype=dtype)] * 5, autoreset_mode=mode)
    native = DiscardVectorEnv(5, mask=mask, dtype=dtype, autoreset_mode=mode, threads=2)
    assert compare(native, sync, steps=20, seed=12) >= 30
    native.close()


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_discard_ends_its_game_as_in_the_single_environment(mode):
    native = DiscardVectorEnv(5, autoreset_mode=mode)
    sync = SyncVectorEnv([lambda: DiscardGame()] * 5, autoreset_mode=mode)
    assert compare(native, sync, steps=20, seed=12, share_of_any_card=0.3) >= 30


def test_with_illegal_raise_an_illegal_discard_changes_nothing():
    envs = DiscardVectorEnv(3, illegal="raise")
    _, infos = envs.reset(seed=0)
    before = envs._games.tobytes()
    with refused("game 1: "):
        envs.step(np.where(np.arange(3) == 1, infos["action_mask"].argmin(axis=1), infos["action_mask"].argmax(axis=1)))
    assert envs._games.tobytes() == before


@pytest.mark.parametrize("make", [DiscardGame, lambda: DiscardVectorEnv(2)], ids=["single", "vector"])
def test_options_of_a_reset_that_mean_nothing_here_are_refused(make):
    env = make()
    env.reset(seed=1, options={})
    with refused("'scores'"):
        env.reset(options={"scores": (1, 2)})
