"""Strength against budget: a player with growing budgets against one opponent over the same deals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro
from matplotlib.figure import Figure

from crib_env.agents import make_agent
from crib_env.evaluate.commands.arguments import AgentNames, AgentOption, SomeFile
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.figures import GREY, new_figure, save_figure
from crib_env.evaluate.files import check_outputs, picture_paths, plain, write_json
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Games, Seed
from crib_env.files.json_text import read_json, typed

PLACE = "{}"  # the place of the budget in an agent's name


@dataclass(frozen=True)
class Plan:
    """Agents such as ``"ismcts:iterations={}"``, the budgets in place of the braces, and the matches to play with each.

    Raises:
        ValueError: an agent has no braces or cannot be made, or there are no budgets.
    """

    agents: tuple[str, ...]
    budgets: tuple[int, ...]
    against: str
    games: int
    seed: int

    def __post_init__(self) -> None:
        if not self.agents or not self.budgets:
            raise ValueError("a curve needs agents and budgets: give one or more of each")
        for agent in self.agents:
            if PLACE not in agent:
                raise ValueError(f"agent {agent!r} has no {PLACE} for its budget, as in 'ismcts:iterations={PLACE}'")
            for budget in self.budgets:
                make_agent(agent.replace(PLACE, str(budget)))
        make_agent(self.against)


class _Saved(NamedTuple):
    """The content of the file."""

    plan: dict[str, Any]
    matches: dict[str, MatchResult]


def play_curves(plan: Plan, file: Path) -> dict[str, list[MatchResult]]:
    """Plays the matches missing in the file, and rewrites it after each; results by agent, budget by budget.

    Raises:
        ValueError: the file exists and holds something else.
    """
    header: dict[str, Any] = plain(plan)
    matches: dict[str, MatchResult] = {}
    if file.exists():

        def build(content: Any) -> dict[str, MatchResult]:
            found = typed(content, _Saved)
            if found.plan != header:
                raise ValueError("it belongs to another plan")
            return found.matches

        matches = read_json(file, f"{file} does not hold these curves: give another file", build)
    curves: dict[str, list[MatchResult]] = {}
    with progress_bar() as progress:
        task = progress.add_task("", total=len(plan.agents) * len(plan.budgets) * plan.games)
        for agent in plan.agents:
            for budget in plan.budgets:
                name = agent.replace(PLACE, str(budget))
                progress.update(task, description=name)
                if name in matches:
                    progress.update(task, advance=plan.games)
                else:
                    result = play_match(
                        make_agent(name),
                        make_agent(plan.against),
                        plan.games,
                        plan.seed,
                        on_progress=lambda done: progress.update(task, advance=done),
                    )
                    matches[name] = result
                    write_json(file, {"plan": header, "matches": matches})
                curves.setdefault(agent, []).append(matches[name])
    return curves


def budgets(
    agents: AgentNames,
    budgets: tuple[Amount, ...],
    json_file: Annotated[Path, tyro.conf.arg(name="json", metavar="FILE")],
    against: AgentOption = "greedy",
    games: Games = 2_000,
    seed: Seed = 0,
    picture: SomeFile = None,
) -> None:
    """Plays an agent with growing budgets against an opponent: strength by budget.

    Args:
        agents: Agents with {} where the budget goes, such as "ismcts:iterations={}".
        budgets: The budgets to put in place of {}.
        json_file: The file for the results; matches it already holds are not played again.
        against: The opponent.
        games: Number of games each, even.
        seed: Random seed of the deals.
        picture: Also draw the curves to this file, as PNG and as SVG.
    """
    check_outputs(json_file, *picture_paths(picture))
    plan = Plan(agents, budgets, against, games, seed)
    curves = play_curves(plan, json_file)
    columns = ("player", "win rate", "95 % interval", "µs a decision")
    table = table_of(f"against {plan.against}, {plan.games:,} mirrored games each", columns, no_wrap=True)
    for agent, results in curves.items():
        for budget, result in zip(plan.budgets, results):
            name = agent.replace(PLACE, str(budget))
            low, high = result.interval
            time = result.microseconds_per_decision["a"]
            table.add_row(name, f"{result.win_rate:.2%}", f"{low:.2%} to {high:.2%}", f"{time:,.0f}")
    try:
        if picture is not None:
            save_figure(draw_curves(plan, curves), picture)
    finally:
        console.print(table)


def draw_curves(plan: Plan, curves: dict[str, list[MatchResult]]) -> Figure:
    """Draws win rates with their intervals over the budget, a line for each agent."""
    figure = new_figure(6, 3.6)
    axes = figure.subplots()
    for agent, results in curves.items():
        rates = [100 * result.win_rate for result in results]
        lows, highs = ([100 * result.interval[end] for result in results] for end in (0, 1))
        (line,) = axes.plot(plan.budgets, rates, marker="o", label=agent.replace("{}", "n"))
        axes.fill_between(plan.budgets, lows, highs, color=line.get_color(), alpha=0.25, lw=0)
    axes.axhline(50, color=GREY, lw=0.8, ls=":")
    axes.set(xscale="log", xlabel="budget n", ylabel=f"games won against {plan.against}, % (95 %)")
    axes.set_xticks(plan.budgets, [f"{budget:,}" for budget in plan.budgets])
    axes.minorticks_off()
    axes.legend(loc="lower right")
    return figure
