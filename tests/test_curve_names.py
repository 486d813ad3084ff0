"""The names of curves, which learners share."""

from dataclasses import replace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.runs.learning_curves import read_scalars
from tests.helpers.killed_runs import KINDS
from tests.helpers.learner_runs import finished_run

VALUES = {"loss", "gradient norm", "mean value"}
POLICY = {"critic loss", "policy loss", "gradient norm", "entropy", "KL", "mean value"}
NAMES = {
    "ddqn": VALUES | {"share of the buffer"},
    "discard-game": VALUES,
    "drqn": VALUES | {"share of the buffer"},
    "escher": POLICY - {"KL"} | {"share of the buffer"},
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
