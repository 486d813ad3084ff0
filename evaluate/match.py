"""Mirrored matches: the same deals played twice, with the players' seats swapped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents import Agent
from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.kernels import streams
from evaluate.statistics import mean_interval, paired_rate_interval

ROLES = ("pone", "dealer")
_PAIRS_AT_ONCE = 4096


@dataclass(frozen=True)
class MatchResult:
    """How a match went; everything is said from the side of ``a``.

    ``points_per_deal[player][role][source]`` are means over the deals begun in that role, the last deal of each game,
    which is mostly cut short, included.
    """

    a: str
    b: str
    games: int
    seed: int
    wins: int
    win_rate: float
    interval: tuple[float, float]
    margin: float
    margin_interval: tuple[float, float]
    skunks: dict[str, int]
    double_skunks: dict[str, int]
    deals_per_game: float
    points_per_deal: dict[str, dict[str, dict[str, float]]]
    microseconds_per_decision: dict[str, float]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The result as a dictionary of plain values."""
        return asdict(self)


def play_match(
    a: Agent, b: Agent, games: int, seed: int = 0, *, on_progress: Callable[[int], None] = lambda done: None
) -> MatchResult:
    """Plays ``games`` games, half of them the mirror images of the others.

    Args:
        a, b: the players.
        games: how many, an even number.
        seed: of the deals.
        on_progress: is told, from time to time, how many more games are done.

    Raises:
        ValueError: ``games`` is not a positive even number, or an agent chose an illegal card.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games={games} is not allowed: mirrored games come in pairs, give a positive even number")
    started = time.perf_counter()
    deals = streams(seed, games // 2)
    tables = []
    spent, asked = np.zeros(2), np.zeros(2)
    for first in range(0, len(deals), _PAIRS_AT_ONCE):
        part = deals[first : first + _PAIRS_AT_ONCE]
        tables.append(_play_pairs(a, b, part, 2 * first, spent, asked, on_progress))
    return _summarise(a, b, seed, tables, spent / np.maximum(asked, 1), started)


@dataclass(frozen=True)
class _Table:
    """Finished games: rows k and k + N are a mirrored pair; axis 1 is 0 for ``a`` and 1 for ``b``."""

    scores: np.ndarray  # (2N, 2)
    tally: np.ndarray  # (2N, 2, 2, 4)
    deals: np.ndarray  # (2N, 2, 2): begun as pone, as dealer


def _play_pairs(
    a: Agent,
    b: Agent,
    deals: np.ndarray,
    first_id: int,
    spent: np.ndarray,
    asked: np.ndarray,
    on_progress: Callable[[int], None],
) -> _Table:
    batch = GameBatch(np.concatenate([deals, deals]), first_id=first_id)
    seat_of_b = np.repeat([1, 0], len(deals))  # a sits in seat 0, then in seat 1
    rows = batch.acting()
    while len(rows):
        players = batch.games["turn"][rows] == seat_of_b[rows]
        for player, agent in enumerate((a, b)):
            mine = rows[players == player]
            if len(mine):
                cheats = getattr(agent, "act_cheating", None)  # of uct-cheating alone: it is handed whole games
                seen: Any = batch.games[mine] if cheats else batch.views(mine)
                before = time.perf_counter()
                cards = cheats(seen, batch.game_ids[mine]) if cheats else agent.act(seen)
                spent[player] += time.perf_counter() - before
                asked[player] += len(mine)
                try:
                    batch.step(mine, cards)
                except ValueError as error:
                    raise ValueError(f"agent {agent.name!r} in {error}") from None
        still = batch.acting()
        on_progress(len(rows) - len(still))
        rows = still

    n_deals, last_dealer = batch.games["n_deals"].astype(np.int64), batch.games["dealer"]
    dealt = np.empty((len(batch), 2), np.int64)  # deals dealt by each seat: the last dealer has dealt the odd one
    for seat in range(2):
        dealt[:, seat] = (n_deals + (last_dealer == seat)) // 2
    begun = np.stack([n_deals[:, None] - dealt, dealt], axis=2)
    swap = seat_of_b == 0

    def by_player(by_seat: np.ndarray) -> np.ndarray:
        out = by_seat.copy()
        out[swap] = by_seat[swap, ::-1]
        return out

    return _Table(by_player(batch.games["scores"].astype(np.int64)), by_player(batch.tally), by_player(begun))


def _summarise(a: Agent, b: Agent, seed: int, tables: list[_Table], spent: np.ndarray, started: float) -> MatchResult:
    def pairs(values_of: Callable[[_Table], np.ndarray]) -> np.ndarray:
        """Means over the two games of each pair."""
        return np.concatenate([values_of(table).reshape(2, -1).mean(axis=0) for table in tables])

    scores = np.concatenate([table.scores for table in tables])
    tally = np.concatenate([table.tally for table in tables]).sum(axis=0)
    deals = np.concatenate([table.deals for table in tables]).sum(axis=0)
    won = pairs(lambda table: table.scores[:, 0] >= WIN)
    margin = pairs(lambda table: table.scores[:, 0] - table.scores[:, 1])
    players = ("a", "b")
    return MatchResult(
        a=a.name,
        b=b.name,
        games=len(scores),
        seed=seed,
        wins=int((scores[:, 0] >= WIN).sum()),
        win_rate=float(won.mean()),
        interval=paired_rate_interval(won),
        margin=float(margin.mean()),
        margin_interval=mean_interval(margin),
        skunks={p: int((scores[:, 1 - k] <= SKUNK).sum()) for k, p in enumerate(players)},
        double_skunks={p: int((scores[:, 1 - k] <= DOUBLE_SKUNK).sum()) for k, p in enumerate(players)},
        deals_per_game=float(deals.sum() / 2 / len(scores)),
        points_per_deal={
            p: {
                role: {source: float(tally[k, r, s] / deals[k, r]) for s, source in enumerate(SOURCES)}
                for r, role in enumerate(ROLES)
            }
            for k, p in enumerate(players)
        },
        microseconds_per_decision={p: float(spent[k] * 1e6) for k, p in enumerate(players)},
        seconds=time.perf_counter() - started,
    )
