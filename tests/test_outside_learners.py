"""Learners in anybody's file, and scripts with loops of their own: folders, curves, strength, resuming, seeds."""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import load_tensors
from crib_env.batch import GameBatch
from crib_env.evaluate.__main__ import main as evaluate
from crib_env.evaluate.runs.learning_curves import read_curve, read_scalars
from crib_env.kernels import streams
from crib_env.train import Run
from crib_env.train.__main__ import main as train
from crib_env.train.loop.run import Rounds
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused
from tests.helpers.vector_games import FirstCard

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_learner.py"
PAGE = EXAMPLE.parents[1] / "docs" / "train" / "your-own-learner.md"
NAME = "own_learner:MonteCarlo"
SMALL = (
    "--episodes 512 --episodes-at-once 128 --evaluation-games 4 --final-games 4 --checkpoint-seconds 0 --batch-size 64"
)
PEGGING = "--episode pegging --cards 2 --evaluations 0 --exploitability 1"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """With the example and nothing else."""
    folder = tmp_path_factory.mktemp("anybody")
    shutil.copy(EXAMPLE, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        yield folder
        sys.modules.pop("own_learner", None)


def trained(*arguments):
    done = run_here(train, *arguments)
    assert done.status == 0, done.errors
    return done.out


@pytest.fixture(scope="module")
def whole(folder):
    """A run of the example."""
    out = trained(NAME, *SMALL.split(), "--evaluations", "2", "--folder", "whole")
    assert "run folder: whole" in out
    assert "512 episodes" in out
    return folder / "whole"


def curves(run):
    """Steps and values of all curves but those of speed and of seconds."""
    events = EventAccumulator(str(run)).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith(("speed/", "strength by"))]
    return {tag: read_scalars(run, tag) for tag in tags}


def test_a_run_has_folder_curves_strength_and_an_agent(whole):
    assert json.loads((whole / "config.json").read_text())["learner"] == NAME
    summary = json.loads((whole / "summary.json").read_text())
    assert summary["episodes"] == 512
    assert summary["scalars"].keys() >= {"evaluation/win rate against greedy"}
    found = curves(whole)
    assert found["evaluation/win rate against greedy"][0] == [0, 256, 512]
    assert found["learning/loss"][0] == found["learning/gradient norm"][0] == [128, 256, 384, 512]
    agent = make_agent(f"{NAME}:{whole}")
    batch = GameBatch(streams(0, 30))
    views = batch.views(np.arange(30))
    tensors, about = load_tensors(whole / "final")
    assert about["learner"] == NAME
    seen, x = views.ranks.astype(np.float32), None
    for layer in range(0, 5, 2):
        x = (seen if x is None else np.maximum(x, 0)) @ tensors[f"network.{layer}.weight"].numpy().T
        x += tensors[f"network.{layer}.bias"].numpy()
    values = np.where(views.action_mask, x, -np.inf)
    chosen = values[np.arange(30), agent.act(views)]
    np.testing.assert_allclose(chosen, values.max(axis=1), atol=1e-5)


def test_a_file_never_says_whose_code_runs(whole):
    with refused("is a run of a learner from outside", f"write {NAME}:{whole}"):
        make_agent(str(whole))
    with refused("needs its path"):
        make_agent(NAME)
    shutil.copytree(whole, whole.with_name("copy"))
    config = whole.with_name("copy") / "config.json"
    config.write_text(config.read_text().replace(NAME, "other:Learner"))
    done = run_here(train, NAME, "--resume", "copy")
    assert done.status == 2
    assert "is a run of 'other:Learner'" in done.errors


def test_a_stopped_run_goes_on_to_the_same_weights(whole, monkeypatch):
    class Stopped(Exception):
        """In place of a kill."""

    save = Rounds.save_checkpoint

    def stop(self):
        save(self)
        if self.position.episodes == 256:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "save_checkpoint", stop)
        with pytest.raises(Stopped):
            run_here(train, NAME, *SMALL.split(), "--evaluations", "2", "--folder", "stopped")
    trained(NAME, "--resume", "stopped")
    again, tensors = (load_tensors(run / "final")[0] for run in (whole.with_name("stopped"), whole))
    assert all(torch.equal(again[key], tensor) for key, tensor in tensors.items())
    assert curves(whole.with_name("stopped")) == curves(whole)


def test_seeds_are_trained_side_by_side(whole):
    out = trained(NAME, *SMALL.split(), "--evaluations", "1", "--seeds", "2", "--folder", "two")
    assert "win rate against greedy of 2 seeds: " in out
    assert (whole.with_name("two") / "seed-1" / "summary.json").exists()


