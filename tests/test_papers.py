"""The papers' claims: their files, their verdicts, one tiny sample of each paper, trainings, and resumed work."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.networks.td import TDAgent
from crib_env.agents.strategy_weights import STRATEGIES, StrategyWeightsAgent, starting_weights
from crib_env.batch import SOURCES
from crib_env.evaluate.makers.papers import __main__ as script
from crib_env.evaluate.makers.papers.__main__ import (
    NAMES,
    Claim,
    Paper,
    Published,
    Training,
    mean,
    read_paper,
    share,
)
from crib_env.evaluate.makers.papers.measures import (
    PLAYERS,
    DiscardsAndLays,
    Effort,
    Measured,
    exact,
    fill_totals,
)
from crib_env.evaluate.matches.mirrored import play_deals
from crib_env.evaluate.runs.format import POINTS_A_HAND, with_band
from crib_env.exact.deal_classes import N_CLASSES
from crib_env.exact.discard_means import EXACT_MEANS
from tests.helpers.refusals import refused

PAPERS = {name: read_paper(name) for name in NAMES}
BY_KEY = {(name, claim.key): claim for name, paper in PAPERS.items() for claim in paper.claims}


@pytest.mark.parametrize(
    ("name", "key", "value", "word"),
    [
        ("lang-2018", "table-4-misprints", 1, "fails"),
        ("anderson-2022", "cribs", 227_700, "fails"),
        ("anderson-2022", "orders-of-play", 93_994_560, "fails"),
        ("sharan-pawar-2022", "opposing-hands", 66_045, "fails"),
        ("sharan-pawar-2022", "shares-of-400", 0.36, "fails"),
        ("mueller-1987", "table-1-lead", 0.4, "holds"),
        ("mueller-1987", "table-2-answer", 0.47 / 1.12, "holds"),
        ("mueller-1987", "tally", 72 / 125 - 20 / 51, "holds"),
    ],
)
def test_claims_that_need_no_sample(name, key, value, word):
    claim = BY_KEY[name, key]
    measured = claim.measure(Effort(1))
    assert measured.value == pytest.approx(value, abs=1e-9)
    assert claim.verdict(measured) == word


@pytest.mark.parametrize(
    ("name", "key", "n"),
    [
        ("lang-2018", "martin-dealer", 40),
        ("oconnor-2000", "ideal", 200),
        ("oconnor-2000", "cheating-without-nobs-and-flushes", 200),
        ("oconnor-2000", "maximiser", 20),
        ("anderson-2022", "greedy-random", 10),
        ("sharan-pawar-2022", "greedy-random-play", 10),
        ("sharan-pawar-2022", "no-updates", 40),
        ("mueller-1987", "halscrib-greedy", 10),
    ],
)
def test_a_tiny_sample_of_each_paper(name, key, n):
    claim = BY_KEY[name, key]
    measured = claim.measure(Effort(n, seed=3))
    assert measured.interval[0] <= measured.value <= measured.interval[1]
    assert claim.measure(Effort(n, seed=3)) == measured


@pytest.mark.slow
@pytest.mark.parametrize("player", PLAYERS)
def test_the_exact_means_of_the_discard_game(player):
    measured = BY_KEY["oconnor-2000", player].measure(Effort(N_CLASSES))
    assert measured.value == pytest.approx(float(EXACT_MEANS[player]), abs=1e-12)


def test_a_printed_number_stands_for_its_rounding_and_its_sample():
    low, high = mean("4.7", 4.7, 20_000, 3.1, 0.1)[1:3]
    assert high == pytest.approx(4.7 + 0.05 + 1.959964 * 3.1 / math.sqrt(20_000))
    assert low + high == pytest.approx(2 * 4.7)
    low, high = share("98 %", 980, 1000, 0.01)[1:3]
    # Wilson's interval of 980 of 1,000 is 96.93 to 98.70 %.
    assert (low, high) == pytest.approx((0.9693 - 0.005, 0.9870 + 0.005), abs=2e-4)


@pytest.mark.parametrize(
    ("published", "interval", "word"),
    [
        # A range without a sample: confirmed inside, undecided across an end.
        (Published("8.1", 8.05, 8.15), (8.1, 8.14), "confirmed"),
        (Published("8.1", 8.05, 8.15), (8.0, 8.2), "undecided"),
        (Published("8.1", 8.05, 8.15), (7.9, 8.04), "differs"),
        (Published("8.1", 8.05, 8.15), (8.16, 9.0), "differs"),  # wider than the range, and still apart
        (Published("better", 0.5), (0.51, 0.6), "confirmed"),
        (Published("better", 0.5), (0.49, 0.6), "undecided"),
        (Published("better", 0.5), (0.4, 0.49), "differs"),
        (Published("worse", high=0.5), (0.4, 0.49), "confirmed"),
        (Published("worse", high=0.5), (0.4, 0.51), "undecided"),
        (Published("worse", high=0.5), (0.51, 0.6), "differs"),
        # A sample: 96.9 to 98.7 % of 1,000 games with the rounding, and 32 to 51 % of 100 games.
        (share("98 %", 980, 1000, 0.01), (0.98, 0.999), "confirmed"),  # they meet
        (share("98 %", 980, 1000, 0.01), (0.994, 0.999), "differs"),
        (share("98 %", 980, 1000, 0.01), (0.95, 0.99), "undecided"),  # ours is the wider
        (share("41 of 100", 41, 100), (0.49, 0.52), "not refuted"),  # so would half of all games be
        (share("41 of 100", 41, 100), (0.52, 0.54), "differs"),
        (share("41 of 100", 41, 100), (0.3, 0.6), "undecided"),
        (mean("-523 in 100 games", -5.23, 100, 21.0), (-3.0, -2.6), "not refuted"),
        (mean("-523 in 100 games", -5.23, 100, 21.0), (-1.0, -0.6), "differs"),
        (mean("-5230 in 1,000 games", -5.23, 1000, 21.0), (-5.0, -4.4), "confirmed"),
        (Published("ten seconds"), (0.1, 0.2), "shown"),
    ],
)
def test_verdicts_by_hand(published, interval, word):
    claim = Claim("key", "says", published, exact)
    assert claim.verdict(Measured(sum(interval) / 2, interval, "by hand")) == word


def test_the_discard_game_by_the_rules_is_the_packages():
    hands = np.array([sorted(parse_cards("5H 5C JD QS 2H 3D")), sorted(parse_cards("2H 4H 6H 8H TH JH"))])
    totals = np.empty((2, len(PLAYERS)), np.int64)
    fill_totals(hands, True, True, totals)
    means = discard_statistics(hands)["hand_mean"]
    assert totals[:, 0] / 46 / 15 == pytest.approx(means.mean(axis=1))
    assert totals[:, 1] / 46 == pytest.approx(means.max(axis=1))
    assert (totals[:, 2] >= totals[:, 1]).all()
    without = np.empty((2, len(PLAYERS)), np.int64)
    fill_totals(hands, True, False, without)
    assert (without[0] == totals[0]).all()
    # Any four of six hearts are a flush: five with each of the 7 other hearts, four with each other starter.
    assert totals[1, 0] - without[1, 0] == 15 * (7 * 5 + 39 * 4)
    fill_totals(hands, False, True, without)
    # The jack of diamonds is kept in 10 of 15 hands and 10 of its suit are unseen; that of hearts likewise, with 7.
    assert (totals[:, 0] - without[:, 0]).tolist() == [10 * 11, 10 * 7]


def test_deals_are_mirrored_and_dealers_get_the_crib():
    greedy = make_agent("greedy")
    tally = play_deals(greedy, greedy, 50, seed=2)
    assert tally.shape == (100, 2, 2, 4)
    assert (tally[::2] == tally[1::2, ::-1]).all()
    crib = tally[..., SOURCES.index("crib")]
    assert (crib[:, :, 0] == 0).all()
    assert crib.sum(axis=(1, 2)).mean() > 3


def test_a_player_discards_as_one_and_lays_as_another():
    greedy, random = make_agent("greedy"), make_agent("random")
    mixed = DiscardsAndLays(greedy, random)
    seen = []

    def watch(views, cards):
        discarding = views.discards[:, 1] < 0
        expected = np.where(discarding, greedy.act(views), random.act(views))
        seen.extend((cards == expected).tolist())

    play_deals(mixed, mixed, 5, seed=4, watch=watch)
    assert len(seen) > 100
    assert all(seen)


# Claims on trained agents, on runs made by hand.


def make_run(folder, training, summary, agent):
    run = folder / "trainings" / training.name
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({"learner": training.learner, "settings": {"final_games": 100}}))
    (run / "summary.json").write_text(json.dumps(summary))
    agent.save(run / "final.safetensors")
    return run


@pytest.fixture
def lang_run(tmp_path):
    training = BY_KEY["lang-2018", "table-2"].trainings[0]
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
    ],
)
def test_claims_on_a_run_of_langs_learner_play_it(key, n, lang_run):
    measured = BY_KEY["lang-2018", key].measure(Effort(n, runs=(lang_run,)))
    assert math.isfinite(measured.value)
    assert measured.interval[0] <= measured.value <= measured.interval[1]


def test_preferences_are_read_off_the_places_that_have_learned(lang_run):
    lead = BY_KEY["lang-2018", "figure-3-lead"].measure(Effort(1, runs=(lang_run,)))
    assert lead.value == 1.0
    assert lead.sample == f"{sum(121 - k for k in range(2, 26)):,} places"
    assert BY_KEY["lang-2018", "figure-3-close"].measure(Effort(1, runs=(lang_run,))).sample == "0 places"


def test_claims_on_oconnors_networks(tmp_path):
    claim = BY_KEY["oconnor-2000", "full-game"]
    run = make_run(tmp_path, claim.trainings[0], {}, TDAgent.new("bits", (4,)))
    measured = claim.measure(Effort(10, runs=(run,)))
    assert measured.sample == "10 pairs of deals"
    claim = BY_KEY["oconnor-2000", "discard-network-20"]
    summary = {"scalars": with_band(POINTS_A_HAND, 7.5, 7.4, 7.6), "episodes": 5}
    run = make_run(tmp_path, claim.trainings[0], summary, TDAgent.new("bits", (4,)))
    assert claim.measure(Effort(1, runs=(run,))) == Measured(7.5, (7.4, 7.6), "100 deals")


# Trainings.


TRAINING = Training("small", "td", "--preset paper", 50)


def test_commands_of_trainings_begin_them_or_go_on(tmp_path):
    place = tmp_path / "small"
    begun = "crib-env train td --preset paper --episodes 50 --evaluations 0 --final-games 1000 --seed 10"
    assert script.command_of(TRAINING, place, 10) == f"{begun} --folder {place}"
    place.mkdir()
    (place / "config.json").write_text("{}")
    assert script.command_of(TRAINING, place, 10) == f"crib-env train td --resume {place}"


# Whole reproductions.


@pytest.fixture
def computed(monkeypatch):
    """The keys that are computed, of a small paper in place of O'Connor's."""
    keys = []

    def claim(key, published, value, **settings):
        def measure(effort):
            keys.append(key)
            return Measured(value, (value - 0.01, value + 0.01), f"{effort.n} games")

        return Claim(key, f"says {key}", published, measure, "{:.1%}", 40, **settings)

    claims = [
        claim("one", share("50 %", 50, 100, 0.01), 0.52),
        claim("two", share("90 %", 90, 100, 0.01), 0.1, why="Because."),
        claim("three", Published("better", 0.5), 0.505),
        claim("long", Published("blank"), 0.5, trainings=(TRAINING,)),
    ]
    paper = Paper("oconnor-2000", "Author (2000): a small paper", claims)
    monkeypatch.setattr(script, "read_paper", lambda name: paper)
    return keys, claims


def test_a_stopped_reproduction_goes_on_and_reports(computed, tmp_path, capsys):
    keys, claims = computed
    whole = claims[2]
    claims[2] = replace(whole, measure=Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        script.papers("oconnor-2000", quick=True, seed=5, folder=tmp_path)
    claims[2] = whole
    script.papers("oconnor-2000", quick=True, seed=5, folder=tmp_path)
    assert keys == ["one", "two", "three"]
    report = (tmp_path / "quick-5" / "report.md").read_text()
    assert "1 not refuted, 1 differs, 1 undecided.\n" in report
    assert "says one | 50 % | 52.0% (51.0%, 53.0%) | 2 games | not refuted\n" in report
    assert report.count("* Because.") == 1
    run = tmp_path / "full-5" / "trainings" / "small"
    assert "crib-env train td --preset paper" in capsys.readouterr().out
    run.mkdir(parents=True)
    for name in ("config.json", "summary.json"):
        (run / name).write_text("{}")
    script.papers("oconnor-2000", seed=5, folder=tmp_path)
    assert "crib-env train" not in capsys.readouterr().out
    assert "| 40 games | shown" in (tmp_path / "full-5" / "report.md").read_text()
    (tmp_path / "quick-5" / "claims" / "oconnor-2000" / "one.json").write_text("{}")
    with refused("one.json"):
        script.papers("oconnor-2000", quick=True, seed=5, folder=tmp_path)


def test_the_table_of_the_repository_has_every_claim():
    page = (Path(__file__).parents[1] / "evaluate" / "REPRODUCTION.md").read_text()
    assert page.startswith(script.INTRODUCTION)
    for paper in PAPERS.values():
        (section,) = re.findall(rf"^## {re.escape(paper.title)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        told = [row.split(" | ")[:2] for row in section.splitlines() if " | " in row]
        assert told[2:] == [[claim.says, claim.published.printed] for claim in paper.claims]
