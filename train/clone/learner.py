"""Behaviour cloning: two networks learn to choose as the players of a dataset did (``python -m evaluate dataset``).

A round reads one shard, drops forced cards, and takes a gradient step for each minibatch of the rest: the loss is the
cross-entropy of the card chosen among the legal ones. In the play all cards of the chosen rank count as the card
chosen, since suits do not matter there. The networks are those of Double DQN, read as logits, so a run plays as the
agent ``ddqn``. Shards come round again until ``episodes`` games have been read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.features.suits import relabel, relabelled
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from evaluate.dataset.dataset import GAMES_A_SHARD, read_manifest, read_shard
from evaluate.dataset.rows import Rows
from evaluate.dataset.shards import action_masks, observations
from train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part
from train.loop.gradient import descend
from train.loop.precision import precision
from train.loop.rounds import Round, train_in_rounds
from train.loop.run_folder import RunFolder
from train.loop.settings import Count, LearningSettings, NotNegative, Widths

NAME = "clone"
_DISCARDS = 4  # cards of a deal


@dataclass(frozen=True)
class Settings(LearningSettings):
    """Settings of behaviour cloning."""

    data: str = ""
    """Folder of a finished dataset of Parquet files."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers."""
    episodes: Count = 60_000
    """Games to learn from; the dataset is read again and again until then."""
    episodes_at_once: Count = GAMES_A_SHARD
    """Games in a round; one shard of the dataset is read in each."""
    learning_rate: NotNegative = 1e-3
    """Initial learning rate of Adam."""


PRESETS = {"default": Settings()}


class Choices(NamedTuple):
    """M choices of a shard, suits relabelled."""

    observation: np.ndarray
    """(M, 659) int8."""
    masks: np.ndarray
    """(M, 52) int8."""
    chosen: np.ndarray
    """(M, 52) bool: the card chosen; in the play all legal cards of its rank."""
    is_discard: np.ndarray
    """(M,) bool."""


def choices_of(rows: Rows) -> Choices:
    """The decisions of a shard in which there was a choice."""
    masks, is_discard = action_masks(rows), rows.place < _DISCARDS
    ranks = masks.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
    free = is_discard | (ranks > 1)
    observation, masks, order = relabel(observations(rows, "board")[free], masks[free])
    cards, is_discard = relabelled(rows.action[free].astype(np.int64), order), is_discard[free]
    same_rank = (np.arange(52) % 13 == cards[:, None] % 13) & (masks == 1)
    chosen = np.where(is_discard[:, None], np.arange(52) == cards[:, None], same_rank)
    return Choices(observation, masks, chosen, is_discard)


class Cloning:
    """The networks in training, with their optimizers.

    Args:
        agent: trained in place.
        settings: of the run.
    """

    def __init__(self, agent: DDQNAgent, settings: Settings) -> None:
        self.agent, self._settings = agent, settings
        self._optimizers = {n: torch.optim.Adam(net.parameters(), fused=True) for n, net in agent.networks.items()}
        self.updates = 0

    def learn(self, choices: Choices, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Goes once through the choices; loss and share of equal choices by tag."""
        values: dict[str, float] = {}
        size = self._settings.batch_size
        for name in self.agent.networks:
            rows = rng.permutation(self.agent.rows_of(name, choices.is_discard))
            measured = [self._update(name, choices, rows[k : k + size], rate) for k in range(0, len(rows), size)]
            loss, agreed = np.mean(measured, axis=0).tolist()
            values |= {f"learning/{name} loss": loss, f"learning/{name} agreement": agreed}
        return values

    def _update(self, name: str, choices: Choices, rows: np.ndarray, rate: float) -> tuple[float, float]:
        chosen = torch.from_numpy(choices.chosen[rows])
        seen = self.agent.see(choices.observation[rows], choices.masks[rows], choices.is_discard[rows])
        network = self.agent.networks[name]
        with precision(self._settings.precision):
            outputs = network(self.agent.inputs_of(name, seen.inputs))
        logits = with_gains(outputs, torch.from_numpy(seen.gains))
        loss = (logits.logsumexp(1) - logits.masked_fill(~chosen, -torch.inf).logsumexp(1)).mean()
        descend(loss, network, self._optimizers[name], rate, f"the {name} network")
        self.updates += 1
        agreed = chosen.gather(1, logits.argmax(dim=1, keepdim=True)).float().mean()
        return loss.item(), agreed.item()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """See :class:`train.loop.contracts.Trainee`."""
        tensors = named("agent", self.agent.state_dict()) | {"updates": torch.tensor(self.updates)}
        for name, optimizer in self._optimizers.items():
            tensors |= named(f"adam-{name}", optimizer_state(optimizer))
        return tensors

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """See :class:`train.loop.contracts.Trainee`."""
        self.agent.load_state_dict(part("agent", tensors))
        for name, optimizer in self._optimizers.items():
            load_optimizer_state(optimizer, part(f"adam-{name}", tensors))
        self.updates = int(tensors["updates"])


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[DDQNAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    Raises:
        ValueError: ``data`` is not the folder of a finished dataset, or a shard of it is damaged.
    """
    if not settings.data:
        raise ValueError("data='' is not allowed: give the folder of a dataset, from python -m evaluate dataset FOLDER")
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    data = Path(settings.data)
    shards = read_manifest(data).shards
    learner = Cloning(DDQNAgent.new("split", "board", "ranks", settings.hidden), settings)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        started = time.perf_counter()
        shard = shards[now.episodes_before // settings.episodes_at_once % len(shards)]
        choices = choices_of(read_shard(data, shard))
        seconds = time.perf_counter() - started
        return learner.learn(choices, now.learning_rate, now.rng), seconds

    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
