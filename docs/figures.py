"""Draws the figures of the pages anew from the data beside them: `make figures`.

Each says at its lower edge from which commit, and on which day, its data was measured, and holds the checksum of its
data: a test finds figures that show other data.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from crib_env import parse_cards
from crib_env.agents.equilibrium import load_blueprint
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.makers.calibration import BANDS, DISCARDS, in_band, losses, read_calibration
from crib_env.evaluate.matches.game_records import GameRecord, read_records
from crib_env.evaluate.runs.learning_curves import (
    AMOUNT,
    BLUE,
    COLOURS,
    GOOD_AND_BAD,
    GREY,
    RED,
    curve_of_json,
    draw_curves,
    new_figure,
)
from crib_env.files.whole_file import whole_file
from crib_env.picture.drawing import draw_table
from crib_env.picture.seen import Table, see, stages
from crib_env.tables.shipped import DealValues, WinTable
from docs.rules_of_thumb import discards_found, pairs_discarded

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CHECKSUM = "Data"  # the key in a picture


def calibration(data: Path) -> Figure:
    """Stated chances to win against played ones."""
    found = read_calibration(data)
    figure = new_figure(10, 2.9)
    axes = figure.subplots(1, 1 + len(BANDS))
    stated, expected = (np.array([row[k] for row in found.scores]) for k in (2, 4))
    groups = [[(stated, expected, BLUE, "")]]
    axes[0].set(title=f"the dealer wins, {len(stated)} pairs of scores", ylabel="played, %")
    for place, band in zip(axes[1:], BANDS):
        some = in_band(found.discards, *band)
        groups.append([(*losses(some, k)[:2], (BLUE, RED)[k], name) for k, name in enumerate(DISCARDS)])
        place.set(title=f"a discard loses, {band[0]} to {band[1]}")
    for place, of_place in zip(axes, groups):
        values = 100 * np.concatenate([part for group in of_place for part in group[:2]])
        place.plot([values.min(), values.max()], [values.min(), values.max()], color=GREY, linewidth=1)
        for stated, expected, colour, name in of_place:
            place.plot(100 * stated, 100 * expected, ".", color=colour, label=name, markersize=4)
    for place in axes[1:]:
        place.legend()
    figure.supxlabel("stated, %", fontsize="medium")
    return figure


def win_table(data: Path) -> Figure:
    """Chances to win from every pair of scores."""
    table = WinTable.load(data)
    figure = new_figure(10, 4.4)
    pictures = (
        ("dealer wins", table.win_probability, 0, 1),
        ("dealer's net match points", table.match_points, -3, 3),
    )
    for axes, (title, values, low, high) in zip(figure.subplots(1, 2), pictures):
        image = axes.imshow(values, origin="lower", cmap=GOOD_AND_BAD, vmin=low, vmax=high)
        axes.contour(values, levels=np.linspace(low, high, 9)[1:-1], colors="black", linewidths=0.4)
        axes.set(title=title, xlabel="pone's score", ylabel="dealer's score")
        figure.colorbar(image, ax=axes)
    figure.suptitle(f"{table.agent} against itself, {table.deals:,} deals")
    return figure


def league(data: Path) -> Figure:
    """Win rates of all pairs of a league."""
    content = json.loads(data.read_text())
    places = {name: place for place, name in enumerate(content["agents"])}
    rates, widths = np.full((2, len(places), len(places)), np.nan)
    for one, other, rate, width in content["win_rates"]:
        i, j = places[one], places[other]
        rates[i, j], rates[j, i] = rate, 1 - rate
        widths[i, j] = widths[j, i] = width
    n = len(places)
    figure = new_figure(2.2 + 0.75 * n, 1.6 + 0.6 * n)
    axes = figure.subplots()
    for (y, x), rate in np.ndenumerate(rates):
        if not np.isnan(rate):
            colour = "white" if abs(rate - 0.5) > 0.18 else "black"
            text = f"{100 * rate:.1f}\n± {100 * widths[y, x]:.1f}"
            axes.text(x, y, text, ha="center", va="center", size=7, color=colour)
    image = axes.imshow(100 * rates, cmap=GOOD_AND_BAD, vmin=25, vmax=75)
    axes.set_xticks(range(n), list(places), rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n), list(places))
    axes.set(xlabel="against", title=f"games won, %, of {content['games']:,}")
    figure.colorbar(image, ax=axes, extend="both")
    return figure


def learners(data: Path) -> Figure:
    """Learning curves that `evaluate runs curves --json` kept, and players to compare with."""
    content = json.loads(data.read_text())
    curves = {label: [curve_of_json(curve) for curve in of_label] for label, of_label in content["curves"].items()}
    return draw_curves(curves, content["against"], content["over"], content.get("levels"))


def search(data: Path) -> Figure:
    """Exploitability of `search` by the time of a decision, beside what it earns from its blueprint: medians of runs,
    and their ranges."""
    figure = new_figure(8, 3.2)
    for axes, of in zip(figure.subplots(1, 2), ("exploitability", "net")):
        for (name, runs), colour in zip(json.loads(data.read_text())["curves"].items(), COLOURS):
            found, ms = (np.array([[point[key] for point in run] for run in runs]) for key in (of, "ms"))
            axes.plot(np.median(ms, axis=0), np.median(found, axis=0), "o-", color=colour, markersize=3, label=name)
            axes.fill_between(np.median(ms, axis=0), found.min(axis=0), found.max(axis=0), color=colour, alpha=0.2)
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xticks([0, 10, 20, 50, 100, 200, 500], ["0", "10", "20", "50", "100", "200", "500"])
        axes.set(ylabel=f"{of}, points a deal", ylim=(0, None))
    axes.set_ylabel("earned from the blueprint, points a deal")
    axes.legend()
    figure.supxlabel("milliseconds a decision", fontsize="medium")
    return figure


def discards(data: Path) -> Figure:
    """How often each two ranks are discarded in equilibrium, when a player holds both."""
    values = DealValues.load(data)
    figure = new_figure(10, 5.6)
    figure.set_layout_engine("constrained", rect=(0, 0.04, 1, 0.94))  # room for the stamp and the title
    for role, axes in zip((DEALER, PONE), figure.subplots(1, 2)):
        found = discards_found(values, load_blueprint().discards[role], role)
        shares = np.full((len(RANKS), len(RANKS)), np.nan)
        for row in pairs_discarded(role, found, values):
            low, high = (RANKS.index(rank) for rank in row.ranks.split())
            shares[low, high] = row.when_held
            text = f"{100 * row.when_held:.0f}"
            axes.text(high, low, text, ha="center", va="center", fontsize=7, color="w" if row.when_held > 0.5 else "k")
        axes.imshow(shares, cmap=AMOUNT, vmin=0, vmax=1)
        axes.set(title="dealer" if role == DEALER else "pone", xticks=range(len(RANKS)), yticks=range(len(RANKS)))
        axes.set_xticklabels(RANKS)
        axes.set_yticklabels(RANKS)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
    figure.suptitle("discarded when both are held, % of the deals", fontsize="medium")
    return figure


# Pictures by name, each with its data and what draws it.
DRAWN: dict[str, tuple[str, Callable[[Path], Figure]]] = {
    "win-table.png": ("crib_env/tables/data/win_table.npz", win_table),
    "calibration.png": ("docs/calibration.json", calibration),
    "learners.png": ("docs/learners.json", learners),
    "ladder-4.png": ("docs/ladder-4.json", learners),
    "search.png": ("docs/search.json", search),
    "league.png": ("docs/league.json", league),
    "discards.png": ("crib_env/tables/data/deals.npz", discards),
}
MOVING, GAME = "deal.gif", "docs/game.jsonl"


def tables(record: GameRecord, deal: int) -> Iterator[Table]:
    """A deal, counted from 1, from its first cards to the last count, both hands and the crib face up."""
    env = record.begin()
    for number, cards in enumerate(record.cards, start=1):
        dealt = env.games.copy()
        dealt["n_events"] = 0  # these are the events of the deal before
        if number == deal:
            yield see(dealt, None, names=record.names)
        for card in parse_cards(cards):
            if number == deal:
                yield from (see(games, None, names=record.names) for games in stages(env.games, card))
            env.step(card)


def write_gif(path: Path, moments: list[Table]) -> None:
    """Writes a moving picture that repeats, with one list of colours, so that it holds changes only."""
    pixels = [np.asarray(draw_table(table).image.resize((640, 480))) for table in moments]
    sample = np.concatenate([pixels[k] for k in {0, len(pixels) // 2, len(pixels) - 1}])
    colours = Image.fromarray(sample).quantize(64, dither=Image.Dither.NONE)
    first, *others = (Image.fromarray(one).quantize(palette=colours, dither=Image.Dither.NONE) for one in pixels)
    times = [900 if table.count is None else 2_600 if table.counted else 1_100 for table in moments]
    with whole_file(path) as file:
        first.save(
            file,
            format="GIF",
            save_all=True,
            append_images=others,
            duration=[*times[:-1], 4_000],
            loop=0,
            optimize=True,
        )


def checksum(data: Path) -> str:
    """Of a data file, as pictures keep it."""
    return hashlib.sha256(data.read_bytes()).hexdigest()


def origin(data: Path) -> str:
    """The commit and the day of a measurement: what JSON says under ``made``, else when the file was last changed."""
    if data.suffix == ".json" and (made := json.loads(data.read_text()).get("made")):
        return made
    log = ["git", "log", "-1", "--format=%h, %as", "--", str(data)]
    return subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Draws them all."""
    for name, (data, draw) in DRAWN.items():
        figure = draw(ROOT / data)
        size = max(6.0, figure.get_figwidth() / 2)  # legible at the width of a page
        stamp = f"measured at {origin(ROOT / data)}"
        figure.text(0.998, 0.004, stamp, ha="right", va="bottom", fontsize=size, color="#666666")
        with whole_file(DOCS / name) as file:
            figure.savefig(file, format="png", metadata={CHECKSUM: checksum(ROOT / data)})
        print(f"docs/{name} from {data}")
    (game,) = read_records(ROOT / GAME)
    write_gif(DOCS / MOVING, list(tables(game, 3)))
    print(f"docs/{MOVING} from {GAME}")


if __name__ == "__main__":
    main()
