"""Checkpoints of a run: two are kept, a damaged one is named; a full disk; the end of a run that is killed there."""

import re
from dataclasses import replace

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.console import reported_errors
from crib_env.train import td
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from tests.full_disk import full_disk
from tests.helpers.learner_runs import class_of
from tests.helpers.refusals import refused
from tests.helpers.small_settings import TD as SMALL


@pytest.fixture
def folder(tmp_path):
    """With checkpoints after 100, 200 and 300 episodes."""
    folder = RunFolder.create("td", SMALL, tmp_path)
    for episodes in (100, 200, 300):
        save(folder, episodes)
    return folder


def save(folder, episodes):
    folder.save_checkpoint(episodes, {"episodes": torch.tensor(episodes)}, {"episodes": episodes})


def found_in(folder):
    return [int(re.findall(r"\d+", path.name)[0]) for path in sorted((folder.path / "checkpoints").iterdir())]


def damage(folder, episodes, size):
    path = folder.path / "checkpoints" / f"episode-{episodes:010d}.safetensors"
    path.write_bytes(path.read_bytes()[:size])


def test_the_last_two_are_kept(folder):
    assert found_in(folder) == [200, 300]
    assert folder.load_checkpoint()[1] == {"episodes": 300}


@pytest.mark.parametrize("size", [0, 7, 40, -1])
def test_a_damaged_checkpoint_is_named_and_without_it_the_one_before_is_taken(folder, size):
    damage(folder, 300, size)
    with refused("episode-0000000300.safetensors is not a whole"):
        folder.load_checkpoint()
    (folder.path / "checkpoints" / "episode-0000000300.safetensors").unlink()
    tensors, about = folder.load_checkpoint()
    assert about == {"episodes": 200} == {"episodes": tensors["episodes"].item()}
    save(folder, 250)
    assert found_in(folder) == [200, 250]


def test_curves_that_do_not_fit_are_one_error(folder, capfd):
    def work():
        for episodes in range(10_000):
            folder.log({"curve": 1.0}, episodes)

    with pytest.raises(SystemExit) as ended, full_disk(5_000), reported_errors():
        work()
    assert ended.value.code == 2
    assert capfd.readouterr().err == "error: [Errno 27] File too large\n"
    assert folder.load_checkpoint()[1] == {"episodes": 300}


class Killed(BaseException):
    """The end of a process."""


def test_a_run_killed_at_its_end_comes_to_the_same_files(tmp_path, monkeypatch):
    settings = replace(SMALL, episodes=256)
    folder = RunFolder.create("td", settings, tmp_path)

    def kill(*arguments):
        raise Killed

    with monkeypatch.context() as killing:
        killing.setattr(RunFolder, "finish", kill)
        with pytest.raises(Killed):
            run_learner(class_of(td), settings, folder)
    run_learner(class_of(td), settings, RunFolder(folder.path))
    assert (folder.path / "summary.json").is_file()
    events = EventAccumulator(str(folder.path)).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if "final" in tag]
    assert len(tags) == 4
    assert [len(events.Scalars(tag)) for tag in tags] == [1] * 4
