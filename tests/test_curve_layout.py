"""TensorBoard's "Custom Scalars", as the event files of runs have it: strength, learning, speed, and no empty chart."""

import re
import time

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar.layout_pb2 import Layout
from tensorboard.plugins.custom_scalar.metadata import CONFIG_SUMMARY_TAG

from crib_env.agents import make_agent
from crib_env.evaluate.runs.format import POINTS_A_HAND, with_band
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.strength import MATCHES

STRENGTH = "evaluation (bands: 95 % intervals)"
CURVES = {
    "ddqn": {
        "win rate against greedy": "evaluation/win rate against greedy",
        "win rate against random": "evaluation/win rate against random",
        "net points a game against greedy": "net points a game/against greedy",
        "net points a game against random": "net points a game/against random",
    },
    "discard-game": {"points a hand": "evaluation/points a hand"},
}
A_ROUND = {"learning/loss": 1.0, "learning/TD error": 0.3, "speed/episodes per second": 9.0}


@pytest.fixture(scope="module")
def strengths():
    """The scalars under which the strength of a learner's agent is written."""
    return {
        "ddqn": MATCHES.play(make_agent("careful"), 4, 1, lambda done: None).scalars,
        "discard-game": with_band(POINTS_A_HAND, 8.2, 8.1, 8.3),
    }


def shown(path):
    """The charts that TensorBoard shows of a folder, by groups: of each its title and tags; none of them is empty."""
    events = EventAccumulator(str(path)).Reload()
    layout = Layout.FromString(events.Tensors(CONFIG_SUMMARY_TAG)[-1].tensor_proto.string_val[0])
    written, groups = events.Tags()["scalars"], {}
    for group in layout.category:
        charts = groups[group.title] = {}
        for chart in group.chart:
            bands = [(one.value, one.lower, one.upper) for one in chart.margin.series]
            found = [tag for tag in written for pattern in chart.multiline.tag if re.match(pattern, tag)]
            assert all(tag in written for band in bands for tag in band)
            charts[chart.title] = bands or found
            assert charts[chart.title]
    return groups


def begin(path):
    path.mkdir(parents=True)
    return RunFolder.begin(path, "ddqn", {})


def with_bands(learner):
    ends = {title: (f"uncertainty/{title} low", f"uncertainty/{title} high") for title in CURVES[learner]}
    return {title: [(tag, *ends[title])] for title, tag in CURVES[learner].items()}


@pytest.mark.parametrize("learner", CURVES)
def test_the_strength_of_each_learner_comes_first(learner, strengths, tmp_path):
    folder = begin(tmp_path / "run")
    folder.log(A_ROUND, 10)
    folder.log({**A_ROUND, **strengths[learner], "learning/late loss": 2.0}, 20)
    folder.finish({})
    groups = shown(folder.path)
    assert list(groups) == [STRENGTH, "learning", "speed"]
    assert groups[STRENGTH] == with_bands(learner)
    assert list(groups[STRENGTH]) == list(CURVES[learner])[::-1]  # TensorBoard shows the last one first
    learning = ("loss", "TD error", "late loss")
    assert groups["learning"] == {name: [f"learning/{name}"] for name in learning}
    assert groups["speed"] == {"episodes per second": ["speed/episodes per second"]}


def test_a_resumed_run_keeps_its_charts(strengths, tmp_path):
    first = begin(tmp_path / "run")
    first.log(A_ROUND | strengths["ddqn"], 10)
    first.finish({})
    before = shown(first.path)
    time.sleep(1)  # TensorBoard reads the files of a run in the order of their names, which begin with the second
    again = RunFolder(first.path)
    again.log(A_ROUND | {"learning/late loss": 2.0}, 20)
    again.finish({})
    groups = shown(first.path)
    assert groups[STRENGTH] == before[STRENGTH] == with_bands("ddqn")
    assert list(groups["learning"]) == ["loss", "TD error", "late loss"]


def test_before_the_first_measurement_there_is_a_place_for_strength(tmp_path):
    """TensorBoard orders the groups of all runs as the first has them, and loses those that it lacks."""
    folder = begin(tmp_path / "run")
    folder.log({"train/loss": 1.0, "rollout/ep_rew_mean": 2.0, "time/fps": 3.0}, 10)  # Stable-Baselines3's
    folder.finish({})
    assert shown(folder.path) == {
        STRENGTH: {},
        "learning": {"train/loss": ["train/loss"], "rollout/ep_rew_mean": ["rollout/ep_rew_mean"]},
        "speed": {"time/fps": ["time/fps"]},
    }


def test_time_series_begin_with_strength_and_end_with_the_ends_of_bands(strengths, tmp_path):
    """TensorBoard's first tab goes by the alphabet, Stable-Baselines3's tags among ours."""
    folder = begin(tmp_path / "run")
    folder.log({**A_ROUND, **strengths["ddqn"], "rollout/ep_rew_mean": 1.0, "train/loss": 1.0, "time/fps": 1.0}, 10)
    folder.finish({})
    tags = sorted(EventAccumulator(str(folder.path)).Reload().Tags()["scalars"])
    assert tags[:2] == ["evaluation/win rate against greedy", "evaluation/win rate against random"]
    assert all(tag.startswith("uncertainty/") for tag in tags[-8:])
    assert not any(tag.startswith("uncertainty/") for tag in tags[:-8])
