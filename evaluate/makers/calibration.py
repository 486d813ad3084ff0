"""How well stated chances to win agree with games that are played out (:mod:`crib_env.evaluate.makers.played_out`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.played_out import (
    BANDS,
    RANKS,
    AtScores,
    Calibration,
    OfDiscards,
    Plan,
    calibrate,
)
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Amount, Range, Seed, Threads
from crib_env.evaluate.statistics import half_width, mean_interval, student_quantile
from crib_env.players.win_rate import Z


class Estimate(NamedTuple):
    """A value with half of its 95 % interval."""

    value: float
    half_width: float


class AgreementOfScores(NamedTuple):
    """Over pairs of scores."""

    rms: float
    """Root of the mean square of played less stated."""
    furthest: float
    covered: float
    """Share of the pairs whose difference is within the 95 % interval of the statement and the games together."""


class AgreementOfLosses(NamedTuple):
    """Over the positions of a band: what a discard loses against the best, in chance to win."""

    slope: Estimate
    """Of the loss as played, by the loss as stated."""
    difference: Estimate
    """The mean of the loss as stated less as played."""
    positions: int


def agreement_of_scores(rows: Sequence[AtScores]) -> AgreementOfScores:
    """Of pairs of scores."""
    _, _, stated, error, played, played_error = np.array(rows).T
    off, within = np.abs(played - stated), Z * np.hypot(error, played_error)
    return AgreementOfScores(float(np.sqrt((off**2).mean())), float(off.max()), float((off <= within).mean()))


def losses(rows: Sequence[OfDiscards], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """What the second (``rank`` 0) or the fourth discard (1) loses, as stated (P,) and as played (P,)."""
    stated, played = np.array([row.stated for row in rows]), np.array([row.played for row in rows])
    return stated[:, 0] - stated[:, 1 + rank], played[:, 0] - played[:, 1 + rank]


def in_band(rows: Sequence[OfDiscards], band: tuple[int, int]) -> list[OfDiscards]:
    """The positions whose higher score is in a band."""
    return [row for row in rows if band[0] <= max(row.own, row.opponents) <= band[1]]


def agreement_of_losses(stated: np.ndarray, played: np.ndarray) -> AgreementOfLosses:
    """Of losses (P,), by least squares; the interval of the slope allows for noise that differs between positions.

    Raises:
        ValueError: there are fewer than three.
    """
    n = len(stated)
    if n < 3:
        raise ValueError(f"{n} positions are too few: give at least 3")
    about = stated - stated.mean()
    spread = about @ about
    slope = about @ played / spread
    left = played - played.mean() - slope * about
    error = np.sqrt((about**2 * left**2).sum()) / spread * np.sqrt(n / (n - 2))
    differs = stated - played
    return AgreementOfLosses(
        Estimate(float(slope), float(student_quantile(n - 2) * error)),
        Estimate(float(differs.mean()), half_width(mean_interval(differs))),
        n,
    )


def each_band(rows: Sequence[OfDiscards]) -> dict[tuple[tuple[int, int], int], AgreementOfLosses]:
    """The agreement by band and by discard (0 the second, 1 the fourth)."""
    return {
        (band, rank): agreement_of_losses(*losses(in_band(rows, band), rank))
        for band in BANDS
        for rank in range(len(RANKS))
    }


def print_agreement(found: Calibration) -> None:
    """Prints how stated agrees with played; differences are in percentage points."""
    at = agreement_of_scores(found.scores)
    console.print(
        f"At {found.plan.pairs} pairs of scores the win table is {100 * at.rms:.2f} % points off (root of the mean "
        f"square), and {100 * at.furthest:.2f} at most; {at.covered:.0%} are within their 95 % interval."
    )
    rows = [
        (f"{low} to {high}", ("second", "fourth")[rank], _text(of.slope, 1, 3), _text(of.difference), f"{of.positions}")
        for ((low, high), rank), of in each_band(found.discards).items()
    ]
    header = ["higher score", "discard", "slope", "stated less played", "positions"]
    console.print(table_of("what a discard loses, stated and played", header, rows, words=2))


def _text(estimate: Estimate, scale: float = 100, digits: int = 2) -> str:
    return f"{scale * estimate.value:.{digits}f} ± {scale * estimate.half_width:.{digits}f}"


def calibration(
    path: File,
    agent: AgentOption = "best",
    *,
    pairs: Annotated[int, Range(1, WIN * WIN // 3)] = 60,
    games: Amount = 20_000,
    positions: Annotated[int, Range(3, 10_000)] = 100,
    deals: Amount = 20_000,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Compares stated chances to win, at scores and after discards, with games that are played out.

    The win table at random pairs of scores, against whole games of the agent against itself. And what the second and
    the fourth best discard lose by the analysis, against deals played out with the same hidden cards. `FILE` keeps what
    is finished, so the same command continues what was interrupted.

    Args:
        path: The JSON file of the results.
        agent: The agent in both seats.
        pairs: Number of pairs of scores, two thirds of them with a score above 100.
        games: Number of games at each pair.
        positions: Number of positions before a discard, in each of three bands of scores.
        deals: Number of deals in each position, for each discard.
        seed: Random seed.
        threads: Number of threads.
    """
    check_outputs(path)
    make_agent(agent)
    plan = Plan(agent, pairs, games, positions, deals, seed)
    found = Calibration.of(plan, path)
    with advancing("played", pairs + positions * len(BANDS)) as on_progress:
        on_progress(found.parts())
        for more in calibrate(plan, path, threads):
            on_progress(more.parts() - found.parts())
            found = more
    print_agreement(found)


if __name__ == "__main__":
    run(calibration)
