"""How well stated chances to win agree with games that are played out, at pairs of scores and after discards."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.agents.expert import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.engine import DEAL_EPISODE, WIN
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import advancing, console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.makers import run
from crib_env.evaluate.skill.luck.variates import WINS, LuckMeter, less_luck, results
from crib_env.evaluate.skill.positions import before_discards, begin_all, play_after_discards
from crib_env.evaluate.statistics import half_width, mean_interval, rate_less_luck, student_quantile
from crib_env.exact.discard_statistics import PLACES
from crib_env.files.json_text import read_json
from crib_env.kernels import streams
from crib_env.players.games import Z
from crib_env.tables.deal_chances import chance_after_deal
from crib_env.tables.shipped import standard_win_table
from crib_env.values import Amount, Range, Seed, Threads, typed
from crib_env.views import views_of

BANDS = ((0, 95), (96, 110), (111, 120))
"""The higher of the two scores before a discard."""
BOTH = (95, 108)
"""From these scores of both players on, positions are looked at once more."""
DISCARDS = ("second", "fourth")
"""The discards that are compared with the best."""
_RANKS = (0, 1, 3)  # of the discards that are played
_PAIRS_AT_ONCE = 15  # that meet the same deals
_GAMES_AT_ONCE = 250
_DEALS_AT_ONCE = 1_000
_FEWEST = 3  # positions that have a slope with an interval
_NEAR = 100  # two thirds of the pairs of scores have one above this
_FURTHEST = 30  # points between the two scores of a position at most


class Plan(NamedTuple):
    """What is measured: see :func:`calibration`."""

    agent: str
    pairs: int
    games: int
    positions: int
    deals: int
    seed: int
    least: int = 0


class AtScores(NamedTuple):
    """The dealer's chance to win from a pair of scores: of the win table, and played, less luck; standard errors."""

    dealer: int
    pone: int
    stated: float
    stated_error: float
    played: float
    played_error: float


class OfDiscards(NamedTuple):
    """A position, and what its best discard, its second best and its fourth best come to."""

    cards: tuple[int, ...]
    is_dealer: bool
    own: int
    opponents: int
    discards: tuple[int, ...]
    """In the order of :data:`crib_env.exact.discard_statistics.PLACES`."""
    stated: tuple[float, ...]
    played: tuple[float, ...]
    errors: tuple[float, ...]
    """Standard errors of what the second and the fourth lose, as played."""


class Calibration(NamedTuple):
    """Everything measured so far."""

    plan: Plan
    scores: tuple[AtScores, ...] = ()
    discards: tuple[OfDiscards, ...] = ()


def in_band(rows: Sequence[OfDiscards], low: int, high: int) -> list[OfDiscards]:
    """The positions whose higher score is in a band."""
    return [row for row in rows if low <= max(row.own, row.opponents) <= high]


