"""Reproductions: claims, their verdicts, the results of one tiny sample of each paper, and resumed work."""

import json
import math
import re
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards
from crib_env.batch import SOURCES
from crib_env.evaluate.__main__ import main
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers import NAMES, report
from crib_env.evaluate.papers import run as run_module
from crib_env.evaluate.papers.anderson_2022.measures import Listed, greedy_listing, heuristic_listing, minimax_listing
from crib_env.evaluate.papers.claims import (
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
    spread,
    verdict,
)
from crib_env.evaluate.papers.measures import DiscardsAndLays
from crib_env.evaluate.papers.oconnor_2000.measures import PLAYERS, Rules, fill_totals
from crib_env.evaluate.papers.report import compared_shares, in_words, numbers_in_words, section_of
from crib_env.evaluate.papers.run import PAPERS, Outcome, Reproduction
from crib_env.files.json_text import typed
from tests.helpers.claims import BY_KEY, CLAIMS
from tests.helpers.refusals import refused

ROOT = Path(__file__).parents[1]


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
    # A sample is of a number; a check is compared, with neither player nor training.
    assert claim.published.sample == "none" or claim.published.is_number
    assert not claim.is_check or (claim.published.is_compared and not claim.trainings and claim.samples == (1, 1))


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
        ("lang-2018", "footnote-4-hand", 29, "holds"),
        ("lang-2018", "footnote-4-cut", 28, "holds"),
        ("lang-2018", "crib-completions", 45_540, "holds"),
        ("lang-2018", "combinations", 20_358_520 * 15 * (46 + 45_540), "holds"),
        ("lang-2018", "table-size", 0.17333784, "shown"),
        ("lang-2018", "least-exploration", 0.175, "holds"),
        ("lang-2018", "table-2-score", 3, "holds"),
        ("lang-2018", "table-2-spread", 39, "holds"),
        ("lang-2018", "table-3-misprints", 0, "holds"),
        ("lang-2018", "table-4-misprints", 1, "fails"),
        ("anderson-2022", "cribs", 227_700, "fails"),
        ("anderson-2022", "orders-of-play", 93_994_560, "fails"),
        ("sharan-pawar-2022", "face-up", 129_600, "holds"),
        ("sharan-pawar-2022", "opposing-hands", 66_045, "fails"),
        ("sharan-pawar-2022", "shares-of-400", 0.36, "fails"),
        ("mueller-1987", "table-1-lead", 0.4, "holds"),
        ("mueller-1987", "table-1-answer", 0.4, "holds"),
        ("mueller-1987", "table-2-lead", 0.49 / 1.12, "holds"),
        ("mueller-1987", "table-2-answer", 0.47 / 1.12, "holds"),
        ("mueller-1987", "tally", 72 / 125 - 20 / 51, "holds"),
        ("mueller-1987", "run-of-three", 3, "holds"),
        ("mueller-1987", "run-of-four", 4, "holds"),
        ("mueller-1987", "run-of-five", 5, "holds"),
        ("mueller-1987", "no-run", 0, "holds"),
        ("mueller-1987", "four-of-a-kind", 7, "holds"),
    ],
)
def test_claims_that_need_no_sample(name, key, value, word):
    claim = BY_KEY[name, key]
    measured = claim.measure(Effort(1))
    assert measured.value == pytest.approx(value, abs=1e-9)
    assert Outcome(claim, measured).verdict == word
    assert claim.is_check == (word != "shown")


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
    ("anderson-2022", "time-greedy-play", 2),
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
    assert "time" in key or again == measured


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
        # A range without a sample: confirmed inside, undecided across an end.
        (number("8.1", 8.1, 0.1), (8.1, 8.14), "confirmed"),
        (number("8.1", 8.1, 0.1), (8.14, 8.2), "undecided"),
        (number("8.1", 8.1, 0.1), (8.0, 8.2), "undecided"),
        (number("8.1", 8.1, 0.1), (8.16, 8.2), "differs"),
        (number("8.1", 8.1, 0.1), (7.9, 8.04), "differs"),
        (number("8.1", 8.1, 0.1), (8.16, 9.0), "differs"),  # wider than the range, and still apart
        (between("7.3 to 7.6", 7.25, 7.65), (7.4, 7.5), "confirmed"),
        (above("better", 0.5), (0.51, 0.6), "confirmed"),
        (above("better", 0.5), (0.49, 0.6), "undecided"),
        (above("better", 0.5), (0.4, 0.49), "differs"),
        (below("worse", 0.5), (0.4, 0.49), "confirmed"),
        (below("worse", 0.5), (0.4, 0.51), "undecided"),
        (below("worse", 0.5), (0.51, 0.6), "differs"),
        # A sample: 96.9 to 98.7 % of 1,000 games with the rounding, and 32 to 51 % of 100 games.
        (share("98 %", 0.98, 0.01, 1000), (0.98, 0.999), "confirmed"),  # they meet
        (share("98 %", 0.98, 0.01, 1000), (0.994, 0.999), "differs"),
        (share("98 %", 0.98, 0.01, 1000), (0.95, 0.99), "undecided"),  # ours is the wider
        (share("41 of 100", 0.41, 0.0, 100), (0.45, 0.46), "not refuted"),
        (share("41 of 100", 0.41, 0.0, 100), (0.49, 0.52), "not refuted"),  # so would half of all games be
        (share("41 of 100", 0.41, 0.0, 100), (0.52, 0.54), "differs"),
        (share("41 of 100", 0.41, 0.0, 100), (0.3, 0.6), "undecided"),
        (spread("-523 in 100 games", -5.23, 100, 21.0), (-3.0, -2.6), "not refuted"),
        (spread("-523 in 100 games", -5.23, 100, 21.0), (-1.0, -0.6), "differs"),
        (spread("-5230 in 1,000 games", -5.23, 1000, 21.0), (-5.0, -4.4), "confirmed"),
        (shown("ten seconds"), (0.1, 0.2), "shown"),
    ],
)
def test_verdicts_by_hand(published, interval, word):
    assert verdict(published, Measured(sum(interval) / 2, interval, "by hand")) == word


