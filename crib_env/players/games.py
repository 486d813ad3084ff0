"""Games between agents: the loop in which each decides all games of a batch in which it acts, what it learns of deals,
and how often it wins mirrored games against another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import CRIB, DEALERS_HAND, PLAY, PONES_HAND, WIN, act
from crib_env.kernels import kernel, streams
from crib_env.options import check_seed
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent
from crib_env.values import is_integer
from crib_env.views import PlayerViews

Z = 1.959964  # 97.5 % quantile of the normal distribution
_PAIRS = 512  # played side by side


class Turn(NamedTuple):
    """What a player has chosen in B games of a batch; :meth:`play` plays it."""

    batch: GameBatch
    agent: Agent
    player: int
    """0 or 1, of the players of :func:`turns`."""
    rows: np.ndarray
    """(B,) int64, the games."""
    views: PlayerViews
    cards: np.ndarray
    """(B,) as the agent gave them."""
    seconds: float
    """How long the agent took."""

    def play(self) -> None:
        """Plays these cards; if they are not B legal ones, ``ValueError`` names the agent, game and card."""
        try:
            self.batch.step(self.rows, self.cards)
        except ValueError as error:
            raise ValueError(f"agent {self.agent.name!r} in {error}") from None


def turns(batch: GameBatch, players: Sequence[Agent]) -> Iterator[Turn]:
    """Asks players for their cards until all games are over. Call :meth:`Turn.play` on each turn before the next one.

    Args:
        players: one agent that plays both seats, or two. The first of two has seat 0 in games of even ids, and seat 1
            in the others.
    """
    agents = [as_agent(player) for player in players]
    seat_of_first = batch.game_ids % 2
    while len(rows := batch.acting()):
        acts = (batch.games["turn"][rows] != seat_of_first[rows]) & (len(agents) > 1)
        for player, agent in enumerate(agents):
            mine = rows[acts == player]
            if not len(mine):
                continue
            views = batch.views(mine)
            before = perf_counter()
            cards = agent.act(views)
            yield Turn(batch, agent, player, mine, views, cards, perf_counter() - before)


def play_out(batch: GameBatch, players: Sequence[Agent]) -> None:
    """Plays all games of a batch to their ends; arguments and errors as for :func:`turns` and :meth:`Turn.play`."""
    for turn in turns(batch, players):
        turn.play()


def by_player(batch: GameBatch, by_seat: np.ndarray) -> np.ndarray:
    """Values (n, 2, …) of a batch's games by seat as (n, 2, …) int64 by player of :func:`turns`."""
    out = by_seat.astype(np.int64)
    is_swapped = batch.game_ids % 2 == 1
    out[is_swapped] = out[is_swapped, ::-1]
    return out


class Observers:
    """Those players of a batch of games that watch the results of deals.

    Args:
        players: agents, each with its seats, (B,) 0 or 1.
    """

    def __init__(self, batch: GameBatch, *players: tuple[Agent, np.ndarray]) -> None:
        self._ids = batch.game_ids
        self._seats: list[tuple[Any, np.ndarray]] = [one for one in players if one[0].powers.watches]

    def __len__(self) -> int:
        return len(self._seats)

    def tell(self, rows: np.ndarray, before: np.ndarray, cards: np.ndarray) -> None:
        """Call it after ``cards`` were played in games ``rows``; ``before`` are copies of the games before that."""
        ended, tables = ended_deals(before, cards)
        for agent, seats in self._seats:
            for row, table in zip(rows[ended].tolist(), tables):
                agent.observe_deal(deal_result(table, int(seats[row]), int(self._ids[row])))


