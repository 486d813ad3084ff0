"""The suite: every task for every agent, kept task by task in a folder, so that a stopped suite can be resumed.

The folder holds ``config.json`` (agents, share, skipped tasks) and ``tasks/``, a file for each finished task of each
agent, written whole. Agents are made anew for every task.

Tasks that an agent plays games for are here: matches, exact best responses in the pegging game, the time of a decision.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple, cast

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.evaluate.console import table_of
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.files import Job, write_json
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.evaluate.skill.suite import discards, endgames, play, text
from crib_env.evaluate.skill.suite.task import SEED, NotMeasuredError, Task, Work
from crib_env.evaluate.statistics import Measured, half_width
from crib_env.files.json_text import read_json
from crib_env.kernels import streams
from crib_env.players.games import turns
from crib_env.solver.play_game import PlayGame
from crib_env.values import Range, typed

Part = Annotated[float, Range(0, 1, above=True)]
_MOST_DIGITS = 4
_UNEVEN = 0.1  # difference between the ends of an interval, as a share of its half, from which on both are shown


class Match(NamedTuple):
    """A match against a fixed player, with the luck of coin, cards and starters taken out."""

    opponent: str
    games: int
    VERSION: int = 1

    @property
    def NAME(self) -> str:
        """As in the table and in files."""
        return f"against-{self.opponent}"

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        games = max(4, 2 * round(work.share * self.games / 2))
        how = {"threads": work.threads, "measure_luck": True, "on_progress": work.on_progress_of(games)}
        found = play_match(agent, make_agent(self.opponent), games, SEED, **how).luck_adjusted
        assert found is not None
        low, high = (100 * end for end in found.interval)
        wins = Measured(100 * found.win_rate, (high - low) / 2, games, (low, high))
        margin = Measured(found.margin, half_width(found.margin_interval), games)
        what = f"against {self.opponent} less luck"
        return {f"wins {what}, %": wins, f"net points a game {what}": margin}


MATCHES = (Match("random", 10_000), Match("greedy", 10_000), Match("careful", 10_000), Match("expert", 1_000))


@lru_cache(maxsize=1)
def _pegging_game(threads: int) -> PlayGame:
    return PlayGame(threads=threads)


class Pegging:
    """What an exact best response gains on an agent in the pegging game (docs/evaluate/exploitability.md).

    An agent is asked for every decision to which its own choices lead, five to ninety million. If these depend on suits
    in more than ties, suits are drawn twice for each hand of ranks. An agent that mixes and cannot say how is not
    measured.
    """

    NAME, VERSION = "pegging", 1
    DRAWS = 2  # of suits: the fewest

    @classmethod
    def measure(cls, agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        game = _pegging_game(work.threads)
        try:
            found = exploitability(agent, game, cls.DRAWS, lambda decisions, share: work.on_progress(100 * share))
        except ValueError as error:
            if "probabilities" not in str(error):
                raise
            raise NotMeasuredError("it draws its cards by chance, and has no `probabilities`") from None
        return {"exploitable in the pegging game, points a deal": Measured(found.mean, None, found.decisions)}


def time_deals(agent: Agent, seeds: np.ndarray) -> tuple[float, float]:
    """Mean seconds of a discarded card and of a card in the play, of an agent that plays deals against itself."""
    spent, plays = {True: 0.0, False: 0.0}, 0
    for k in range(len(seeds)):
        for turn in turns(GameBatch(seeds[k : k + 1], episode="deal", first_id=k), [agent]):
            discarding = bool(turn.views.is_discard[0])
            spent[discarding] += turn.seconds
            plays += not discarding
            turn.play()
    return spent[True] / (2 * len(seeds)), spent[False] / plays


class DecisionTime:
    """The time of a decision, one decision at a time as in a game against a person."""

    NAME, VERSION = "time", 1

    @staticmethod
    def measure(agent: Agent, work: Work) -> dict[str, Measured]:
        """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
        time_deals(agent, streams(SEED + 1, 3))  # compiles
        n = work.part_of(100)
        discard, card = time_deals(agent, streams(SEED, n))
        return {
            "µs a discarded card": Measured(1e6 * discard, None, n),
            "µs a card laid": Measured(1e6 * card, None, n),
        }


TASKS = cast("tuple[Task, ...]", (discards, play, endgames, Pegging, *MATCHES, DecisionTime, text))
NAMES = tuple(task.NAME for task in TASKS)


class Outcome(NamedTuple):
    """What a task found of an agent."""

    agent: str
    task: str
    version: int
    """Of the task."""
    share: float
    """Of the positions or games that were taken."""
    figures: dict[str, Measured]
    not_measured: str | None = None
    """Why there are no figures, if the task says nothing of this agent."""
    failed: str | None = None
    """Why there are none, if the agent failed; the task is done again when the suite is resumed."""