def test_exact_claims_agree_to_the_last_digit_or_differ():
    assert verdict(number("28", 28), exact(28)) == "confirmed"
    assert verdict(number("28", 28), exact(29)) == "differs"
    assert verdict(number("18 %", 0.18, 0.01), exact(0.19)) == "differs"


def test_a_training_that_was_cut_short_gives_no_verdict():
    short, whole = (Training("some", "td", (), (quick, 100), 1.0) for quick in (10, 100))
    claim = replace(BY_KEY["lang-2018", "table-2-loses"], trainings=(short,))
    assert [claim.is_cut_short(quick) for quick in (True, False)] == [True, False]
    assert not replace(claim, trainings=(whole,)).is_cut_short(True)
    measured = Measured(0.4, (0.39, 0.41), "by hand")
    assert Outcome(claim, measured, is_cut_short=True).verdict == "no verdict"
    assert Outcome(claim, measured).verdict == "confirmed"


def test_the_quick_version_decides_nothing_on_short_trainings():
    """What it decides is measured on players that need no training, or one as long as that of the full version."""
    short = [claim for _, claim in CLAIMS if claim.is_cut_short(True) and claim.size(True)]
    assert {training.name for claim in short for training in claim.trainings} == {
        "round-1",
        "discards-20",
        "full-game",
        "rl-agent",
    }
    measured = Measured(0.5, (0.49, 0.51), "by hand")
    outcomes = [Outcome(claim, measured, is_cut_short=True) for claim in short]
    assert {outcome.verdict for outcome in outcomes} == {"no verdict", "shown"}


def test_a_measurement_is_kept_in_json_as_it_is():
    for measured in (exact(3, remark="a word"), mean_of(np.array([1.0, 2.0, 4.0]), "3 games")):
        found = json.loads(json.dumps(measured.__dict__))
        assert typed(found, Measured) == measured


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


