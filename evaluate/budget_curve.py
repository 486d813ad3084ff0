"""Strength against budget: a player with more and more of something, against one opponent over the same deals."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from agents import make_agent
from evaluate.console import console, progress_bar
from evaluate.figures import GREY, new_figure, save_figure
from evaluate.files import write_json
from evaluate.match import MatchResult, play_match

PLACE = "{}"  # of the budget in an agent's name


@dataclass(frozen=True)
class Plan:
    """Agents such as ``"ismcts:iterations={}"``, what to put into the braces, and the matches to play with each.

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


def play_curves(plan: Plan, file: Path) -> dict[str, list[MatchResult]]:
    """Plays what the file does not hold yet, and writes it anew after each match; results by agent, budget by budget.

    Raises:
        ValueError: the file is there and holds something else.
    """
    header: dict[str, Any] = json.loads(json.dumps(asdict(plan)))
    found = {"plan": header, "matches": {}}
    if file.exists():
        try:
            found = json.loads(file.read_text())
            if found["plan"] != header:
                raise ValueError("of another plan")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} does not hold these curves ({error}): give another file") from None
    curves: dict[str, list[MatchResult]] = {}
    with progress_bar() as progress:
        task = progress.add_task("", total=len(plan.agents) * len(plan.budgets) * plan.games)
        for agent in plan.agents:
            for budget in plan.budgets:
                name = agent.replace(PLACE, str(budget))
                progress.update(task, description=name)
                if name in found["matches"]:
                    progress.update(task, advance=plan.games)
                else:
                    result = play_match(
                        make_agent(name),
                        make_agent(plan.against),
                        plan.games,
                        plan.seed,
                        on_progress=lambda done: progress.update(task, advance=done),
                    )
                    found["matches"][name] = result.to_json()
                    write_json(file, found)
                curves.setdefault(agent, []).append(MatchResult.of_json(found["matches"][name]))
    return curves


def play_and_report(plan: Plan, file: Path, picture: Path | None) -> None:
    """Plays with a progress bar, prints a table, and draws if asked."""
    curves = play_curves(plan, file)
    table = Table(title=f"against {plan.against}, {plan.games:,} mirrored games each")
    for column in ("player", "win rate", "95 % interval", "µs a decision"):
        table.add_column(column, justify="left" if column == "player" else "right")
    for agent, results in curves.items():
        for budget, result in zip(plan.budgets, results):
            name = agent.replace(PLACE, str(budget))
            low, high = result.interval
            time = result.microseconds_per_decision["a"]
            table.add_row(name, f"{result.win_rate:.2%}", f"{low:.2%} to {high:.2%}", f"{time:,.0f}")
    console.print(table)
    if picture is None:
        return
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
    save_figure(figure, picture)
