"""Trainings of a reproduction: begun, stopped and gone on with, on a cluster too, and the claims on what they leave."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.td import TDAgent
from agents.weights import WeightsAgent, starting_weights
from crib_env.exact.lang_strategies import STRATEGIES
from evaluate.reproduce import trainings
from evaluate.reproduce.choices import EXAMPLE
from evaluate.reproduce.claims import Effort, Measured, Training
from evaluate.reproduce.run import PAPERS
from tests.test_reproduce import BY_KEY, ROOT

# Claims on trained agents, on runs made by hand.


def make_run(folder, training, summary, agent):
    run = folder / "trainings" / training.name / "runs" / training.learner / "20260101-000000-s0"
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({"learner": training.learner, "settings": {}}))
    (run / "summary.json").write_text(json.dumps(summary))
    agent.save(run / "final.safetensors")
    return run


@pytest.fixture
def lang_run(tmp_path):
    training = PAPERS["lang-2018"].trainings[0]
    weights = starting_weights("random", 1)
    run = make_run(tmp_path, training, {"agent": 0}, WeightsAgent(weights))
    (run / "snapshots" / "agent-0").mkdir(parents=True)
    for k in range(11):
        learned = weights.copy()
        if k == 10:  # all at leads of 2 to 25 learn to keep the best worst hand, and nothing else
            lead = np.arange(121)[:, None] - np.arange(121)
            learned[(lead >= 2) & (lead <= 25)] = np.eye(8, dtype=np.float32)[STRATEGIES.index("hand_max_min")]
        WeightsAgent(learned).save(run / "snapshots" / "agent-0" / f"games-{k:010d}.safetensors")
    return run


@pytest.mark.parametrize(
    ("key", "n"), [("table-2", 10), ("table-3-4", 10), ("table-3-together", 40), ("figure-15d-usual", 40)]
)
def test_claims_on_a_run_of_langs_learner_play_it(key, n, lang_run):
    measured = BY_KEY["lang-2018", key].measure(Effort(n, run=lang_run))
    assert math.isfinite(measured.value)
    assert measured.interval[0] <= measured.value <= measured.interval[1]


def test_preferences_are_read_off_the_places_that_have_learned(lang_run):
    lead = BY_KEY["lang-2018", "figure-3-lead"].measure(Effort(1, run=lang_run))
    assert lead.value == 1.0
    assert lead.sample == f"{sum(121 - k for k in range(2, 26)):,} places"
    assert BY_KEY["lang-2018", "figure-3-close"].measure(Effort(1, run=lang_run)).sample == "0 places"
    useful = BY_KEY["lang-2018", "useful-strategies"].measure(Effort(1, run=lang_run))
    assert useful.value == pytest.approx(0.5)
    measured = BY_KEY["lang-2018", "table-4-Trained"].measure(Effort(1, run=lang_run, choices=EXAMPLE))
    assert measured.sample == "6 positions"


def test_claims_on_oconnors_networks(tmp_path):
    claim = BY_KEY["oconnor-2000", "full-game"]
    run = make_run(tmp_path, claim.training, {}, TDAgent.new("bits", (4,)))
    measured = claim.measure(Effort(10, run=run))
    assert measured.sample == "10 pairs of deals"
    claim = BY_KEY["oconnor-2000", "discard-network-20"]
    strength = {"mean": 7.5, "interval": [7.4, 7.6], "hands": 100}
    run = make_run(tmp_path, claim.training, {"strength": strength, "episodes": 5}, TDAgent.new("bits", (4,)))
    assert claim.measure(Effort(1, run=run)) == Measured(7.5, (7.4, 7.6), "100 deals", "after 5 hands")


# Trainings.

TRAINING = Training("small", "td", ("--preset", "paper"), (0, 50), 0.1)


class FakeTrain:
    """Stands in for a process of ``python -m train``: notes the command, and leaves what a run leaves."""

    status, commands, finishes = 0, [], True

    def __init__(self, command, cwd, env):
        self.commands.append(command[1:])
        assert str(ROOT) in env["PYTHONPATH"]
        run = cwd / "runs" / command[3] / "20260101-000000-s7"
        run.mkdir(parents=True, exist_ok=True)
        (run / "config.json").write_text("{}")
        if self.finishes:
            (run / "summary.json").write_text("{}")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def wait(self):
        return self.status


def test_trainings_begin_go_on_and_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(trainings.subprocess, "Popen", FakeTrain)
    monkeypatch.setattr(FakeTrain, "commands", [])
    monkeypatch.setattr(FakeTrain, "finishes", False)
    monkeypatch.setattr(FakeTrain, "status", 130)
    with pytest.raises(KeyboardInterrupt):
        trainings.train(tmp_path, TRAINING, False, 7)
    begun = "-m train td --preset paper --episodes 50 --evaluations 0 --final-games 1000 --seed 7"
    assert " ".join(FakeTrain.commands[0]) == begun
    run = trainings.find_run(tmp_path, TRAINING)
    assert run.is_dir()
    assert not trainings.is_finished(run)

    monkeypatch.setattr(FakeTrain, "finishes", True)
    monkeypatch.setattr(FakeTrain, "status", 0)
    trainings.train(tmp_path, TRAINING, False, 7)
    assert " ".join(FakeTrain.commands[1]) == "-m train td --resume runs/td/20260101-000000-s7"
    assert trainings.is_finished(run)
    trainings.train(tmp_path, TRAINING, False, 7)
    assert len(FakeTrain.commands) == 2


def test_a_training_is_told_as_its_version_runs_it():
    assert TRAINING.command(quick=True) == TRAINING.command(quick=False) == "train td --preset paper --episodes 50"
    assert replace(TRAINING, episodes=(5, 50)).command(quick=True) == "train td --preset paper --episodes 5"


def test_a_training_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(trainings.subprocess, "Popen", FakeTrain)
    monkeypatch.setattr(FakeTrain, "status", 2)
    with pytest.raises(ValueError, match="the training small failed with status 2: -m train td"):
        trainings.train(tmp_path, TRAINING, False, 7)


class InPlace:
    """Stands in for a cluster: makes the calls here, one after the other."""

    def each(self, function, calls):
        for place, arguments in enumerate(calls):
            yield place, function(*arguments)


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Where a worker has called ``python -m train``, and with which arguments; each training of it fails at first."""
    calls = []

    def run_module(name, run_name, alter_sys):
        assert (name, run_name, alter_sys) == ("train", "__main__", True)
        learner, *flags = sys.argv[1:]
        calls.append((Path.cwd().relative_to(tmp_path), " ".join(sys.argv[1:])))
        run = Path("runs") / learner / "20260101-000000-s7"
        run.mkdir(parents=True, exist_ok=True)
        (run / "config.json").write_text("{}")
        if "--resume" not in flags:
            raise SystemExit(130 if learner == "td" else 2)
        (run / "summary.json").write_text("{}")

    monkeypatch.setattr(trainings.runpy, "run_module", run_module)
    monkeypatch.setattr(sys, "argv", ["worker", "--port", "1"])
    monkeypatch.chdir(tmp_path)
    return calls


