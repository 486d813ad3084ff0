"""# Games by self-play on a device

```python
from crib_env.gpu.games import TensorGames
from crib_env.kernels import streams

games = TensorGames(streams(0, 131_072), device="cuda", episode="deal", skip_forced=True)
while (asked := games.asked()) is not None:
    games.step(asked.gains.argmax(1))  # the card that gains most at once
points, settled = games.standings()
```

:class:`crib_env.batch.GameBatch` as torch tensors, for learners. The same seeds give the same games on every device.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from crib_env.batch import begin_all, go_on, standing
from crib_env.engine import DISCARD, EPISODES, GAME, OVER, TO_DRAW, act
from crib_env.gpu.device import Device, refuse_illegal
from crib_env.kernels import kernel, scratch
from crib_env.observation import N_ACTIONS, N_BITS, N_BOARD, write_observation
from crib_env.options import Options
from crib_env.ranks import N_INPUTS, write_ranks_and_gains


class Asked(NamedTuple):
    """B decisions, as tensors on the device."""

    chain: Any
    """(B,) int64: twice the number of the game, plus the seat."""
    is_discard: Any
    """(B,) bool."""
    inputs: Any
    """(B, 479) int8, the inputs by rank (:mod:`crib_env.observation`); with ``board`` (B, 929): then the bits of the
    board observation beyond the 209."""
    gains: Any
    """(B, 52) float32, what each card is known to gain (:mod:`crib_env.ranks`), -inf if it is not legal."""
    others: Any
    """(B, 52) int8: 1 at 13 k + r if the opponent holds more than k cards of rank r."""
    points: Any
    """(B,) float64, how the player stands (:func:`crib_env.batch.standings`)."""
    settled: Any
    """(B,) float64, the same without luck."""


@kernel
def see_all(games, rows, tally, is_over, out):
    """Writes what the players to act see (:class:`Asked`)."""
    gains = scratch(52, np.float32)
    for i in rows:
        g = games[i]
        is_over[i] = g["phase"] == OVER
        if g["phase"] == OVER:
            continue
        seat = np.int64(g["turn"])
        out.chain[i] = 2 * i + seat
        out.is_discard[i] = g["phase"] == DISCARD
        for card in range(N_ACTIONS):
            gains[card] = -np.inf
        write_ranks_and_gains(g, seat, out.inputs, i, gains)
        for card in range(N_ACTIONS):
            out.gains[i, card] = gains[card]
        theirs = g["hand"][1 - seat]
        for rank in range(13):
            n = np.int64(0)
            for suit in range(4):
                n += (theirs >> (13 * suit + rank)) & 1
            for k in range(4):
                out.others[i, 13 * k + rank] = n > k
        out.points[i], out.settled[i] = standing(games, i, tally, seat)


@kernel
def see_boards(games, rows, board):
    """Writes the board observations of the players to act."""
    for i in rows:
        write_observation(games[i], np.int64(games[i]["turn"]), board, i)


@kernel
def play_all(games, rows, tally, skip_forced, cards):
    """Plays a legal card in each game that is not over."""
    for i in rows:
        if games[i]["phase"] != OVER:
            act(games[i], cards[i])
            go_on(games, (i,), tally, skip_forced)


@kernel
def stand_all(games, rows, tally, points, settled):
    """Writes how both seats stand, (N, 2)."""
    for i in rows:
        for seat in range(2):
            points[i, seat], settled[i, seat] = standing(games, i, tally, seat)


class TensorGames:
    """N games on a device; see the module's docstring.

    Args:
        seeds: (N,) uint64, one random stream per game (:func:`crib_env.kernels.streams`).
        device: ``"cpu"`` or ``"cuda"``.
        episode, cards, skip_forced: as of :class:`crib_env.batch.GameBatch`.
        board: whether the board observation is a part of the inputs.
    """

    def __init__(
        self,
        seeds: np.ndarray,
        device: Any = "cpu",
        *,
        episode: str = "game",
        cards: int = 4,
        skip_forced: bool = False,
        board: bool = False,
    ) -> None:
        Options(episode=episode, cards=cards)  # raises what is not allowed
        self.on = on = Device(device)
        self._n = n = len(seeds)
        self._skip_forced = skip_forced
        records = np.zeros(n, GAME)
        records["episode_stream"], records["fewer"] = seeds, 4 - cards
        self._out = Asked(
            chain=on.zeros((n,), np.int64),
            is_discard=on.zeros((n,), np.bool_),
            inputs=on.zeros((n, N_INPUTS), np.int8),
            gains=on.zeros((n, N_ACTIONS), np.float32),
            others=on.zeros((n, N_ACTIONS), np.int8),
            points=on.zeros((n,), np.float64),
            settled=on.zeros((n,), np.float64),
        )
        self._is_over, self._cards = on.zeros((n,), np.bool_), on.zeros((n,), np.int64)
        self._board = on.zeros((n, N_BOARD), np.int8) if board else None
        self._memory = on.put(records.view(np.uint8)), on.zeros((n, 2, 2, 4), np.int32)
        self._games, self._tally = on.seen(self._memory[0]).view(GAME), on.seen(self._memory[1])
        begins = EPISODES.index(episode), TO_DRAW, TO_DRAW, TO_DRAW, np.int64(-1)
        on.run(begin_all, n, self._games, self._tally, skip_forced, begins)
        self._seen = Asked(*map(on.seen, self._out))
        self._asked: torch.Tensor | None = None

    def __len__(self) -> int:
        return self._n

    def asked(self) -> Asked | None:
        """What the players to act see, of all games that are not over; ``None`` if all are."""
        on = self.on
        on.run(see_all, self._n, self._games, self._tally, on.seen(self._is_over), self._seen)
        self._asked = rows = (~self._is_over).nonzero()[:, 0]
        if not len(rows):
            return None
        asked = Asked(*(column[rows] for column in self._out))
        if self._board is None:
            return asked
        on.run(see_boards, self._n, self._games, on.seen(self._board))
        return asked._replace(inputs=torch.cat([asked.inputs, self._board[rows, N_BITS:]], dim=1))

    def step(self, cards: torch.Tensor) -> None:
        """Plays the cards (B,) int64 of those who were asked.

        Raises:
            ValueError: they are not B legal cards; no game has changed.
        """
        rows = self._asked
        if rows is None or cards.shape != rows.shape:
            raise ValueError(f"{0 if rows is None else len(rows)} games were asked, not {tuple(cards.shape)}")
        refuse_illegal(rows, cards, self._out.gains, -torch.inf)
        self._asked, self._cards[rows] = None, cards
        self.on.run(play_all, self._n, self._games, self._tally, self._skip_forced, self.on.seen(self._cards))

    def standings(self) -> tuple[torch.Tensor, torch.Tensor]:
        """How both seats stand, (N, 2) float64, in points and without luck (:func:`crib_env.batch.standings`)."""
        found = self.on.zeros((self._n, 2), np.float64), self.on.zeros((self._n, 2), np.float64)
        self.on.run(stand_all, self._n, self._games, self._tally, *map(self.on.seen, found))
        return found

    def games(self) -> np.ndarray:
        """A copy of the games' records (N,) (:data:`crib_env.engine.GAME`), hidden cards included."""
        return self._memory[0].cpu().numpy().view(GAME).copy()
