"""Files that commands write: checked before the work, whole or not at all, and there before anything is printed."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.evaluate.commands import benchmark, match, runs
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.makers import cribs, pegging, win_table
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.runs.learning_curves import new_figure, save_figure
from crib_env.files.checked_file import save_arrays
from crib_env.files.whole_file import check_output, whole_file
from tests.full_disk import full_disk
from tests.helpers.refusals import refused


def special(tmp_path, kind):
    """A path that no result may be written to."""
    path = tmp_path / "special.json"
    target = tmp_path / "target" if kind.startswith("link") else path
    if kind.endswith("folder"):
        target.mkdir()
    elif kind.endswith("FIFO"):
        os.mkfifo(target)
    elif kind.endswith("device"):
        try:
            os.mknod(target, 0o20666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
    if target != path:
        path.symlink_to(target)
    return path


KINDS = ["a folder", "a FIFO", "a device", "link to a folder", "link to a FIFO", "link to a device"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_is_not_a_file_is_refused_and_unchanged(tmp_path, kind):
    path = special(tmp_path, kind)
    before = path.lstat()
    says = f"special.json is {kind.removeprefix('link to ')}: give the name of a file"
    with refused(says):
        check_output(path)
    with refused(says):
        write_json(path, {})
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)


def test_a_file_without_a_folder_is_refused(tmp_path):
    with refused("none", "result.json"):
        check_output(tmp_path / "none" / "result.json")


def test_one_file_for_two_results_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "result")
    with refused("link"):
        check_outputs(tmp_path / "result", None, tmp_path / "link")


def test_the_file_at_the_end_of_a_link_is_written(tmp_path):
    target, link = tmp_path / "data" / "result.json", tmp_path / "link.json"
    target.parent.mkdir()
    link.symlink_to(target)
    for content in ({"a": 1}, {"a": 2}):
        write_json(link, content)
        assert link.is_symlink()
        assert json.loads(target.read_text()) == content


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "result"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as temporary, open(temporary, "w") as file:
        file.write(f"half {1 / 0}")
    assert [file.name for file in tmp_path.iterdir()] == ["result"]
    assert path.read_text() == "before"


COMMANDS = {
    "match --json": lambda path: match.match(match.MatchArguments("no agent", "greedy", json_file=path)),
    "match --record": lambda path: match.match(match.MatchArguments("no agent", "greedy", record=path)),
    "runs curves": lambda path: runs.curves((), path.with_suffix(".png")),
    "makers.cribs": lambda path: cribs.cribs(path),
    "makers.win_table": lambda path: win_table.win_table(path, "no agent"),
    "makers.pegging": lambda path: pegging.pegging(path),
    "benchmark": lambda path: benchmark.benchmark((), json_file=path),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_checks_its_files_before_the_work(tmp_path, command):
    path = special(tmp_path, "a FIFO")
    path.with_suffix(".png").symlink_to(path)
    with refused("special."):
        COMMANDS[command](path)


def a_figure(path):
    figure = new_figure(2, 2)
    figure.subplots().plot([0, 1])
    save_figure(figure, path)


WRITERS = {
    "result.json": lambda path: write_json(path, list(range(10_000))),
    "table.npz": lambda path: save_arrays(path, "thing", 1, {"noise": np.random.default_rng(0).bytes(10_000)}),
    "weights.safetensors": lambda path: save_tensors(path, {"weights": torch.zeros(5_000)}, {}),
    "picture.png": a_figure,
}


@pytest.mark.parametrize("name", WRITERS)
def test_on_a_full_disk_the_old_file_stays_and_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_text("before")
    with full_disk(1_000), refused(name, error=OSError):
        WRITERS[name](path)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert path.read_text() == "before"


def play(record, json_file, a="random", b="greedy", games=320):
    match.match(match.MatchArguments(a, b, games, seed=3, threads=1, json_file=json_file, record=record))


@pytest.fixture(scope="module")
def compiled():
    """Kernels go into their cache before the disk is full."""
    play(None, None, games=2)


@pytest.mark.usefixtures("compiled")
def test_on_a_full_disk_a_match_keeps_the_games_that_fit(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mirrored, "_MOST", 8)
    record, result = tmp_path / "games.jsonl", tmp_path / "match.json"
    with full_disk(60_000), refused("games.jsonl", error=OSError):
        play(record, result)
    kept = len(record.read_text().splitlines())
    assert 18 <= kept < 320
    assert kept % 16 == 2  # a pair, and blocks of eight
    assert [one.game for one in read_records(record)] == list(range(kept))
    assert json.loads(result.read_text())["games"] == kept
    assert f"{kept} mirrored games" in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 2


class BrokenConsole:
    """A console on which nothing can be printed."""

    def print(self, *args, **settings):
        raise BrokenPipeError


def test_results_are_written_before_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.setattr(match, "console", BrokenConsole())
    with pytest.raises(BrokenPipeError):
        play(None, tmp_path / "result", games=20)
    assert (tmp_path / "result").stat().st_size > 0


@pytest.mark.usefixtures("compiled")
def test_results_that_cannot_be_written_are_printed(tmp_path, capsys):
    with full_disk(100), refused("result", error=OSError):
        play(None, tmp_path / "result", games=20)
    assert len(capsys.readouterr().out.splitlines()) > 10
    assert not list(Path(tmp_path).iterdir())