def test_trainings_on_a_cluster_are_those_without_it(tmp_path, called):
    long = Training("long", "ddqn", ("--hidden", "8"), (60, 600), 0.1)
    both = [TRAINING, long]

    def train():
        trainings.train_on(InPlace(), tmp_path, both, False, 7)

    begun = "--evaluations 0 --final-games 1000 --seed 7"
    with pytest.raises(ValueError, match="the training long failed with status 2: -m train ddqn --hidden 8"):
        train()  # the longest comes first
    with pytest.raises(KeyboardInterrupt):
        train()
    train()
    train()
    assert [(str(place), arguments) for place, arguments in called] == [
        ("trainings/long", f"ddqn --hidden 8 --episodes 600 {begun}"),
        ("trainings/long", "ddqn --resume runs/ddqn/20260101-000000-s7"),
        ("trainings/small", f"td --preset paper --episodes 50 {begun}"),
        ("trainings/small", "td --resume runs/td/20260101-000000-s7"),
    ]
    assert all(trainings.is_finished(trainings.find_run(tmp_path, one)) for one in both)


@pytest.mark.slow
def test_a_training_of_langs_learner_carries_its_claims(tmp_path):
    paper = PAPERS["lang-2018"]
    training = replace(
        paper.trainings[0], episodes=(10_000, 10_000)
    )  # snapshots are taken every thousand games at most
    trainings.train(tmp_path, training, True, 0)
    run = trainings.find_run(tmp_path, training)
    assert trainings.is_finished(run)
    for claim in paper.claims:
        if claim.training == paper.trainings[0] and not claim.of_choices:
            assert math.isfinite(claim.measure(Effort(40, run=run)).value)