def test_listings_discard_what_they_say():
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
    from crib_env.agents import make_agent

    greedy = make_agent("greedy")
    tally = play_deals(greedy, greedy, 50, seed=2)
    assert tally.shape == (100, 2, 2, 4)
    assert (tally[::2] == tally[1::2, ::-1]).all()
    crib = tally[..., SOURCES.index("crib")]
    assert (crib[:, :, 0] == 0).all()
    assert crib.sum(axis=(1, 2)).mean() > 3


def test_a_player_discards_as_one_and_lays_as_another():
    from crib_env.agents import make_agent

    mixed, greedy, random = (
        DiscardsAndLays(make_agent("greedy"), make_agent("random")),
        make_agent("greedy"),
        make_agent("random"),
    )
    seen = []

    def watch(views, cards):
        discarding = views.discards[:, 1] < 0
        expected = np.where(discarding, greedy.act(views), random.act(views))
        seen.extend((cards == expected).tolist())

    play_deals(mixed, mixed, 5, seed=4, watch=watch)
    assert len(seen) > 100
    assert all(seen)


# Whole reproductions.


@pytest.fixture
def small(monkeypatch):
    """A paper of seven claims in place of O'Connor's, and the keys that are computed."""
    computed = []

    def claim(key, published, value, **settings):
        def measure(effort):
            computed.append(key)
            effort.on_progress(effort.n)
            return Measured(value, (value - 0.01, value + 0.01), f"{effort.n} games", "a | remark")

        return Claim(key, "Section 1", f"says {key}", published, "a way", measure, "{:.1%}", (2, 20), 1.0, **settings)

    paper = Paper(
        "oconnor-2000",
        "Author (2000): a small paper",
        (
            claim("one", share("50 %", 0.5, 0.01, 100), 0.52),
            claim("two", share("90 %", 0.9, 0.01, 100), 0.1, why="Because."),
            claim("three", above("better", 0.5), 0.505),
            claim("four", share("80 %", 0.8, 0.01, 100), 0.1, why="Because."),
            Claim(
                *("sum", "Section 2", "two and two", number("5", 5), "adding"),
                lambda effort: exact(4),
                "{:,.0f}",
                is_check=True,
                why="Misprint.",
            ),
            replace(claim("long", shown("blank"), 0.5), samples=(0, 20)),
        ),
        (("Figure 9", "a picture"),),
    )
    monkeypatch.setitem(run_module.PAPERS, "oconnor-2000", paper)
    return computed


def test_a_stopped_reproduction_continues(small, tmp_path):
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
    assert resumed.seconds(folder) == 4
    outcomes = resumed.compute(folder)["oconnor-2000"]
    assert small == ["one", "two", "three", "four"]
    assert [outcome.verdict for outcome in outcomes] == [
        "not refuted",
        "differs",
        "undecided",
        "differs",
        "fails",
        "left out",
    ]
    assert [outcome.left_out for outcome in outcomes[5:]] == ["only in the full version"]
    assert {outcome.day for outcome in outcomes[:5]} == {date.today().isoformat()}
    again = resumed.compute(folder)["oconnor-2000"]
    assert again == outcomes
    assert resumed.seconds(folder) == 0


def test_the_full_version_takes_larger_samples_and_all_claims(small, tmp_path):
    plan = Reproduction(("oconnor-2000",), False, 5)
    outcomes = plan.compute(plan.begin(tmp_path / "reproduction"))["oconnor-2000"]
    assert [outcome.measured.sample for outcome in outcomes if not outcome.claim.is_check] == ["20 games"] * 5