@pytest.mark.slow
def test_exploitability_is_measured_on_the_way(folder):
    trained(NAME, *SMALL.split(), *PEGGING.split(), "--folder", "pegging")
    steps, values = read_scalars(folder / "pegging", "strength/exploitability")
    assert steps == [0, 512]
    assert all(0 < value < 2 for value in values)


BROKEN = {
    "nothing:Here": "there is no learner 'nothing:Here'",
    "broken:Missing": "'broken:Missing' is no learner: it has no Settings, play_and_learn, load_state_dict",
    "broken:Other": "'broken:Other' is no learner: its Settings are no dataclass that inherits RunSettings",
    "nothing": "there is no learner 'nothing': choose one of",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_learner_is_named(name, folder):
    (folder / "broken.py").write_text(
        "class Missing:\n    def state_dict(self): ...\n"
        "class Other(Missing):\n    Settings = dict\n    def play_and_learn(self, now): ...\n"
        "    def load_state_dict(self, tensors): ...\n"
    )
    done = run_here(train, name)
    assert done.status == 2
    assert BROKEN[name] in done.errors


def test_its_settings_are_options(capsys):
    done = run_here(train, NAME, "--help")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", done.out)
    assert "Monte Carlo learning: a card is worth" in shown
    assert "--episode {deal,pegging}" in shown
    done = run_here(train, NAME, "--episodes", "0")
    assert done.status == 2
    assert "episodes=0 is not allowed" in done.errors


@pytest.fixture(scope="module")
def script(folder):
    """What a script with a loop of its own has recorded."""
    run = Run("cleanrl", {"seed": 3, "lr": 0.1, "evaluation_games": 4, "final_games": 6}, folder / "cleanrl")
    for step in range(3):
        run.log({"loss": 1.0 / (step + 1), "charts/return": 2.0}, 100 * step)
        measured = run.measure("greedy")
        assert measured["evaluation/win rate against greedy"] == 0.5
    run.save(make_agent("greedy"), {"weight": torch.ones(2)})
    return run.folder.path


def test_a_script_has_the_folder_and_the_tags_of_a_learner(script, whole):
    of_script, of_learner = curves(script), curves(whole)
    assert of_script.keys() - of_learner.keys() == {"charts/return"}
    assert of_script["learning/loss"] == ([0, 100, 200], [1.0, 0.5, pytest.approx(1 / 3)])
    assert of_script["evaluation/win rate against greedy"] == ([0, 100, 200], [0.5, 0.5, 0.5])
    assert {path.name for path in script.iterdir()} >= {"summary.json", "final.safetensors"}
    assert json.loads((script / "config.json").read_text())["settings"]["lr"] == 0.1


def test_its_runs_stand_in_tables_and_curves(script, whole):
    done = run_here(evaluate, "runs", "cleanrl", "whole")
    assert done.status == 0, done.errors
    assert {"cleanrl", "200", "whole", "512"} <= set(done.out.split())
    assert read_curve(script, "greedy", "processor-seconds").final.values.tolist() == [0.5]
    for words in (
        "runs curves cleanrl whole --picture both.png --over processor-seconds",
        f"match {NAME}:whole greedy --games 4 --threads 1",
    ):
        done = run_here(evaluate, *words.split())
        assert done.status == 0, done.errors


def test_the_script_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    quick = script.replace('"seed": 1', '"seed": 1, "evaluation_games": 2, "final_games": 2')
    exec(compile(quick, "page", "exec"), {"agent": make_agent("greedy"), "network": torch.nn.Linear(1, 1)})
    (run,) = tmp_path.glob("runs/my-ppo/*-s1")
    assert json.loads((run / "summary.json").read_text())["episodes"] == 2_048
    assert load_tensors(run / "final")[0].keys() == {"weight", "bias"}


def test_what_a_script_may_not_give_is_named(tmp_path):
    for name in ("ppo", "a/b", ""):
        with refused(f"name={name!r}"):
            Run(name, folder=tmp_path / "run")
    with refused("final_games=3"):
        Run("mine", {"final_games": 3}, tmp_path / "run")
    run = Run("mine", folder=tmp_path / "run")
    run.log({}, 10)
    with refused("episodes=5 is not allowed: 10 were played before"):
        run.log({}, 5)


def test_a_run_may_end_without_a_curve(tmp_path):
    Run("mine", {"final_games": 2}, tmp_path / "run").save(FirstCard())
    assert (tmp_path / "run" / "summary.json").is_file()
