"""Strength of an agent in training: mirrored matches against two baselines, mirrored pegging games.

The module of a learner that does not train a cribbage player has its own :class:`StrengthMeasure
<crib_env.train.loop.contracts.StrengthMeasure>`, as ``STRENGTH``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.table import Table

from crib_env.agents import Agent, make_agent
from crib_env.evaluate.console import table_of
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.matches.match_table import strength_table
from crib_env.evaluate.matches.mirrored import mean_of_pairs
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.runs.format import (
    LEARNING_CURVE,
    margin_tag,
    read_config,
    win_rate_tag,
    with_band,
)
from crib_env.evaluate.statistics import half_width, mean_interval
from crib_env.players.agent_from_text import as_agent
from crib_env.train.loop.contracts import StrengthMeasure

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # matplotlib takes half a second, so it is imported where pictures are drawn
    from matplotlib.figure import Figure

BASELINES = ("greedy", "random")
OnProgress = Callable[[int], None]
R = TypeVar("R")


def strength_of(learner: Any, settings: Any) -> StrengthMeasure[Any, Any]:
    """The measure for a run: that of its learner, else pegging games for players of pegging, else whole games."""
    own: StrengthMeasure[Any, Any] | None = getattr(learner, "STRENGTH", None)
    return own or measure_of(settings)


def measure_of(settings: Any) -> StrengthMeasure[Any, Any]:
    """Pegging games for players trained in pegging, else whole games of cribbage."""
    return PeggingGames(cards_of(settings)) if getattr(settings, "episode", "game") == "pegging" else Matches()


def cards_of(settings: Any) -> int:
    """Cards of each player in pegging; most learners have no setting for it."""
    cards: int = getattr(settings, "cards", 4)
    return cards


def is_due(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements, spread evenly over ``total`` episodes, falls between two counts."""
    return before * times // total < now * times // total