def losses(rows: Sequence[OfDiscards], rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the second (``rank`` 0) or the fourth discard (1) loses, as stated (P,) and as played (P,), and the standard
    errors of the latter (P,)."""
    stated, played = np.array([row.stated for row in rows]), np.array([row.played for row in rows])
    errors = np.array([row.errors[rank] for row in rows])
    return stated[:, 0] - stated[:, 1 + rank], played[:, 0] - played[:, 1 + rank], errors


def agreement_of_scores(rows: Sequence[AtScores]) -> tuple[float, float, float]:
    """Of played less stated: root of the mean square, the most, and the share within the 95 % interval of both."""
    _, _, stated, error, played, played_error = np.array(rows).T
    off, within = np.abs(played - stated), Z * np.hypot(error, played_error)
    return float(np.sqrt((off**2).mean())), float(off.max()), float((off <= within).mean())


def off_by(stated: np.ndarray, played: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """How far stated losses (P,) are off: root of the mean square of what is not noise of the played ones; and how far
    above it its 95 % interval goes."""
    squares = (stated - played) ** 2 - errors**2
    rms, most = np.sqrt(np.maximum(squares.mean() + np.array([0.0, half_width(mean_interval(squares))]), 0.0))
    return float(rms), float(most - rms)


def agreement_of_losses(stated: np.ndarray, played: np.ndarray) -> tuple[float, float, float, float]:
    """Of losses (P,): the slope of the played by the stated, and the mean of stated less played, each with half of its
    95 % interval. By least squares; the interval of the slope allows for noise that differs between positions."""
    n, about, differs = len(stated), stated - stated.mean(), stated - played
    spread = about @ about
    slope = about @ played / spread
    left = played - played.mean() - slope * about
    error = np.sqrt((about**2 * left**2).sum()) / spread * np.sqrt(n / (n - 2))
    wide, about_mean = student_quantile(n - 2) * error, half_width(mean_interval(differs))
    return float(slope), float(wide), float(differs.mean()), about_mean


def print_agreement(found: Calibration) -> None:
    """Prints how stated agrees with played; differences are in percentage points."""
    rms, most, covered = agreement_of_scores(found.scores)
    console.print(
        f"At {found.plan.pairs} pairs of scores the win table is {100 * rms:.2f} % points off (root of the mean "
        f"square), and {100 * most:.2f} at most; {covered:.0%} are within their 95 % interval."
    )
    groups = {f"higher {low} to {high}": in_band(found.discards, low, high) for low, high in BANDS}
    groups |= {
        f"both from {low}": [row for row in found.discards if low <= min(row.own, row.opponents)] for low in BOTH
    }
    rows = []
    for scores, some in groups.items():
        for rank, name in enumerate(DISCARDS):
            if len(some) < _FEWEST:
                continue
            stated, played, errors = losses(some, rank)
            slope, wide, mean, about = agreement_of_losses(stated, played)
            off, more = off_by(stated, played, errors)
            figures = (f"{100 * mean:.2f} ± {100 * about:.2f}", f"{100 * off:.2f} + {100 * more:.2f}")
            rows.append((scores, name, f"{slope:.3f} ± {wide:.3f}", *figures, f"{len(stated)}"))
    header = ["scores", "discard", "slope", "stated less played", "off by", "positions"]
    console.print(table_of("what a discard loses, stated and played", header, rows, words=2))


def draw_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Pairs of scores (n, 2), the dealer's first, without repetition."""
    pairs = np.stack(np.divmod(np.arange(WIN * WIN), WIN), axis=1)
    is_near, near = pairs.max(axis=1) > _NEAR, -(-2 * n // 3)
    drawn = [rng.choice(np.flatnonzero(kind), size, False) for kind, size in ((is_near, near), (~is_near, n - near))]
    return pairs[np.concatenate(drawn)]


def games_from(agent: Agent, scores: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Games (n,) of an agent against itself, from each of C pairs of scores, the dealer's first.

    The same cards are dealt at all pairs, so that an agent that searches values them together.

    Returns:
        (n, C, 2) int64 scores at the end, and (n, C, 3) float64 the dealer's luck
        (:mod:`crib_env.evaluate.skill.luck.variates`).
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), first_dealer=0)
    batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (n, 1))
    meter = LuckMeter(batch.games, by_coin=False)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        meter.note(rows)
    ends = batch.games["scores"].astype(np.int64)
    return ends.reshape(n, width, 2), meter.luck.sum(axis=1).reshape(n, width, -1)


