"""Measures a calibration part by part. Finished parts are kept in its file, so that stopped work goes on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import make_agent
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.evaluate.files import write_json
from crib_env.evaluate.skill.analysis.judges import ExpertJudge, SolvedJudge
from crib_env.evaluate.skill.positions import before_discards
from crib_env.evaluate.tables.calibration.cards import JudgedCards, compare, draw_choices, play_out_ranks
from crib_env.evaluate.tables.calibration.discards import Positions, draw_positions, play_out
from crib_env.evaluate.tables.calibration.scores import GamesFrom, draw_scores, games_from
from crib_env.files.json_text import read_json, typed
from crib_env.kernels import streams
from crib_env.tables.standard import standard_win_table
from crib_env.views import views_of

BANDS = ((0, 95), (96, 110), (111, 120))
"""The higher of the two scores before a discard."""
RANKS = (1, 3)
"""Of the discards that are compared with the best: the second and the fourth."""
_PAIRS_AT_ONCE = 15  # that meet the same deals
_GAMES_AT_ONCE = 250
_DEALS_AT_ONCE = 1_000
_CARDS_AT_ONCE = 500
_EARLY = 3  # cards; the solution begins behind them
JUDGES = ("expert", "solution")


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
    cards: int
    """Deals in each of ``BANDS`` from which a choice of the play is taken."""
    seed: int

    def blocks_of_cards(self) -> int:
        """Of each band."""
        return -(-self.cards // _CARDS_AT_ONCE)


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


class OfCards(NamedTuple):
    """Choices of the play in some deals."""

    is_early: bool
    """Whether fewer than three cards were laid before."""
    choices: int
    judges: dict[str, JudgedCards]
    """By ``JUDGES``."""


class Calibration(NamedTuple):
    """Everything measured so far."""

    plan: Plan
    scores: tuple[AtScores, ...]
    discards: tuple[OfDiscards, ...]
    cards: tuple[tuple[OfCards, ...], ...]
    """Blocks of deals, those of a band together."""

    @classmethod
    def of(cls, plan: Plan, path: Path) -> Calibration:
        """What a file has of this plan; nothing if there is no such file.

        Raises:
            ValueError: it is not of this plan, or damaged.
        """
        if not path.exists():
            return cls(plan, (), (), ())
        found = read_json(path, f"{path} is not a calibration", lambda content: typed(content, cls))
        if found.plan != plan:
            raise ValueError(f"{path} has {found.plan}, not {plan}: give another file")
        return found

    def parts(self) -> int:
        """How many are measured: pairs of scores, positions before a discard, blocks of deals."""
        return len(self.scores) + len(self.discards) + len(self.cards)

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
        while len(found.cards) < plan.blocks_of_cards() * len(BANDS):
            found = found._replace(cards=(*found.cards, _play_cards(plan, len(found.cards))))
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
        return play_out(agent, position, discards, int(part[0]), np.random.default_rng(part[1]), table)

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


def _play_cards(plan: Plan, number: int) -> tuple[OfCards, ...]:
    band, place = divmod(number, plan.blocks_of_cards())
    rng, agent = np.random.default_rng([plan.seed, 2, band, place]), make_agent(plan.agent)
    choices = draw_choices(agent, rng, _CARDS_AT_ONCE, *BANDS[band])
    played = play_out_ranks(agent, choices, standard_win_table().win_probability.astype(float))
    views = choices.views(np.arange(len(choices)))
    stated = [judge.worth(views).chances for judge in (ExpertJudge(), SolvedJudge())]
    is_early = np.count_nonzero(views.laid >= 0, axis=1) < _EARLY
    return tuple(
        OfCards(
            early,
            int(rows.sum()),
            {name: compare(values[rows], played[rows]) for name, values in zip(JUDGES, stated)},
        )
        for early, rows in ((True, is_early), (False, ~is_early))
    )


def stated_chances(position: Positions) -> np.ndarray:
    """(15,) the chance to win after each discard of one position, by the analysis."""
    zero = np.zeros(1, np.int64)
    values: np.ndarray = ExpertAgent().discard_values(views_of(before_discards(*position), zero, zero, zero))[0]
    return values
