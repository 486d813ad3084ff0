"""How well stated chances to win agree with games that are played out (:mod:`crib_env.evaluate.makers.played_out`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    JUDGES,
    RANKS,
    AtScores,
    Calibration,
    OfCards,
    OfDiscards,
    Plan,
    calibrate,
)
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import MOST_GAMES, Amount, Range, Seed, Threads
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


class AgreementOfCards(NamedTuple):
    """Over choices of the play of a band: what a rank comes to above the mean of its choice, in chance to win."""

    slope: Estimate
    """Of played by stated."""
    level: Estimate
    """The mean of stated less played, before that mean is taken off."""
    excess: Estimate
    """The mean square of played less stated of a choice, above that of the first judge."""
    best: Estimate
    """What the rank that is stated to be best comes to, above that of the first judge."""
    choices: int


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


def agreement_of_cards(rows: Sequence[OfCards], judge: str) -> AgreementOfCards:
    """Of blocks of choices; intervals are from the spread between blocks."""
    first = np.array([row.judges[JUDGES[0]] for row in rows])
    own, n = np.array([row.judges[judge] for row in rows]), np.array([row.choices for row in rows])
    products, squares, _, levels, _ = own.T
    slope = products.sum() / squares.sum()

    def mean(totals: np.ndarray) -> Estimate:
        value = totals.sum() / n.sum()
        return Estimate(float(value), half_width(mean_interval((totals - value * n) / n.mean())))

    return AgreementOfCards(
        Estimate(float(slope), half_width(mean_interval((products - slope * squares) / squares.mean()))),
        mean(levels),
        mean((own - first)[:, 2]),
        mean((own - first)[:, 4]),
        int(n.sum()),
    )


def each_band_of_cards(found: Calibration) -> Iterator[tuple[tuple[int, int], bool, str, AgreementOfCards]]:
    """The agreement by band, by whether the choices are early, and by judge."""
    blocks = found.plan.blocks_of_cards()
    for number, band in enumerate(BANDS):
        of_band = found.cards[number * blocks : (number + 1) * blocks]
        for is_early in (True, False):
            rows = [row for block in of_band for row in block if row.is_early == is_early and row.choices]
            for judge in JUDGES[: 1 if is_early else None]:
                yield band, is_early, judge, agreement_of_cards(rows, judge)


def print_agreement(found: Calibration) -> None:
    """Prints how stated agrees with played; differences are in percentage points, squares in those of them."""
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
    cards = [
        (
            f"{band[0]} to {band[1]}",
            "under 3" if is_early else "3 or more",
            judge,
            _text(fit.slope, 1, 3),
            _text(fit.level),
            *(("", "") if judge == JUDGES[0] else (_text(fit.best), _text(fit.excess, 1e4, 1))),
            f"{fit.choices:,}",
        )
        for band, is_early, judge, fit in each_band_of_cards(found)
    ]
    header = ["score", "cards laid", "judge", "slope", "level", "its best", "square", "choices"]
    console.print(table_of("what a rank comes to in the play, stated and played", header, cards, words=3))


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
    cards: Annotated[int, Range(1_000, MOST_GAMES)] = 10_000,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Compares stated chances to win, at scores, after discards and after cards, with games that are played out.

    The win table at random pairs of scores, against whole games of the agent against itself. And what the second and
    the fourth best discard lose by the analysis, against deals played out with the same hidden cards. And what a rank
    comes to in the play by two judges, against the same deal played out. `FILE` keeps what is finished, so the same
    command continues what was interrupted.

    Args:
        path: The JSON file of the results.
        agent: The agent in both seats.
        pairs: Number of pairs of scores, two thirds of them with a score above 100.
        games: Number of games at each pair.
        positions: Number of positions before a discard, in each of three bands of scores.
        deals: Number of deals in each position, for each discard.
        cards: Number of deals for choices of the play, in each of three bands of scores.
        seed: Random seed.
        threads: Number of threads.
    """
    check_outputs(path)
    make_agent(agent)
    plan = Plan(agent, pairs, games, positions, deals, cards, seed)
    found = Calibration.of(plan, path)
    with advancing("played", pairs + (positions + plan.blocks_of_cards()) * len(BANDS)) as on_progress:
        on_progress(found.parts())
        for more in calibrate(plan, path, threads):
            on_progress(more.parts() - found.parts())
            found = more
    print_agreement(found)


if __name__ == "__main__":
    run(calibration)
