"""Strength of an agent in training: mirrored games of cribbage, or of its pegging alone, against two baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from crib_env.agents import make_agent
from crib_env.evaluate.console import table_of
from crib_env.evaluate.files import plain
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.matches.mirrored import mean_of_pairs, play_deals
from crib_env.evaluate.runs import format as form
from crib_env.evaluate.statistics import half_width, mean_interval
from crib_env.players.agent_from_text import as_agent

BASELINES = ("greedy", "random")
OnProgress = Callable[[int], None]


class Strength(NamedTuple):
    """The strength of a player."""

    scalars: dict[str, float]
    """By tag (:mod:`crib_env.evaluate.runs.format`), with the ends of 95 % intervals."""
    as_json: dict[str, Any]
    """The whole result, for ``summary.json``."""


class Measure(NamedTuple):
    """How strength is measured. The class of a learner of another game has one as ``STRENGTH``."""

    sample: str
    """What games are, for people."""
    tags: Sequence[str]
    """Of the main results: those that are said during training and drawn."""
    play: Callable[[Any, int, int, OnProgress], Strength]
    """The strength of an agent by so many games, against each opponent; their seed; is told of further games."""
    opponents: int = len(BASELINES)

    def draw(self, folder: Path, title: str, summary: dict[str, Any]) -> Path:
        """Draws the learning curve of a run with this summary into its folder; the path of the picture."""
        from crib_env.evaluate.runs.learning_curves import (  # takes half a second
            COLOURS,
            Curve,
            draw_curve,
            final_of,
            new_figure,
            number_ticks,
            read_points,
            save_figure,
        )

        figure, settings = new_figure(3.6 * len(self.tags), 3.2), form.read_config(folder).settings
        for axes, tag, colour in zip(figure.subplots(1, len(self.tags), squeeze=False)[0], self.tags, COLOURS):
            curve, scale = Curve(read_points(folder, tag), final_of(summary, tag)), 100 if "win rate" in tag else 1
            draw_curve(axes, curve, colour, "", scale)
            axes.set(xlabel="episodes", title=form.title_of(tag) + ", %" * (scale == 100))
            number_ticks(axes.xaxis)
        each, last = (f"{settings[name]:,}" for name in ("evaluation_games", "final_games"))
        about = f"points: {each} games each, with 95 % intervals; diamond, after training: {last}"
        figure.suptitle(f"{title}\n{about}", fontsize="medium")
        save_figure(figure, folder / form.LEARNING_CURVE)
        return folder / form.LEARNING_CURVE


def strength_of(learner: Any, settings: Any) -> Measure:
    """The measure for a run: that of its learner, else pegging games for players of pegging, else whole games."""
    if (own := getattr(learner, "STRENGTH", None)) is not None:
        found: Measure = own
        return found
    if getattr(settings, "episode", "game") == "pegging":
        return pegging_games(getattr(settings, "cards", 4))
    return MATCHES


def is_due(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements, spread evenly over ``total`` episodes, falls between two counts."""
    return before * times // total < now * times // total


def is_doubled(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements falls between two counts of episodes: the last at the end, after ``total``
    of them, each other one after half as many as the next."""
    return any(before << k < total <= now << k for k in range(times))


def in_words(tags: Sequence[str], scalars: dict[str, float]) -> str:
    """Results and half of their 95 % intervals, in a line."""
    parts = []
    for tag in tags:
        low, high = (scalars[end] for end in form.band_of(tag))
        parts.append(f"{form.title_of(tag)} {figure_of(tag, scalars[tag])} ± {figure_of(tag, half_width((low, high)))}")
    return ", ".join(parts)


def table(title: str, scalars: dict[str, float]) -> Table:
    """Results with their 95 % intervals as a table."""
    rows = []
    for tag in (tag for tag in scalars if not form.is_end(tag)):
        low, high = (figure_of(tag, scalars[end]) for end in form.band_of(tag))
        rows.append((form.title_of(tag), figure_of(tag, scalars[tag]), f"{low} to {high}"))
    return table_of(title, ("", "result", "95 % interval"), rows)


def figure_of(tag: str, value: float) -> str:
    """A result for display: win rates in percent, points with two decimals, points a hand with four."""
    return f"{value:.2%}" if "win rate" in tag else f"{value:.2f}" if "a game" in tag else f"{value:.4f}"


def _matches(agent: Any, games: int, seed: int, on_progress: OnProgress) -> Strength:
    player = as_agent(agent)
    results = {name: play_match(player, make_agent(name), games, seed, on_progress=on_progress) for name in BASELINES}
    scalars: dict[str, float] = {}
    for name, result in results.items():
        scalars |= form.with_band(form.win_rate_tag(name), result.win_rate, *result.interval)
    for name, result in results.items():
        scalars |= form.with_band(form.margin_tag(name), result.margin, *result.margin_interval)
    return Strength(scalars, {name: plain(result) for name, result in results.items()})


MATCHES = Measure("mirrored games against each baseline", [form.win_rate_tag(name) for name in BASELINES], _matches)


def pegging_games(cards: int = 4) -> Measure:
    """Games of the pegging episode, with so many cards for each player."""

    def play(agent: Any, games: int, seed: int, on_progress: OnProgress) -> Strength:
        player, results, scalars = as_agent(agent), dict[str, Any](), dict[str, float]()
        for name in BASELINES:
            tally = play_deals(
                player,
                make_agent(name),
                games // 2,
                seed,
                episode="pegging",
                cards=cards,
                on_progress=lambda pairs: on_progress(2 * pairs),
            )
            points = tally.sum(axis=(2, 3))
            net = mean_of_pairs(points[:, 0] - points[:, 1])
            mean, interval = float(net.mean()), mean_interval(net)
            results[name] = {"net_points": mean, "interval": interval, "games": games}
            scalars |= form.with_band(form.margin_tag(name), mean, *interval)
        return Strength(scalars, results)

    sample = "mirrored pegging games against each baseline"
    return Measure(sample, [form.margin_tag(name) for name in BASELINES], play)
