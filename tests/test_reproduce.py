"""Reproductions: what claims are, when they agree, what one tiny sample of each paper gives, and work that goes on."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.td import TDAgent
from agents.weights import WeightsAgent, starting_weights
from crib_env import discard_statistics, parse_cards
from crib_env.batch import SOURCES
from crib_env.exact.lang_strategies import STRATEGIES
from evaluate.reproduce import NAMES, report, trainings
from evaluate.reproduce import run as run_module
from evaluate.reproduce.anderson_printed import Listed, greedy_listing, heuristic_listing, minimax_listing
from evaluate.reproduce.choices import COLUMNS, EXAMPLE, chosen_by, pure_weights, read_choices, top_three
from evaluate.reproduce.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    Training,
    above,
    below,
    between,
    exact,
    mean,
    mean_of,
    number,
    share,
    shown,
    verdict,
)
from evaluate.reproduce.discard_game_rules import PLAYERS, Rules, fill_totals
from evaluate.reproduce.measures import ThrowsAndLays, play_deals
from evaluate.reproduce.run import PAPERS, Reproduction

ROOT = Path(__file__).parents[1]
CLAIMS = [(name, claim) for name, paper in PAPERS.items() for claim in paper.claims]
BY_KEY = {(name, claim.key): claim for name, claim in CLAIMS}


# The claims.


def test_every_paper_is_there():
    assert tuple(PAPERS) == NAMES


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{name} {claim.key}" for name, claim in CLAIMS])
def test_a_claim_names_its_place_the_papers_figure_and_a_way_to_compute_it(name, claim):
    assert claim.place
    assert claim.says
    assert claim.published.printed
    assert claim.how
    assert callable(claim.measure)
    assert Path(claim.key).name == claim.key
    assert claim.form.format(0.5) != claim.form.format(1.5)
    quick, full = claim.samples
    assert 0 <= quick <= full
    assert full > 0
    assert claim.each > 0 or claim.samples == (1, 1)
    assert claim.published.low <= claim.published.high
    # A direction is of one side, a number of two.
    ends = [math.isfinite(end) for end in claim.published[1:3]]
    assert claim.published.is_direction == (sum(ends) == 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_papers_claims_are_told_apart_and_what_is_left_out_has_a_reason(name):
    paper = PAPERS[name]
    keys = [claim.key for claim in paper.claims]
    assert len(set(keys)) == len(keys)
    assert all(place and reason for place, reason in paper.left_out)
    names = [training.name for training in paper.trainings]
    assert len(set(names)) == len(names)
    assert all(0 <= t.episodes[0] <= t.episodes[1] and t.episodes[1] and t.each > 0 for t in paper.trainings)


def test_the_quick_version_takes_about_two_minutes_a_paper():
    for name in NAMES:
        assert Reproduction((name,), True, 0).seconds(Path("nowhere")) < 240  # on one core


@pytest.mark.parametrize(
    ("name", "key", "value", "word"),
    [
        ("lang-2018", "footnote-4-hand", 29, "agrees"),
        ("lang-2018", "footnote-4-cut", 28, "agrees"),
        ("lang-2018", "crib-completions", 45_540, "agrees"),
        ("lang-2018", "combinations", 20_358_520 * 15 * (46 + 45_540), "agrees"),
        ("lang-2018", "table-size", 0.17333784, "shown"),
        ("lang-2018", "least-exploration", 0.175, "agrees"),
        ("lang-2018", "table-2-score", 3, "agrees"),
        ("lang-2018", "table-2-spread", 39, "agrees"),
        ("lang-2018", "table-4-misprints", 1, "differs"),
        ("anderson-2022", "cribs", 227_700, "differs"),
        ("anderson-2022", "orders-of-play", 93_994_560, "differs"),
        ("sharan-pawar-2022", "face-up", 129_600, "agrees"),
        ("sharan-pawar-2022", "opposing-hands", 66_045, "differs"),
        ("sharan-pawar-2022", "shares-of-400", 0.36, "differs"),
        ("mueller-1987", "table-1-lead", 0.4, "agrees"),
        ("mueller-1987", "table-1-answer", 0.4, "agrees"),
        ("mueller-1987", "table-2-lead", 0.49 / 1.12, "agrees"),
        ("mueller-1987", "table-2-answer", 0.47 / 1.12, "agrees"),
        ("mueller-1987", "tally", 72 / 125 - 20 / 51, "agrees"),
        ("mueller-1987", "run-of-three", 3, "agrees"),
        ("mueller-1987", "run-of-four", 4, "agrees"),
        ("mueller-1987", "run-of-five", 5, "agrees"),
        ("mueller-1987", "no-run", 0, "agrees"),
        ("mueller-1987", "four-of-a-kind", 7, "agrees"),
    ],
)
def test_what_needs_no_sample_comes_out(name, key, value, word):
    claim = BY_KEY[name, key]
    measured = claim.measure(Effort(1))
    assert measured.value == pytest.approx(value, abs=1e-9)
    assert verdict(claim.published, measured) == word


def test_pegging_records_of_random_hands_leave_fours_of_a_kind_out():
    """13 fours of a kind with one way in 270,725, 156 threes and another with sixteen; all others are seen."""
    threes = 156 * (1 - 16 / 270_725) ** 100_000
    expected = 13 * (1 - 1 / 270_725) ** 100_000 + threes
    assert BY_KEY["lang-2018", "pegging-records"].measure(Effort(1)).value == pytest.approx(expected, abs=0.02)


TINY = [
    ("lang-2018", "martin-dealer", 40),
    ("lang-2018", "table-time", 200),
    ("oconnor-2000", "ideal", 200),
    ("oconnor-2000", "cheating-without-nobs-and-flushes", 200),
    ("oconnor-2000", "maximiser", 20),
    ("anderson-2022", "greedy-random", 10),
    ("anderson-2022", "listed-random-heuristic", 10),
    ("sharan-pawar-2022", "greedy-random-play", 10),
    ("sharan-pawar-2022", "no-updates", 40),
    ("mueller-1987", "leads-by-choice", 30),
    ("mueller-1987", "answers-by-choice", 30),
]


@pytest.mark.parametrize(("name", "key", "n"), TINY)
def test_a_tiny_sample_of_each_paper(name, key, n):
    claim, told = BY_KEY[name, key], []
    measured = claim.measure(Effort(n, seed=3, on_progress=told.append))
    assert math.isfinite(measured.value)
    if measured.interval is not None:
        assert measured.interval[0] <= measured.value <= measured.interval[1]
        assert sum(told) == n
    assert claim.text(measured)
    again = claim.measure(Effort(n, seed=3))
    assert key == "table-time" or again == measured


# When claims agree.


def test_a_printed_number_stands_for_its_rounding_and_its_sample():
    assert number("4.7", 4.7, 0.1)[1:3] == pytest.approx((4.65, 4.75))
    assert number("29", 29)[1:3] == (29, 29)
    low, high = mean("4.7", 4.7, 0.1, 20_000, 3.1)[1:3]
    assert high == pytest.approx(4.7 + 0.05 + 1.959964 * 3.1 / math.sqrt(20_000))
    assert low + high == pytest.approx(2 * 4.7)
    low, high = share("98 %", 0.98, 0.01, 1000)[1:3]
    # Wilson's interval of 980 of 1,000 is 96.93 to 98.70 %.
    assert (low, high) == pytest.approx((0.9693 - 0.005, 0.9870 + 0.005), abs=2e-4)


@pytest.mark.parametrize(
    ("published", "interval", "word"),
    [
        (number("8.1", 8.1, 0.1), (8.1, 8.14), "agrees"),
        (number("8.1", 8.1, 0.1), (8.14, 8.2), "agrees"),  # they meet
        (number("8.1", 8.1, 0.1), (8.16, 8.2), "differs"),
        (number("8.1", 8.1, 0.1), (7.9, 8.04), "differs"),
        (number("8.1", 8.1, 0.1), (8.0, 8.2), "undecided"),  # ours is the wider
        (number("8.1", 8.1, 0.1), (8.16, 9.0), "differs"),  # the wider, and still apart
        (between("7.3 to 7.6", 7.25, 7.65), (7.4, 7.5), "agrees"),
        (above("better", 0.5), (0.51, 0.6), "agrees"),
        (above("better", 0.5), (0.49, 0.6), "undecided"),
        (above("better", 0.5), (0.4, 0.49), "differs"),
        (below("worse", 0.5), (0.4, 0.49), "agrees"),
        (below("worse", 0.5), (0.4, 0.51), "undecided"),
        (below("worse", 0.5), (0.51, 0.6), "differs"),
        (shown("ten seconds"), (0.1, 0.2), "shown"),
    ],
)
def test_verdicts_by_hand(published, interval, word):
    assert verdict(published, Measured(sum(interval) / 2, interval, "by hand")) == word


def test_what_is_exact_agrees_to_the_last_digit_or_not_at_all():
    assert verdict(number("28", 28), exact(28)) == "agrees"
    assert verdict(number("28", 28), exact(29)) == "differs"
    assert verdict(number("18 %", 0.18, 0.01), exact(0.19)) == "differs"


def test_a_measurement_is_kept_in_json_as_it_is():
    for measured in (exact(3, remark="a word"), mean_of(np.array([1.0, 2.0, 4.0]), "3 games")):
        found = json.loads(json.dumps(measured.__dict__))
        assert Measured.of_json(found) == measured


# Players of the claims.


def test_the_discard_game_by_the_rules_is_the_packages():
    hands = np.array([sorted(parse_cards("5H 5C JD QS 2H 3D")), sorted(parse_cards("2H 4H 6H 8H TH JH"))])
    totals = np.empty((2, len(PLAYERS)), np.int64)
    fill_totals(hands, Rules(), totals)
    means = discard_statistics(hands)["hand_mean"]
    assert totals[:, 0] / 46 / 15 == pytest.approx(means.mean(axis=1))
    assert totals[:, 1] / 46 == pytest.approx(means.max(axis=1))
    assert (totals[:, 2] >= totals[:, 1]).all()
    without = np.empty((2, len(PLAYERS)), np.int64)
    fill_totals(hands, Rules(flushes=False), without)
    assert (without[0] == totals[0]).all()
    # Any four of six hearts are a flush: five with each of the 7 other hearts, four with each other starter.
    assert totals[1, 0] - without[1, 0] == 15 * (7 * 5 + 39 * 4)
    fill_totals(hands, Rules(nobs=False), without)
    # The jack of diamonds is kept in 10 of 15 hands and 10 of its suit are unseen; that of hearts likewise, with 7.
    assert (totals[:, 0] - without[:, 0]).tolist() == [10 * 11, 10 * 7]


def test_listings_throw_what_they_say():
    six = np.array([sorted(parse_cards("5H 5C JD QS 2H 3D"))])
    statistics = discard_statistics(six)[0]
    for is_dealer in (False, True):
        dealer = np.array([is_dealer])
        assert greedy_listing(six, dealer)[0].argmax() == statistics["crib_mean"].argmin()
        most = statistics["crib_mean"].argmax() if is_dealer else statistics["crib_mean"].argmin()
        assert minimax_listing(six, dealer)[0].argmax() == most
    assert heuristic_listing(six, np.array([True]))[0].argmax() == statistics["hand_mean"].argmin()
    # As pone: no jack, queen or three, not 2 and 3, not one suit; 5H 5C and 5C 2H are left.
    left = heuristic_listing(six, np.array([False]))[0] > -100
    assert left.sum() == 2


def test_all_listings_play():
    for listing in (greedy_listing, heuristic_listing, minimax_listing):
        agent = Listed("some", listing)
        assert play_deals(agent, agent, 3, seed=1).sum() > 0


def test_deals_are_mirrored_and_dealers_get_the_crib():
    from agents import make_agent

    greedy = make_agent("greedy")
    tally = play_deals(greedy, greedy, 50, seed=2)
    assert tally.shape == (100, 2, 2, 4)
    assert (tally[::2] == tally[1::2, ::-1]).all()
    crib = tally[..., SOURCES.index("crib")]
    assert (crib[:, :, 0] == 0).all()
    assert crib.sum(axis=(1, 2)).mean() > 3


def test_a_player_throws_as_one_and_lays_as_another():
    from agents import make_agent

    mixed, greedy, random = (
        ThrowsAndLays(make_agent("greedy"), make_agent("random")),
        make_agent("greedy"),
        make_agent("random"),
    )
    seen = []

    def watch(views, cards):
        throws = views.discards[:, 1] < 0
        expected = np.where(throws, greedy.act(views), random.act(views))
        seen.extend((cards == expected).tolist())

    play_deals(mixed, mixed, 5, seed=4, watch=watch)
    assert len(seen) > 100
    assert all(seen)


# People's discards.


def test_the_example_of_peoples_discards_says_that_it_is_made_up():
    assert EXAMPLE.read_text().startswith("# Made up")
    choices = read_choices(EXAMPLE)
    assert choices.cards.shape == (6, 6)
    assert choices.votes.shape == (6, 15)
    assert choices.votes.sum() == sum(int(line.rpartition(",")[2]) for line in EXAMPLE.read_text().splitlines()[3:])
    first = discard_statistics(choices.cards)["discard"][0]
    two_three = [k for k in range(15) if sorted(first[k].tolist()) == sorted(parse_cards("2H 3D"))]
    assert choices.votes[0, two_three].tolist() == [41]


HEADER = ",".join(COLUMNS)


def write_choices(path, *lines, header=HEADER):
    path.write_text("\n".join(["# a comment", header, *lines]) + "\n")
    return path


GOOD = "1,5H 5C JD QS 2H 3D,yes,0,0,2H 3D,4"


def test_top_three_by_hand(tmp_path):
    """Votes 4, 4, 1 and none: both of the first are most common, and what nobody threw is in no top."""
    lines = [GOOD, GOOD.replace("2H 3D,4", "5H 5C,4"), GOOD.replace("2H 3D,4", "QS 3D,1")]
    choices = read_choices(write_choices(tmp_path / "choices.csv", *lines))
    order = np.argsort(-choices.votes[0], kind="stable")
    tops = [top_three(np.array([k]), choices)[0].tolist() for k in order[:4]]
    assert tops == [[True] * 3, [True] * 3, [False, False, True], [False] * 3]


def test_a_pure_strategy_throws_its_best(tmp_path):
    choices = read_choices(write_choices(tmp_path / "choices.csv", GOOD))
    best = discard_statistics(choices.cards)["hand_mean"].argmax(axis=1)
    assert chosen_by(pure_weights("hand_max_avg"), choices).tolist() == best.tolist()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([GOOD.replace("yes", "maybe")], "line 3: dealer='maybe' is not allowed: give yes or no"),
        ([GOOD.replace("JD", "5H")], "line 3: 5H"),
        ([GOOD.replace(" QS", "")], "line 3: cards='5H 5C JD 2H 3D' are 5, not six"),
        ([GOOD.replace("2H 3D,4", "2H 4D,4")], "line 3: discard='2H 4D' is not two of '5H 5C JD QS 2H 3D'"),
        ([GOOD.replace(",0,0,", ",0,121,")], "line 3: opponent_score='121' is not allowed: give a whole number from 0"),
        ([GOOD.replace(",0,0,", ",-1,0,")], "line 3: own_score='-1' is not allowed"),
        ([GOOD.replace(",4", ",0")], "line 3: votes='0' is not allowed"),
        ([GOOD, GOOD.replace(",0,0,", ",0,9,")], "line 4: position '1' has other cards or scores than before"),
        ([GOOD.rpartition(",")[0]], "line 3: votes is empty"),
        ([], "holds no positions"),
    ],
)
def test_bad_lines_of_discards_are_named(lines, says, tmp_path):
    path = write_choices(tmp_path / "choices.csv", *lines)
    with pytest.raises(ValueError, match=r"choices\.csv") as error:
        read_choices(path)
    assert says in str(error.value)


def test_a_missing_file_or_column_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.csv cannot be read"):
        read_choices(tmp_path / "nothing.csv")
    path = write_choices(tmp_path / "choices.csv", header=",".join(COLUMNS[:-1]))
    with pytest.raises(ValueError, match="has no column 'votes'"):
        read_choices(path)
    with pytest.raises(ValueError, match=r"nothing\.csv cannot be read"):
        Reproduction(("lang-2018",), True, 0, tmp_path / "nothing.csv")


@pytest.mark.parametrize("row", ["Random", "hand_max_avg", "crib_min_avg"])
def test_rows_of_table_4_that_need_no_training(row):
    claim = BY_KEY["lang-2018", f"table-4-{row}"]
    measured = claim.measure(Effort(1, choices=EXAMPLE))
    assert measured.sample == "6 positions"
    assert EXAMPLE.name in measured.remark
    assert 0 <= measured.value <= 1


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


# Whole reproductions.


@pytest.fixture
def small(monkeypatch):
    """A paper of five claims in place of O'Connor's, and the keys that are computed."""
    computed = []

    def claim(key, published, value, **settings):
        def measure(effort):
            computed.append(key)
            effort.on_progress(effort.n)
            return Measured(value, (value - 0.01, value + 0.01), f"{effort.n} games", "a | remark")

        return Claim(key, "Section 1", f"says {key}", published, "a way", measure, "{:.1%}", (2, 20), 1.0, **settings)

    paper = Paper(
        "oconnor-2000",
        "A small paper",
        (
            claim("one", share("50 %", 0.5, 0.01, 100), 0.52),
            claim("two", share("90 %", 0.9, 0.01, 100), 0.1, why="Because."),
            claim("three", above("better", 0.5), 0.505),
            claim("people", shown("most"), 0.5, of_choices=True),
            replace(claim("long", shown("blank"), 0.5), samples=(0, 20)),
        ),
        (("Figure 9", "a picture"),),
    )
    monkeypatch.setitem(run_module.PAPERS, "oconnor-2000", paper)
    return computed


def test_a_reproduction_that_was_stopped_goes_on(small, tmp_path):
    plan = Reproduction(("oconnor-2000",), True, 5)
    folder = plan.begin(tmp_path / "reproduction")

    def stop(paper, claim):
        if claim.key == "three":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.compute(folder, on_claim=stop)
    assert small == ["one", "two"]
    resumed = Reproduction.of_folder(folder)
    assert resumed == plan
    assert resumed.seconds(folder) == 2
    outcomes = resumed.compute(folder)["oconnor-2000"]
    assert small == ["one", "two", "three"]
    assert [report.word_of(outcome) for outcome in outcomes] == ["agrees", "differs", "undecided", *["left out"] * 2]
    assert [outcome.left_out[:10] for outcome in outcomes[3:]] == ["needs a fi", "only in th"]
    again = resumed.compute(folder)["oconnor-2000"]
    assert again == outcomes
    assert resumed.seconds(folder) == 0


def test_the_full_version_takes_larger_samples_and_all_claims(small, tmp_path):
    plan = Reproduction(("oconnor-2000",), False, 5, EXAMPLE)
    outcomes = plan.compute(plan.begin(tmp_path / "reproduction"))["oconnor-2000"]
    assert [outcome.measured.sample for outcome in outcomes] == ["20 games"] * 5


def test_the_report_says_which_version_ran(small, tmp_path, capsys):
    plan = Reproduction(("oconnor-2000",), True, 5)
    folder = plan.begin(tmp_path / "reproduction")
    report.reproduce_and_report(plan, folder, 1, tmp_path / "REPORT.md")
    text = (tmp_path / "REPORT.md").read_text()
    assert "The quick version, seed 5: `python -m evaluate reproduce oconnor-2000 --quick --seed 5`" in text
    assert "5 claims: 1 agrees, 1 differs, 1 undecided, 2 left out" in text
    assert "| 1 | Section 1 | says one | 50 % | 52.0% (51.0% to 53.0%) | 2 games | **agrees** |" in text
    assert "2. By a way. Here: a | remark. Because." in text
    assert "1. By a way. Here: a | remark.\n" in text
    assert "* Figure 9: a picture" in text
    assert "![Shares of games, the papers' and ours](REPORT.png)" in text
    assert (tmp_path / "REPORT.svg").exists()
    assert (folder / "report.md").read_text().replace("(report.png)", "(REPORT.png)") == text
    found = json.loads((folder / "report.json").read_text())
    assert [claim["verdict"] for claim in found["papers"]["oconnor-2000"]][:3] == ["agrees", "differs", "undecided"]
    assert "A small paper" in capsys.readouterr().out


def test_bad_plans_and_folders_are_refused(small, tmp_path):
    with pytest.raises(ValueError, match="there is no paper 'lang-2019': choose of lang-2018"):
        Reproduction(("lang-2019",), True, 0)
    with pytest.raises(ValueError, match="is not the folder of a reproduction"):
        Reproduction.of_folder(tmp_path)
    plan = Reproduction(("oconnor-2000",), True, 0)
    folder = plan.begin(tmp_path / "reproduction")
    with pytest.raises(ValueError, match="is there already: go on with it by --resume"):
        plan.begin(folder)
    (folder / "claims" / "oconnor-2000").mkdir(parents=True)
    (folder / "claims" / "oconnor-2000" / "one.json").write_text("{}")
    with pytest.raises(ValueError, match=r"one\.json is not a whole result"):
        plan.compute(folder)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "error: there is no paper: give one of lang-2018, oconnor-2000"),
        (("lang-2018", "--resume", "."), "error: --resume takes all settings from the folder"),
        (("lang-2018", "--report", "report.txt"), "error: report.txt is not allowed: a report ends in .md"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, says):
    command = [sys.executable, "-m", "evaluate", "reproduce", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1


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
