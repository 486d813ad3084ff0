"""The native vector environment: the same games as the single environment, batched as Gymnasium batches them."""

import copy
import gc
import itertools
import multiprocessing
import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import crib_env  # noqa: F401 -- registers the ids
from crib_env.discard_game import DiscardGame
from crib_env.engine import OVER
from crib_env.options import OptionError
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector.environments import CribbageVectorEnv, DiscardVectorEnv
from tests.test_single_agent import GAMES, IDS, FirstCard

MODES = list(AutoresetMode)
INFOS = ("action_mask", "illegal_action", "scores", "dealer", "seat", "starter")
DEALS = ["AC 2C 3C 4C 5C 6C AD 2D 3D 4D 5D 6D JH", "7C 8C 9C TC JC QC 7D 8D 9D TD JD QD KH"]


def some_cards(masks, rng):
    """A random legal card a game, (N,), 0 where there is none."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def assert_equal_observations(one, two):
    if isinstance(two, dict):
        assert set(one) == set(two)
        for key in two:
            assert one[key].dtype == two[key].dtype
            np.testing.assert_array_equal(one[key], two[key])
    else:
        np.testing.assert_array_equal(one, two)


def assert_equal_infos(native, sync):
    """The same keys and dtypes, and the same values where both say something."""
    assert {key for key in native if key in INFOS} == {key for key in sync if key in INFOS}
    for key in native.keys() & set(INFOS):
        assert native[key].dtype == sync[key].dtype
        np.testing.assert_array_equal(native[f"_{key}"], sync[f"_{key}"])
        who = sync[f"_{key}"]
        np.testing.assert_array_equal(native[key][who], sync[key][who])


def assert_equal_steps(native, sync):
    assert_equal_observations(native[0], sync[0])
    for one, two in zip(native[1:4], sync[1:4]):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    assert_equal_infos(native[4], sync[4])
    assert ("final_obs" in native[4]) == ("final_obs" in sync[4])
    if "final_obs" in sync[4]:
        np.testing.assert_array_equal(native[4]["_final_obs"], sync[4]["_final_obs"])
        np.testing.assert_array_equal(native[4]["_final_info"], sync[4]["_final_info"])
        for one, two in zip(native[4]["final_obs"], sync[4]["final_obs"]):
            assert (one is None) == (two is None)
            if two is not None:
                assert_equal_observations(one, two)
        assert_equal_infos(native[4]["final_info"], sync[4]["final_info"])


def both(n, mode, **options):
    """The native environment and Gymnasium's loop over single ones."""
    sync = SyncVectorEnv([lambda: SingleAgentCribbage(**options)] * n, autoreset_mode=mode)
    return CribbageVectorEnv(n, autoreset_mode=mode, **options), sync


def compare(native, sync, *, steps, seed, options=None, share_of_any_card=0.0):
    """Plays the same random cards in both, legal or any at all; how many episodes ended."""
    rng = np.random.default_rng(seed)
    one, two = (env.reset(seed=seed, options=copy.copy(options)) for env in (native, sync))
    assert_equal_observations(one[0], two[0])
    assert_equal_infos(one[1], two[1])
    masks, n_ended = one[1]["action_mask"], 0
    for _ in range(steps):
        is_any = rng.random(native.num_envs) < share_of_any_card
        cards = np.where(is_any, rng.integers(-5, 60, native.num_envs), some_cards(masks, rng))
        one, two = native.step(cards), sync.step(cards)
        assert_equal_steps(one, two)
        masks = one[4]["action_mask"].copy()
        over = one[2] | one[3]
        n_ended += over.sum()
        if native.autoreset_mode == AutoresetMode.DISABLED and over.any():
            one, two = (env.reset(options={"reset_mask": over.copy()}) for env in (native, sync))
            assert_equal_observations(one[0], two[0])
            assert_equal_infos(one[1], two[1])
            masks = one[1]["action_mask"]
    return n_ended


