"""A figure that appears in several places is the same in all of them, to as many digits as each place gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
NUMBER = r"([\d,]*\d(?:\.\d+)?)"


class Place(NamedTuple):
    """The place of numbers: the file, the words around them (# for each number), and the size of their unit."""

    file: str
    words: str
    unit: int = 1

    def numbers(self) -> list[str]:
        """The numbers as they are written; the words must appear once."""
        pattern = re.escape(self.words).replace(r"\ ", r"\s+").replace(r"\#", NUMBER)
        (found,) = re.finditer(pattern, (ROOT / self.file).read_text())
        return [number.replace(",", "") for number in found.groups()]


def readme(words, unit=1):
    return Place("README.md", words, unit)


def measured(topic, words):
    return Place(f"docs/benchmarks/{topic}.md", words)


def page_of(topic):
    return (ROOT / "docs" / "benchmarks" / f"{topic}.md").read_text()


# The last place of each figure gives the most digits.
FIGURES = {
    "random games": [
        readme("# thousand random full games a second", 1_000),
        measured("speed", "random full games, engine | # |"),
    ],
    "memory of many games": [
        Place("crib_env/vector/environments.py", "Memory is linear in N, # to", 1_000),
        measured("speed", "# at 1,000,000."),
    ],
    "memory of fewer games": [
        Place("crib_env/vector/environments.py", "to # KB a game", 1_000),
        measured("speed", "# bytes a game with all buffers at 100,000 games"),
    ],
    "the weakest level": [
        readme("the weakest wins # % of # games against `greedy`"),
        measured("players", "| Newcomer | `erring:errs=5` | #% (9.4% to 11.2%, # games)"),
    ],
    "the strongest level": [
        readme("strongest # % of # ("),
        measured("players", "| Best | `best` | #% (65.5% to 66.5%, # games)"),
    ],
    "ddqn in float32": [
        readme("and ends with #% (#% to #%, 10,000 games)"),
        Place("train/ddqn.py", '"float32": "#% (#% to #%)"'),
        measured("learners", "| `ddqn` in float32 | 99.33% (99.15% to 99.47%) | #% (#% to #%) |"),
    ],
    "ddqn in bfloat16": [
        readme("| `ddqn` | Double DQN, as `make train` trains it | #% (#% to #%) |"),
        Place("train/ddqn.py", '"bfloat16": "#% (#% to #%)"'),
        measured("learners", "| `ddqn` (`make train`) | 99.41% (99.24% to 99.54%) | #% (#% to #%) |"),
    ],
    "information states of four cards": [
        measured("learners", "| four cards each | # |"),
        measured("solved-play", "| 4 | 1,877,592 | 68,661,646 (#) |"),
    ],
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_wherever_it_stands(name):
    *others, exact = FIGURES[name]
    full = exact.numbers()
    for place in others:
        for written, number in zip(place.numbers(), full):
            digits = len(written.partition(".")[2])
            assert float(written) == round(float(number) / place.unit, digits), place.file


def test_the_figure_of_exploitability_names_players_of_the_table():
    page = page_of("learners")
    kept = json.loads((ROOT / "docs" / "ladder-4.json").read_text())["levels"]
    assert set(kept) == {"random", "greedy", "careful", "expert", "best"}
    for name, value in kept.items():
        assert re.search(rf"^\| `{name}`[^|]* \| [\d.]+ \| [\d.]+ \| {value:.3f} \|$", page, re.MULTILINE), name


def test_the_figure_of_the_league_shows_the_table():
    """The mean of a player's win rates in the figure is its share of games won in the table."""
    kept = json.loads((ROOT / "docs" / "league.json").read_text())
    rates = {name: [] for name in kept["agents"]}
    for one, other, rate, _ in kept["win_rates"]:
        rates[one].append(rate)
        rates[other].append(1 - rate)
    table = re.findall(r"^\| \d+ \| `?([-a-z]+)`? \| \d+ \| ± \d+ \| ([\d.]+)%", page_of("players"), re.MULTILINE)
    assert [name for name, _ in table] == kept["agents"]
    for name, share in table:
        assert abs(100 * sum(rates[name]) / 16 - float(share)) < 0.1, name


def test_strengths_in_the_readme_are_those_of_the_benchmarks():
    """Each row of its table has the win rate, the interval and the number of games of a match against greedy."""
    rate = r"\d+\.\d+% \(\d+\.\d+% to \d+\.\d+%\)"
    readme, measured = (ROOT / "README.md").read_text(), page_of("players") + page_of("learners")
    stated = re.findall(rf"^\| `([\w-]+)` \|.*\| ({rate}) \| ([\d,]+) \| [\d.]+ \| [^|]*\|$", readme, re.MULTILINE)
    matches = re.findall(rf"^\| `(\w+) greedy[^|]*` \| ([\d,]+) \| ({rate}) \|", measured, re.MULTILINE)
    learned = re.findall(
        rf"^\| `([\w-]+)[^|]* \| {rate} \| ({rate}) \| [\d.,]+ \| [\d,]+ (?:deals, [\d,]+ processor seconds )?\|",
        measured,
        re.MULTILINE,
    )
    known = {(name, found, games) for name, games, found in matches} | {(*row, "10,000") for row in learned}
    assert len(stated) == 9
    assert set(stated) <= known


def test_exploitabilities_in_the_readme_are_those_of_the_benchmarks():
    readme, measured = (ROOT / "README.md").read_text(), page_of("learners")
    stated = re.findall(
        r"^\| `([\w-]+)` \|.*\| ([\d.]+) \| (?:at least )?([\d.]+(?: ± [\d.]+)?)?[^|]*\|$", readme, re.MULTILINE
    )
    pegging, _, rest = measured.partition("## Exploitability in the pegging game")[2].partition("### Whole deals")
    found = re.findall(r"^\| `([\w-]+)`[^|]* \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|$", pegging, re.MULTILINE)
    whole, _, real = rest.partition("### Real deals")
    by_whole = re.findall(r"^\| `([\w-]+)[^|]*\| -[\d.]+ \| [\d.]+ \| ([\d.]+) \|$", whole, re.MULTILINE)
    by_deals = re.findall(
        r"^\| `(\w+)[^`]*` \| [\d.]+ \| [\d.]+ \| ([\d.]+ ± [\d.]+) \| ([\w.]+) \|", real, re.MULTILINE
    )
    lower_bounds = {(name, mean if least == "exact" else least) for name, mean, least in by_deals}
    assert len(stated) == 10
    assert {row[:2] for row in stated} <= set(found)
    in_whole_deals = {(name, value) for name, _, value in stated if value}
    assert len(in_whole_deals) >= 6
    assert in_whole_deals <= {*by_whole, *lower_bounds}
