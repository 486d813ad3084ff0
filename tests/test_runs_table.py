"""The table of finished runs: its content by hand, unknown figures, and bad folders."""

import pytest

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands.runs import runs
from crib_env.evaluate.runs.format import POINTS_A_HAND, with_band
from crib_env.evaluate.runs.table import read_run, read_runs
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused
from tests.helpers.written_runs import summary_of, write_run


def test_a_row_by_hand(tmp_path):
    assert read_run(write_run(tmp_path / "night", summary=summary_of())) == {
        "learner": "ddqn",
        "episodes": "1,000",
        "seconds": "200",
        "against random": "90.00% ± 2.00%",
        "against greedy": "50.00% ± 1.00%",
        "games or hands": "2,000",
    }


def test_the_discard_game_has_a_measure_of_its_own_and_a_preset_a_name(tmp_path):
    hands = summary_of(scalars=with_band(POINTS_A_HAND, 8.25, 8.2, 8.3))
    row = read_run(write_run(tmp_path / "b", "discard-game", hands, preset="paper", final_games=200_000))
    assert (row["learner"], row["points a hand"]) == ("discard-game, paper", "8.2500 ± 0.0500")
    assert row["games or hands"] == "200,000"


def test_folders_that_hold_no_finished_run_are_named(tmp_path):
    damaged = write_run(tmp_path / "damaged", summary={"episodes": 3, "seconds": 1})
    sweep = write_run(tmp_path / "sweep", seeds=2)
    write_run(sweep / "seed-0", summary=summary_of())
    write_run(sweep / "seed-1", seed=1)
    for folder, message in (
        (tmp_path / "nowhere", "nowhere is not the folder of a run"),
        (write_run(tmp_path / "begun"), "begun is a run that is not finished: it has no summary.json"),
        (damaged, "damaged/summary.json is not the summary of a run"),
    ):
        with refused(message):
            runs((folder,))
    assert [row["run"] for row in read_runs([damaged, sweep])] == [
        f"{damaged / 'summary.json'} is not the summary of a run (it has no 'scalars')",
        "sweep/seed-0",
        f"{sweep / 'seed-1'} is a run that is not finished: it has no summary.json",
    ]
    with pytest.raises(ValueError, match="there are no runs"):
        runs(())


def test_the_command(tmp_path, monkeypatch):
    write_run(tmp_path / "run", summary=summary_of())
    monkeypatch.chdir(tmp_path)
    done = run_here(main, "runs", "run")
    assert done.status == 0, done.errors
    assert "ddqn" in done.out
    assert "± 2.00%" in done.out
    done = run_here(main, "runs", "elsewhere")
    assert done.status == 2
    assert done.errors.startswith("error: elsewhere is not the folder of a run: ")