def dealer_wins(ends: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """(C, 2) float64 of :func:`games_from`: the dealer's win rate less luck, and its standard error, a part of Wilson's
    interval."""
    rates = np.empty((ends.shape[1], 2))
    for k in range(len(rates)):
        won = results(ends[:, k])
        rates[k, 0], interval = rate_less_luck(won[:, WINS], less_luck(won, luck[:, k])[:, WINS])
        rates[k, 1] = half_width(interval) / Z
    return rates


class Positions(NamedTuple):
    """P positions before a discard."""

    sixes: np.ndarray  # (P, 6) int64 sorted cards
    is_dealer: np.ndarray  # (P,) bool
    scores: np.ndarray  # (P, 2) int64 own score and the opponent's


def draw_positions(rng: np.random.Generator, n: int, lowest: int, highest: int, least: int = 0) -> Positions:
    """Random positions, the higher of the two scores from ``lowest`` to ``highest``, the other at most 30 below it and
    not below ``least``."""
    sixes = np.sort(np.stack([rng.choice(52, 6, replace=False) for _ in range(n)]), axis=1)
    higher = rng.integers(lowest, highest + 1, n)
    lower = rng.integers(np.maximum(higher - _FURTHEST, least), higher + 1)
    scores = np.stack([higher, lower], axis=1)
    swapped = rng.random(n) < 0.5
    scores[swapped] = scores[swapped, ::-1]
    return Positions(sixes, rng.random(n) < 0.5, scores)


def stated_chances(position: Positions) -> np.ndarray:
    """(15,) the chance to win after each discard of one position, by the analysis."""
    zero = np.zeros(1, np.int64)
    values: np.ndarray = ExpertAgent().discard_values(views_of(before_discards(*position), zero, zero, zero))[0]
    return values


def play_discards(
    agent: Agent, position: Positions, discards: np.ndarray, deals: int, rng: np.random.Generator
) -> np.ndarray:
    """What each of K discards comes to in one position, (deals, K): 1 for a win in the deal, or the chance after it.

    All discards meet the same cards of the opponent and the same starters, which ``rng`` deals. The agent plays
    everything but the discard, in both seats. ``discards`` (K,) are in the order of ``PLACES``.
    """
    six, is_dealer, scores = position.sixes[0], bool(position.is_dealer[0]), position.scores
    rest = np.setdiff1d(np.arange(52), six)
    hidden = np.stack([rng.permutation(rest)[:7] for _ in range(deals)])
    n, k = deals * len(discards), len(discards)
    cards = np.concatenate([np.tile(six, (n, 1)), np.repeat(hidden, k, axis=0)], axis=1)
    batch = GameBatch(np.repeat(streams(int(rng.integers(2**32)), deals), k), episode="deal")
    begin_all(batch.games, cards, np.full(n, 0 if is_dealer else 1), np.repeat(scores, n, axis=0), DEAL_EPISODE)
    play_after_discards(agent, batch, np.zeros(n, np.int64), np.tile(six[PLACES[discards]], (deals, 1)))
    table = standard_win_table().win_probability.astype(float)
    ends = batch.games["scores"].tolist()
    return np.array([chance_after_deal(*pair, is_dealer, table) for pair in ends]).reshape(deals, k)


def _at_scores(plan: Plan, pairs: np.ndarray, start: int, pool: ThreadPoolExecutor) -> list[AtScores]:
    """The next pairs of scores from ``start`` on."""
    some, table = pairs[start : start + _PAIRS_AT_ONCE], standard_win_table()
    seeds = np.array_split(streams(plan.seed + 1 + start, plan.games), -(-plan.games // _GAMES_AT_ONCE))
    games = list(pool.map(lambda part: games_from(make_agent(plan.agent), some, part), seeds))
    played = dealer_wins(*(np.concatenate(part) for part in zip(*games)))
    stated = np.stack([values[tuple(some.T)] for values in (table.win_probability, table.win_error)], axis=1)
    return [AtScores(*map(int, pair), *map(float, row)) for pair, row in zip(some, np.hstack([stated, played]))]


def _of_discards(plan: Plan, number: int, pool: ThreadPoolExecutor) -> OfDiscards:
    band, place = divmod(number, plan.positions)
    rng = np.random.default_rng([plan.seed, 1, band, place])
    position = draw_positions(rng, 1, *((plan.least, WIN - 1) if plan.least else BANDS[band]), plan.least)
    stated = stated_chances(position)
    discards = stated.argsort(kind="stable")[::-1][[*_RANKS]]
    sizes = np.diff(np.linspace(0, plan.deals, 1 + -(-plan.deals // _DEALS_AT_ONCE)).astype(int)).tolist()
    seeds = rng.integers(2**32, size=len(sizes)).tolist()

    def play(n: int, seed: int) -> np.ndarray:
        return play_discards(make_agent(plan.agent), position, discards, n, np.random.default_rng(seed))

    played = np.concatenate(list(pool.map(play, sizes, seeds)))
    errors = (played[:, :1] - played[:, 1:]).std(axis=0, ddof=1) / np.sqrt(plan.deals)
    found = (discards, stated[discards], played.mean(axis=0), errors)
    cards, (own, opponents) = tuple(position.sixes[0].tolist()), position.scores[0].tolist()
    return OfDiscards(cards, bool(position.is_dealer[0]), own, opponents, *(tuple(part.tolist()) for part in found))


def calibration(
    path: File,
    agent: AgentOption = "best",
    *,
    pairs: Annotated[int, Range(1, WIN * WIN // 3)] = 60,
    games: Amount = 20_000,
    positions: Annotated[int, Range(_FEWEST, 10_000)] = 100,
    deals: Amount = 20_000,
    seed: Seed = 0,
    least: Annotated[int, Range(0, WIN - 1)] = 0,
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
        least: If not 0, both scores of all positions are at least this, in one band.
        threads: Number of threads.
    """
    check_outputs(path)
    make_agent(agent)
    found = Calibration(Plan(agent, pairs, games, positions, deals, seed, least))
    whole = pairs + positions * (1 if least else len(BANDS))
    if path.exists():
        kept = read_calibration(path)
        if kept.plan != found.plan:
            raise ValueError(f"{path} has {kept.plan}, not {found.plan}: give another file")
        found = kept
    drawn, done = draw_scores(np.random.default_rng([seed, 0]), pairs), len(found.scores) + len(found.discards)
    with advancing("played", whole, done) as on_progress, ThreadPoolExecutor(threads) as pool:
        while done < whole:
            if done < pairs:
                found = found._replace(scores=(*found.scores, *_at_scores(found.plan, drawn, done, pool)))
            else:
                found = found._replace(discards=(*found.discards, _of_discards(found.plan, done - pairs, pool)))
            write_json(path, found)
            on_progress(len(found.scores) + len(found.discards) - done)
            done = len(found.scores) + len(found.discards)
    print_agreement(found)


def read_calibration(path: Path) -> Calibration:
    """The results in a file.

    Raises:
        ValueError: it is damaged, or not of this command.
    """
    return read_json(path, f"{path} is not a calibration", partial(typed, kind=Calibration))


if __name__ == "__main__":
    run(calibration)
