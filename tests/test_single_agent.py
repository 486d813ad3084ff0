"""The four Gymnasium ids: the field's own checkers, and the promises of the single-agent view."""

import copy
import pickle
from unittest.mock import Mock

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import crib_env
from crib_env.discard_game import DiscardGame
from crib_env.options import OptionError
from crib_env.picture import drawing
from crib_env.picture.seen import table_lines
from crib_env.single_agent import SingleAgentCribbage
from tests.helpers.refusals import refused
from tests.helpers.vector_games import GAMES, IDS, Cheat, FirstCard

MASKS = ("observation", "info")


def play(env, *, seed=None, options=None, rng=None):
    """Plays an episode with random legal cards; observations, rewards and infos of every step."""
    rng = rng or np.random.default_rng(seed)
    observation, info = env.reset(seed=seed, options=options)
    steps, over = [(observation, 0.0, info)], False
    while not over:
        observation, reward, over, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        assert not truncated
        steps.append((observation, reward, info))
    return steps


@pytest.mark.parametrize(("mask", "dtype"), [*((mask, "int8") for mask in MASKS), ("observation", "float32")])
@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.filterwarnings("error")
def test_gymnasium_checker(env_id, mask, dtype, monkeypatch):
    monkeypatch.setattr(drawing, "FPS", 1_000)  # nobody watches
    check_env(gymnasium.make(env_id, mask=mask, dtype=dtype).unwrapped)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("env_id", IDS)
def test_the_action_space_samples_legal_cards_by_the_environments_own_masks(env_id, dtype):
    env = gymnasium.make(env_id, dtype=dtype, illegal="raise")
    env.action_space.seed(3)
    observation, info = env.reset(seed=3)
    for mask in (observation["action_mask"], info["action_mask"], None):
        cards = {int(env.action_space.sample(mask)) for _ in range(300)}
        assert cards == {*range(52)} if mask is None else cards == {*mask.nonzero()[0]}
    assert env.action_space.sample(probability=np.eye(52)[7]) == 7
    assert env.action_space == gymnasium.spaces.Discrete(52)
    mode = "vector_entry_point" if env_id in GAMES else "sync"
    envs = gymnasium.make_vec(env_id, 2, vectorization_mode=mode, dtype=dtype, illegal="raise")
    _, infos = envs.reset()
    envs.step(envs.action_space.sample(tuple(infos["action_mask"].view("int8"))))


@pytest.mark.parametrize("observation", ["209", "board", "ranks"])
@pytest.mark.parametrize("reward", ["points", "win", "match"])
@pytest.mark.parametrize("env_id", GAMES)
@pytest.mark.filterwarnings("error")
def test_gymnasium_checker_with_options(env_id, reward, observation):
    options = {"reward": reward, "observation": observation, "start_spread": 60, "opponent": "greedy", "seat": 1}
    check_env(gymnasium.make(env_id, **options).unwrapped, skip_render_check=True)  # a window waits for its clock


@pytest.mark.parametrize("opponent", ["random", "greedy", FirstCard()])
def test_rewards_add_up_to_the_score_difference_of_the_seat(opponent):
    env = SingleAgentCribbage(opponent=opponent)
    for episode in range(12):
        steps = play(env, seed=7 if episode == 0 else None, rng=np.random.default_rng(episode))
        scores, seat = steps[-1][2]["scores"], steps[-1][2]["seat"]
        assert seat == episode % 2  # alternates
        assert sum(reward for _, reward, _ in steps) == scores[seat] - scores[1 - seat]
        assert max(scores) == 121


@pytest.mark.parametrize("seat", [0, 1])
def test_a_fixed_seat_and_the_loss_that_the_opponent_inflicts_last(seat):
    env = SingleAgentCribbage(opponent="greedy", seat=seat, reward="win")
    results = []
    for seed in range(20):
        steps = play(env, seed=seed)
        assert all(reward == 0 for _, reward, _ in steps[:-1])
        scores = steps[-1][2]["scores"]
        results.append(steps[-1][1])
        assert results[-1] == (1 if scores[seat] == 121 else -1)
    assert -1 in results  # an opponent's winning card is seen


