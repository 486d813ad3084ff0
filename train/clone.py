"""Behaviour cloning: two networks learn to choose as the players of a dataset did (``crib-env dataset``).

A round reads one shard, drops forced cards, and takes a gradient step for each minibatch of the rest: the loss is the
cross-entropy of the card chosen among the legal ones. In the play all cards of the chosen rank count as the card
chosen, since suits do not matter there; both cards of a pair count as the first one discarded, since their order does
not matter either. The networks are those of Double DQN. Their outputs, plus the points that each
card is known to gain (:mod:`crib_env.ranks`), are the logits, in units of ``temperature``. Shards come
round again until ``episodes`` games have been read. The average of the weights plays, by default its most likely card;
``clone:RUN,plays=sample`` draws cards as often as the players chose them.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.policy import CloneAgent
from crib_env.batch import GameBatch
from crib_env.evaluate.matches.dataset import GAMES_A_SHARD, Rows, read_manifest, read_shard
from crib_env.evaluate.runs.format import SIMULATION_SECONDS
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS
from crib_env.ranks import N_INPUTS
from crib_env.train.loop.gradients import Descent, Parts, by_network, follow, mean_of_steps, precision
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, Widths
from crib_env.train.shared.replay import Columns
from crib_env.values import Positive

_DISCARDS = 4  # cards of a deal
_AVERAGED = 500  # steps: those that the average of the weights reaches back


@dataclass(frozen=True)
class CloneSettings(LearningSettings):
    """Settings of behaviour cloning."""

    data: str = ""
    """Folder of a finished dataset of Parquet files."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers."""
    hidden_discard: Widths = (128, 128)
    """Widths of the hidden layers of the network of discards."""
    temperature: Positive = 0.25
    """Points by which a card is better if it is chosen e times as often."""
    episodes: Count = 30_000
    """Games to learn from; the dataset is read again and again until then."""
    episodes_at_once: Count = GAMES_A_SHARD
    """Games in a round; one shard of the dataset is read in each."""
    batch_size: Count = 512
    """Decisions in a gradient step."""
    learning_rate: NotNegative = 1e-3
    """Initial learning rate of Adam."""


@dataclass(frozen=True)
class DatasetChoices(Columns):
    """M choices of a shard."""

    inputs: np.ndarray  # (M, 479) int8
    gains: np.ndarray  # (M, 52) float32, -inf for a card that is not legal
    chosen: np.ndarray
    """(M, 52) bool: the card chosen; both cards of a pair before the first is discarded; in the play all legal cards of
    a rank."""
    is_discard: np.ndarray  # (M,) bool


def choices_of(rows: Rows, seed: int) -> DatasetChoices:
    """The decisions of a shard in which there was a choice; its games are played again, from the dataset's seed."""
    games, starts = np.unique(rows.game, return_index=True)
    batch, at = GameBatch(streams(seed, games[-1] + 1)[games[0] :]), starts.copy()
    inputs, gains = np.zeros((len(rows), N_INPUTS), np.int8), np.zeros((len(rows), N_ACTIONS), np.float32)
    while len(playing := batch.acting()):
        here = at[playing]
        inputs[here], gains[here] = batch.ranks_and_gains(playing)
        batch.step(playing, rows.action[here].astype(np.int64))
        at[playing] += 1
    legal, is_discard = gains > -np.inf, rows.place < _DISCARDS
    same_rank = np.arange(52) % 13 == rows.action[:, None] % 13
    chosen = np.where(is_discard[:, None], np.arange(52) == rows.action[:, None], same_rank & legal)
    first = np.flatnonzero(is_discard & (rows.place % 2 == 0))  # of a pair; the second is the next decision
    chosen[first, rows.action[first + 1]] = True
    free = is_discard | (legal.reshape(-1, 4, 13).any(axis=1).sum(axis=1) > 1)
    return DatasetChoices(inputs, gains, chosen, is_discard)[free]


class Cloning(Parts):
    """The networks in training, with the average of their weights and their optimizers.

    Attributes:
        agent: has the average of the weights of ``trained``.

    Raises:
        ValueError: ``data`` is not the folder of a finished dataset.
    """

    Settings = CloneSettings

    def __init__(self, settings: CloneSettings) -> None:
        if not settings.data:
            raise ValueError("data='' is not allowed: give the folder of a dataset, from crib-env dataset FOLDER")
        self._data = read_manifest(Path(settings.data))
        self.trained = trained = DDQNAgent.new("split", "209", "ranks", settings.hidden, settings.hidden_discard)
        self._settings = settings
        self.agent = CloneAgent(copy.deepcopy(trained), temperature=settings.temperature)
        self._descents = {name: Descent(network, f"the {name} network") for name, network in trained.networks.items()}
        super().__init__(trained=trained, average=self.agent.networks, **by_network("adam", self._descents))

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Reads a shard and learns from it; scalars for TensorBoard.

        Raises:
            ValueError: the shard is damaged.
        """
        started = time.perf_counter()
        shards = self._data.shards
        shard = shards[now.episodes_before // self._settings.episodes_at_once % len(shards)]
        choices = choices_of(read_shard(Path(self._settings.data), shard), self._data.seed)
        seconds = time.perf_counter() - started
        return self.learn(choices, now.learning_rate, now.rng) | {SIMULATION_SECONDS: seconds}

    def learn(self, choices: DatasetChoices, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Goes once through the choices; scalars for TensorBoard."""
        steps = {}
        size = self._settings.batch_size
        for name in self.trained.networks:
            rows = rng.permutation(self.trained.rows_of(name, choices.is_discard))
            steps[name] = [self._update(name, choices, rows[k : k + size], rate) for k in range(0, len(rows), size)]
        return mean_of_steps(steps)

    def _update(self, name: str, choices: DatasetChoices, rows: np.ndarray, rate: float) -> dict[str, float]:
        batch, network = choices[rows], self.trained.networks[name]
        chosen = torch.from_numpy(batch.chosen)
        with precision(self._settings.precision):
            outputs = network(self.trained.inputs_of(name, batch.inputs))
        logits = with_gains(outputs, torch.from_numpy(batch.gains)) / self._settings.temperature
        loss = (logits.logsumexp(1) - logits.masked_fill(~chosen, -torch.inf).logsumexp(1)).mean()
        norm = self._descents[name].step(loss, rate)
        share = 1 / min(self._descents[name].steps, _AVERAGED)  # at first the mean of all weights so far
        follow(self.agent.networks.networks[name], network, share)
        agreed = chosen.gather(1, logits.argmax(dim=1, keepdim=True)).float().mean()
        entropy = torch.special.entr(logits.detach().softmax(dim=1)).sum(dim=1).mean()
        return {
            "loss": loss.item(),
            "agreement": agreed.item(),
            "gradient norm": norm,
            "entropy": entropy.item(),
        }
