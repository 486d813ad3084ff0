"""Checkpoints of a run: two are kept, and the earlier one is used if the last is damaged; a full disk is one error.

And the end of a run that is killed there, and damaged curves.
"""

import re
from dataclasses import replace

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.console import reported_errors
from crib_env.train import td
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.strength import Measure
from tests.full_disk import full_disk
from tests.helpers.learner_runs import class_of, run, stopped_run
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


def test_the_last_two_are_kept(folder, capsys):
    assert found_in(folder) == [200, 300]
    assert folder.load_checkpoint()[1] == {"episodes": 300}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("size", [0, 7, 40, -1])
def test_where_the_last_is_damaged_the_one_before_is_taken(folder, capsys, size):
    damage(folder, 300, size)
    tensors, about = folder.load_checkpoint()
    assert about == {"episodes": 200} == {"episodes": tensors["episodes"].item()}
    said = capsys.readouterr().err
    assert "episode-0000000300.safetensors is not a whole" in said
    assert said.endswith("the run continues from episode-0000000200.safetensors\n")
    save(folder, 250)
    assert found_in(folder) == [200, 250]


def test_where_all_are_damaged_they_are_named(folder):
    damage(folder, 200, 30)
    damage(folder, 300, 30)
    with refused("0300.safetensors", "0200.safetensors"):
        folder.load_checkpoint()


def test_curves_that_do_not_fit_are_one_error(folder, capfd):
    def work():
        for episodes in range(10_000):
            folder.log({"curve": 1.0}, episodes)

    with pytest.raises(SystemExit) as ended, full_disk(5_000), reported_errors():
        work()
    assert ended.value.code == 2
    assert capfd.readouterr().err == f"error: [Errno 27] File too large: '{folder.path}'\n"
    assert folder.load_checkpoint()[1] == {"episodes": 300}


class Killed(BaseException):
    """The end of a process."""


@pytest.mark.parametrize(("place", "name"), [(Measure, "draw"), (RunFolder, "finish")])
def test_a_run_killed_at_its_end_comes_to_the_same_files(tmp_path, monkeypatch, place, name):
    settings = replace(SMALL, episodes=256)
    folder = RunFolder.create("td", settings, tmp_path)

    def kill(*arguments):
        folder.flush()
        raise Killed

    with monkeypatch.context() as killing:
        killing.setattr(place, name, kill)
        with pytest.raises(Killed):
            run_learner(class_of(td), settings, folder)
    run_learner(class_of(td), settings, RunFolder(folder.path))
    assert {"learning-curve.png", "learning-curve.svg", "summary.json"} <= {path.name for path in folder.path.iterdir()}
    events = EventAccumulator(str(folder.path)).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if "final" in tag]
    assert len(tags) == 4
    assert [len(events.Scalars(tag)) for tag in tags] == [1] * 4


def cut(content):
    return content[: len(content) // 2]


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(("damage", "says"), [(cut, "damaged"), (flip, "damaged"), (bytes, "")])
def test_damaged_curves_are_named_when_the_run_goes_on(tmp_path, capsys, damage, says):
    settings = replace(SMALL, episodes=512)
    folder = stopped_run(td, settings, tmp_path, 384)
    [events] = folder.path.glob("events.out.tfevents.*")
    events.write_bytes(damage(events.read_bytes()))
    run(td, settings, RunFolder(folder.path))
    said = capsys.readouterr().err
    assert (f"{folder.path} has a damaged file of events" in said) == bool(says)
    assert bool(said) == bool(says)
