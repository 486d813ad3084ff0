"""The table of finished runs: its content by hand, the spread over seeds, unknown figures, and bad folders."""

import pytest

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands.runs import runs
from crib_env.evaluate.runs.table import read_runs, rows_of
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused
from tests.helpers.written_runs import summary_of, write_run

HEADER = ["learner", "run", "episodes", "seconds", "episodes a second", "updates a second", "in simulation"]


def table_of(*paths):
    return rows_of([run for path in paths for run in read_runs(path)])


def test_a_row_by_hand(tmp_path):
    header, rows = table_of(write_run(tmp_path / "night", summary=summary_of()))
    assert header == [*HEADER, "against random", "against greedy", "games or hands"]
    assert rows == [
        ["ddqn", "night", "1,000", "200", "5", "5", "12.5%", "90.00% ± 2.00%", "50.00% ± 1.00%", "2,000"],
    ]


@pytest.mark.parametrize(("updates", "shown"), [(3_000, "15"), ({"all": 2_000}, "10"), (None, "–")])
def test_updates_are_a_number_or_one_for_each_network_or_unknown(tmp_path, updates, shown):
    summary = summary_of(updates=updates)
    if updates is None:
        del summary["updates"]  # as in summaries of old
    _, [row] = table_of(write_run(tmp_path / "run", summary=summary))
    assert row[5] == shown


def test_the_discard_game_has_a_measure_of_its_own_and_a_preset_a_name(tmp_path):
    hands = summary_of(strength={"mean": 8.25, "interval": [8.2, 8.3], "hands": 200_000}, updates=1_000)
    runs = (
        write_run(tmp_path / "a", summary=summary_of()),
        write_run(tmp_path / "b", "discard-game", hands, preset="paper"),
    )
    header, [row, of_hands] = table_of(*runs)
    assert header[len(HEADER) :] == ["against random", "against greedy", "points a hand", "games or hands"]
    assert row[len(HEADER) :] == ["90.00% ± 2.00%", "50.00% ± 1.00%", "–", "2,000"]
    assert of_hands[:2] == ["discard-game, paper", "b"]
    assert of_hands[len(HEADER) :] == ["–", "–", "8.2500 ± 0.0500", "200,000"]


def test_runs_that_differ_in_their_seeds_alone_have_a_mean_and_a_spread(tmp_path):
    sweep = write_run(tmp_path / "sweep", seed=3, seeds=3, hidden=[8])
    for seed, rate in ((3, 0.4), (4, 0.5), (5, 0.6)):
        won = {"greedy": (rate, (rate - 0.1, rate + 0.1))}
        speed = {"seconds": 100.0 * seed, "episodes_per_second": 10.0 / seed}
        write_run(sweep / f"seed-{seed}", summary=summary_of(won, **speed), seed=seed, hidden=[8])
    other = write_run(tmp_path / "other", summary=summary_of({"greedy": (0.7, (0.6, 0.8))}), seed=6, hidden=[16])
    _, rows = table_of(sweep, other)
    assert [row[1] for row in rows] == ["sweep/seed-3", "sweep/seed-4", "sweep/seed-5", "3 seeds", "other"]
    episodes, seconds, _, _, simulation, won, games = rows[3][2:]
    assert (episodes, seconds, simulation) == ("1,000 ± 0", "400 ± 100", "12.5% ± 0.0%")
    assert (won, games) == ("50.00% ± 10.00%", "")


def test_a_seed_that_was_run_twice_says_nothing_of_the_spread(tmp_path):
    runs = [write_run(tmp_path / name, summary=summary_of()) for name in "ab"]
    assert [row[1] for row in table_of(*runs)[1]] == ["a", "b"]


def test_figures_that_one_seed_lacks_are_left_open(tmp_path):
    old = summary_of()
    del old["updates"]
    runs = [write_run(tmp_path / str(seed), summary=one, seed=seed) for seed, one in enumerate((summary_of(), old))]
    _, rows = table_of(*runs)
    assert [row[5] for row in rows] == ["5", "–", "–"]
    assert rows[2][4] == "5 ± 0"


def test_folders_that_hold_no_finished_run_are_named(tmp_path):
    damaged = write_run(tmp_path / "damaged", summary={"episodes": 3})
    sweep = write_run(tmp_path / "sweep", seeds=2)
    write_run(sweep / "seed-0", summary=summary_of())
    write_run(sweep / "seed-1", seed=1)
    for folder, message in (
        (tmp_path / "nowhere", "nowhere is not the folder of a run"),
        (write_run(tmp_path / "begun"), "begun is a run that is not finished: it has no summary.json"),
        (sweep, "seed-1 is a run that is not finished"),
        (damaged, "damaged/summary.json is not the summary of a run"),
    ):
        *_, run = read_runs(folder)
        assert message in run.fault
        if folder != sweep:  # it has one that is finished
            with refused(message):
                runs((folder,))
    assert [row[:3] for row in table_of(damaged, sweep)[1]] == [
        ["ddqn", "sweep/seed-0", "1,000"],
        ["damaged", f"{damaged / 'summary.json'} is not the summary of a run (it has no 'strength')", "–"],
        ["sweep/seed-1", f"{sweep / 'seed-1'} is a run that is not finished: it has no summary.json", "–"],
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
