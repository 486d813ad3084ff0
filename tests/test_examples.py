"""The examples run, at small sizes, and do what their texts promise."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands.dataset import dataset
from crib_env.evaluate.commands.suite import suite

EXAMPLES = Path(__file__).parents[1] / "examples"
BASELINES = ("random", "greedy", "careful", "expert")
WIN_RATE = r"against greedy: \d+\.\d\d% of [\d,]+ games \(\d+\.\d\d% to \d+\.\d\d%\)"
NOTEBOOK = EXAMPLES / "hand_and_game.ipynb"


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs an example in this process; returns its output."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_random_play_in_aec(run):
    shown = run("random_aec")
    assert re.search(WIN_RATE, shown)
    (scores,) = re.findall(r"final scores \((\d+), (\d+)\)", shown)
    assert max(map(int, scores)) == 121
    told = [sum(map(int, re.findall(rf"player_{seat} scores +(\d+)", shown))) for seat in range(2)]
    assert told == list(map(int, scores))


def test_random_play_in_gymnasium(run):
    one, many, last = run("random_gymnasium").splitlines()
    assert re.match(WIN_RATE, last)
    mine, theirs, seat, net = map(int, re.findall(r"[-+]?\d+", one))
    assert net == (mine - theirs if seat == 0 else theirs - mine)
    won, games = map(int, many.split(" games won")[0].split(" of "))
    assert 1_000 <= games < 2_000
    assert won < 40


def test_an_agent_of_ones_own(run):
    assert re.match(WIN_RATE, run("own_agent"))


def test_a_network_learns_to_choose_as_others_did(run, tmp_path):
    pytest.importorskip("pyarrow")
    dataset(tmp_path / "games", ("greedy", "greedy"), games=60)
    *_, agreement, against = run("clone", tmp_path / "games", 4).splitlines()
    assert float(re.search(r"[\d.]+", agreement)[0]) > 30
    assert re.match(WIN_RATE, against)


def test_an_agent_of_ones_own_in_the_suite(tmp_path, capsys):
    others = ("play", "endgames", "pegging", "time", *(f"against-{name}" for name in BASELINES))
    suite(("examples.own_agent:Wary",), share=0.001, skip=others, folder=tmp_path / "suite")
    assert "examples.own_agent:Wary" in capsys.readouterr().out


def test_a_minari_dataset(run, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert re.match(r"3 episodes, \d+ steps", run("minari_dataset", "careful", "random", 3))
    data = minari.load_dataset("cribbage/careful-against-random-v0")
    env, player = data.recover_environment(), make_agent("careful")
    for seed, episode in enumerate(data.iterate_episodes()):
        env.reset(seed=seed)
        for card in episode.actions:
            assert card == player.act(env.unwrapped.views())[0]
            over = env.step(card)[2]
        assert over


def test_maskable_ppo(run):
    shown = run("maskable_ppo", 8192, 2)
    assert re.search(WIN_RATE, shown)
    assert re.search(r"^\d+ processor seconds$", shown, re.MULTILINE)


def test_cleanrls_loop(run):
    shown = run("cleanrl_ppo", 0.1, 2)
    assert re.search(WIN_RATE, shown)


def test_ppo_in_one_file(run, tmp_path):
    small = ["--decisions", "40000", "--num-envs", "500", "--final-games", "200", "--evaluations", "2"]
    shown = run("ppo", *small, "--folder", tmp_path).splitlines()
    curve = json.loads((tmp_path / "curve.json").read_text())["curve"]
    assert [point["decisions"] for point in curve] == [20_000, 40_000]
    assert shown[-1].split()[0] == "40,000"
    assert re.search(WIN_RATE, shown[-1])
    assert curve[-1]["low"] < curve[-1]["win_rate"] < curve[-1]["high"]
    assert list(tmp_path.glob("events.*"))


def test_a_search_of_ones_own(run):
    assert int(run("search").split()[0]) >= 8


def test_self_play_in_one_file(run):
    decisions, shown = run("self_play", 2).splitlines()
    assert decisions.startswith(f"{2 * 1_024 * 12:,} decisions")
    assert re.match(WIN_RATE, shown)


def test_dqn_in_one_file(run):
    small = {"rounds": 10, "deals": 64, "updates": 2, "batch-size": 32, "test-deals": 50, "final-games": 20}
    shown = run("dqn", *(f"--{name}={number}" for name, number in small.items())).splitlines()
    assert len(shown) == 12
    assert re.match(WIN_RATE, shown[-1])
    assert re.search(r"against greedy: [-+]\d\.\d{3} ± \d\.\d{3}, 100 deals", shown[-2])
    decisions = int(shown[-3].split()[2].replace(",", ""))
    assert decisions == 10 * 64 * 8  # both players' cards, none lost


def test_the_notebook_runs_from_top_to_bottom():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, 4)
    kept = [cell.get("outputs") for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    text = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "3D 2H    12.67  7.00 " in text
    assert "final scores (121, 113)" in text
    pictures = [output["data"] for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert ["image/png" in picture for picture in pictures] == [True] * 3
    assert "".join(output.get("text", "") for outputs in kept for output in outputs or []) == text  # as it is shown
