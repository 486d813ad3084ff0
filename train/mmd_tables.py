"""Magnetic mirror descent (Sokota et al. 2023) with tables in place of networks.

The update is that of :mod:`crib_env.train.mmd`, made after every deal (:mod:`crib_env.train.mmd_tables_deals`). The
temperature α falls geometrically during the run, exploration linearly, and steps become shorter the more
often a bucket has come up. Policy and critic are sums of four tables (:mod:`crib_env.agents.mmd_tables`). A
decision costs some memory accesses where a network costs ten thousands of multiplications: a core learns from a million
and a half decisions a second, some fifty times as many. Sums of tables that learn from their own play have done well in
other games (Lucas 2008, Szubert and Jaśkowski 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch

from crib_env.agents.mmd_tables import BUCKET, N_LEARNED, N_TABLES, TablesAgent
from crib_env.engine import EPISODES, GAME
from crib_env.evaluate.runs.format import UPDATES
from crib_env.train.loop.learning import Count, PeggingCards, RunSettings
from crib_env.train.loop.run import Round
from crib_env.train.mmd_tables_deals import (
    N_CRITIC_TABLES,
    Rates,
    Tables,
    no_deal,
    no_known_discards,
    play_and_learn,
)
from crib_env.values import Positive, Range, Share


@dataclass(frozen=True)
class MMDTablesSettings(RunSettings):
    """Settings of magnetic mirror descent with tables."""

    preset: Literal["default"] = "default"
    """The only preset."""
    episode: Literal["deal", "pegging"] = "pegging"
    """What an episode is: a deal, or the play alone, without a crib."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    bits: Annotated[int, Range(4, 28)] = 24
    """Each table has 2**bits buckets: 24 take 2.7 GB, and two cards each need no more than 14."""
    temperature: Positive = 0.3
    """α at the beginning, in points."""
    final_temperature: Positive = 0.03
    """α at the end; it changes geometrically in between."""
    step_size: Positive = 1.0
    """η of the first decision in a bucket, for each point."""
    recency: Positive = 4.0
    """c: how much more the latest decisions in a bucket count than the first; 1 counts all alike."""
    critic_recency: Positive = 16.0
    """c', the same for the critic."""
    both_rate: Share = 0.15
    """Share of its error that the critic's tables of both hands learn, from beginning to end."""
    td_lambda: Share = 0.5
    """λ: 0 bootstraps after one step, 1 is the Monte Carlo return."""
    epsilon: Share = 0.2
    """Probability of a random card at the beginning; it changes linearly."""
    final_epsilon: Share = 0.0
    """Probability of a random card at the end. A player that meets random cards to the end wins more against simple
    players, and is more exploitable."""
    episodes: Count = 180_000_000
    """Deals to play."""
    episodes_at_once: Count = 200_000
    """Deals in a round."""
    checkpoint_seconds: Annotated[float, Range(0)] = 300.0
    """Seconds between checkpoints, which are as large as the tables."""

    def rates(self, share: float) -> Rates:
        """The rates after a share of the run."""
        return Rates(
            temperature=self.temperature * (self.final_temperature / self.temperature) ** share,
            step=self.step_size,
            recency=self.recency,
            critic_recency=self.critic_recency,
            both=self.both_rate,
            td_lambda=self.td_lambda,
            epsilon=self.epsilon + share * (self.final_epsilon - self.epsilon),
        )


class MMDTables:
    """Policy and critic in training.

    Attributes:
        agent: has the policy, in the same memory.
    """

    Settings = MMDTablesSettings

    def __init__(self, settings: MMDTablesSettings) -> None:
        self._settings, self._deal, self._known = settings, no_deal(), no_known_discards()
        n = 1 << settings.bits
        shapes = (N_TABLES, n, 2, BUCKET), (N_CRITIC_TABLES, n, BUCKET), (2, N_LEARNED)
        # NumPy asks for large pages of memory, in which a fifth of the time is saved.
        self._tables = Tables(*(np.zeros(shape, np.float32) for shape in shapes))
        self._tensors = {name: torch.from_numpy(table) for name, table in self._tables._asdict().items()}
        play, discards = self._tensors["play"], self._tensors["discards"]
        self.agent = TablesAgent(play, discards[0], settings.temperature, seed=settings.seed)
        self.play_and_learn(Round.first(0))  # compiles before the clocks start

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Plays deals, and learns from each; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: the critic's errors are no longer finite.
        """
        games, tally = np.zeros(1, GAME), np.zeros(4)
        rates = self._settings.rates(now.episodes_before / self._settings.episodes)
        games["episode_stream"] = now.rng.integers(2**64, dtype=np.uint64)
        games["fewer"] = 4 - self._settings.cards
        episode, self.agent.temperature = EPISODES.index(self._settings.episode), rates.temperature
        play_and_learn(games[0], episode, now.episodes, self._tables, rates, self._deal, self._known, tally)
        if not np.isfinite(tally[1]):
            raise FloatingPointError(f"the squared errors of the critic are {tally[1]}")
        means = zip(("critic loss", "mean value", "entropy"), (tally[1:] / max(tally[0], 1)).tolist())
        return {**dict(means), "temperature": rates.temperature, UPDATES: now.episodes}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return self._tensors

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, tensor in self._tensors.items():
            tensor.copy_(tensors[name].view(tensor.shape))