def test_events_tell_everything_since_the_last_card():
    env = SingleAgentCribbage(opponent="greedy", seat=0, events=True)
    made = [0, 0]
    steps = play(env, seed=3)
    for _, _, info in steps:
        for event in info["events"]:
            made[event.player] += event.points
        assert made == info["scores"].tolist()


def test_the_same_game_as_in_the_pettingzoo_environment():
    env = SingleAgentCribbage(opponent=FirstCard(), seat=0)
    game = crib_env.raw_env()
    game.reset(seed=11)
    observation, info = env.reset(seed=11)

    def let_player_1_act():
        while game.agent_selection == "player_1" and not game.terminations["player_1"]:
            game.step(int(game.observe("player_1")["action_mask"].argmax()))

    let_player_1_act()
    over = False
    while not over:
        expected = game.observe("player_0")
        np.testing.assert_array_equal(observation["observation"], expected["observation"])
        np.testing.assert_array_equal(observation["action_mask"], expected["action_mask"])
        card = int(np.flatnonzero(info["action_mask"])[-1])
        game.step(card)
        let_player_1_act()
        observation, _, over, _, info = env.step(card)
    assert game.scores == tuple(info["scores"])


def test_copies_and_pickles_have_the_same_future():
    env = SingleAgentCribbage(opponent="random")
    _, info = env.reset(seed=5)
    env.step(int(info["action_mask"].argmax()))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        original = copy.deepcopy(env)
        for _ in range(30):
            card = int(original.action_masks().argmax())
            one, two = original.step(card), twin.step(card)
            np.testing.assert_array_equal(one[0]["observation"], two[0]["observation"])
            assert one[1:4] == two[1:4]


@pytest.mark.parametrize(("reward", "loss"), [("points", -121), ("win", -1), ("match", -3)])
@pytest.mark.parametrize("as_action", [int, np.int64, lambda card: np.array([card])])
def test_an_illegal_card_ends_the_episode_at_the_worst_loss(reward, loss, as_action):
    env = SingleAgentCribbage(seat=0, reward=reward)
    observation, _ = env.reset(seed=0)
    card = as_action(np.flatnonzero(observation["action_mask"] == 0)[0])
    _, paid, terminated, truncated, info = env.step(card)
    assert (paid, terminated, truncated, info["illegal_action"]) == (loss, True, False, True)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(card)
    assert not env.reset()[1]["illegal_action"]


@pytest.mark.parametrize("env_id", IDS)
def test_an_illegal_card_can_be_made_to_raise_instead(env_id):
    env = gymnasium.make(env_id, illegal="raise")
    _, info = env.reset(seed=0)
    with pytest.raises(ValueError, match="is not a legal action"):
        env.step(int(info["action_mask"].argmin()))
    _, _, terminated, _, info = env.step(np.array([info["action_mask"].argmax()]))
    assert not terminated
    assert not info["illegal_action"]


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("action", [6.0, None, "AC", True, np.array([6.0]), np.array([6, 7]), [6]], ids=repr)
def test_an_action_that_is_not_an_integer_raises_and_the_episode_continues(env_id, action):
    env = gymnasium.make(env_id, disable_env_checker=True).unwrapped
    _, info = env.reset(seed=0)
    with refused(repr(action), error=TypeError):
        env.step(action)
    assert not env.step(int(info["action_mask"].argmax()))[2]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("env_id", IDS)
def test_infos_are_numbers_of_the_same_keys_and_the_mask_of_a_finished_game_is_all_ones(env_id, mask):
    env = gymnasium.make(env_id, mask=mask)
    steps = play(env, seed=1)
    assert {frozenset(info) for _, _, info in steps} == {frozenset(steps[0][2])}
    for observation, _, info in steps:
        assert all(value.dtype.kind in "iub" for value in info.values())  # TorchRL asks for a dtype
        if mask == "observation":
            np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        np.testing.assert_array_equal(info["action_mask"].all(), info is steps[-1][2])
    assert env.unwrapped.action_masks().all()


