"""TensorBoard's tab HParams: varied settings beside the strength of the run, and no curve of a single point."""

from dataclasses import asdict, replace

import pytest
from rich.progress import Progress
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

from crib_env.train import ddqn, strategy_weights
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.tensorboard import hparams_of, summaries
from crib_env.train.registry import LEARNERS, learner_named, presets_of
from tests.helpers.learner_runs import class_of
from tests.helpers.small_settings import DDQN as SMALL

TINY = replace(SMALL, episodes=256, evaluations=2, gamma=0.5, opponent="greedy")


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """The event files of a finished run."""
    folder = RunFolder.create("ddqn", TINY, tmp_path_factory.mktemp("runs"))
    run_learner(class_of(ddqn), TINY, folder, lambda: Progress(disable=True))
    files = list(folder.path.rglob("events.out.tfevents.*"))
    assert {file.parent for file in files} == {folder.path}  # a folder below would be a run of its own
    return EventAccumulator(str(folder.path)).Reload()


def plugin_data(events, tag):
    return events.SummaryMetadata(tag).plugin_data.content


def test_only_the_finished_player_is_a_curve_of_one_point(events):
    tags = events.Tags()["scalars"]
    single = {tag for tag in tags if len(events.Scalars(tag)) == 1}
    assert single == {tag for tag in tags if "final/" in tag}
    assert "final/win rate against greedy" in single
    assert "learning/net points against the opponent" in tags  # greedy


def test_a_column_of_strength_is_the_curve_itself(events):
    experiment = metadata.parse_experiment_plugin_data(plugin_data(events, metadata.EXPERIMENT_TAG))
    metrics = [metric.name.tag for metric in experiment.metric_infos]
    assert metrics[0] == "final/win rate against greedy"
    assert metrics[0] in events.Tags()["scalars"]


def test_what_was_varied_has_a_column(events):
    start = metadata.parse_session_start_info_plugin_data(plugin_data(events, metadata.SESSION_START_INFO_TAG))
    assert start.hparams["learner"].string_value == "ddqn"
    assert start.hparams["opponent"].string_value == "greedy"
    assert start.hparams["episodes"].number_value == 256
    assert "gamma 0.5" in start.hparams["other settings"].string_value
    assert not {"final_games", "threads", "evaluations"} & set(start.hparams)


def test_other_settings_are_those_that_differ_from_the_preset():
    paper = ddqn.PRESETS["paper"]
    assert hparams_of("ddqn", asdict(paper), asdict(paper))["other settings"] == ""
    changed = replace(paper, reuse=3.0, evaluations=7, hidden=(8, 4), seed=5)
    found = hparams_of("ddqn", asdict(changed), asdict(paper))
    assert found["other settings"] == "reuse 3.0"
    assert (found["hidden"], found["seed"], found["preset"]) == ("8 4", 5, "paper")


def test_every_learner_declares_the_same_columns():
    """TensorBoard takes them from any one of the runs that it shows."""
    declared = {
        summaries(name, settings, settings)[0].SerializeToString()
        for name in LEARNERS
        for settings in [asdict(presets_of(learner_named(name))["default"])]
    }
    assert len(declared) == 1
    changed = replace(strategy_weights.PRESETS["default"], credit_decay=0.5)
    assert (
        hparams_of("strategy-weights", asdict(changed), asdict(strategy_weights.PRESETS["default"]))["other settings"]
        == "credit_decay 0.5"
    )