@pytest.mark.parametrize("opponent", ["random", "greedy", FirstCard()])
@pytest.mark.parametrize(
    ("episode", "reward", "observation", "mask"),
    [
        choice
        for k, choice in enumerate(
            itertools.product(
                ("game", "deal", "play"), ("points", "win", "match"), ("209", "board"), ("observation", "info")
            )
        )
        if k % 5 == 0  # every value of each option meets most values of the others
    ],
)
def test_the_same_games_as_single_environments(episode, reward, observation, mask, opponent):
    options = {"episode": episode, "reward": reward, "observation": observation, "mask": mask, "opponent": opponent}
    n_ended = compare(*both(4, AutoresetMode.NEXT_STEP, **options), steps=120 if episode == "game" else 30, seed=17)
    assert n_ended >= 4


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("episode", ["game", "play"])
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


@pytest.mark.parametrize("vectorization_mode", ["vector_entry_point", "sync"])
@pytest.mark.parametrize("env_id", IDS)
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


@pytest.mark.parametrize("limit", [1, 3, 5])
@pytest.mark.parametrize("mode", MODES)
def test_max_episode_steps_is_gymnasiums_time_limit(mode, limit):
    """Four cards are the learner's in the play: limits below that cut it, one above does nothing."""
    native = CribbageVectorEnv(4, autoreset_mode=mode, episode="play", max_episode_steps=limit)
    single = [lambda: gymnasium.make("crib_env/CribbagePlay-v0", max_episode_steps=limit)] * 4
    assert compare(native, SyncVectorEnv(single, autoreset_mode=mode), steps=30, seed=2, share_of_any_card=0.05) > 12


def test_what_the_games_share_can_be_asked_and_ones_own_values_kept():
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=3, vectorization_mode="vector_entry_point").unwrapped
    envs.reset(seed=0)
    assert envs.get_attr("action_space") == (gymnasium.spaces.Discrete(52),) * 3
    assert envs.get_attr("observation_space") == (envs.single_observation_space,) * 3
    assert envs.get_attr("render_mode") == (None,) * 3
    assert [spec.id for spec in envs.call("spec")] == ["crib_env/Cribbage-v0"] * 3
    np.testing.assert_array_equal(envs.call("action_masks"), envs.action_masks())
    envs.set_attr("level", [1, 2, 3])
    assert envs.get_attr("level") == (1, 2, 3)
    envs.set_attr("level", 7)
    assert envs.call("level") == (7, 7, 7)
    with pytest.raises(ValueError, match="level: 2 values were given for 3 games"):
        envs.set_attr("level", [1, 2])
    for name in ("opponent", "reward", "threads", "action_space", "action_masks"):
        with pytest.raises(AttributeError, match=f"'{name}' cannot be set"):
            envs.set_attr(name, "greedy")
    with pytest.raises(AttributeError, match=r"have no 'hand', only action_masks, observation_space.*level"):
        envs.call("hand")


def test_masks_before_the_first_reset_are_refused():
    with pytest.raises(RuntimeError, match=r"before reset\(\): call it first"):
        CribbageVectorEnv(2).action_masks()


def test_a_second_thread_in_the_middle_of_a_step_is_refused_and_harms_nothing():
    class Slow(FirstCard):
        def act(self, views):
            is_inside.set()
            assert may_go_on.wait(60)
            return super().act(views)

    is_inside, may_go_on = threading.Event(), threading.Event()
    may_go_on.set()
    envs = CribbageVectorEnv(2, opponent=Slow(), seat=0)
    _, infos = envs.reset(seed=0, options={"first_dealer": 0})
    is_inside.clear()
    may_go_on.clear()
    cards = infos["action_mask"].argmax(axis=1)
    with ThreadPoolExecutor(1) as pool:
        # Two throws, after which the opponent leads.
        first = pool.submit(lambda: [envs.step(envs.action_masks().argmax(axis=1)) for _ in range(2)])
        assert is_inside.wait(60)
        before = envs._games.tobytes()
        for call in (lambda: envs.step(cards), envs.reset):
            with pytest.raises(RuntimeError, match="another step or reset of this vector environment is under way"):
                call()
        assert envs._games.tobytes() == before
        may_go_on.set()
        first.result()
    envs.step(envs.action_masks().argmax(axis=1))


