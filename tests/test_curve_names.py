"""The names of curves: learners share them, and those of intervals come last."""

from dataclasses import replace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.runs.learning_curves import read_scalars
from crib_env.train import ddqn, discard_game, drqn, escher, mmd, mmd_tables, nfsp, ppo, rnad, td
from tests.helpers import small_ppo, small_settings
from tests.helpers.learner_runs import finished_run

VALUES = {"loss", "gradient norm", "mean value"}
POLICY = {"critic loss", "policy loss", "gradient norm", "entropy", "KL", "mean value"}
NAMES = {
    ddqn: VALUES | {"share of the buffer"},
    discard_game: VALUES,
    drqn: VALUES | {"share of the buffer"},
    escher: POLICY - {"KL"} | {"share of the buffer"},
    mmd: POLICY,
    mmd_tables: {"critic loss", "entropy", "mean value"},
    nfsp: VALUES | {"policy loss", "entropy", "share of the buffer"},
    ppo: POLICY,
    rnad: POLICY,
    td: VALUES,
}
SHARED = {f"learning/{name}" for name in VALUES | POLICY | {"share of the buffer"}}
SETTINGS = {
    ddqn: small_settings.DDQN,
    discard_game: small_settings.DISCARD_GAME,
    drqn: small_settings.DRQN,
    escher: small_settings.ESCHER,
    mmd: small_settings.MMD,
    mmd_tables: small_settings.MMD_TABLES,
    nfsp: small_settings.NFSP,
    ppo: small_ppo.PPO,
    rnad: small_settings.RNAD,
    td: small_settings.TD,
}


@pytest.mark.parametrize("learner", NAMES, ids=lambda learner: learner.__name__.rpartition("train.")[2])
def test_every_learner_writes_the_same_names(learner, tmp_path):
    settings = replace(SETTINGS[learner], episodes=256, episodes_at_once=128, evaluations=0)
    folder, _, _ = finished_run(learner, settings, tmp_path)
    events = EventAccumulator(str(folder.path)).Reload()
    written = {tag for tag in events.Tags()["scalars"] if tag in SHARED}
    assert written == {f"learning/{name}" for name in NAMES[learner]}
    for tag in written:
        steps, values = read_scalars(folder.path, tag)
        assert steps[-1] == 256
        assert all(value == value for value in values)
        assert "entropy" not in tag or all(0 <= value < 3 for value in values)
        assert "share" not in tag or all(0 < value <= 1 for value in values)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    settings = replace(small_settings.DDQN, episodes=512, evaluations=2)
    folder, _, _ = finished_run(ddqn, settings, tmp_path_factory.mktemp("runs"))
    return EventAccumulator(str(folder.path)).Reload()


def test_strength_stands_over_episodes(events):
    assert [point.step for point in events.Scalars("evaluation/win rate against greedy")] == [0, 256, 512]


def test_ends_of_intervals_are_few_and_last(events):
    tags = sorted(events.Tags()["scalars"])
    ends = [tag for tag in tags if tag.startswith("uncertainty/")]
    assert tags[-len(ends) :] == ends
    assert len(ends) == 8  # two for each of four curves of strength
