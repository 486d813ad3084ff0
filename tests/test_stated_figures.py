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


def learners(words, unit=1):
    return Place("docs/reference/learners.md", words, unit)


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
    "best against greedy": [
        learners("`best` wins # % (# to #, # mirrored games) against `greedy`"),
        measured("best", "`best greedy --games 20000 --seed 5` | 20,000 | #% (#% to #%)"),
    ],
    "best against expert": [
        learners("# % (# to #, 20,000) against `expert`"),
        measured("best", "`best expert:threads=1 --games 20000 --seed 4` | 20,000 | #% (#% to #%)"),
    ],
    "the weakest level": [
        readme("the weakest wins # % of # games against `greedy`"),
        measured("levels", "| `erring:errs=5` | beats a sound beginner one game in ten | #% (9.4% to 11.2%, # games)"),
    ],
    "the strongest level": [
        readme("strongest # % of # ("),
        measured("levels", "| `best` | beats a sound beginner two games in three | #% (65.5% to 66.5%, # games)"),
    ],
    "a decision of best": [learners("# µs a decision in batch"), measured("best", "A decision takes # µs in batch")],
    "equilibrium against greedy": [
        measured("matches", "Less luck, `equilibrium` wins # ± # %."),
        measured("solved-play", "games `equilibrium` wins # ± # % less luck"),
    ],
    "weights of best": [learners("The weights (# MB)", 1_000_000), measured("best", "# bytes of weights")],
    "O'Connor's measure": [
        learners("It gains # points on a random player in two deals"),
        measured("learners", "one dealt by each: the paper's settings +# ("),
    ],
    "O'Connor's measure and its interval": [
        measured("learners", "one dealt by each: the paper's settings +# (# to #, 50,000 pairs of deals"),
        Place("evaluate/REPRODUCTION.md", "around 4 (read as 3.5 to 4.5) | +# (+# to +#) | 50,000 pairs of deals"),
    ],
    "the discard game": [learners("from exact values # of"), measured("learners", "| `discard-game` | # (")],
    "the discard game, 20 nodes": [
        learners("and reaches #."),
        measured("learners", "`discard-game --preset paper` (20 nodes) | # ("),
    ],
    "the PPO example": [
        Place("docs/guides/your-own-learner.md", "and wins # % against `greedy` after # s of one core"),
        measured(
            "learners",
            "| `ppo.py` | #% (55.77% to 56.92%) against `greedy`, 10,000 mirrored games | 5,996,544 decisions, # s",
        ),
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
    "td": [
        measured("learners", "| `td` | #% (#% to #%) | #% (#% to #%) | # deals, # s |"),
        measured("learners", "| `td` | #% (#% to #%) | #% (#% to #%) | # | # | 7.9% |"),
    ],
    "information states of two cards": [
        measured("imperfect-information", "| two cards each, `--cards 2` | # |"),
        measured("solved-play", "| 2 | 14 | 1,274 (#) |"),
    ],
    "information states of three cards": [
        measured("imperfect-information", "| three cards each, `--cards 3` | # |"),
        measured("solved-play", "| 3 | 9,022 | 362,888 (#) |"),
    ],
    "information states of four cards": [
        measured("imperfect-information", "(../environments/cribbage-pegging.md) | # |"),
        measured("solved-play", "| 4 | 1,877,592 | 68,661,646 (#) |"),
    ],
    "the size of the pegging game": [
        Place("docs/benchmarks/imperfect-information.md", "the game of four cards has # million.", 1_000_000),
        measured("solved-play", "| 4 | 1,877,592 | # (45,366,803) |"),
    ],
    "Lang's learner": [
        learners("neighbouring weights it wins # %"),
        measured("learners", "| default, 1,000,000 games | #% ("),
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


def test_the_figure_of_speeds_shows_the_table():
    """Every mark is a number of the first tables of the benchmarks."""
    section = page_of("speed").partition("## Decision times")[0]
    kept = json.loads((ROOT / "docs" / "speed.json").read_text())["per_second"]
    for name, values in kept.items():
        for value in values:
            written = [f"{value:,.0f}", f"{value:,.1f}", f"{value / 1e6:.2f}"]
            assert any(re.search(rf"(?<![\d.,]){re.escape(one)}(?![\d.,])", section) for one in written), name


def test_the_figure_of_exploitability_names_players_of_the_table():
    page = page_of("exploitability")
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
    table = re.findall(r"^\| \d+ \| `?([-a-z]+)`? \| \d+ \| ± \d+ \| ([\d.]+)%", page_of("matches"), re.MULTILINE)
    assert [name for name, _ in table] == kept["agents"]
    for name, share in table:
        assert abs(100 * sum(rates[name]) / 16 - float(share)) < 0.1, name


def test_ratings_of_the_league_are_those_of_its_table():
    """The page on players names every player of the table once, with its rating."""
    table = dict(re.findall(r"^\| \d+ \| `?([-a-z=:\d]+)`? \| (\d+) \|", page_of("matches"), re.MULTILINE))
    page = (ROOT / "docs" / "reference" / "players.md").read_text()
    (text,) = re.findall(r"Ratings, 95 % within.*?± 86", page, re.DOTALL)
    assert len(table) == 17
    assert dict(re.findall(r"`([-a-z=:\d]+)`\s+(\d+)", text)) == table


def test_strengths_in_the_readme_are_those_of_the_benchmarks():
    """Each row of its table has the win rate, the interval and the number of games of a match against greedy."""
    rate = r"\d+\.\d+% \(\d+\.\d+% to \d+\.\d+%\)"
    readme, measured = (ROOT / "README.md").read_text(), "".join(map(page_of, ("best", "matches", "learners")))
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
    readme, measured = (ROOT / "README.md").read_text(), page_of("exploitability")
    stated = re.findall(
        r"^\| `([\w-]+)` \|.*\| ([\d.]+) \| (?:at least )?([\d.]+(?: ± [\d.]+)?)?[^|]*\|$", readme, re.MULTILINE
    )
    pegging, _, rest = measured.partition("## Exact exploitability")[2].partition("### Whole deals")
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


def test_headline_figures_are_those_of_the_page_behind_them():
    """Each row of BENCHMARKS.md has a command and a page, which has every number of the row's figure."""
    rows = re.findall(
        r"^\| (?!what|match|learner|player|-)(.*) \|$", (ROOT / "BENCHMARKS.md").read_text(), re.MULTILINE
    )
    topics = set()
    for row in rows:
        _, figure, command, more = row.split(" | ")
        (topic,) = re.fullmatch(r"\[[-\w ]+\]\(docs/benchmarks/([-\w]+)\.md\)", more).groups()
        numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", figure)
        assert command.startswith(("`crib-env ", "`python -m ", "`pytest ", "the same")), row
        assert numbers, row
        missing = [
            one for one in numbers if not re.search(rf"(?<![\d.,]){re.escape(one)}(?![\d]|[.,]\d)", page_of(topic))
        ]
        assert not missing, (row, missing)
        topics.add(topic)
    assert len(rows) > 30
    linked = set(re.findall(r"docs/benchmarks/([-\w]+)\.md", (ROOT / "BENCHMARKS.md").read_text()))
    assert topics <= linked == {page.stem for page in (ROOT / "docs" / "benchmarks").glob("*.md")}
