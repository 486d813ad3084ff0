"""TD learning of state values by self-play, after O'Connor (2000).

A network values after-states, the 209 bits as the player sees them right after a move (:mod:`agents.after_states`): the
points made from that move on, less the opponent's. The move whose after-state is worth most is made, both seats play by
the same weights, and episodes are single deals: his aim is the score of each hand.

``--preset paper`` is O'Connor's: one hidden layer of sigmoids and a linear output on the bare bits, weights from a
Gaussian of standard deviation 1, points as they fall, weights moved after every move by the difference to the next
value (TD(0)), no discount and no exploration (:mod:`train.td_traces`). ``--decay 0.7`` makes it the TD(λ) that he names
as further work. Where the paper is silent, or this differs:

* Of the full game it gives no size, learning rate or number of hands; here 40 nodes and 0.01, the larger network and
  the rate of his discard game, and 1,000,000 deals.
* Two cards thrown are one move; whether his were is not said. Of the cards of a rank that can be laid, the first stands
  for all.
* A value holds the points of the move that led to its state, as his do. His text and his formula differ over where
  those of the opponent's answer count; here a reward is how far the lead moves from one own move to the next.

The default learns by λ-returns of many deals at once (:mod:`train.td_returns`), with Adam, some exploration, one
network of ReLUs for discards and one for the play, inputs that follow from the bits
(:func:`agents.after_states.play_inputs`), suits relabelled, and rewards without the luck that no move has a part in.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents.td import TDAgent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from train.episodes import Episodes, play_episodes
from train.precision import Precision, precision
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder
from train.td_returns import Explorer, Returns, lambda_returns, moves_of, rewards_of_moves
from train.td_traces import UPDATES, Traces

NAME = "td"


@dataclass(frozen=True)
class Settings:
    """Settings of TD learning."""

    preset: Literal["default", "paper"] = "default"
    """Where the other settings start from: what was found to learn best, or O'Connor's."""
    seed: int = 0
    """Of weights, deals and exploration."""
    updates: Literal["returns", "traces"] = "returns"
    """By λ-returns after many deals, or O'Connor's network by eligibility traces after every move."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers; one alone for traces."""
    decay: float = 0.3
    """λ: how far a value answers for what comes after the next one, from 0, TD(0), to 1, as for itself."""
    episodes: int = 1_000_000
    """Deals to play."""
    episodes_at_once: int = 1_024
    """Deals of a round; with returns they are played side by side, and then learned from."""
    batch_size: int = 256
    """Moves of a gradient step; for returns."""
    learning_rate: float = 2e-3
    """Of Adam, or of the traces, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.1
    """Share of random cards at the start; for returns."""
    final_epsilon: float = 0.03
    """At the end; linear in between."""
    evaluations: int = 20
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""
    precision: Precision = "auto"
    """What networks compute in while they learn by returns; "auto" is bfloat16 where the processor has instructions for
    it."""
    threads: int = 1
    """Of torch. One is enough for networks of this size, and repeats to the last bit."""

    def __post_init__(self) -> None:
        for name in ("episodes", "episodes_at_once", "batch_size", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        for name in ("decay", "epsilon", "final_epsilon"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give 0 to 1")
        if self.updates == "traces":
            if len(self.hidden) != 1:
                raise ValueError(f"hidden={self.hidden} is not allowed with updates='traces': give one width")
            for name in ("epsilon", "final_epsilon"):
                if getattr(self, name):
                    raise ValueError(f"{name}={getattr(self, name)} is not allowed with updates='traces': give 0")


PRESETS = {
    "default": Settings(),
    "paper": Settings(
        preset="paper",
        updates="traces",
        hidden=(40,),
        decay=0.0,
        learning_rate=0.01,
        final_learning_rate=0.01,
        epsilon=0.0,
        final_epsilon=0.0,
    ),
}


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[TDAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    train_by = _train_by_traces if settings.updates == "traces" else _train_by_returns
    return train_by(settings, folder, progress)


def _train_by_traces(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[TDAgent, dict[str, Any]]:
    learner = Traces(TDAgent.new("bits", settings.hidden), settings.decay)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        started = time.perf_counter()
        values = learner.play_and_learn(now.rng, now.episodes, now.learning_rate)
        return values, time.perf_counter() - started  # a kernel plays and learns at once: it all counts as simulation

    learner.play_and_learn(np.random.default_rng(0), 0, 0.0)  # compiles, so that the clocks show work alone
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": UPDATES * summary["episodes"]}


def _train_by_returns(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[TDAgent, dict[str, Any]]:
    learner = Returns(TDAgent.new("features", settings.hidden), settings.precision)

    def play(seeds: np.ndarray, first_id: int, explorer: Explorer) -> Episodes:
        batch = GameBatch(seeds, episode="deal", skip_forced=True, first_id=first_id)
        with precision(settings.precision):
            return play_episodes(batch, explorer, None, "209")

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        explorer = Explorer(learner.agent, now.epsilon, now.rng)
        played = play(seeds, now.episodes_before, explorer)
        moves = moves_of(played.decisions)
        rewards, ends = rewards_of_moves(played.decisions, moves)
        ahead, strayed = (thought[moves] for thought in explorer.thoughts())
        targets = lambda_returns(rewards, ends, ahead, strayed, settings.decay)
        values = learner.learn(played.decisions, moves, targets, settings.batch_size, now.learning_rate, now.rng)
        values["learning/episode return"] = float(rewards.sum() / ends.sum())
        return values, played.simulation_seconds

    play(streams(0, 2), 0, Explorer(learner.agent, 1.0, np.random.default_rng(0)))  # compiles, as above
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
