"""Expert iteration (Anthony et al. 2017): networks play, ``expert`` values their choices, and they learn its values.

For every decision in the play ``expert`` gives the probability of winning after each rank. Its search looks ahead to
the end of the play over hands that the opponent may hold; the network sees only the position after the card. A search
covers only a few sampled hands, so its answers are noisy, but the network learns their mean: many noisy answers teach
more than few good ones. Discards are analysed exactly (:func:`crib_env.analyse_discard`). The networks learn
differences between win probabilities, in percent, by Huber loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from crib_env.agents.best.agent import BestAgent
from crib_env.agents.best.inputs import discard_inputs
from crib_env.agents.discards import six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.views import views_of
from train.best.deals import PlayAnswers
from train.experience.replay import Columns, Ring
from train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part, steps_taken
from train.loop.gradient import descend
from train.loop.precision import Precision, precision

_PERCENT = 100.0


class Lessons(NamedTuple):
    """How the networks learn from answers."""

    passes: int
    """Over the answers about the play, in the round that produced them."""
    batch_size: int
    """Play decisions in a gradient step."""
    discard_memory: int
    """Capacity of the replay buffer of analysed discards."""
    discard_reuse: float
    """How often an analysed discard is used on average."""
    discard_batch_size: int
    """Discards in a gradient step."""
    precision: Precision


@dataclass(frozen=True)
class DiscardAnswers(Columns):
    """M hands of six cards and the exact value of each pair."""

    six: np.ndarray  # (M, 6) int64
    scores: np.ndarray  # (M, 2) int16
    is_dealer: np.ndarray  # (M,) bool
    chances: np.ndarray  # (M, 15) float32, percent

    @classmethod
    def empty(cls, n: int) -> DiscardAnswers:
        """Rows of zeros."""
        return cls(
            np.zeros((n, 6), np.int64),
            np.zeros((n, 2), np.int16),
            np.zeros(n, np.bool_),
            np.zeros((n, N_DISCARDS), np.float32),
        )


class ExpertIteration:
    """The networks in training, with their optimizers and the replay buffer of discards.

    Args:
        agent: trained in place.
        lessons: how it learns.
    """

    def __init__(self, agent: BestAgent, lessons: Lessons) -> None:
        self.agent, self.lessons = agent, lessons
        self.optimizers = {
            name: torch.optim.AdamW(network.parameters(), weight_decay=0.01, fused=True)
            for name, network in (("play", agent.play), ("discard", agent.discard))
        }
        self.discards: Ring[DiscardAnswers] = Ring(DiscardAnswers.empty(lessons.discard_memory))

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network so far."""
        return {name: steps_taken(optimizer) for name, optimizer in self.optimizers.items()}

    def learn_play(self, answers: PlayAnswers, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Learns from answers in batches, ``passes`` times; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        if not answers.n_decisions:
            return {}
        losses = []
        for _ in range(self.lessons.passes):
            for batch in answers.batches(self.lessons.batch_size, rng):
                _, seen, gain, worth, chances = (torch.from_numpy(column) for column in batch)
                with precision(self.lessons.precision):
                    to_come = self.agent.play(seen)
                loss = centred_loss(gain + worth * to_come, chances, torch.from_numpy(batch.decision))
                descend(loss, self.agent.play, self.optimizers["play"], rate, "network 'play'")
                losses.append(loss.item())
        return {"learning/play loss": float(np.mean(losses))}

    def learn_discards(self, new: DiscardAnswers, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Adds answers and makes the gradient steps due for them; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        self.discards.add(new)
        if not len(self.discards):
            return {}
        lessons, found = self.lessons, []
        for _ in range(max(1, round(len(new) * lessons.discard_reuse / lessons.discard_batch_size))):
            batch = self.discards.sample(lessons.discard_batch_size, rng)
            seen = torch.from_numpy(discard_inputs(batch.six, batch.scores, batch.is_dealer))
            with precision(lessons.precision):
                values = self.agent.discard(seen.flatten(0, 1))
            chances = torch.from_numpy(batch.chances)
            hand = torch.arange(len(chances)).repeat_interleave(N_DISCARDS)
            loss = centred_loss(values, chances.flatten(), hand)
            descend(loss, self.agent.discard, self.optimizers["discard"], rate, "network 'discard'")
            best = values.view_as(chances).argmax(dim=1, keepdim=True)
            regret = chances.max(dim=1).values - chances.gather(1, best).squeeze(1)
            found.append((loss.item(), regret.mean().item()))
        loss_, regret_ = np.mean(found, axis=0)
        return {"learning/discard loss": float(loss_), "learning/discard regret, percent": float(regret_)}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves; the policy networks, which it does not train, are not among them."""
        kept = named("discards", self.discards.state_dict())
        for name, optimizer in self.optimizers.items():
            kept |= named(name, getattr(self.agent, name).state_dict())
            kept |= named(f"adam.{name}", optimizer_state(optimizer))
        return kept

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        self.discards.load_state_dict(part("discards", tensors))
        for name, optimizer in self.optimizers.items():
            getattr(self.agent, name).load_state_dict(part(name, tensors))
            load_optimizer_state(optimizer, part(f"adam.{name}", tensors))


def centred_loss(values: torch.Tensor, chances: torch.Tensor, decision: torch.Tensor) -> torch.Tensor:
    """Huber loss (δ = 2 percent) between values (M,) and win probabilities (M,), both centred within each decision
    (M,).

    Decisions are numbered from 0. The loss is the mean over decisions of the sum over their choices.
    """
    counts = torch.bincount(decision)

    def centred(x: torch.Tensor) -> torch.Tensor:
        means = x.new_zeros(len(counts)).index_add(0, decision, x) / counts
        return x - means[decision]

    losses = nn.functional.huber_loss(centred(values), centred(chances), reduction="sum", delta=2.0)
    return losses / len(counts)


def ask_about_discards(batch: GameBatch, expert: ExpertAgent, rng: np.random.Generator) -> DiscardAnswers:
    """Analyses exactly the discard of one player, pone or dealer, in each of some new deals."""
    views = views_of(batch.games, batch.acting(), rng.integers(2, size=len(batch)), batch.game_ids)
    chances = _PERCENT * expert.discard_values(views)
    return DiscardAnswers(six_dealt(views), views.scores, views.is_dealer, chances.astype(np.float32))
