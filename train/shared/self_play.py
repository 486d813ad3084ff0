"""Self-play by a policy that mixes, on a device, with what a critic may see in training: the cards of both players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch

from crib_env.agents.choosing import draw_all
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.gpu.device import Device
from crib_env.gpu.games import Asked, TensorGames
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Precision
from crib_env.train.shared.gradients import precision
from crib_env.train.shared.replay import Columns

A = TypeVar("A", bound="Played")


@dataclass(frozen=True)
class Played(Columns):
    """D decisions of both players, ordered by game, then seat, then time, with what policy and critic saw of them.

    The columns are tensors on a device, or all of them arrays.
    """

    chain: Any  # (D,) int64, which player of which game decides: twice the game plus the seat
    turn: Any  # (D,) int64, grows from a decision of a game to the next, of either player
    inputs: Any  # (D, n) int8
    gains: Any  # (D, 52) float32, -inf for a card that is not legal
    chances: Any  # (D, 52) float32, π_t
    card: Any  # (D,) int64
    others: Any  # (D, 52) int8: 1 at 13 k + r if the opponent holds more than k cards of rank r
    is_discard: Any  # (D,) bool
    standing: Any  # (D,) float64, the player's minus the opponent's when the decision is taken
    final: Any  # (D,) float64, the same at the end of the episode

    @property
    def returns(self) -> Any:
        """Points from each decision to the end, own minus the opponent's, (D,) float32."""
        found = self.final - self.standing
        return found.float() if isinstance(found, torch.Tensor) else found.astype(np.float32)

    def numpy(self: A) -> A:
        """The same as arrays."""
        return type(self)(*(column.cpu().numpy() for column in vars(self).values()))


def new_games(now: Round, episode: str, cards: int, device: str = "cpu", **options: Any) -> TensorGames:
    """The games of a round, with other options of :class:`TensorGames`."""
    seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
    return TensorGames(seeds, device, episode=episode, cards=cards, **options)


def draw_cards(on: Device, chances: torch.Tensor, numbers: np.ndarray) -> torch.Tensor:
    """Cards (B,) int64 by their chances (B, 52) float64, which numbers (B,) from 0 to 1 decide, on a device."""
    cards = on.zeros((len(chances),), np.int64)
    on.run(draw_all, len(chances), on.seen(chances.contiguous()), on.seen(on.put(numbers)), on.seen(cards))
    return cards


WIN_IN_POINTS = 25.0
"""The reward of a win, in points; of a loss it is minus that. Near the middle of a game a point changes the chance to
win by some 2 %, and the two rewards lie 50 points apart."""


class Taken(NamedTuple):
    """D decisions of both players, ordered by game, then seat, then time: tensors on a device."""

    seen: Asked
    turn: torch.Tensor  # (D,) int64, grows from a decision of a game to the next, of either player
    card: torch.Tensor  # (D,) int64
    more: tuple[torch.Tensor, ...]  # what the policy said beside its cards
    points: torch.Tensor  # (D,) float64, how the player stands at the end of the episode
    settled: torch.Tensor  # (D,) float64, the same without luck


def play_out(games: TensorGames, compute: Precision, choose: Callable[[Asked], tuple[torch.Tensor, ...]]) -> Taken:
    """Plays new games to their end.

    Args:
        choose: from B decisions to their cards (B,) int64, and what else is to be kept of each.
    """
    parts: list[tuple[torch.Tensor, ...]] = []
    with precision(compute, games.on.torch_device.type):
        while (asked := games.asked()) is not None:
            card, *more = choose(asked)
            games.step(card)
            parts.append((*asked, torch.full_like(card, len(parts)), card, *more))
    columns = [torch.cat(column) for column in zip(*parts)]
    order = columns[0].argsort(stable=True)
    columns = [column[order] for column in columns]
    seen, (turn, card, *more) = Asked(*columns[: len(Asked._fields)]), columns[len(Asked._fields) :]
    points, settled = (found.view(-1)[seen.chain] for found in games.standings())
    return Taken(seen, turn, card, tuple(more), points, settled)


def self_play(
    games: TensorGames,
    agent: PolicyAgent,
    rng: np.random.Generator,
    compute: Precision,
    for_the_win: bool = False,
) -> Played:
    """Plays new games to their end by π in both seats; ``for_the_win`` players stand alike until the game is won."""

    def choose(asked: Asked) -> tuple[torch.Tensor, ...]:
        chances = agent.shares(asked.inputs, asked.gains, asked.is_discard)
        return draw_cards(games.on, chances, rng.random(len(chances))), chances.float()

    taken = play_out(games, compute, choose)
    seen, (chances,) = taken.seen, taken.more
    standing, final = seen.settled, taken.settled
    if for_the_win:
        standing, final = torch.zeros_like(standing), taken.points.sign() * WIN_IN_POINTS
    kinds = seen.inputs, seen.gains, chances, taken.card, seen.others, seen.is_discard
    return Played(seen.chain, taken.turn, *kinds, standing, final)
