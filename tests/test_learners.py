"""Players win as often as they should; learners learn to, train in each of their ways, and name their curves alike."""

from dataclasses import replace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.agents import make_agent
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.runs.learning_curves import read_scalars
from crib_env.train.registry import learner_named, presets_of
from tests.helpers.killed_runs import KINDS
from tests.helpers.learner_runs import finished_run, new_run
from tests.helpers.small_settings import DRQN_GAMES

VALUES = {"loss", "gradient norm", "mean value"}
POLICY = {"critic loss", "policy loss", "gradient norm", "entropy", "KL", "mean value"}
NAMES = {
    "ddqn": VALUES | {"share of the buffer"},
    "discard-game": VALUES,
    "drqn": VALUES | {"share of the buffer"},
    "mmd": POLICY,
    "mmd-tables": {"critic loss", "entropy", "mean value"},
    "nfsp": VALUES | {"policy loss", "entropy", "share of the buffer"},
    "ppo": POLICY,
    "rnad": POLICY,
    "td": VALUES,
}
SHARED = {f"learning/{name}" for name in VALUES | POLICY | {"share of the buffer"}}


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_writes_the_same_names(name, tmp_path):
    settings = replace(KINDS[name].settings, episodes=256, episodes_at_once=128, evaluations=0)
    folder, _, _ = finished_run(KINDS[name].learner, settings, tmp_path)
    events = EventAccumulator(str(folder.path)).Reload()
    written = {tag for tag in events.Tags()["scalars"] if tag in SHARED}
    assert written == {f"learning/{curve}" for curve in NAMES[name]}
    for tag in written:
        steps, values = read_scalars(folder.path, tag)
        assert steps[-1] == 256
        assert all(value == value for value in values)
        assert "entropy" not in tag or all(0 <= value < 3 for value in values)
        assert "share" not in tag or all(0 < value <= 1 for value in values)


WIDE, GAMES = {"hidden": (64, 64)}, {"episode": "game", "rewards": "points"}
# How long each learns, and how often it wins at least against random cards.
LEARNED = [
    ("td", {"hidden": (64,), "episodes": 10_000}, 0.75),
    ("ddqn", {**WIDE, "episodes": 4_096}, 0.75),
    ("drqn", {**WIDE, "memory": 32, "replay": 12_000, "episodes": 3_000}, 0.7),
    ("nfsp", {**WIDE, "replay": 50_000, "reservoir": 50_000, "episodes": 5_000}, 0.6),
    ("ppo", {**WIDE, "episodes": 8_192, "episodes_at_once": 512}, 0.75),
]


@pytest.mark.parametrize(
    ("name", "changes", "least"),
    [*LEARNED[:2], *(pytest.param(*one, marks=pytest.mark.slow) for one in LEARNED[2:])],
)
def test_a_learner_learns(name, changes, least, tmp_path):
    learner, small, _ = KINDS[name]
    agent, summary = new_run(learner, replace(small, evaluations=0, **changes), tmp_path)
    assert play_match(agent, make_agent("random"), 2_000).interval[0] > least
    assert summary["episodes"] >= changes["episodes"]


@pytest.mark.parametrize(
    ("name", "preset", "changes"),
    [
        ("ddqn", "paper", {}),
        ("ddqn", None, {"opponent": "greedy", "observation": "board"}),
        ("ddqn", None, {**GAMES, "opponent": "random", "networks": "one", "inputs": "bits"}),
        ("ddqn", None, {"opponent": "random", "networks": "one", "episode": "play", "rewards": "points"}),
        pytest.param("drqn", "paper", {"memory": 8}, marks=pytest.mark.slow),
        ("drqn", None, {"opponent": "greedy", "observation": "board", "direct": False}),
        ("drqn", None, {"opponent": "random", **DRQN_GAMES}),
        ("nfsp", None, {"observation": "board", "networks": "one", "anticipation": 0.5}),
        ("nfsp", None, {**GAMES, "anticipation": 0.5}),
    ],
)
def test_a_run_of_each_kind(name, preset, changes, tmp_path):
    learner, small, _ = KINDS[name]
    start = presets_of(learner_named(name))[preset] if preset else small
    few = {"episodes": 32, "episodes_at_once": 16, "warm_up": 16, "reuse": 0.5, "evaluations": 1}
    settings = replace(start, **few, **{"evaluation_games": 20, "hidden": (16,), **changes})
    agent, summary = new_run(learner, settings, tmp_path)
    assert summary["episodes"] == 32
    assert play_match(agent, make_agent("random"), 20).games == 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "opponent", "games", "seed", "least"),
    [
        ("careful", "greedy", 20_000, 5, 0.53),
        ("expert", "greedy", 2_000, 5, 0.6),  # 65.8 % of 1,000 games were measured
        ("greedy", "random", 20_000, 5, 0.98),
        ("halscrib", "greedy", 4_000, 1, 0.5),
        ("halscrib", "random", 4_000, 1, 0.98),
        ("heuristic", "random", 4_000, 1, 0.9),
        ("ismcts:iterations=1000", "greedy", 4_000, 1, 0.55),
        ("ismcts:iterations=1000", "random", 1_000, 1, 0.98),
        ("minimax", "random", 2_000, 1, 0.95),
        ("uct-determinized:iterations=1000", "random", 1_000, 1, 0.95),
    ],
)
def test_a_player_beats_a_weaker_one(player, opponent, games, seed, least):
    assert play_match(make_agent(player), make_agent(opponent), games, seed).interval[0] > least