def test_the_report_says_which_version_ran(small, tmp_path, capsys):
    plan = Reproduction(("oconnor-2000",), True, 5)
    folder = plan.begin(tmp_path / "reproduction")
    report.reproduce_and_report(plan, folder, 1)
    text = (folder / "report.md").read_text()
    words = "5 claims: 1 not refuted, 1 undecided, 2 differ, 1 left out; 1 check: 1 fails"
    assert text.count(words) == 2  # of all papers, and of this one
    lines = [
        "The quick version, seed 5: `crib-env reproduce oconnor-2000 --quick --seed 5`",
        "| | not refuted | undecided | differ | left out | checks that fail |",
        "| Author (2000) | 1 | 1 | 2 | 1 | 1 |",
        "| 1 | Section 1 | says one | 50 % | 52.0% (51.0% to 53.0%) | 2 games; a \\| remark | **not refuted** |",
        "| 5 | Section 2 | two and two | 5 | 4 | exact | **fails** |",
        # A reason and a way are said once, with the numbers that they are of.
        "* 2, 4: Because.\n* 5: Misprint.\n",
        "* 1 to 4: By a way.\n* 5: By adding.\n",
        "* Section 1, 1 claim: only in the full version",
        "* Figure 9: a picture",
        f"trainings, measured on {date.today().isoformat()}.",
    ]
    assert [line for line in lines if line not in text] == []
    assert text.count("Because.") == 1
    headings = re.findall("^### (.*)", text, re.MULTILINE)
    assert {"Claims", "Checks of arithmetic and rules"} <= {*headings}
    assert "Measured on" not in headings  # all on one day
    assert "![Shares of games, the papers' and ours](report.png)" in text
    assert (folder / "report.svg").exists()
    found = json.loads((folder / "report.json").read_text())
    assert [claim["verdict"] for claim in found["papers"]["oconnor-2000"]][:3] == [
        "not refuted",
        "differs",
        "undecided",
    ]
    printed = capsys.readouterr().out
    assert "says one" in printed
    assert max(len(line) for line in printed.splitlines() if str(tmp_path) not in line) <= 80


def test_the_picture_names_claims_in_words(small):
    paper = PAPERS["oconnor-2000"]
    outcomes = [Outcome(claim, Measured(0.5, (0.4, 0.6), "by hand")) for claim in paper.claims]
    rows = compared_shares({"oconnor-2000": outcomes})
    assert [(row.paper, row.says) for row in rows] == [
        ("Author (2000)", f"says {key}") for key in ("one", "two", "four")
    ]


def test_days_are_told_apart_where_there_are_several(small):
    paper = PAPERS["oconnor-2000"]
    measured = Measured(0.5, (0.4, 0.6), "by hand")
    days = ("2026-01-01", "2026-01-02", "2026-01-02")
    outcomes = [Outcome(claim, measured, day=day) for claim, day in zip(paper.claims, days)]
    assert "* 1: 2026-01-01\n* 2, 3: 2026-01-02\n" in section_of(paper, outcomes, quick=False)


def test_counts_and_numbers_in_words():
    assert numbers_in_words([1, 2, 4, 5, 6, 7, 9]) == "1, 2, 4 to 7, 9"
    assert numbers_in_words([]) == ""
    claim = BY_KEY["lang-2018", "table-2-loses"]
    assert in_words([Outcome(claim, Measured(0.4, (0.39, 0.41), "by hand"))]) == "1 claim: 1 confirmed"


def test_bad_plans_and_folders_are_refused(small, tmp_path):
    with refused("'lang-2019'", "lang-2018"):
        Reproduction(("lang-2019",), True, 0)
    with refused(tmp_path):
        Reproduction.of_folder(tmp_path)
    plan = Reproduction(("oconnor-2000",), True, 0)
    folder = plan.begin(tmp_path / "reproduction")
    with refused(folder, "--resume"):
        plan.begin(folder)
    (folder / "claims" / "oconnor-2000").mkdir(parents=True)
    (folder / "claims" / "oconnor-2000" / "one.json").write_text("{}")
    with refused("one.json"):
        plan.compute(folder)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "error: there is no paper: give one of lang-2018, oconnor-2000"),
        (("lang-2018", "--resume", "."), "error: --resume takes all settings from the folder"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, says, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["evaluate", "reproduce", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(says)
    assert said.count("\n") == 1