@pytest.mark.parametrize("env_id", GAMES)
@pytest.mark.filterwarnings("error")
def test_make_vec(env_id):
    envs = gymnasium.make_vec(env_id, num_envs=3, vectorization_mode="vector_entry_point", opponent="greedy", seat=1)
    assert isinstance(envs.unwrapped, CribbageVectorEnv)
    observations, infos = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert (observations["observation"][:, 1:53].sum(axis=1) == (4 if "Play" in env_id else 6)).all()
    assert (infos["seat"] == 1).all()
    observations, rewards, *_ = envs.step(some_cards(infos["action_mask"], np.random.default_rng(0)))
    assert observations in envs.observation_space
    assert rewards.shape == (3,)
    envs.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("error")
def test_episode_statistics_are_those_of_gymnasiums_wrapper(mode):
    native = CribbageVectorEnv(4, autoreset_mode=mode, episode="deal", statistics=True)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        CribbageVectorEnv(4, autoreset_mode=mode, episode="deal")
    )
    rng = np.random.default_rng(1)
    _, infos = native.reset(seed=1)
    wrapped.reset(seed=1)
    n_ended = 0
    for _ in range(20):
        cards = some_cards(infos["action_mask"], rng)
        over, infos = native.step(cards)[2::2]
        expected = wrapped.step(cards)[4]
        assert ("episode" in infos) == ("episode" in expected) == over.any()
        if over.any():
            np.testing.assert_array_equal(infos["_episode"], expected["_episode"])
            assert set(infos["episode"]) == set(expected["episode"])
            ended = infos["_episode"]
            n_ended += ended.sum()
            # The wrapper's own length and return are only kept right across ends in the modes that reset by themselves.
            if mode != AutoresetMode.DISABLED:
                np.testing.assert_array_equal(infos["episode"]["r"], expected["episode"]["r"])
                np.testing.assert_array_equal(infos["episode"]["l"], expected["episode"]["l"])
            assert (infos["episode"]["t"][ended] > 0).all()
            if mode == AutoresetMode.DISABLED:
                _, infos = native.reset(options={"reset_mask": over})
                wrapped.reset(options={"reset_mask": over})
    assert n_ended >= 4


@pytest.mark.parametrize("mode", MODES)
def test_fresh_arrays_by_default_and_the_same_with_copy_false(mode):
    fresh = CribbageVectorEnv(3, autoreset_mode=mode, episode="play")
    reused = CribbageVectorEnv(3, autoreset_mode=mode, episode="play", copy=False)
    rng = np.random.default_rng(0)
    one, two = fresh.reset(seed=4)[0], reused.reset(seed=4)[0]
    kept, finals = [], []
    for _ in range(3):
        kept.append((one, copy.deepcopy(one)))
        before = two
        cards = some_cards(one["action_mask"], rng)
        one, two = fresh.step(cards), reused.step(cards)
        assert_equal_steps(one, two)
        one, two = one[0], two[0]
        assert np.shares_memory(two["observation"], before["observation"])
    while mode == AutoresetMode.SAME_STEP and len(finals) < 2:
        *_, infos = reused.step(some_cards(two["action_mask"], rng))
        if "final_obs" in infos:
            finals.append((infos["final_obs"], copy.deepcopy(infos["final_obs"])))
    for then, now in kept:
        assert_equal_observations(then, now)
    for then, now in finals:
        for a, b in zip(then, now):
            assert (a is None and b is None) or (a["observation"] == b["observation"]).all()


def test_no_array_is_handed_out_twice():
    envs = CribbageVectorEnv(3)
    observations, infos = envs.reset(seed=0)
    for _ in range(3):
        step = envs.step(infos["action_mask"].argmax(axis=1))
        assert not np.shares_memory(step[0]["observation"], observations["observation"])
        for key in INFOS[:-1]:
            assert not np.shares_memory(step[4][key], infos[key])
        observations, infos = step[0], step[4]


