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
from typing import NamedTuple

import numpy as np
import torch

from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.policy import CloneAgent
from crib_env.agents.networks.seen import Seen
from crib_env.agents.networks.td import read_pile
from crib_env.evaluate.matches.dataset import GAMES_A_SHARD, Rows, action_masks, observations, read_manifest, read_shard
from crib_env.evaluate.runs.format import SIMULATION_SECONDS
from crib_env.kernels import bit, kernel
from crib_env.observation import HAND, KNOWN, N_ACTIONS
from crib_env.ranks import IS_DEALER, N_INPUTS, Play, write_cards, write_discard, write_play
from crib_env.scoring import COUNT_LIMIT, card_value
from crib_env.train.loop.gradients import Descent, Parts, by_network, follow, mean_of_steps, precision
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, Widths
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


class DatasetChoices(NamedTuple):
    """M choices of a shard."""

    observation: np.ndarray
    """(M, 209) int8."""
    masks: np.ndarray
    """(M, 52) int8."""
    chosen: np.ndarray
    """(M, 52) bool: the card chosen; both cards of a pair before the first is discarded; in the play all legal cards of
    a rank."""
    is_discard: np.ndarray
    """(M,) bool."""


def choices_of(rows: Rows) -> DatasetChoices:
    """The decisions of a shard in which there was a choice."""
    masks, is_discard = action_masks(rows), rows.place < _DISCARDS
    same_rank = np.arange(52) % 13 == rows.action[:, None] % 13
    chosen = np.where(is_discard[:, None], np.arange(52) == rows.action[:, None], same_rank & (masks == 1))
    first = np.flatnonzero(is_discard & (rows.place % 2 == 0))  # of a pair; the second is the next decision
    chosen[first, rows.action[first + 1]] = True
    free = is_discard | (masks.reshape(-1, 4, 13).any(axis=1).sum(axis=1) > 1)
    return DatasetChoices(observations(rows)[free], masks[free], chosen[free], is_discard[free])


@kernel
def _read_play(seen, pile):
    """The same at a decision, and how many cards are held. A count has ended where no card held fits it, because a
    player who can lay a card never says go."""
    n_hand, least = 0, COUNT_LIMIT
    for card in range(N_ACTIONS):
        if seen[HAND + card]:
            n_hand += 1
            least = min(least, card_value(card % 13))
    start, n, count = read_pile(seen, pile)
    if count + least > COUNT_LIMIT:
        start, count = n, 0
    return start, n, count, n_hand


@kernel
def _write_ranks(observation, masks, is_discard, inputs, gains):
    pile, unseen, gain = np.empty(10, np.int64), np.empty(13, np.int64), np.empty(N_ACTIONS, np.float32)
    for row in range(len(observation)):
        hand, known, legal = np.int64(0), np.int64(0), np.int64(0)
        for card in range(N_ACTIONS):
            if observation[row, HAND + card]:
                hand |= bit(card)
            elif observation[row, KNOWN + card]:
                known |= bit(card)
            if masks[row, card]:
                legal |= bit(card)
        inputs[row, IS_DEALER] = observation[row, 0]
        write_cards(hand, known, unseen, inputs, row)
        if is_discard[row]:
            write_discard(hand, known, observation[row, 0], legal, inputs, row, gain)
        else:
            start, n, count, n_hand = _read_play(observation[row], pile)
            write_play(Play(pile, start, n, count, 8 - n - n_hand, unseen), legal, inputs, row, gain)
        for card in range(N_ACTIONS):
            if (legal >> card) & 1:
                gains[row, card] = gain[card]


def seen_in(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
    """Decisions by rank, from the 209 bits, which are what a dataset has.

    Args:
        observation: (B, 209) int8.
        masks: (B, 52) int8, legal cards.
        is_discard: (B,) bool.
    """
    inputs, gains = (
        np.zeros((len(observation), N_INPUTS), np.int8),
        np.full((len(observation), 52), -np.inf, np.float32),
    )
    _write_ranks(observation, masks, is_discard, inputs, gains)
    return Seen(inputs, gains)


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
        self._shards = read_manifest(Path(settings.data)).shards
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
        shard = self._shards[now.episodes_before // self._settings.episodes_at_once % len(self._shards)]
        choices = choices_of(read_shard(Path(self._settings.data), shard))
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
        chosen = torch.from_numpy(choices.chosen[rows])
        seen = seen_in(choices.observation[rows], choices.masks[rows], choices.is_discard[rows])
        network = self.trained.networks[name]
        with precision(self._settings.precision):
            outputs = network(self.trained.inputs_of(name, seen.inputs))
        logits = with_gains(outputs, torch.from_numpy(seen.gains)) / self._settings.temperature
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
