"""The native vector environments: the same games as the single ones, batched as Gymnasium batches them."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import crib_env  # noqa: F401 -- registers the ids
from crib_env.discard_game import DiscardGame
from crib_env.vector.environments import CribbageVectorEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import (
    IDS,
    MODES,
    FirstCard,
    both,
    compare,
)


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
    options = {"first_dealer": 1, "scores": (90, 100)}
    assert compare(*both(3, mode, seat=seat, opponent="random"), steps=60, seed=8, options=options) >= 3


@pytest.mark.parametrize("opponent", ["greedy", FirstCard()])
@pytest.mark.parametrize("reward", ["points", "win", "match"])
@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_card_ends_its_game_as_in_the_single_environment(mode, reward, opponent):
    native, sync = both(6, mode, reward=reward, opponent=opponent)
    assert compare(native, sync, steps=40, seed=3, share_of_any_card=0.2) >= 12


@pytest.mark.parametrize(("env_id", "vectorization_mode"), [*itertools.product(IDS, ("sync", "vector_entry_point"))])
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


def test_options_of_a_reset_that_mean_nothing_here_are_refused():
    env = DiscardGame()
    env.reset(seed=1, options={})
    with refused("'scores'"):
        env.reset(options={"scores": (1, 2)})


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("mask", ["observation", "info"])
def test_discard_games_are_those_of_single_environments(mask, dtype):
    sync = SyncVectorEnv([lambda: DiscardGame(mask=mask, dtype=dtype)] * 5)
    native = gymnasium.make_vec("crib_env/CribbageDiscard-v0", 5, "vector_entry_point", mask=mask, dtype=dtype)
    assert native.single_observation_space == sync.single_observation_space
    keys = ("action_mask", "starter", "illegal_action")
    for share in (0.0, 0.2):
        assert compare(native, sync, steps=60, seed=3, share_of_any_card=share, infos=keys) >= 90


def test_an_illegal_card_of_discard_games_is_named():
    native = gymnasium.make_vec("crib_env/CribbageDiscard-v0", 2, "vector_entry_point", illegal="raise")
    _, infos = native.reset(seed=1)
    legal, other = infos["action_mask"].argmax(axis=1), infos["action_mask"].argmin(axis=1)
    with refused("game 1: ", "legal action"):
        native.step([legal[0], other[1]])
    with refused("2 integers"):
        native.step([legal[0]])
    with pytest.raises(TypeError, match="integers"):
        native.step(["5H", "5C"])
