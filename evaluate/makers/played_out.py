"""Stated chances to win against what happens: at pairs of scores, and after discards.

Finished parts are kept in the file of the results, so that stopped work goes on. What they say is in
:mod:`crib_env.evaluate.makers.calibration`.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import make_agent
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.engine import DEAL_EPISODE, WIN
from crib_env.evaluate.files import write_json
from crib_env.evaluate.skill.luck.table import WINS
from crib_env.evaluate.skill.luck.variates import LuckMeter, less_luck, results
from crib_env.evaluate.skill.positions import before_discards, begin_all, play_after_discards
from crib_env.evaluate.statistics import half_width, rate_less_luck
from crib_env.exact.discard_statistics import PLACES
from crib_env.files.json_text import read_json, typed
from crib_env.kernels import streams
from crib_env.players.agent import Agent
from crib_env.players.win_rate import Z
from crib_env.tables.shipped import standard_win_table
from crib_env.views import views_of

BANDS = ((0, 95), (96, 110), (111, 120))
"""The higher of the two scores before a discard."""
RANKS = (1, 3)
"""Of the discards that are compared with the best: the second and the fourth."""
_PAIRS_AT_ONCE = 15  # that meet the same deals
_GAMES_AT_ONCE = 250
_DEALS_AT_ONCE = 1_000
_NEAR = 100  # two thirds of the pairs of scores have one above this
_FURTHEST = 30  # points between the two scores of a position at most


class Plan(NamedTuple):
    """What is measured."""

    agent: str
    """Both players."""
    pairs: int
    """Pairs of scores."""
    games: int
    """At each of them."""
    positions: int
    """Before a discard, in each of ``BANDS``."""
    deals: int
    """In each of them, for each discard."""
    seed: int


class AtScores(NamedTuple):
    """The dealer's chance to win from a pair of scores."""

    dealer: int
    pone: int
    stated: float
    stated_error: float
    """Standard error of the win table."""
    played: float
    """The share of the games that it won, less luck."""
    played_error: float
    """Its standard error."""


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
    scores: tuple[AtScores, ...]
    discards: tuple[OfDiscards, ...]

    @classmethod
    def of(cls, plan: Plan, path: Path) -> Calibration:
        """What a file has of this plan; nothing if there is no such file.

        Raises:
            ValueError: it is not of this plan, or damaged.
        """
        if not path.exists():
            return cls(plan, (), ())
        found = read_json(path, f"{path} is not a calibration", lambda content: typed(content, cls))
        if found.plan != plan:
            raise ValueError(f"{path} has {found.plan}, not {plan}: give another file")
        return found

    def parts(self) -> int:
        """How many are measured: pairs of scores, and positions before a discard."""
        return len(self.scores) + len(self.discards)

    def save(self, path: Path) -> None:
        """Writes it as JSON, whole or not at all."""
        write_json(path, self)


def calibrate(plan: Plan, path: Path, threads: int) -> Iterator[Calibration]:
    """What is measured, after each part; the file has it by then.

    Args:
        path: of the file, which may have a beginning.
        threads: how many blocks are played side by side; nothing depends on it.
    """
    found = Calibration.of(plan, path)
    with ThreadPoolExecutor(threads) as pool:
        pairs = draw_scores(np.random.default_rng([plan.seed, 0]), plan.pairs)
        while len(found.scores) < len(pairs):
            more = _play_scores(plan, pairs, len(found.scores), pool)
            found = found._replace(scores=(*found.scores, *more))
            found.save(path)
            yield found
        while len(found.discards) < plan.positions * len(BANDS):
            found = found._replace(discards=(*found.discards, _play_discards(plan, len(found.discards), pool)))
            found.save(path)
            yield found


