"""One process at a time in the folder of a run, a league, a sweep or a reproduction."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

from crib_env.evaluate.commands.league import play_and_report
from crib_env.evaluate.commands.solve import solve_play
from crib_env.evaluate.files import LOCK, Job, check_outputs, held
from crib_env.evaluate.makers.papers.__main__ import papers
from crib_env.evaluate.matches.league import League
from crib_env.train import td
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.sweep import sweep
from tests.helpers.learner_runs import ROOT, class_of
from tests.helpers.refusals import refused
from tests.helpers.small_settings import TD as SMALL

HOLD = """
import sys, time
from pathlib import Path
from crib_env.evaluate.files import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_refused_to_a_second_process_until_the_first_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with refused(tmp_path, process.pid), held(tmp_path):
            pytest.fail("two hold it")
        process.kill()
    assert process.returncode == -signal.SIGKILL
    with held(tmp_path):
        assert str(os.getpid()) in (tmp_path / ".lock").read_text()


@pytest.fixture
def ended():
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_what_was_left_half_written_is_cleared_away(tmp_path, ended):
    places = [tmp_path, tmp_path / "checkpoints", tmp_path / "snapshots" / "agent-0"]
    halves, kept = [], []
    for place in places:
        place.mkdir(exist_ok=True, parents=True)
        halves += [place / f"episode-1.safetensors.{ended}.part"]
        kept += [place / "episode-0.safetensors", place / "film.part", place / "film.mp4.part", place / ".part"]
    for file in (*halves, *kept):
        file.touch()
    with held(tmp_path):
        assert not any(half.exists() for half in halves)
        assert all(file.exists() for file in kept)


@pytest.mark.parametrize("start", [check_outputs, lambda path: held(path).__enter__()])
def test_halves_of_a_killed_process_are_removed_when_the_file_is_begun_again(tmp_path, ended, start):
    path = tmp_path / "games[1].jsonl"
    mine, other = tmp_path / f"{path.name}.{os.getpid()}.part", tmp_path / f"more.jsonl.{ended}.part"
    for file in (mine, other, tmp_path / f"{path.name}.{ended}.part"):
        file.touch()
    start(path)
    assert sorted(tmp_path.glob("*.part")) == [mine, other]


def test_a_file_is_refused_to_a_second_process(tmp_path):
    path = tmp_path / "solution.npz"
    with held(path), held(tmp_path / "other.npz"):
        with refused(path, os.getpid()), held(path):
            pytest.fail("two hold it")
        with refused(path):
            solve_play(path)
    with held(path):
        pass


def a_run(path):
    folder = RunFolder.create("td", SMALL, path)
    return folder.path, lambda: run_learner(class_of(td), SMALL, folder)


def a_sweep(path):
    path.mkdir()
    return path, lambda: sweep("td", SMALL, 2, path)


def a_league(path):
    league = League(("random", "greedy"), 2, 0)
    return league.begin(path), lambda: play_and_report(league, path, 1)


def a_reproduction(path):
    (path / "full-0").mkdir(parents=True)
    return path / "full-0", lambda: papers("mueller-1987", folder=path)


@pytest.mark.parametrize("kind", [a_run, a_sweep, a_league, a_reproduction])
def test_the_second_process_is_refused_before_it_works(tmp_path, kind):
    folder, work = kind(tmp_path / "work")
    with held(folder):
        before = sorted(folder.rglob("*"))
        with refused(folder, os.getpid()):
            work()
        assert sorted(folder.rglob("*")) == before


@dataclass(frozen=True)
class Counting(Job):
    KIND = "count"

    most: int


def test_a_job_that_was_killed_before_its_settings_were_written_begins(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "config.json.1.part").write_text("{")
    (folder / LOCK).touch()
    for _ in range(2):
        assert Counting(3).begin(folder) == folder
    with refused("most=3, not 4"):
        Counting(4).begin(folder)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "notes").touch()
    with refused("not the folder of a count"):
        Counting(3).begin(tmp_path / "b")