@dataclass(frozen=True)
class Suite(Job):
    """Which agents are measured, by their names, on which share of the positions and games, without which tasks;
    ``ValueError`` names what is not allowed. The first positions and games are taken."""

    KIND = "suite"
    FOLDERS = Path("runs") / "suite"

    agents: tuple[str, ...]
    share: float = 1.0
    skip: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.agents or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents={' '.join(self.agents)!r} is not allowed: give one or more different agents")
        typed(self.share, Part, "share")
        if unknown := set(self.skip) - set(NAMES):
            raise ValueError(f"skip={' '.join(sorted(unknown))} is not allowed: choose of {', '.join(NAMES)}")
        if set(self.skip) == set(NAMES):
            raise ValueError(f"skip={' '.join(self.skip)} is not allowed: nothing would be measured")
        check_players(self.agents)

    def run(
        self,
        folder: Path,
        threads: int,
        on_task: Callable[[str, str], None],
        on_progress: Callable[[float], None],
        tasks: Sequence[Task] = TASKS,
        cluster: Cluster | None = None,
    ) -> Iterator[Outcome]:
        """Does the tasks that are not in the folder yet, agent by agent; yields all of them, in order.

        Args:
            on_task: called before each task with the agent and the task.
            on_progress: called with the further per cent of the task that are done, or of all on a cluster.
            cluster: does all tasks side by side; its machines need not see the folder.
        """
        (folder / "tasks").mkdir(exist_ok=True)
        planned = [
            (agent, task, folder / "tasks" / f"{number}-{task.NAME}.json")
            for number, agent in enumerate(self.agents, start=1)
            for task in tasks
            if task.NAME not in self.skip
        ]
        found = {path: self._read(path, agent, task) for agent, task, path in planned if path.exists()}
        if cluster is not None:
            left = [one for one in planned if one[2] not in found]
            calls = [(agent, TASKS.index(task), self.share, Path.cwd()) for agent, task, _ in left]
            for place, outcome in cluster.each(_measure_there, calls):
                found[left[place][2]] = outcome
                _keep(outcome, left[place][2])
                on_progress(100 / len(left))
        for agent, task, path in planned:
            if path not in found:
                on_task(agent, task.NAME)
                found[path] = measure(agent, task, Work(self.share, threads, on_progress))
                _keep(found[path], path)
            yield found[path]

    def _read(self, path: Path, agent: str, task: Task) -> Outcome:
        fault = f"{path} is not a finished task: take it away, and it is done again"
        found = read_json(path, fault, lambda content: typed(content, Outcome))
        if found[:4] != (agent, task.NAME, task.VERSION, self.share):
            raise ValueError(f"{fault} (it is of {found.agent}, {found.task} {found.version})")
        return found


def measure(agent: str, task: Task, work: Work) -> Outcome:
    """One task of one agent."""
    nothing = Outcome(agent, task.NAME, task.VERSION, work.share, {})
    try:
        return nothing._replace(figures=task.measure(make_agent(agent), work))
    except NotMeasuredError as reason:
        return nothing._replace(not_measured=str(reason))
    except Exception as error:  # of a user's agent, whatever it is
        return nothing._replace(failed=" ".join(f"{type(error).__name__}: {error}".split()))


def _keep(outcome: Outcome, path: Path) -> None:
    if outcome.failed is None:
        write_json(path, outcome)


def _measure_there(agent: str, task: int, share: float, here: Path) -> Outcome:
    """Does a task on a worker, from the folder in which the command was given, where an agent's module may be."""
    os.chdir(here)
    return measure(agent, TASKS[task], Work(share, 1, lambda done: None))


def shown(figure: Measured) -> tuple[str, str]:
    """A figure, and how far its 95 % interval goes from there, in digits that mean something."""
    if figure.half_width is None:
        return (f"{figure.mean:,.0f}" if figure.mean >= 100 else f"{figure.mean:.3g}"), ""
    digits = 2
    if figure.half_width > 0:
        digits = min(max(1 - math.floor(math.log10(figure.half_width)), 0), _MOST_DIGITS)
    number, half = (f"{value:.{digits}f}" for value in (figure.mean, figure.half_width))
    if figure.interval is not None:
        below, above = figure.mean - figure.interval[0], figure.interval[1] - figure.mean
        if abs(above - below) > _UNEVEN * figure.half_width:
            return number, f"+{above:.{digits}f} −{below:.{digits}f}"
    return number, f"± {half}"


def figures_table(outcomes: Sequence[Outcome]) -> Table:
    """All figures: a section for each, in it a row for each agent."""
    title = "intervals of 95 %; lost chances to win in % points"
    table = table_of(title, ("", "", "95 %", "of"), no_wrap=True, title_justify="left", box=SIMPLE_HEAD)
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome.figures):
        table.add_row(Text(name, style="bold"))
        for outcome in outcomes:
            if (figure := outcome.figures.get(name)) is not None:
                table.add_row(f"  {outcome.agent}", *shown(figure), f"{figure.sample:,}")
    without = [outcome for outcome in outcomes if not outcome.figures]
    if without:
        table.add_row(Text("not measured", style="bold"))
        for outcome in without:
            table.add_row(f"  {outcome.agent}, {outcome.task}: {outcome.not_measured or outcome.failed}")
    return table