@dataclass(frozen=True)
class DealResult:
    """A finished deal, seen by one player. Cards are ids; scores and seats are from the player's side.

    A game ends at once at 121: cards not shown by then are missing here.
    """

    hand: tuple[int, ...]
    """The four cards that the player kept, lowest id first."""
    discards: tuple[int, ...]
    """The player's own, lowest id first."""
    opponent_hand: tuple[int, ...]
    """The four cards that the opponent kept, lowest id first; ``()`` if they were not shown."""
    crib: tuple[int, ...]
    """Lowest id first; ``()`` if it was not shown."""
    starter: int | None
    """``None`` in the pegging episode, which has none and no discards."""
    laid: tuple[int, ...]
    """The play, oldest card first."""
    laid_by: tuple[int, ...]
    """Who laid each card: 0 this player, 1 the opponent."""
    is_dealer: bool
    scores: tuple[int, int]
    """After the deal, the player's own first. The game is over if one is 121."""
    game_id: int
    """As in :class:`crib_env.PlayerViews`."""


@kernel
def _act_all(games, cards):
    for k in range(len(cards)):
        act(games[k], cards[k])


def ended_deals(games: np.ndarray, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Plays legal cards in B games, and finds those whose deal ends with them.

    Returns:
        Rows (N,) of ``games``, and these N records after the show, before the next deal.
    """
    _act_all(games, np.asarray(cards, np.int64))
    ended = np.flatnonzero(games["phase"] > PLAY)
    return ended, games[ended]


def deal_result(game: np.void, seat: int, game_id: int) -> DealResult:
    """What a seat learns of a deal that just ended, a record of :func:`ended_deals`."""
    is_dealer, shown = bool(game["dealer"] == seat), game["event_kind"][: game["n_events"]].tolist()
    opponent_shows = (PONES_HAND if is_dealer else DEALERS_HAND) in shown
    n, starter = game["n_laid"], int(game["cards"][12])
    return DealResult(
        hand=_cards(game["kept"][seat]),
        discards=_cards(game["discards"][seat]),
        opponent_hand=_cards(game["kept"][1 - seat]) if opponent_shows else (),
        crib=_cards(game["discards"].sum()) if CRIB in shown else (),
        starter=None if starter < 0 else starter,
        laid=tuple(game["laid"][:n].tolist()),
        laid_by=tuple(int(by != seat) for by in game["laid_by"][:n].tolist()),
        is_dealer=is_dealer,
        scores=(int(game["scores"][seat]), int(game["scores"][1 - seat])),
        game_id=game_id,
    )


def _cards(mask: int) -> tuple[int, ...]:
    return tuple(card for card in range(52) if int(mask) >> card & 1)


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
    several threads. Nobody is told the results of deals (``observe_deal``).

    Args:
        agent, opponent: each the text of an agent for :func:`crib_env.make_agent`, an object with ``act(views)``, or
            one with ``throw(view)`` and ``lay(view)``.
        games: the number of games, even.
        seed: random seed of the deals.

    Raises:
        ValueError: an argument is not allowed, or a player chose an illegal card.
    """
    if not is_integer(games) or games < 2 or games % 2:
        raise ValueError(f"games={games!r} is not allowed: mirrored games come in pairs, give a positive even number")
    check_seed(0 if seed is None else seed)
    players = [as_agent(agent, "agent"), as_agent(opponent, "opponent")]
    deals = streams(seed, games // 2)
    won = []
    for first in range(0, len(deals), _PAIRS):
        batch = GameBatch(np.repeat(deals[first : first + _PAIRS], 2), first_id=2 * first)
        play_out(batch, players)
        won.append(by_player(batch, batch.games["scores"])[:, 0] >= WIN)
    pairs = np.concatenate(won).reshape(-1, 2).mean(axis=1)
    return WinRate(float(pairs.mean()), *paired_rate_interval(pairs), int(games))


def paired_rate_interval(pairs: np.ndarray) -> tuple[float, float]:
    """95 % interval of a win rate from the mean results (N,) of mirrored pairs of games, each 0, ½ or 1.

    It stays inside [0, 1] and is never empty.
    """
    rate = float(np.mean(pairs))
    return wilson_interval(rate, independent_games(rate, pairs))


def independent_games(rate: float, pairs: np.ndarray) -> float:
    """The number of independent games at this win rate whose mean is known as well as that of pairs (N,).

    Where one player won every game, each pair counts as one game. Where all pairs were drawn, at most 3/N of all pairs
    end otherwise (the rule of three, 95 %), each with ½ more or less.
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
