"""Deals that an agent plays against itself, for tables: from 0–0, at many scores, and after discards at random.

Near the end of a game players play for other things than points, so a deal has to be played at each pair of scores.
The same cards are dealt at all of them: an agent that searches values them together
(:mod:`crib_env.agents.choosing`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.skill.positions import play_after_discards
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import hand_of_mask
from crib_env.kernels import kernel
from crib_env.players.agent import Agent
from crib_env.players.turns import play_out
from crib_env.scoring import show_points
from crib_env.tables.outlook import discard_points
from crib_env.tables.shipped import LATE

MOST_PEGS = 32
"""Enough: each of eight cards scores at most three times, then there are heels and three hands."""
SIZE = WIN - LATE, WIN - LATE
"""Shape of what depends on own score and the opponent's."""
LATE_SCORES = np.stack(np.meshgrid(np.arange(LATE, WIN), np.arange(LATE, WIN), indexing="ij"), axis=-1).reshape(-1, 2)
"""(1296, 2) own score and the opponent's."""
_ALL_SCORES = np.stack(np.divmod(np.arange(WIN * WIN), WIN), axis=1)
_ROWS = 20_000  # games side by side
_LATE_DEALS, _PLAYS = 8, 2_000  # deals side by side
_TEMPERATURE = 1.5  # points: a discard that is this much worse is drawn 1/e times as often
_IN_PLAY = [SOURCES.index("play"), SOURCES.index("heels")]


def points_of(agent: Agent, seeds: np.ndarray) -> np.ndarray:
    """The points of deals (n,) from 0–0 in order, then zeros: (n, ``MOST_PEGS``, 2) int8, of dealer and of pone."""
    points = np.zeros((len(seeds), MOST_PEGS, 2), np.int8)
    batch = GameBatch(seeds, episode="deal")
    length = np.zeros(len(seeds), np.int64)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        _append_events(batch.games, rows, points, length)
    return points


@kernel
def _append_events(games, rows, points, length):
    for i in rows:
        g = games[i]
        for k in range(g["n_events"]):
            if g["event_points"][k]:
                side = 0 if g["event_player"][k] == g["dealer"] else 1
                points[i, length[i], side] = g["event_points"][k]
                length[i] += 1


@kernel
def score_after(points, dealer, pone):
    """The scores of dealer and pone after a deal, whose points (32, 2) are in order; whoever reaches 121 is first."""
    for k in range(len(points)):
        dealer += points[k, 0]
        pone += points[k, 1]
        if dealer >= WIN or pone >= WIN:
            break
    return dealer, pone