def is_doubled(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements falls between two counts of episodes: the last at the end, after ``total``
    of them, each other one after half as many as the next."""
    return any(before << k < total <= now << k for k in range(times))


class _AgainstBaselines(Generic[R]):
    """What the measures of players of cribbage share, whatever a result against one baseline is."""

    def total(self, games: int) -> int:
        """How many games a measurement of ``games`` against each baseline plays in all."""
        return games * len(BASELINES)

    def measure(self, agent: Any, games: int, seed: int, on_progress: OnProgress = lambda done: None) -> dict[str, R]:
        """Plays ``games`` against each baseline; ``on_progress`` receives the number of further games."""
        player = as_agent(agent)
        return {name: self.against(player, make_agent(name), games, seed, on_progress) for name in BASELINES}

    def against(self, agent: Agent, opponent: Agent, games: int, seed: int, on_progress: OnProgress) -> R:
        """The result against one of them."""
        raise NotImplementedError

    def in_words(self, results: dict[str, R]) -> str:
        """The results and half of their 95 % intervals, in a line."""
        return ", ".join(f"{self.words(result)} against {name}" for name, result in results.items())

    def words(self, result: R) -> str:
        """One of them."""
        raise NotImplementedError


class Matches(_AgainstBaselines[MatchResult]):
    """Whole games: a :class:`crib_env.train.loop.contracts.StrengthMeasure`."""

    SAMPLE = "mirrored games against each baseline"

    def against(self, agent: Agent, opponent: Agent, games: int, seed: int, on_progress: OnProgress) -> MatchResult:
        """The result of a match."""
        return play_match(agent, opponent, games, seed, on_progress=on_progress)

    def words(self, result: MatchResult) -> str:
        """The win rate."""
        return f"{100 * result.win_rate:.1f} ± {100 * half_width(result.interval):.1f} %"

    def scalars(self, results: dict[str, MatchResult]) -> dict[str, float]:
        """The results under the tags that TensorBoard shows."""
        values: dict[str, float] = {}
        for name, result in results.items():
            values |= with_band(win_rate_tag(name), result.win_rate, *result.interval)
        for name, result in results.items():
            values |= with_band(margin_tag(name), result.margin, *result.margin_interval)
        return values

    def as_json(self, results: dict[str, MatchResult]) -> dict[str, Any]:
        """The results for ``summary.json``."""
        return {name: result.to_json() for name, result in results.items()}

    def table(self, name: str, results: dict[str, MatchResult]) -> Table:
        """The results as a table."""
        return strength_table(name, results)

    def draw(self, folder: Path, title: str, summary: dict[str, Any]) -> Path:
        """Draws the learning curve into a run folder: a panel for each baseline, as wide as its rates; the path."""
        from crib_env.evaluate.figures import BLUE, RED, new_figure

        figure = new_figure(3.6 * len(BASELINES), 3.2)
        for axes, name, colour in zip(figure.subplots(1, len(BASELINES)), BASELINES, (RED, BLUE)):
            draw_tag(axes, folder, summary, win_rate_tag(name), colour, "", 100)
            axes.set(xlabel="episodes", title=f"against {name}")
        figure.axes[0].set_ylabel("games won, %, with 95 % interval")
        return saved(figure, folder, title)


@dataclass(frozen=True)
class PeggingResult:
    """Net points a game against one opponent, with a 95 % interval, and the number of games."""

    net_points: float
    interval: tuple[float, float]
    games: int


class PeggingGames(_AgainstBaselines[PeggingResult]):
    """Games of the pegging episode, with so many cards for each player, and net points in them: another
    ``StrengthMeasure``."""

    SAMPLE = "mirrored pegging games against each baseline"

    def __init__(self, cards: int = 4) -> None:
        self._cards = cards

    def against(self, agent: Agent, opponent: Agent, games: int, seed: int, on_progress: OnProgress) -> PeggingResult:
        """The result of a match."""
        pairs = games // 2
        tally = play_deals(
            agent, opponent, pairs, seed, episode="pegging", cards=self._cards, on_progress=lambda n: on_progress(2 * n)
        )
        points = tally.sum(axis=(2, 3))
        net = mean_of_pairs(points[:, 0] - points[:, 1])
        return PeggingResult(float(net.mean()), mean_interval(net), games)

    def words(self, result: PeggingResult) -> str:
        """The net points."""
        return f"{result.net_points:+.2f} ± {half_width(result.interval):.2f} points a game"

    def scalars(self, results: dict[str, PeggingResult]) -> dict[str, float]:
        """The results under the tags that TensorBoard shows."""
        values: dict[str, float] = {}
        for name, result in results.items():
            values |= with_band(margin_tag(name), result.net_points, *result.interval)
        return values

    def as_json(self, results: dict[str, PeggingResult]) -> dict[str, Any]:
        """The results for ``summary.json``."""
        return {name: asdict(result) for name, result in results.items()}

    def table(self, name: str, results: dict[str, PeggingResult]) -> Table:
        """The results as a table."""
        rows = []
        for opponent, result in results.items():
            low, high = result.interval
            interval = f"{low:+.2f} to {high:+.2f}"
            rows.append((opponent, f"{result.games:,}", f"{result.net_points:+.2f}", interval))
        columns = ("against", "games", "net points a game", "95 % interval")
        return table_of(f"{name}, mirrored pegging games", columns, rows)

    def draw(self, folder: Path, title: str, summary: dict[str, Any]) -> Path:
        """Draws the net points into a run folder; returns the path."""
        from crib_env.evaluate.figures import BLUE, GREY, RED, new_figure

        figure = new_figure(7, 3.6)
        axes = figure.subplots()
        for name, colour in zip(BASELINES, (RED, BLUE)):
            draw_tag(axes, folder, summary, margin_tag(name), colour, f"against {name}")
        axes.axhline(0, color=GREY, lw=0.8, ls=":")
        axes.set(xlabel="episodes", ylabel="net points a game, with 95 % interval")
        axes.legend(loc="best")
        return saved(figure, folder, title)


def draw_tag(
    axes: Axes, folder: Path, summary: dict[str, Any], tag: str, colour: str, label: str, scale: float = 1.0
) -> None:
    """The curve of a run under a tag, with its finished player."""
    from crib_env.evaluate.figures import number_ticks
    from crib_env.evaluate.runs.learning_curves import Curve, draw_curve, final_of, read_points

    draw_curve(axes, Curve(read_points(folder, tag), final_of(summary, tag)), colour, label, scale)
    number_ticks(axes.xaxis)


def saved(figure: Figure, folder: Path, title: str, unit: str = "games") -> Path:
    """Writes the learning curve of a run, titled with the games of each point; returns the path of the PNG."""
    from crib_env.evaluate.figures import save_figure

    settings = read_config(folder).settings
    each, last = (f"{settings[name]:,}" for name in ("evaluation_games", "final_games"))
    figure.suptitle(f"{title}\npoints: {each} {unit} each; diamond, after training: {last}", fontsize="medium")
    path = folder / LEARNING_CURVE
    save_figure(figure, path)
    return path
