"""How often a player wins against another, with its interval: mirrored games, without the workbench."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.kernels import streams
from crib_env.options import check_seed
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent
from crib_env.players.turns import by_player, play_out
from crib_env.values import is_integer

Z = 1.959964  # 97.5 % quantile of the normal distribution
_PAIRS = 512  # played side by side


class WinRate(NamedTuple):
    """The share of games that an agent won, with its 95 % interval."""

    rate: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.rate:.2%} of {self.games:,} games ({self.low:.2%} to {self.high:.2%})"


def win_rate(agent: Any, opponent: Any, games: int = 10_000, seed: int = 0) -> WinRate:
    """The share of whole games that ``agent`` wins against ``opponent``.

    Half of the games are the mirror images of the others: the same deals with the players' seats swapped. Their deals,
    and so the result, are those of ``crib-env match`` with the same seed, which measures more and may use
    several threads. Nobody is told the results of deals and games (``observe_deal``, ``observe_end``).

    Args:
        agent, opponent: each the text of an agent for :func:`crib_env.make_agent`, an object with ``act(views)``, or
            one with ``throw(view)`` and ``lay(view)``.
        games: the number of games, even.
        seed: random seed of the deals.

    Raises:
        ValueError: an argument is not allowed, or a player chose an illegal card; the message names it.
    """
    if not is_integer(games) or games < 2 or games % 2:
        raise ValueError(f"games={games!r} is not allowed: mirrored games come in pairs, give a positive even number")
    check_seed(0 if seed is None else seed)
    players = [as_agent(agent, "agent"), as_agent(opponent, "opponent")]
    deals = streams(seed, games // 2)
    won = [_wins(players, deals[first : first + _PAIRS], first) for first in range(0, len(deals), _PAIRS)]
    pairs = np.concatenate(won).reshape(-1, 2).mean(axis=1)
    return WinRate(float(pairs.mean()), *paired_rate_interval(pairs), int(games))


def _wins(players: list[Agent], deals: np.ndarray, first: int) -> np.ndarray:
    """(2N,) bool, which of the mirrored games over these deals the first player won; game ``2 * first`` comes first."""
    batch = GameBatch(np.repeat(deals, 2), first_id=2 * first)
    play_out(batch, players)
    return by_player(batch, batch.games["scores"])[:, 0] >= WIN


def paired_rate_interval(pairs: np.ndarray) -> tuple[float, float]:
    """95 % interval of a win rate from mirrored pairs of games; it stays inside [0, 1] and is never empty.

    Args:
        pairs: (N,) mean result of each pair of games: 0, ½ or 1.
    """
    rate = float(np.mean(pairs))
    return wilson_interval(rate, independent_games(rate, pairs))


def independent_games(rate: float, pairs: np.ndarray) -> float:
    """The number of independent games at this win rate whose mean is known as well as that of pairs (N,).

    Two games over the same deals are not independent; the spread between pairs shows how much they tell. Where one
    player won every game, each pair counts as one game. Where all pairs were drawn, at most 3/N of all pairs end
    otherwise (the rule of three, 95 %), each with ½ more or less.
    """
    n = len(pairs)
    spread = float(np.var(pairs, ddof=1)) / n if n > 1 else 0.0
    if rate in (0, 1):
        return float(n)
    return rate * (1 - rate) / spread if spread > 0 else (Z * n / 3) ** 2


def wilson_interval(rate: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a win rate over independent games; their number need not be whole."""
    centre = (rate + Z * Z / (2 * games)) / (1 + Z * Z / games)
    half = Z / (1 + Z * Z / games) * math.sqrt(rate * (1 - rate) / games + Z * Z / (4 * games * games))
    return max(0.0, centre - half), min(1.0, centre + half)