@pytest.mark.parametrize("env_id", IDS)
def test_nothing_steps_on_after_close(env_id):
    env = gymnasium.make(env_id)
    _, info = env.reset(seed=1)
    env.close()
    with pytest.raises(AttributeError, match=r"does not exist before reset\(\): call it first, and after close"):
        env.step(int(info["action_mask"].argmax()))
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))


@pytest.mark.parametrize("mode", [None, "sync", "vector_entry_point"])
def test_an_opponents_object_is_not_copied(mode):
    """So it may learn what it is trained against meanwhile."""
    opponent = FirstCard()
    if mode is None:
        env = gymnasium.make("crib_env/Cribbage-v0", opponent=opponent, seat=0)
    else:
        env = gymnasium.make_vec("crib_env/Cribbage-v0", 2, mode, opponent=opponent, seat=0)
    env.reset(seed=0)
    opponent.act = asked = Mock(side_effect=opponent.act)
    env.reset(seed=0, options={"first_dealer": 0})
    assert asked.called


def test_an_opponents_illegal_card_is_an_error_that_names_the_opponent():
    env = SingleAgentCribbage(opponent=Cheat(), seat=0)
    with refused("opponent 'cheat' in game 0"):
        env.reset(seed=0, options={"first_dealer": 0})


@pytest.mark.parametrize("answer", [np.zeros(2, int), np.zeros(1), [[0]], None], ids=repr)
def test_an_opponents_answer_that_is_not_a_card_is_an_error_that_names_the_opponent(answer):
    class Odd:
        def act(self, views):
            return answer

    env = SingleAgentCribbage(opponent=Odd(), seat=0)
    with refused("opponent 'Odd'"):
        env.reset(seed=0, options={"first_dealer": 0})


@pytest.mark.parametrize(
    ("option", "bad", "allowed"),
    [
        *(("opponent", bad, "greedy") for bad in ("nobody", 3, None, object())),
        *(("seat", bad, "'alternate'") for bad in (2, "left", True, None)),
    ],
)
def test_a_bad_opponent_or_seat_is_named(option, bad, allowed):
    with refused(f"{option}={bad!r}", allowed):
        SingleAgentCribbage(**{option: bad})


def test_other_bad_options_are_named():
    with refused("episode='round'"):
        SingleAgentCribbage(episode="round")
    with refused("render_mode='movie'"):
        SingleAgentCribbage(render_mode="movie")
    with refused("'colour'", "opponent, seat, episode", error=OptionError):
        SingleAgentCribbage(colour="red")
    with refused("'episode'", "mask, illegal", error=OptionError):
        DiscardGame(episode="deal")


def test_the_text_is_what_this_player_sees():
    env, over = SingleAgentCribbage(opponent="greedy", seat=0, render_mode="ansi"), False
    env.reset(seed=2)
    while not over:
        assert env.render() == "\n".join(table_lines(env.views()))
        _, _, over, _, _ = env.step(int(env.action_masks().argmax()))


def test_discard_game_pays_the_hand_with_the_starter():
    env = gymnasium.make("crib_env/CribbageDiscard-v0")
    for seed in range(200):
        steps = play(env, seed=seed)
        assert [len(np.flatnonzero(o["observation"])) for o, _, _ in steps] == [6, 5, 4]
        assert steps[1][1] == 0
        kept = np.flatnonzero(steps[-1][0]["observation"]).tolist()
        assert steps[-1][1] == crib_env.score_show(kept, steps[-1][2]["starter"])
        assert [info["starter"] for _, _, info in steps[:-1]] == [-1, -1]


def test_discard_game_refuses_what_is_not_in_the_hand():
    env = gymnasium.make("crib_env/CribbageDiscard-v0").unwrapped
    observation, _ = env.reset(seed=0)
    card = int(np.flatnonzero(observation["observation"] == 0)[0])
    _, reward, terminated, _, info = env.step(card)
    assert (reward, terminated) == (-1.0, True)
    assert info["illegal_action"]
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(card)
    with refused("mask='beside'"):
        gymnasium.make("crib_env/CribbageDiscard-v0", mask="beside")
