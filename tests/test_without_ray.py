"""What ``--ray`` says where Ray is not installed, and the lines that runs on other machines show their progress by."""

import sys

import pytest

from evaluate.__main__ import league, reproduce
from evaluate.console import ProgressLines
from evaluate.reported_match import play_and_report
from train.__main__ import main


def test_progress_comes_as_lines(capsys):
    with ProgressLines("seed 3") as progress:
        task = progress.add_task("td", total=50)
        for done in range(0, 51):
            progress.update(task, completed=done)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"seed 3: td, {tenths * 10} %" for tenths in range(1, 11)]


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    needed = pytest.raises(ValueError, match=r"^ray='local' needs the extra `ray`: pip install")
    with needed:
        play_and_report("greedy", "random", 20, None, 0, 1, None, None, "local")
    with needed:
        league(("greedy", "random"), folder=tmp_path / "league", ray="local")
    with needed:
        reproduce("oconnor-2000", quick=True, folder=tmp_path / "reproduction", ray="local")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--seeds", "2", "--ray", "local"], "needs the extra `ray`"),
        (["--ray=local"], "ray='local' is not allowed without --seeds"),
    ],
)
def test_a_bad_sweep_on_ray_begins_no_folder(arguments, error, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", ["train", "ddqn", *arguments])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert error in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
