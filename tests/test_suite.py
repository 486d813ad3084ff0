"""The suite: its data, its figures, and agents that fail."""

import dataclasses
import json
from typing import NamedTuple

import numpy as np
import pytest

from crib_env import analyse_discard
from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.evaluate.files import plain
from crib_env.evaluate.skill.positions import before_discards, chosen_cards
from crib_env.evaluate.skill.suite import discards, endgames, play, text
from crib_env.evaluate.skill.suite.suite import (
    Match,
    Outcome,
    Suite,
    shown,
)
from crib_env.evaluate.skill.suite.task import NotMeasuredError, Work, hash_of
from crib_env.evaluate.statistics import Measured
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.players.hidden import deal_hidden
from crib_env.values import typed
from tests.helpers.refusals import refused
from tests.helpers.sure_cards import sure_cards_of
from tests.helpers.vector_games import Cheat

QUIET = {"on_task": lambda agent, task: None, "on_progress": lambda done: None}


def work(share, threads=1):
    return Work(share, threads, lambda done: None)


@pytest.mark.parametrize("task", [discards, endgames, play], ids=lambda task: task.NAME)
def test_the_hash_is_that_of_the_file(task):
    assert hash_of(task.standard()) == task.HASH


def test_another_file_is_refused(tmp_path):
    other = dataclasses.replace(discards.standard(), best=discards.standard().best + 1)
    other.save(tmp_path / "other.npz")
    with refused("other.npz"):
        discards.load(tmp_path / "other.npz")


def test_other_tables_are_refused(monkeypatch):
    monkeypatch.setattr(discards, "_NAMES", ("cribs.npz", "pegging.npz", "cribs.npz"))
    with refused("discards 2"):
        discards.load()


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5])
def test_losses_of_discards_are_those_of_the_analysis(k):
    data = discards.standard()
    six, scores = data.sixes[k].tolist(), tuple(data.scores[k].tolist())
    found = analyse_discard(six, dealer=bool(data.deals[k]), scores=scores)
    wins = {tuple(sorted(row["discard"].tolist())): row["win_probability"] for row in found}
    one = dataclasses.replace(
        data, **{name: getattr(data, name)[k : k + 1] for name in ("sixes", "deals", "scores", "best")}
    )
    for place, (i, j) in enumerate(PLACES):
        lost = discards.chances_lost(one, np.array([place]), 1)[0]
        assert lost == pytest.approx(found["win_probability"][0] - wins[six[i], six[j]], abs=1e-9)


def test_expert_loses_nothing_by_its_discards():
    figures = discards.measure(make_agent("expert:threads=1"), work(0.001))
    assert figures["chance to win lost a discard, %"].mean == pytest.approx(0, abs=1e-6)
    assert figures["best discards at random scores, %"].mean == 100
    assert 0 <= figures["points lost a discard at 0–0"].mean < 0.1  # it wins games, and not points


class Worst:
    """Lays what loses most."""

    name = "worst"

    def act(self, views):
        losses = play.standard().losses[views.game_ids]
        ranks = np.where(np.isnan(losses), -1, losses).argmax(axis=1)
        legal = views.action_mask.reshape(-1, 4, 13)[np.arange(len(views)), :, ranks]
        return legal.argmax(axis=1) * 13 + ranks


def test_cards_laid_lose_what_the_data_says():
    figures = play.measure(Worst(), work(0.05))
    assert figures["points lost a card laid"].mean == pytest.approx(
        np.nanmax(play.standard().losses[:500], axis=1).mean()
    )


def test_a_folder_with_what_is_not_allowed_is_named(tmp_path):
    plan = Suite(("random",), 0.01)
    folder = plan.begin(tmp_path / "suite")
    (folder / "config.json").write_text('{"agents": ["random"], "share": 0.01, "skip": ["nothing"]}')
    with refused(folder, "skip=['nothing'], not []"):
        plan.begin(folder)


def test_same_figures_twice_and_for_any_number_of_threads():
    tasks = (discards, play, endgames, Match("random", 2_000))

    def measured(threads):
        return [task.measure(make_agent("greedy"), work(0.05, threads)) for task in tasks]

    once = measured(1)
    assert measured(1) == once
    assert measured(2) == once


def test_rates_and_their_intervals_lie_within_their_range():
    for agent, opponent in (("greedy", "random"), ("random", "greedy")):
        wins, points = Match(opponent, 40).measure(make_agent(agent), work(1.0)).values()
        low, high = wins.interval
        assert 0 <= low <= wins.mean <= high <= 100
        assert wins.half_width == pytest.approx((high - low) / 2)
        assert (wins.sample, points.sample, points.interval) == (40, 40, None)


def test_the_interval_of_a_mean_is_students():
    found = Measured.of(np.array([1.0, 2.0, 3.0, 6.0]))  # standard error 1.0801
    assert (found.mean, found.sample) == (3.0, 4)
    assert found.half_width == pytest.approx(3.1824 * 1.0801, abs=1e-2)  # Student, three degrees of freedom
    assert Measured.of(np.array([1.0])).half_width is None


SHARES = [(0, 2, 0, 65.8), (3, 3, 43.8, 100), (5, 40, 5.5, 26.1), (800, 800, 99.5, 100)]


@pytest.mark.parametrize(("hits", "sample", "low", "high"), SHARES)
def test_the_interval_of_a_share_is_wilsons(hits, sample, low, high):
    found = Measured.percent(hits, sample)
    assert (found.mean, found.sample) == (100 * hits / sample, sample)
    assert found.interval == pytest.approx((low, high), abs=0.1)
    assert shown(found)[1] not in ("", "± 0.00")
    assert "-" not in shown(found)[1]