def test_a_step_into_the_own_buffers_allocates_nothing_that_grows_with_the_games():
    envs = CribbageVectorEnv(4096, copy=False)
    _, infos = envs.reset(seed=0)
    for _ in range(3):  # no game ends so soon
        cards = infos["action_mask"].argmax(axis=1)
        tracemalloc.start()
        infos = envs.step(cards)[4]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4096


NO_CARD = {
    "illegal": lambda cards, masks: np.where(np.arange(5) == 2, masks.argmin(axis=1), cards),
    "below the range": lambda cards, _: np.where(np.arange(5) == 2, -1, cards),
    "above the range": lambda cards, _: np.where(np.arange(5) == 2, 52, cards),
    "huge": lambda cards, _: np.where(np.arange(5) == 2, 2**63 - 1, cards),
    "huge unsigned": lambda cards, _: np.where(np.arange(5) == 2, 2**64 - 1, cards.astype(np.uint64)),
    "beyond every dtype": lambda cards, _: [10**30 if i == 2 else int(c) for i, c in enumerate(cards)],
}
NO_INTEGER = {
    "a bool": lambda cards: [bool(c) if i == 2 else int(c) for i, c in enumerate(cards)],
    "a float": lambda cards: [float(c) if i == 2 else int(c) for i, c in enumerate(cards)],
    "nothing": lambda cards: [None if i == 2 else int(c) for i, c in enumerate(cards)],
    "a list": lambda cards: [[int(c)] if i == 2 else int(c) for i, c in enumerate(cards)],
    "text": lambda cards: [str(c) if i == 2 else int(c) for i, c in enumerate(cards)],
}


def begun_games(mode, **options):
    envs = CribbageVectorEnv(5, opponent="greedy", autoreset_mode=mode, **options)
    _, infos = envs.reset(seed=9)
    for _ in range(3):
        infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
    return envs, infos["action_mask"].copy()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NO_CARD)
def test_an_illegal_card_that_shall_raise_names_the_game_and_changes_nothing(name, mode):
    envs, masks = begun_games(mode, illegal="raise")
    before = [array.tobytes() for array in envs._table]
    cards = masks.argmax(axis=1)
    with pytest.raises(ValueError, match=r"^game 2: .* is not a legal action$"):
        envs.step(NO_CARD[name](cards, masks))
    assert [array.tobytes() for array in envs._table] == before
    envs.step(cards)


@pytest.mark.parametrize("name", NO_CARD)
def test_an_illegal_card_ends_its_own_game_only(name):
    (one, masks), (two, _) = begun_games("NextStep"), begun_games("NextStep")
    cards = masks.argmax(axis=1)
    seen, rewards, over, _, infos = one.step(NO_CARD[name](cards, masks))
    expected = two.step(cards)
    others = np.arange(5) != 2
    assert rewards[2] == -121
    np.testing.assert_array_equal(over, ~others)
    np.testing.assert_array_equal(infos["illegal_action"], ~others)
    np.testing.assert_array_equal(seen["observation"][others], expected[0]["observation"][others])
    np.testing.assert_array_equal(rewards[others], expected[1][others])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NO_INTEGER)
def test_an_action_that_is_no_integer_names_the_game_and_changes_nothing(name, mode):
    envs, masks = begun_games(mode)
    before = [array.tobytes() for array in envs._table]
    cards = masks.argmax(axis=1)
    with pytest.raises(TypeError, match=r"^game 2: .* is not the id of a card"):
        envs.step(NO_INTEGER[name](cards))
    assert [array.tobytes() for array in envs._table] == before
    envs.step(cards)


@pytest.mark.parametrize("form", [list, tuple, lambda cards: cards[:, None], lambda cards: list(cards[:, None])])
def test_cards_in_other_forms(form):
    (one, masks), (two, _) = begun_games("NextStep"), begun_games("NextStep")
    cards = masks.argmax(axis=1)
    assert_equal_steps(one.step(form(cards)), two.step(cards))


