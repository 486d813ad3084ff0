"""Experience: many games played in lockstep, the decisions taken in them with their rewards, and memories of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from crib_env.agents import Agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.seen import Seen
from crib_env.batch import GameBatch, standings
from crib_env.engine import DISCARD
from crib_env.evaluate.runs.format import EPISODE_RETURN, NET_POINTS_IN_TRAINING, SIMULATION_SECONDS
from crib_env.train.loop.learning import Precision, precision

C = TypeVar("C", bound="Columns")

# (what B players to act of these games (B,) see)
Sight = Callable[[GameBatch, np.ndarray], Seen]
# (B decisions, whether each is a discard (B,), which player of which game decides (B,), as in ``Decisions.chain``) ->
# cards (B,)
Policy = Callable[[Seen, np.ndarray, np.ndarray], np.ndarray]


class Columns:
    """Shared parts of dataclasses of arrays of one length."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self: C, rows: Any) -> C:
        return type(self)(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class Decisions(Columns):
    """D decisions of the learner, ordered by game, then seat, then time.

    Standings are the learner's minus the opponent's (:func:`crib_env.batch.standings`). The reward between two
    decisions is the difference of the standings.
    """

    chain: np.ndarray  # (D,) int64, which player of which game decides; equal numbers are consecutive
    inputs: Any  # (D, n) int8, like gains an array, or a tensor on a device
    gains: Any  # (D, 52) float32, -inf for a card that is not legal
    card: np.ndarray  # (D,) int64; inputs, gains and cards are named as in `Seen`
    is_discard: np.ndarray  # (D,) bool
    points: np.ndarray  # (D,) float64, when the decision is taken
    settled: np.ndarray  # (D,) float64
    final_points: np.ndarray  # (D,) float64, at the end of the episode
    final_settled: np.ndarray  # (D,) float64


@dataclass(frozen=True)
class Episodes:
    """The result of a round of play."""

    decisions: Decisions
    net_points: np.ndarray | None  # (N,) of the learner against its opponent; in self-play the difference is luck alone
    simulation_seconds: float  # spent on rules, observations and native opponents, not in networks

    @property
    def simulated(self) -> dict[str, float]:
        """The seconds of simulation by their tag."""
        return {SIMULATION_SECONDS: self.simulation_seconds}

    def values(self, rewards: np.ndarray, ends: np.ndarray) -> dict[str, float]:
        """Scalars for TensorBoard, with the rewards and ends of :func:`rewards_of`."""
        values = {EPISODE_RETURN: float(rewards.sum() / ends.sum()), **self.simulated}
        if self.net_points is not None:
            values[NET_POINTS_IN_TRAINING] = float(self.net_points.mean())
        return values


def play_episodes(
    batch: GameBatch, policy: Policy, opponent: Agent | None, see: Sight, compute: Precision = "float32"
) -> Episodes:
    """Plays every game of a new batch to its end.

    Args:
        policy: the learner's choices, exploration included.
        opponent: plays the other seat; ``None`` is self-play, where the learner's policy plays both. Otherwise the
            learner sits in seat 0 of even games and in seat 1 of odd ones.
        see: what the learner sees.
    """
    started, in_policy = time.perf_counter(), 0.0
    rounds: list[tuple[np.ndarray, ...]] = []
    with precision(compute):
        while len(rows := batch.acting()):
            seats = batch.games["turn"][rows]
            if opponent is not None:
                is_learner = seats == rows % 2
                theirs = rows[~is_learner]
                if len(theirs):
                    batch.step(theirs, opponent.act(batch.views(theirs)))
                rows, seats = rows[is_learner], seats[is_learner]
            if not len(rows):
                continue
            seen = see(batch, rows)
            is_discard = batch.games["phase"][rows] == DISCARD
            chain = rows * 2 + seats
            before = time.perf_counter()
            cards = policy(seen, is_discard, chain)
            in_policy += time.perf_counter() - before
            named = seen.named(cards)
            rounds.append((chain, seen.inputs, seen.gains, named, is_discard, *standings(batch, rows, seats)))
            batch.step(rows, cards)
    columns = [np.concatenate(column) for column in zip(*rounds)]
    order = np.argsort(columns[0], kind="stable")
    chain = columns[0][order]
    columns = [column[order] for column in columns] + [*standings(batch, chain // 2, chain % 2)]
    decisions = Decisions(*columns)
    everyone = np.arange(len(batch))
    net_points = standings(batch, everyone, everyone % 2)[0] if opponent is not None else None
    return Episodes(decisions, net_points, time.perf_counter() - started - in_policy)


def rewards_of(decisions: Decisions, settled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each decision up to the same player's next, (D,), and whether there is no next one, (D,) bool."""
    now = decisions.settled if settled else decisions.points
    final = decisions.final_settled if settled else decisions.final_points
    ends = np.append(decisions.chain[1:] != decisions.chain[:-1], True)
    return np.where(ends, final, np.roll(now, -1)) - now, ends


def epsilon_greedy(cards: np.ndarray, legal: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """The given cards (B,), each replaced by a random legal one, (B, 52) bool, with probability ``epsilon``."""
    out = cards.copy()
    random_rows = np.flatnonzero(rng.random(len(cards)) < epsilon)
    noise = rng.random((len(random_rows), legal.shape[1]))
    out[random_rows] = np.where(legal[random_rows], noise, -1.0).argmax(axis=1)
    return out


class Memory(Generic[C]):
    """Rows to sample from; the newest replace the oldest. A subclass may replace others.

    Columns of int8 are zeros and ones: eight are kept in a byte, but not on a GPU.

    Args:
        rows: of zeros, as many as the capacity.
        device: where they are kept: arrays on the processor, or tensors on a GPU, ``"cuda"``.
    """

    def __init__(self, rows: C, device: str = "cpu") -> None:
        self._capacity, self._like, self._device = len(rows), rows[:1], device
        self._held: dict[str, Any] = {}
        for name, column in vars(self._like).items():
            one = self._kept(column)
            empty = np.zeros if device == "cpu" else partial(torch.zeros, device=device)
            self._held[name] = empty((len(rows), *one.shape[1:]), dtype=one.dtype)
        self._added = 0

    def _kept(self, column: Any) -> Any:
        """A column as it is kept."""
        return _pack(column) if self._device == "cpu" else torch.as_tensor(column, device=self._device)

    def __len__(self) -> int:
        return min(self._added, self._capacity)

    @property
    def filled(self) -> float:
        """The share of its rows that it holds."""
        return len(self) / self._capacity

    def __getitem__(self, rows: np.ndarray) -> C:
        like = vars(self._like)
        found = {name: column[rows] for name, column in self._held.items()}
        if self._device == "cpu":
            found = {name: _unpack(column, like[name]) for name, column in found.items()}
        return type(self._like)(**found)

    def add(self, new: C) -> None:
        """Adds rows."""
        self._put(new, (self._added + np.arange(len(new))) % self._capacity)
        self._added += len(new)

    def _put(self, new: C, places: np.ndarray) -> None:
        for name, column in self._held.items():
            column[places] = self._kept(getattr(new, name))

    def sample(self, n: int, rng: np.random.Generator) -> C:
        """``n`` rows sampled uniformly, with replacement."""
        return self[rng.integers(len(self), size=n)]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The rows held and their number, for a checkpoint."""
        held = {name: column[: len(self)] for name, column in self._held.items()}
        if self._device != "cpu":
            held = {name: _pack(column.cpu().numpy()) for name, column in held.items()}
        return {**{name: torch.from_numpy(column) for name, column in held.items()}, "added": torch.tensor(self._added)}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`.

        Raises:
            ValueError: the tensors do not fit this memory.
        """
        self._added = int(tensors["added"])
        if self._added < 0:
            raise ValueError(f"{self._added} rows were added")
        for name, column in self._held.items():
            found, like = tensors[name].numpy(), vars(self._like)[name]
            wanted = len(self), *_pack(like).shape[1:]
            if found.shape != wanted:
                raise ValueError(f"{name} has the shape {list(found.shape)}, not {list(wanted)}")
            column[: len(self)] = self._kept(_unpack(found, like)) if self._device != "cpu" else found


class Reservoir(Memory[C]):
    """As many as fit of all rows added, each kept with the same probability (Vitter 1985, algorithm R)."""

    def add_sample(self, new: C, rng: np.random.Generator) -> None:
        """Adds rows; the k-th ever added is kept with probability capacity / k, and replaces a random one."""
        capacity = self._capacity
        number = self._added + np.arange(len(new))  # of rows added before each
        places = np.where(number < capacity, number, rng.integers(number + 1))
        stays = places < capacity
        self._put(new[stays], places[stays])  # if two have the same place, the later one is written last
        self._added += len(new)


def _pack(array: np.ndarray) -> np.ndarray:
    return np.packbits(array.view(np.uint8), axis=-1) if array.dtype == np.int8 else array


def _unpack(packed: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=-1, count=like.shape[-1]).view(np.int8) if like.dtype == np.int8 else packed


@dataclass(frozen=True)
class Transitions(Columns):
    """M transitions from a decision of a player to its next.

    Inputs, names of cards and gains are those of :class:`crib_env.agents.networks.seen.Seen`. ``discount`` is the
    factor of the next decision's value: gamma, or 0 if the chain of decisions has ended; its inputs and gains are then
    meaningless.
    """

    inputs: Any  # (M, n) int8; each column is an array, or a tensor on a device
    card: Any  # (M,) int64
    reward: Any  # (M,) float32, without what the card was known to gain
    discount: Any  # (M,) float32
    next_inputs: Any  # (M, n) int8
    next_gains: Any  # (M, 52) float32
    next_is_discard: Any  # (M,) bool

    @classmethod
    def zeros(cls, m: int, n: int) -> Transitions:
        """``m`` rows of ``n`` inputs each, to be written over."""
        bits, number = np.zeros((m, n), np.int8), np.zeros(m, np.float32)
        gains, is_discard = np.zeros((m, 52), np.float32), np.zeros(m, np.bool_)
        return cls(bits, np.zeros(m, np.int64), number, number.copy(), bits.copy(), gains, is_discard)


def transitions_of(decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, gamma: float) -> Transitions:
    """The decisions (D) as transitions; rewards and ends from :func:`rewards_of`."""
    every = np.arange(len(ends))
    after = np.where(ends, every, every + 1)
    gain = np.asarray(torch.as_tensor(decisions.gains[every, decisions.card]).cpu())
    return Transitions(
        decisions.inputs,
        decisions.card,
        (rewards - gain).astype(np.float32),
        np.where(ends, 0.0, gamma).astype(np.float32),
        decisions.inputs[after],
        decisions.gains[after],
        decisions.is_discard[after],
    )


def explore(agent: DDQNAgent, epsilon: float, rng: np.random.Generator) -> Policy:
    """The agent's ε-greedy policy over legal cards."""

    def policy(seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return epsilon_greedy(agent.choose(seen, is_discard), seen.legal, epsilon, rng)

    return policy