def test_shares_of_two_positions_have_intervals():
    for task in (discards, play, text):
        found = task.measure(make_agent("random"), work(1e-6))
        shares = {name: figure for name, figure in found.items() if name.endswith(", %") and "lost" not in name}
        assert shares
        assert all(0 <= one.interval[0] < one.interval[1] <= 100 for one in shares.values())


def test_figures_are_read_back_with_their_intervals_and_without():
    with_one, without = Measured(99.0, 1.9, 9, (96.0, 99.8)), Measured(3.0, 0.1, 9)
    kept = Outcome("greedy", "a task", 1, 1.0, {"with one": with_one, "without": without})
    written = json.loads(json.dumps(plain(kept)))
    assert typed(written, Outcome) == kept
    del written["figures"]["without"]["interval"]  # as earlier releases have written it
    assert typed(written, Outcome) == kept


def test_sure_cards_win_whatever_the_opponent_holds():
    data, rng = endgames.standard(), np.random.default_rng(0)
    games = data.games()
    for k in range(endgames.N):
        batch = GameBatch(streams(k, 3))
        batch.games[:] = games[k]
        me = int(games["turn"][k])
        for g in batch.games:
            deal_hidden(g, me, True, rng.integers(2**63))
        legal = batch.views(np.arange(3)).action_mask * np.tile(data.best[k], 4)
        batch.step(np.arange(3), legal.argmax(axis=1))
        while len(rows := batch.acting()):
            for row in rows:
                g = batch.games[row]
                legal = np.flatnonzero(batch.views(np.array([row])).action_mask[0])
                if g["turn"] == me:
                    sure = [rank for rank, wins in sure_cards_of(g).items() if wins]
                    assert sure, f"endgame {k}"
                    legal = legal[np.isin(legal % 13, sure)]
                batch.step(np.array([row]), rng.choice(legal, 1))
            assert (batch.games["n_deals"] == 1).all()
        assert (batch.games["scores"][:, me] == 121).all()


def test_the_search_finds_the_ranks_that_are_sure():
    games, best = endgames.standard().games(), endgames.standard().best
    for k in range(len(games)):
        found = sure_cards_of(games[k])
        assert [rank for rank, wins in found.items() if wins] == np.flatnonzero(best[k]).tolist()


def test_one_rank_of_three_or_more_is_sure():
    assert (endgames.standard().best.sum(axis=1) == 1).all()
    found = endgames.measure(make_agent("random"), work(1.0))
    assert 1 <= found["endgames solved, of 20"].mean <= 12
    assert 5 < found["chance to win lost an endgame, %"].mean < 60


class Counted(NamedTuple):
    """A task that says how often it was done."""

    NAME: str
    done: list
    VERSION: int = 1

    def measure(self, agent, work):
        self.done.append(agent.name)
        if self.NAME == "impossible":
            raise NotMeasuredError("it cannot be done")
        if self.NAME == "broken" and len(self.done) == 1:
            raise KeyError("no such thing")
        return {"a figure": Measured(1.0, 0.5, 10)}


def test_what_fails_is_reported_and_the_rest_is_kept_and_resumed(tmp_path):
    tasks = [Counted(name, []) for name in ("first", "broken", "impossible", "last")]
    suite = Suite(("greedy", "random"))
    folder = suite.begin(tmp_path / "s")
    found = list(suite.run(folder, 1, **QUIET, tasks=tasks))
    assert [(one.agent, one.task) for one in found if one.failed] == [("greedy", "broken")]
    assert found[1].failed == "KeyError: 'no such thing'"
    assert found[2].not_measured == "it cannot be done"
    assert suite.begin(folder) == folder
    resumed = list(suite.run(folder, 1, **QUIET, tasks=tasks))
    assert [one.failed for one in resumed] == [None] * 8
    assert [len(task.done) for task in tasks] == [2, 3, 2, 2]
    assert [typed(json.loads(json.dumps(plain(one))), Outcome) for one in resumed]


def test_a_task_of_another_version_and_a_damaged_one_are_named(tmp_path):
    suite, tasks = Suite(("greedy",)), [Counted("first", [])]
    folder = suite.begin(tmp_path / "s")
    list(suite.run(folder, 1, **QUIET, tasks=tasks))
    with refused("1-first.json", "first 1"):
        list(suite.run(folder, 1, **QUIET, tasks=[Counted("first", [], VERSION=2)]))
    (folder / "tasks" / "1-first.json").write_text("{}")
    with refused("1-first.json"):
        list(suite.run(folder, 1, **QUIET, tasks=tasks))


def test_an_illegal_card_is_named_with_its_position():
    data = discards.standard()
    games = before_discards(data.sixes[:3].astype(int), data.deals[:3], np.zeros((3, 2), int))
    with refused("agent 'cheat' in game 0"):
        chosen_cards(Cheat(), games, 1, lambda done: None)


@pytest.mark.parametrize(
    ("agents", "share", "message"),
    [
        ((), 1.0, "give one or more different agents"),
        (("greedy", "greedy"), 1.0, "give one or more different agents"),
        (("nobody",), 1.0, "there is no agent 'nobody'"),
        (("human",), 1.0, "cannot play many games"),
        (("greedy",), 0.0, "share=0.0 is not allowed"),
    ],
)
def test_bad_input(agents, share, message):
    with refused(message):
        Suite(agents, share)


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Measured(0.01234, 0.00021, 9), ("0.0123", "± 0.0002")),
        (Measured(57.26, 0.94, 9, (56.30, 58.18)), ("57.26", "± 0.94")),
        (Measured(99.0, 1.9, 9, (96.0, 99.8)), ("99.0", "+0.8 −3.0")),
        (Measured(1234.5, None, 20), ("1,234", "")),
    ],
)
def test_figures_have_digits_that_mean_something(figure, text):
    assert shown(figure) == text