def _play_scores(plan: Plan, pairs: np.ndarray, start: int, pool: ThreadPoolExecutor) -> list[AtScores]:
    some, table = pairs[start : start + _PAIRS_AT_ONCE], standard_win_table()
    seeds = np.array_split(streams(plan.seed + 1 + start, plan.games), -(-plan.games // _GAMES_AT_ONCE))
    games = list(pool.map(lambda part: games_from(make_agent(plan.agent), some, part), seeds))
    played = GamesFrom(*(np.concatenate(part) for part in zip(*games))).dealer_wins()
    stated = np.stack([values[tuple(some.T)] for values in (table.win_probability, table.win_error)], axis=1)
    return [AtScores(*map(int, pair), *map(float, row)) for pair, row in zip(some, np.hstack([stated, played]))]


def _play_discards(plan: Plan, number: int, pool: ThreadPoolExecutor) -> OfDiscards:
    band, place = divmod(number, plan.positions)
    rng = np.random.default_rng([plan.seed, 1, band, place])
    position = draw_positions(rng, 1, *BANDS[band])
    stated = stated_chances(position)
    discards = stated.argsort(kind="stable")[::-1][[0, *RANKS]]
    sizes = np.diff(np.linspace(0, plan.deals, 1 + -(-plan.deals // _DEALS_AT_ONCE)).astype(int))
    table = standard_win_table().win_probability.astype(float)
    seeds = rng.integers(2**32, size=len(sizes))

    def play(part: tuple[Any, Any]) -> np.ndarray:
        agent = make_agent(plan.agent)
        return play_discards(agent, position, discards, int(part[0]), np.random.default_rng(part[1]), table)

    played = np.concatenate(list(pool.map(play, zip(sizes, seeds))))
    lost = played[:, :1] - played[:, 1:]
    own, opponents = position.scores[0].tolist()
    return OfDiscards(
        tuple(position.sixes[0].tolist()),
        bool(position.is_dealer[0]),
        own,
        opponents,
        tuple(discards.tolist()),
        tuple(stated[discards].tolist()),
        tuple(played.mean(axis=0).tolist()),
        tuple((lost.std(axis=0, ddof=1) / np.sqrt(plan.deals)).tolist()),
    )


def stated_chances(position: Positions) -> np.ndarray:
    """(15,) the chance to win after each discard of one position, by the analysis."""
    zero = np.zeros(1, np.int64)
    values: np.ndarray = ExpertAgent().discard_values(views_of(before_discards(*position), zero, zero, zero))[0]
    return values


def draw_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Pairs of scores (n, 2), the dealer's first, without repetition."""
    dealer, pone = np.divmod(np.arange(WIN * WIN), WIN)
    pairs, is_near = np.stack([dealer, pone], axis=1), np.maximum(dealer, pone) > _NEAR
    near = -(-2 * n // 3)
    drawn = [rng.choice(np.flatnonzero(kind), size, False) for kind, size in ((is_near, near), (~is_near, n - near))]
    return pairs[np.concatenate(drawn)]


def draw_late_scores(rng: np.random.Generator, n: int, lowest: int, highest: int) -> np.ndarray:
    """Scores of both seats (n, 2), the higher one from ``lowest`` to ``highest``, the other at most 30 below it."""
    higher = rng.integers(lowest, highest + 1, n)
    lower = rng.integers(np.maximum(higher - _FURTHEST, 0), higher + 1)
    scores = np.stack([higher, lower], axis=1)
    swapped = rng.random(n) < 0.5
    scores[swapped] = scores[swapped, ::-1]
    return scores


def chances_after(games: np.ndarray, seats: np.ndarray, win_table: np.ndarray) -> np.ndarray:
    """What deals that are over are worth to a seat, (n,): 1 for a win in the deal, else the chance to win after it.

    Args:
        games: (n,) of the deal episode.
        seats: (n,) whose chance.
        win_table: (121, 121) the dealer's chance to win.
    """
    at, scores = np.arange(len(games)), games["scores"].astype(np.int64)
    own, other = scores[at, seats], scores[at, 1 - seats]
    a, b = np.minimum(own, WIN - 1), np.minimum(other, WIN - 1)
    after: np.ndarray = np.where(games["dealer"] == seats, 1 - win_table[b, a], win_table[a, b])  # the deal passes
    after[own >= WIN], after[other >= WIN] = 1.0, 0.0
    return after


class GamesFrom(NamedTuple):
    """n games from each of C pairs of scores."""

    scores: np.ndarray
    """(n, C, 2) int64 at the end, the dealer's first."""
    luck: np.ndarray
    """(n, C, 3) float64 the dealer's luck (:mod:`crib_env.evaluate.skill.luck.variates`)."""

    def dealer_wins(self) -> np.ndarray:
        """(C, 2) float64: the dealer's win rate less luck, and its standard error, a part of Wilson's interval."""
        rates = np.empty((self.scores.shape[1], 2))
        for k in range(len(rates)):
            won = results(self.scores[:, k])
            rates[k, 0], interval = rate_less_luck(won[:, WINS], less_luck(won, self.luck[:, k])[:, WINS])
            rates[k, 1] = half_width(interval) / Z
        return rates


def games_from(agent: Agent, scores: np.ndarray, seeds: np.ndarray) -> GamesFrom:
    """Games that begin at C pairs of scores.

    The same cards are dealt at all pairs, so that an agent that searches values them together.

    Args:
        agent: both players.
        scores: (C, 2) of dealer and pone.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), first_dealer=0)
    batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (n, 1))
    meter = LuckMeter(batch.games, by_coin=False)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        meter.note(rows)
    ends = batch.games["scores"].astype(np.int64)
    return GamesFrom(ends.reshape(n, width, 2), meter.luck.sum(axis=1).reshape(n, width, -1))


class Positions(NamedTuple):
    """P positions before a discard."""

    sixes: np.ndarray
    """(P, 6) int64 sorted cards."""
    is_dealer: np.ndarray
    """(P,) bool."""
    scores: np.ndarray
    """(P, 2) int64 own score and the opponent's."""


def draw_positions(rng: np.random.Generator, n: int, lowest: int, highest: int) -> Positions:
    """Random positions, the higher of the two scores from ``lowest`` to ``highest``, the other at most 30 below it."""
    sixes = np.sort(np.stack([rng.choice(52, 6, replace=False) for _ in range(n)]), axis=1)
    scores = draw_late_scores(rng, n, lowest, highest)
    return Positions(sixes, rng.random(n) < 0.5, scores)


def play_discards(
    agent: Agent,
    position: Positions,
    discards: np.ndarray,
    deals: int,
    rng: np.random.Generator,
    win_table: np.ndarray,
) -> np.ndarray:
    """What each of K discards comes to in one position, (deals, K): 1 for a win in the deal, or the chance after it.

    All discards meet the same cards of the opponent and the same starters.

    Args:
        agent: plays everything but the discard, in both seats.
        discards: (K,) numbers of discards, in the order of ``PLACES``.
        rng: deals the cards that the player does not see.
        win_table: (121, 121) the dealer's chance to win after the deal.
    """
    six, is_dealer, scores = position.sixes[0], bool(position.is_dealer[0]), position.scores
    rest = np.setdiff1d(np.arange(52), six)
    hidden = np.stack([rng.permutation(rest)[:7] for _ in range(deals)])
    n, k = deals * len(discards), len(discards)
    cards = np.concatenate([np.tile(six, (n, 1)), np.repeat(hidden, k, axis=0)], axis=1)
    batch = GameBatch(np.repeat(streams(int(rng.integers(2**32)), deals), k), episode="deal")
    begin_all(batch.games, cards, np.full(n, 0 if is_dealer else 1), np.repeat(scores, n, axis=0), DEAL_EPISODE)
    seats = np.zeros(n, np.int64)
    play_after_discards(agent, batch, seats, np.tile(six[PLACES[discards]], (deals, 1)))
    return chances_after(batch.games, seats, win_table).reshape(deals, k)