@pytest.mark.parametrize("cards", [np.zeros(4, int), 3, np.array(3), None, [], [0] * 6, "23456"])
def test_actions_of_a_wrong_shape(cards):
    envs = CribbageVectorEnv(5)
    envs.reset(seed=9)
    before = envs._table.games.tobytes()
    with pytest.raises(ValueError, match="5 integers, one a game"):
        envs.step(cards)
    assert envs._table.games.tobytes() == before


def test_games_that_are_over_or_have_not_begun_refuse_a_card():
    envs = CribbageVectorEnv(2, episode="play", autoreset_mode="Disabled")
    with pytest.raises(RuntimeError, match="call reset"):
        envs.step([0, 0])
    _, infos = envs.reset(seed=0)
    over = np.zeros(2, bool)
    while not over.any():
        _, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
    before = envs._table.games.tobytes()
    with pytest.raises(RuntimeError, match=rf"game {over.argmax()}: the episode is over"):
        envs.step(infos["action_mask"].argmax(axis=1))
    assert envs._table.games.tobytes() == before


@pytest.mark.parametrize("n", [1, 10_000])
def test_any_number_of_games(n):
    envs = CribbageVectorEnv(n, opponent="greedy", episode="play", autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    ended = np.zeros(n, int)
    for _ in range(9):
        assert envs.action_masks().dtype == bool
        np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"])
        assert infos["action_mask"].any(axis=1).all()
        _, _, over, _, infos = envs.step(some_cards(infos["action_mask"], rng))
        ended += over
    assert (ended >= 1).all()
    assert not (envs._table.games["phase"] == OVER).any()


@pytest.mark.parametrize("opponent", ["random", FirstCard()])
def test_threads_change_nothing(opponent, monkeypatch):
    monkeypatch.setattr("crib_env.vector.base.CHUNK", 1)
    monkeypatch.setattr("crib_env.vector.base.LIGHT_CHUNK", 1)
    results = []
    for threads in (1, 2, 5):
        envs = CribbageVectorEnv(7, opponent=opponent, threads=threads)
        _, infos = envs.reset(seed=6)
        for _ in range(80):
            infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
        results.append([array.tobytes() for array in envs._table])
        envs.close()
    assert results[0] == results[1] == results[2]


def test_copies_and_pickles_have_the_same_future(monkeypatch):
    monkeypatch.setattr("crib_env.vector.base.CHUNK", 1)
    monkeypatch.setattr("crib_env.vector.base.LIGHT_CHUNK", 1)
    envs = CribbageVectorEnv(3, threads=2)
    _, infos = envs.reset(seed=5)
    infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
    for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        original = copy.deepcopy(envs)
        for _ in range(60):
            cards = original.action_masks().argmax(axis=1)
            assert_equal_steps(original.step(cards), twin.step(cards))
        original.close()
        twin.close()


def step_in_a_fork(envs, pipe):
    envs.step(envs.action_masks().argmax(axis=1))
    pipe.send(envs._games["scores"].tobytes())


def test_a_process_that_has_used_threads_can_fork(monkeypatch):
    monkeypatch.setattr("crib_env.vector.base.CHUNK", 1)
    monkeypatch.setattr("crib_env.vector.base.LIGHT_CHUNK", 1)
    envs = CribbageVectorEnv(4, threads=2)
    envs.reset(seed=0)
    assert envs._pool is not None
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=step_in_a_fork, args=(envs, there))
    child.start()
    assert here.poll(60)
    envs.step(envs.action_masks().argmax(axis=1))
    assert here.recv() == envs._games["scores"].tobytes()
    child.join()
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


def test_an_opponents_illegal_card_is_named():
    class Cheat(FirstCard):
        name = "cheat"

        def act(self, views):
            return views.action_mask.argmin(axis=1)

    with pytest.raises(ValueError, match=r"opponent 'cheat': in game \d .* is not legal: it may choose one of"):
        CribbageVectorEnv(3, opponent=Cheat(), seat=0).reset(seed=0, options={"first_dealer": 0})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_envs", 0),
        ("num_envs", 2.0),
        ("threads", 0),
        ("threads", True),
        ("autoreset_mode", "never"),
        ("opponent", "nobody"),
        ("seat", 2),
        ("episode", "round"),
        ("render_mode", "ansi"),
        ("events", True),
        ("copy", 1),
        ("statistics", None),
        ("max_episode_steps", 0),
        ("illegal", "ignore"),
        ("illegal_reward", 5),
    ],
)
@pytest.mark.filterwarnings("error")  # among others, of a destructor that fails
def test_bad_options_are_named(option, value):
    with pytest.raises(OptionError, match=f"{option}="):
        CribbageVectorEnv(**{"num_envs": 2, option: value})
    gc.collect()


