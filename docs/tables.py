"""Tables of the benchmarks that come from kept data; :mod:`docs.pages` writes them into their pages."""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path

import numpy as np

from crib_env.agents.equilibrium import load_blueprint
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.files import markdown_table
from crib_env.evaluate.statistics import mean_interval
from crib_env.tables.shipped import standard_deals
from docs.rules_of_thumb import discards_found, rules_for_discards, tally

DOCS = Path(__file__).parent
END = "<!-- end of table -->\n"


def kept(name):
    """The content of a JSON file."""
    return json.loads((DOCS / f"{name}.json").read_text(encoding="utf-8"))


def middle(values):
    """Interquartile mean."""
    cut = len(values) // 4
    kept = sorted(values)[cut : len(values) - cut]
    return sum(kept) / len(kept)


def at_the_end(runs):
    """Interquartile mean and range over seeds of the last exploitability."""
    values = [run["training"]["values"][-1] for run in runs]
    return f"{middle(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def ladder():
    """Exploitability at the end by learner and the number of cards, and mean processor seconds with three."""
    found = {}
    for cards in (2, 3, 4):
        for name, runs in kept(f"ladder-{cards}")["curves"].items():
            row = found.setdefault(name.split(",")[0], [])
            row.append(at_the_end(runs))
            if cards == 3:
                seconds = [run["training"]["places"][-1] for run in runs]
                row.append(f"{sum(seconds) / len(seconds):.0f}")
    rows = sorted(([f"`{name}`", *row] for name, row in found.items()), key=lambda row: row[2])
    return ["learner", "two cards", "three cards", "processor seconds", "four cards"], rows


SPEEDS = (
    "random full games, engine",
    "random decisions, engine",
    "greedy full games, engine",
    "batch of both seats, decisions with observations and masks",
    "discard statistics of 15, in a batch",
    "discard statistics of 15, one call",
    "vector env, learner's steps",
    "vector env, 65,536 games, copy=False, two threads, learner's steps",
    "single env, learner's steps",
    "crib_env raw_env, turns",
    "crib_env env, turns",
    "random full games, OpenSpiel, chance sampled by its probabilities",
    "random full games, OpenSpiel, chance picked as actions are",
)


def speeds():
    """Medians and ranges a second; large numbers in millions."""

    def row(name, low, median, high):
        scale, digits, unit = (1e6, 2, " M") if median >= 10_000_000 else (1, 0 if median >= 1_000 else 1, "")
        shown = [f"{value / scale:,.{digits}f}" for value in (low, median, high)]
        return [name, shown[1] + unit, f"{shown[0]} to {shown[2]}{unit}"]

    measured = kept("speed")["per_second"]
    return ["", "a second", "range"], [row(name, *measured[name]) for name in SPEEDS]


@cache
def discards_of(role):
    """All discards of a role and what each loses."""
    return discards_found(standard_deals(), load_blueprint().discards[role], role)


def rules_of(role):
    """How rules of thumb for a role's discards fare against that solution."""
    rows = [
        [one.says, f"{one.applies:.1%}", f"{one.kept:.0%}", f"{one.keeping:.2f}", f"{one.breaking:.2f}"]
        for one in tally(rules_for_discards(role), discards_of(role))
    ]
    return [f"rule of {ROLES[role]}", "applies", "kept", "keeping costs", "breaking costs"], rows


def chosen_by_another():
    """What a player would win by taking, of the three discards measured, the best by one agent's deals in place of the
    best as stated: in the deals of the other agent, % points, mean of both ways round."""

    def played(name):
        fields = "is_dealer", "own", "opponents"
        found = kept(name)["discards"] + kept(name.replace("calibration", "calibration-late"))["discards"]
        return {(*row["cards"], *map(row.get, fields)): row["played"] for row in found}

    one, two = played("calibration"), played("calibration-expert")
    rows = []
    for low, high in ((0, 94), (95, 107), (108, 120)):
        gains = []
        for key in sorted(key for key in one.keys() & two.keys() if low <= min(key[-2:]) <= high):
            ways = (one[key], two[key]), (two[key], one[key])
            gains.append(50 * sum(judged[choice.index(max(choice))] - judged[0] for choice, judged in ways))
        least, most = mean_interval(np.array(gains))
        rows.append([f"{low} to {high}", f"{(least + most) / 2:+.2f} ± {(most - least) / 2:.2f}", f"{len(gains)}"])
    return ["lower score", "gained, % points", "positions"], rows


TABLES = {
    "another choice": ("evaluate/exact-values", chosen_by_another),
    "rules of the dealer": ("findings", partial(rules_of, DEALER)),
    "rules of pone": ("findings", partial(rules_of, PONE)),
    "ladder": ("benchmarks/imperfect-information", ladder),
    "speeds": ("benchmarks/speed", speeds),
}


def pages() -> dict[Path, str]:
    """The pages with the tables that their data make."""
    found: dict[Path, str] = {}
    for name, (page, make) in TABLES.items():
        path = DOCS / f"{page}.md"
        before, begin, rest = (found.get(path) or path.read_text(encoding="utf-8")).partition(f"<!-- {name} -->\n")
        found[path] = f"{before}{begin}{markdown_table(*make())}{END}{rest.partition(END)[2]}"
    return found