def deals_at(agent: Agent, seeds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Deals (n,) played at C pairs of scores: the scores of dealer and pone after each, (n, C, 2) int8.

    Whoever has 121 has won, and the rest of the deal is not played.

    Args:
        scores: (C, 2) of dealer and pone before the deal.
    """
    after = np.empty((len(seeds), len(scores), 2), np.int8)
    side_by_side = max(1, _ROWS // len(scores))
    for start in range(0, len(seeds), side_by_side):
        some = seeds[start : start + side_by_side]
        batch = GameBatch(np.repeat(some, len(scores)), episode="deal", first_dealer=0)
        batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (len(some), 1))
        play_out(batch, [agent])
        after[start : start + side_by_side] = batch.games["scores"].reshape(len(some), len(scores), 2)
    return after


def scores_from(low: int) -> np.ndarray:
    """Pairs of scores (C, 2), dealer's first, of which the lower one is at least ``low``."""
    return _ALL_SCORES[_ALL_SCORES.min(axis=1) >= low]


def scores_about(low: int) -> np.ndarray:
    """Pairs of scores (C, 2), dealer's first, of which just one is at least ``low``."""
    return _ALL_SCORES[(low <= _ALL_SCORES).sum(axis=1) == 1]


def roles_of(seeds: np.ndarray) -> np.ndarray:
    """(n,) the role of the player who discards at random in each deal."""
    return np.where(seeds % np.uint64(2) == 0, DEALER, PONE)


class Explored(NamedTuple):
    """n deals, each played at C pairs of scores."""

    batch: GameBatch
    """Of n * C games, all that belong to a deal together."""
    seats: np.ndarray
    """(n,) of the player who discarded at random; the dealer sits on 0."""
    sixes: np.ndarray
    """(n, 6) int64, its cards, sorted."""
    places: np.ndarray
    """(n,) which of the fifteen discards it drew, in the order of ``PLACES``."""


def explore(agent: Agent, seeds: np.ndarray, scores: np.ndarray) -> Explored:
    """Plays deals (n,). One player, by turns the dealer and pone, discards at random, mostly what is nearly best; all
    else is the agent's.

    Args:
        scores: (C, 2) of the player who discards at random, and of its opponent.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), episode="deal", first_dealer=0)
    explorer = np.where(roles_of(seeds) == DEALER, 0, 1)
    seats, all_rows = np.repeat(explorer, width), np.arange(n * width)
    start = np.empty((n * width, 2), np.int64)
    start[all_rows, seats], start[all_rows, 1 - seats] = np.tile(scores, (n, 1)).T
    batch.games["scores"] = batch.games["start_scores"] = start

    dealt = batch.games["cards"][::width].astype(np.int64)
    sixes = np.sort(np.take_along_axis(dealt, 6 * explorer[:, None] + np.arange(6), axis=1), axis=1)
    places = _drawn(discard_points(sixes, explorer == 0), seeds)
    pairs = sixes[np.arange(n)[:, None], PLACES[places]]
    play_after_discards(agent, batch, seats, np.repeat(pairs, width, axis=0))
    return Explored(batch, explorer, sixes, places)


def _drawn(points: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """(n,) a discard for each row of ``points`` (n, 15), drawn by its seed."""
    chances = np.exp((points - points.max(axis=1, keepdims=True)) / _TEMPERATURE)
    limits = chances.cumsum(axis=1) / chances.sum(axis=1, keepdims=True)
    drawn = np.array([np.random.default_rng(seed).random() for seed in seeds])
    places: np.ndarray = (drawn[:, None] >= limits).sum(axis=1)
    return places


class LateDeals(NamedTuple):
    """n deals, from the side of the player who discarded at random: its own first, then the opponent's."""

    roles: np.ndarray
    """(n,) int64."""
    sixes: np.ndarray
    """(n, 6) int64 its cards, sorted."""
    places: np.ndarray
    """(n,) int64 which of the fifteen discards it drew."""
    pegged: np.ndarray
    """(n, 1296, 2) int8 points of the play and of his heels, at ``LATE_SCORES``."""
    after: np.ndarray
    """(n, 1296, 2) int8 scores after the deal."""
    shown: np.ndarray
    """(n, 1296, 2) int8 what the opponent's hand and the crib count, also where the game ends before they are shown."""


@kernel
def _count_shown(games, seats, out):
    for n in range(len(games)):
        g, opponent = games[n], 1 - seats[n]
        cut = np.int64(g["cards"][12])
        out[n, 0] = show_points(g["kept"][opponent], cut, False)
        out[n, 1] = show_points(g["discards"][0] | g["discards"][1], cut, True)


def explore_late(agent: Agent, seeds: np.ndarray) -> LateDeals:
    """Plays deals (n,) at all late scores."""
    n, width = len(seeds), len(LATE_SCORES)
    whole = (np.zeros(shape, np.int64) for shape in ((n, 6), (n,)))
    found = LateDeals(roles_of(seeds), *whole, *(np.zeros((n, width, 2), np.int8) for _ in range(3)))
    for start in range(0, n, _LATE_DEALS):
        rows = slice(start, start + _LATE_DEALS)
        explored = explore(agent, seeds[rows], LATE_SCORES)
        found.sixes[rows], found.places[rows] = explored.sixes, explored.places
        seats = np.repeat(explored.seats, width)
        sides, at = np.stack([seats, 1 - seats], axis=1), np.arange(len(seats))[:, None]
        pegged = explored.batch.tally[..., _IN_PLAY].sum(axis=(2, 3))
        found.pegged[rows] = pegged[at, sides].reshape(-1, width, 2)
        found.after[rows] = explored.batch.games["scores"][at, sides].reshape(-1, width, 2)
        _count_shown(explored.batch.games, seats, found.shown[rows].reshape(-1, 2))
    return found


class Plays(NamedTuple):
    """n plays, from the side of the player who discarded at random."""

    roles: np.ndarray
    """(n,) int64."""
    hands: np.ndarray
    """(n,) int64 number of the four kept."""
    points: np.ndarray
    """(n, 2) int64 gained and given."""


@kernel
def _fill_numbers(kept, out):
    for n in range(len(kept)):
        out[n] = hand_of_mask(kept[n])


def explore_plays(agent: Agent, seeds: np.ndarray) -> Plays:
    """Plays deals (n,) from 0–0."""
    n = len(seeds)
    found = Plays(roles_of(seeds), np.zeros(n, np.int64), np.zeros((n, 2), np.int64))
    for start in range(0, n, _PLAYS):
        rows = slice(start, start + _PLAYS)
        explored = explore(agent, seeds[rows], np.zeros((1, 2), np.int64))
        games, seats, at = explored.batch.games, explored.seats, np.arange(len(explored.seats))
        _fill_numbers(games["kept"][at, seats], found.hands[rows])
        made = explored.batch.tally[..., SOURCES.index("play")].sum(axis=2)
        found.points[rows] = np.stack([made[at, seats], made[at, 1 - seats]], axis=1)
    return found
