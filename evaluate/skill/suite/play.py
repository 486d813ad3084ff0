"""The play: 10,000 choices in the pegging game, against its equilibrium.

The pegging game has eight cards, four each, and no starter, discards or crib. What a card loses is exact: its opponent
plays the equilibrium, hands have the chances that follow from that, and the player goes on as well as it can. So a card
that an equilibrium mixes loses nothing but what this one is short of exact, at most its NashConv on average.
Positions come from deals between two equilibrium players. An agent that remembers is asked without its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.evaluate.skill.positions import NO_CARD, after_cards, chosen_cards
from crib_env.evaluate.skill.suite.task import SEED, Measured, Work, load_pinned, part_of
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import N_RANKS, hand_number
from crib_env.kernels import streams
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame, Reached

NAME, VERSION = "play", 1
HASH = "42dace64365fd56ad9b723c3cba9eb04"
N = 10_000
PATH = Path(__file__).parent / "data" / f"{NAME}-{VERSION}.npz"
BEST = 0.01
"""Points: a card that loses less counts as a best one."""
_COLUMNS = {
    "deals": Column("i", (N, 8)),
    "dealers": Column("i", (N,)),
    "cards": Column("i", (N, 7)),
    "losses": Column("f", (N, N_RANKS), has_gaps=True),
    "nash_conv": Column("f"),
}


@dataclass(frozen=True)
class Play(SavedArrays, kind="choices of the suite", version=VERSION, columns=_COLUMNS):
    """Choices, and what they lose.

    Attributes:
        deals, dealers, cards: pegging games before a choice, as
            :func:`crib_env.evaluate.skill.positions.after_cards` takes them.
        losses: (10000, 13) float32 points that each rank loses there, NaN where it cannot be laid.
        nash_conv: of the equilibrium behind these, points a deal.
    """

    deals: np.ndarray
    dealers: np.ndarray
    cards: np.ndarray
    losses: np.ndarray
    nash_conv: float


standard = partial(load_pinned, Play, PATH, HASH)
"""The choices of this version; :func:`crib_env.evaluate.skill.suite.task.load_pinned` has the errors."""


def takes(share: float) -> str:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return f"{part_of(share, N):,} of {N:,} choices"


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return round(share * N)


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data, n = standard(), work.part_of(N)
    games = after_cards(data.deals[:n], data.dealers[:n], np.zeros((n, 2), np.int64), data.cards[:n])
    ranks = chosen_cards(agent, games, work.threads, work.on_progress)[:, 0] % N_RANKS
    lost = data.losses[np.arange(n), ranks].astype(float)
    return {
        "points lost a card laid": Measured.of(lost),
        f"cards laid that lose less than {BEST}, %": Measured.percent(int((lost < BEST).sum()), len(lost)),
    }


class _Choice(NamedTuple):
    node: int
    """Of the public tree."""
    hand: int
    role: int
    laid: list[int]


def make(solver: PlaySolver, on_progress: Callable[[int, int], None]) -> Play:
    """One choice of each of 10,000 deals between two players of an equilibrium.

    Args:
        solver: has solved the pegging game.
        on_progress: called with how many are made, and how many there will be.
    """
    game, policy = solver.game, solver.average
    deals, dealers = np.zeros((N, 8), np.int8), np.zeros(N, np.int8)
    cards, losses = np.full((N, 7), NO_CARD, np.int8), np.full((N, N_RANKS), np.nan, np.float32)
    chosen: list[_Choice] = []
    for k, stream in enumerate(streams(SEED + 1, N)):
        batch, rng = GameBatch(np.array([stream]), episode="pegging"), np.random.default_rng([SEED, k])
        deals[k], dealers[k] = batch.games["cards"][0, [0, 1, 2, 3, 6, 7, 8, 9]], batch.games["dealer"][0]
        choices = _choices(batch, game, policy, rng)
        chosen.append(choices[int(rng.integers(len(choices)))])
        cards[k, : len(chosen[k].laid)] = chosen[k].laid
        on_progress(k + 1, N)
    for role in range(2):
        mine = [k for k, choice in enumerate(chosen) if choice.role == role]
        reached = Reached(*(np.array([chosen[k][column] for k in mine]) for column in range(2)))
        values = game.rank_values(policy, role, reached)
        lost = values.max(axis=1, keepdims=True) - values
        losses[mine] = np.where(np.isinf(lost), np.nan, lost)
    return Play(deals, dealers, cards, losses, solver.best_responses().nash_conv)


def _choices(batch: GameBatch, game: PlayGame, policy: np.ndarray, rng: np.random.Generator) -> list[_Choice]:
    """Plays one deal by a policy; its choices."""
    choices: list[_Choice] = []
    laid: list[tuple[int, int]] = []
    while len(rows := batch.acting()):
        views, role = batch.views(rows), int(batch.games["turn"][0] == batch.games["dealer"][0])
        legal = np.flatnonzero(views.action_mask[0])
        card = int(legal[0])
        if len(set(legal % N_RANKS)) > 1:
            ranks = [int(one) % N_RANKS for one in views.hand[0] if one >= 0]
            before = [(who, one % N_RANKS) for who, one in laid]
            node, hand = game.node_at(before, role, min(ranks)), int(hand_number(ranks))
            choices.append(_Choice(node, hand, role, [one for _, one in laid]))
            rank = int(rng.choice(N_RANKS, p=game.chances_at(policy, node, hand)))
            card = int(legal[legal % N_RANKS == rank][0])
        laid.append((role, card))
        batch.step(rows, np.array([card]))
    return choices
