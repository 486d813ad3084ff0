"""Trainings of a reproduction: begun, stopped and continued, also on a cluster, and the claims measured on them."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents.networks.td import TDAgent
from crib_env.agents.strategy_weights import StrategyWeightsAgent, starting_weights
from crib_env.evaluate.papers import trainings
from crib_env.evaluate.papers.claims import Effort, Measured, Training
from crib_env.evaluate.papers.run import PAPERS
from crib_env.evaluate.papers.sharan_pawar_2022 import measures as sharan_pawar_trials
from crib_env.evaluate.papers.sharan_pawar_2022.measures import TRIALS
from crib_env.tables.lang_strategies import STRATEGIES
from tests.helpers.claims import BY_KEY
from tests.helpers.refusals import refused

# Claims on trained agents, on runs made by hand.


def make_run(folder, training, summary, agent):
    run = folder / "trainings" / training.name
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({"learner": training.learner, "settings": {}}))
    (run / "summary.json").write_text(json.dumps(summary))
    agent.save(run / "final.safetensors")
    return run


@pytest.fixture
def lang_run(tmp_path):
    training = PAPERS["lang-2018"].trainings[0]
    weights = starting_weights("random", 1)
    run = make_run(tmp_path, training, {"agent": 0}, StrategyWeightsAgent(weights))
    (run / "snapshots" / "agent-0").mkdir(parents=True)
    for k in range(11):
        learned = weights.copy()
        if k == 10:  # all at leads of 2 to 25 learn to keep the best worst hand, and nothing else
            lead = np.arange(121)[:, None] - np.arange(121)
            learned[(lead >= 2) & (lead <= 25)] = np.eye(8, dtype=np.float32)[STRATEGIES.index("hand_max_min")]
        StrategyWeightsAgent(learned).save(run / "snapshots" / "agent-0" / f"games-{k:010d}.safetensors")
    return run


@pytest.mark.parametrize(
    ("key", "n"),
    [
        ("table-2", 10),
        ("table-3-4", 10),
        ("table-3-together", 40),
        ("table-3-spread-4", 10),
        ("table-3-spread-together", 40),
        ("figure-15d-usual", 40),
        ("short-matches", 3_600),
    ],
)
def test_claims_on_a_run_of_langs_learner_play_it(key, n, lang_run):
    measured = BY_KEY["lang-2018", key].measure(Effort(n, runs=(lang_run,)))
    assert math.isfinite(measured.value)
    assert measured.interval[0] <= measured.value <= measured.interval[1]


def test_points_against_an_earlier_self_are_those_of_the_match(lang_run):
    wins = BY_KEY["lang-2018", "table-3-4"].measure(Effort(10, runs=(lang_run,)))
    points = BY_KEY["lang-2018", "table-3-spread-4"].measure(Effort(10, runs=(lang_run,)))
    assert wins.remark == f"{points.value:+.2f} points a game"


def test_preferences_are_read_off_the_places_that_have_learned(lang_run):
    lead = BY_KEY["lang-2018", "figure-3-lead"].measure(Effort(1, runs=(lang_run,)))
    assert lead.value == 1.0
    assert lead.sample == f"{sum(121 - k for k in range(2, 26)):,} places"
    assert BY_KEY["lang-2018", "figure-3-close"].measure(Effort(1, runs=(lang_run,))).sample == "0 places"
    useful = BY_KEY["lang-2018", "useful-strategies"].measure(Effort(1, runs=(lang_run,)))
    assert useful.value == pytest.approx(0.5)


def test_claims_on_oconnors_networks(tmp_path):
    claim = BY_KEY["oconnor-2000", "full-game"]
    run = make_run(tmp_path, claim.trainings[0], {}, TDAgent.new("bits", (4,)))
    measured = claim.measure(Effort(10, runs=(run,)))
    assert measured.sample == "10 pairs of deals"
    claim = BY_KEY["oconnor-2000", "discard-network-20"]
    strength = {"mean": 7.5, "interval": [7.4, 7.6], "hands": 100}
    run = make_run(tmp_path, claim.trainings[0], {"strength": strength, "episodes": 5}, TDAgent.new("bits", (4,)))
    assert claim.measure(Effort(1, runs=(run,))) == Measured(7.5, (7.4, 7.6), "100 deals", "after 5 hands")


# Trials.


@pytest.fixture
def curves(monkeypatch):
    """Five trials of two learners, by hand: rounds of 50 episodes, 3,000 in all, with these mean net points."""
    ends = list(range(50, 3_050, 50))
    calm = [0.0] * 40 + [1.0] * 20  # the last 1,000 episodes gain a point each
    wild = [0.0] * 10 + [(-1.0) ** (k // 2) for k in range(50)]  # blocks of 100 of +1 and -1 by turns
    points = {f"calm-{k}": calm for k in range(TRIALS)} | {f"wild-{k}": [v + k for v in wild] for k in range(TRIALS)}
    monkeypatch.setattr(sharan_pawar_trials, "read_scalars", lambda run, tag: (ends, points[run.name]))
    return tuple(map(Path, points))


def test_trials_by_hand(curves):
    gain = sharan_pawar_trials.late_gain(Effort(1, runs=curves[:TRIALS]))
    assert (gain.value, gain.interval, gain.sample) == (1.0, (1.0, 1.0), "5 trials")
    wilder = sharan_pawar_trials.stabler(Effort(1, runs=curves))
    assert wilder.value == pytest.approx(2 - math.sqrt(1 / 24))  # changes of 2, against one of 1 among 24
    assert wilder.interval == pytest.approx((wilder.value, wilder.value))
    # Mean net points are 1/3 a trial of one learner, and those of the other a point more from trial to trial.
    slower = sharan_pawar_trials.slower(Effort(1, runs=curves))
    assert slower.value == pytest.approx(2 + (wild_mean := 2 / 60) - 1 / 3)
    error = 2.776445 * np.std([0, 1, 2, 3, 4], ddof=1) / math.sqrt(5)
    assert slower.interval == pytest.approx((slower.value - error, slower.value + error))
    assert slower.remark.startswith(f"{2 + wild_mean:.3f} less 0.333; by trial -0.30, ")


def test_a_round_counts_by_its_episodes():
    episodes, points = np.array([16, 16, 8]), np.array([1.0, 2.0, 5.0])
    assert sharan_pawar_trials.mean_net_points(episodes, points) == pytest.approx((16 + 32 + 40) / 40)
    assert sharan_pawar_trials.mean_net_points(episodes, points, last=24) == pytest.approx((32 + 40) / 24)


# Trainings.

TRAINING = Training("small", "td", ("--preset", "paper"), (0, 50), 0.1)


class FakeTrain:
    """Stands in for a process of ``crib-env train``: notes the command, and leaves what a run leaves."""

    status, commands, finishes = 0, [], True

    def __init__(self, command):
        self.commands.append(command[1:])
        run = Path(command[-1])  # of --folder, or of --resume
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


@pytest.mark.parametrize("status", [130, 143])
def test_trainings_begin_go_on_and_are_not_repeated(tmp_path, monkeypatch, status):
    monkeypatch.setattr(trainings.subprocess, "Popen", FakeTrain)
    monkeypatch.setattr(FakeTrain, "commands", [])
    monkeypatch.setattr(FakeTrain, "finishes", False)
    monkeypatch.setattr(FakeTrain, "status", status)
    with pytest.raises(KeyboardInterrupt):
        trainings.train(tmp_path, TRAINING, False, 7)
    run = trainings.find_run(tmp_path, TRAINING)
    begun = "-m crib_env.train td --preset paper --episodes 50 --evaluations 0 --final-games 1000 --seed 7"
    assert " ".join(FakeTrain.commands[0]) == f"{begun} --folder {run}"
    assert run.is_dir()
    assert not trainings.is_finished(run)

    monkeypatch.setattr(FakeTrain, "finishes", True)
    monkeypatch.setattr(FakeTrain, "status", 0)
    trainings.train(tmp_path, TRAINING, False, 7)
    assert " ".join(FakeTrain.commands[1]) == f"-m crib_env.train td --resume {run}"
    assert trainings.is_finished(run)
    trainings.train(tmp_path, TRAINING, False, 7)
    assert len(FakeTrain.commands) == 2


def test_trials_have_seeds_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(trainings.subprocess, "Popen", FakeTrain)
    monkeypatch.setattr(FakeTrain, "commands", [])
    trainings.train(tmp_path, replace(TRAINING, seed=3), False, 7)
    assert " --seed 10 " in " ".join(FakeTrain.commands[0])


def test_the_command_of_a_training_is_that_of_its_version():
    assert TRAINING.command(quick=True) == TRAINING.command(quick=False) == "train td --preset paper --episodes 50"
    assert replace(TRAINING, episodes=(5, 50)).command(quick=True) == "train td --preset paper --episodes 5"


def test_a_training_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(trainings.subprocess, "Popen", FakeTrain)
    monkeypatch.setattr(FakeTrain, "status", 2)
    with refused("training small"):
        trainings.train(tmp_path, TRAINING, False, 7)


class InPlace:
    """Takes the place of a cluster: makes the calls here, one after another."""

    def each(self, function, calls):
        for place, arguments in enumerate(calls):
            yield place, function(*arguments)


@pytest.fixture
def called(tmp_path, monkeypatch):
    """The arguments with which a worker has called ``crib-env train``; each of its trainings fails at first."""
    calls = []

    def run_module(name, run_name, alter_sys):
        assert (name, run_name, alter_sys) == ("crib_env.train", "__main__", True)
        learner, *flags = sys.argv[1:]
        calls.append(" ".join(sys.argv[1:]))
        run = Path(flags[-1])
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

    begun, places = "--evaluations 0 --final-games 1000 --seed 7", tmp_path / "trainings"
    with refused("training long"):
        train()  # the longest comes first
    with pytest.raises(KeyboardInterrupt):
        train()
    train()
    train()
    assert called == [
        f"ddqn --hidden 8 --episodes 600 {begun} --folder {places / 'long'}",
        f"ddqn --resume {places / 'long'}",
        f"td --preset paper --episodes 50 {begun} --folder {places / 'small'}",
        f"td --resume {places / 'small'}",
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
        if claim.trainings == paper.trainings[:1]:
            assert math.isfinite(claim.measure(Effort(40, runs=(run,))).value)
