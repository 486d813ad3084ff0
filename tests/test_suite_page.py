"""The page of the suite has the figures of runs; ``python -m tests.test_suite_page`` writes its table anew."""

import json
from pathlib import Path

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.files import markdown_table, whole_text
from crib_env.evaluate.skill.suite import endgames, play, text
from crib_env.evaluate.skill.suite.suite import TASKS, Outcome, shown
from crib_env.evaluate.skill.suite.task import Work
from crib_env.values import typed

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "evaluate" / "suite.md"
COLUMNS = {
    "points lost a discard at 0–0": "discard, points",
    "chance to win lost a discard, %": "discard, % points to win",
    "points lost a card laid": "card laid, points",
    "endgames solved, of 20": "endgames",
    "chance to win lost an endgame, %": "endgame, % points to win",
    "exploitable in the pegging game, points a deal": "exploitable",
    "points lost an answer in words": "text, points",
    "wins against greedy less luck, %": "`greedy`, %",
    "wins against careful less luck, %": "`careful`, %",
    "wins against expert less luck, %": "`expert`, %",
}
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def runs():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DOCS / "suite").glob("*.json"))]


def outcomes():
    return [typed(one, Outcome) for run in runs() for one in run["outcomes"]]


def page_table(outcomes):
    """The main figures in Markdown, a row for each agent, those first that win most often against ``greedy``."""
    rows = []
    found = {}
    for outcome in outcomes:
        found.setdefault(outcome.agent, {}).update(outcome.figures)
    wins = "wins against greedy less luck, %"
    for agent, figures in sorted(found.items(), key=lambda one: one[1][wins].mean, reverse=True):
        cells = [" ".join(shown(figures[name])).strip() if name in figures else "–" for name in COLUMNS]
        share = max(one.share for one in outcomes if one.agent == agent and one.task not in (text.NAME, endgames.NAME))
        rows.append([f"`{agent}`", f"{100 * share:g} %", *cells])
    return markdown_table(["agent", "share", *COLUMNS.values()], rows)


def with_table(page):
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{page_table(outcomes())}{END}{rest.partition(END)[2]}"


def test_the_table_is_that_of_the_runs():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page)


def test_the_runs_are_of_these_versions():
    versions = {task.NAME: task.VERSION for task in TASKS}
    assert outcomes()
    assert all(outcome.version == versions[outcome.task] for outcome in outcomes())
    assert not any(outcome.failed for outcome in outcomes())


@pytest.mark.parametrize("agent", ["greedy", "careful"])
@pytest.mark.parametrize("task", [endgames, play], ids=lambda task: task.NAME)
def test_baselines_are_measured_again(agent, task):
    (stated,) = (one for one in outcomes() if (one.agent, one.task) == (agent, task.NAME))
    work = Work(stated.share, 1, lambda done: None)
    found = task.measure(make_agent(agent), work)
    assert {name: figure.mean for name, figure in found.items()} == pytest.approx(
        {name: figure.mean for name, figure in stated.figures.items()}
    )


if __name__ == "__main__":
    written = with_table(PAGE.read_text(encoding="utf-8"))
    with whole_text(PAGE) as page_file:
        page_file.write(written)
