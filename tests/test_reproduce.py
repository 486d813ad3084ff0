"""Reproductions: what claims are, when they agree, what one tiny sample of each paper gives, and work that goes on."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards
from crib_env.batch import SOURCES
from evaluate.reproduce import NAMES, report
from evaluate.reproduce import run as run_module
from evaluate.reproduce.anderson_printed import Listed, greedy_listing, heuristic_listing, minimax_listing
from evaluate.reproduce.choices import EXAMPLE
from evaluate.reproduce.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
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