@pytest.mark.parametrize("kind", [CribbageVectorEnv, DiscardVectorEnv])
def test_an_unknown_option_is_named_with_all_there_are(kind):
    with pytest.raises(OptionError, match=r"unexpected keyword argument 'frameskip': .*statistics, threads.* mask"):
        kind(2, frameskip=1)


def test_bad_resets_change_nothing():
    envs = CribbageVectorEnv(3)
    envs.reset(seed=0)
    before = [array.tobytes() for array in envs._table]
    for seed in (-1, 1.5, [1, 2], [1, 2, -3]):
        with pytest.raises(ValueError, match="seed"):
            envs.reset(seed=seed)
    for options in ({"scores": (1, 200)}, {"deals": [[1] * 13]}, {"reset_mask": np.zeros(3, bool)}):
        with pytest.raises(ValueError, match=next(iter(options))):
            envs.reset(seed=1, options=options)
    for mask in ([True, False, True], np.ones(3, int)):
        with pytest.raises(TypeError, match="reset_mask"):
            envs.reset(seed=1, options={"reset_mask": mask})
    assert [array.tobytes() for array in envs._table] == before


# --- the discard game -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("mode", MODES)
def test_discard_games_are_those_of_single_environments(mode, mask, monkeypatch):
    monkeypatch.setattr("crib_env.vector.base.CHUNK", 1)
    monkeypatch.setattr("crib_env.vector.base.LIGHT_CHUNK", 1)
    sync = SyncVectorEnv([lambda: DiscardGame(mask=mask)] * 5, autoreset_mode=mode)
    native = DiscardVectorEnv(5, mask=mask, autoreset_mode=mode, threads=2)
    assert compare(native, sync, steps=20, seed=12) >= 30
    native.close()


@pytest.mark.filterwarnings("error")
def test_make_vec_of_the_discard_game():
    envs = gymnasium.make_vec("crib_env/CribbageDiscard-v0", num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs.unwrapped, DiscardVectorEnv)
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    with pytest.raises(OptionError, match="mask='beside'"):
        DiscardVectorEnv(3, mask="beside")


@pytest.mark.parametrize("vectorization_mode", ["vector_entry_point", "sync"])
def test_the_limit_in_the_spec_of_the_discard_game_truncates_nothing(vectorization_mode):
    assert gymnasium.spec("crib_env/CribbageDiscard-v0").max_episode_steps == 3
    envs = gymnasium.make_vec("crib_env/CribbageDiscard-v0", num_envs=3, vectorization_mode=vectorization_mode)
    _, infos = envs.reset(seed=0)
    for step in range(9):
        _, _, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert terminated.all() == (step % 3 == 1)
        assert not truncated.any()
    envs.close()


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_discard_ends_its_game_as_in_the_single_environment(mode):
    native = DiscardVectorEnv(5, autoreset_mode=mode, illegal_reward=-3)
    sync = SyncVectorEnv([lambda: DiscardGame(illegal_reward=-3)] * 5, autoreset_mode=mode)
    assert compare(native, sync, steps=20, seed=12, share_of_any_card=0.3) >= 30


def test_an_illegal_discard_that_shall_raise_changes_nothing():
    envs = DiscardVectorEnv(3, illegal="raise")
    _, infos = envs.reset(seed=0)
    before = envs._games.tobytes()
    with pytest.raises(ValueError, match=r"^game 1: .* is not a legal action"):
        envs.step(np.where(np.arange(3) == 1, infos["action_mask"].argmin(axis=1), infos["action_mask"].argmax(axis=1)))
    assert envs._games.tobytes() == before
