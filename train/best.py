"""Expert iteration (Anthony et al. 2017): a network plays, ``expert`` says what its cards were worth, it learns that.

A round deals many hands at random scores and plays them by the networks, a share of the cards at random. In each deal
one decision of the play and, in every other deal, one discard are put to ``expert``, whose answer is a chance to win
the game for each rank or pair: its search looks ahead, the networks never do. They learn the differences between those
chances, in percent, by Huber loss. Scores are part of what they see, and so they play to the score.

No opponent but itself is ever met. ``expert`` reckons with two kinds of opponent when it weighs hands (see
:mod:`agents.opponent_hands`); its answers carry that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress
from torch import nn

from agents.best import BestAgent
from agents.best_inputs import N_PLAY_INPUTS, discard_inputs, play_inputs
from agents.discards import six_dealt
from agents.expert import ExpertAgent
from crib_env import PlayerViews
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.kernels import streams
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.gradient import descend
from train.precision import Precision, precision
from train.replay import Columns, Ring
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder

NAME = "best"
_PERCENT = 100.0
_PLACES_IN_PLAY = np.arange(4, 10)  # among the decisions of a deal; later ones are hardly ever a choice


@dataclass(frozen=True)
class Settings:
    """Settings of expert iteration."""

    preset: Literal["default"] = "default"
    """There is only one."""
    seed: int = 0
    """Of weights, deals, exploration and sampling."""
    hidden: tuple[int, ...] = (512, 512)
    """Widths of the hidden layers of the network for the play."""
    hidden_discard: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of the network for discards."""
    hands: int = 16
    """How many opposing hands the expert's search looks at for an answer."""
    threads: int = 2
    """Of the expert; what is learned does not depend on it."""
    episodes: int = 1_000_000
    """How many deals to play."""
    episodes_at_once: int = 8_192
    """Deals of a round, played side by side."""
    start_spread: int = 40
    """Scores before a deal are random and lie at most this far apart."""
    memory: int = 1_000_000
    """Answers about the play that are kept to learn from, and half as many about discards."""
    reuse: float = 8.0
    """How often an answer is used on average."""
    batch_size: int = 512
    """Answers of a gradient step."""
    learning_rate: float = 1.5e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.15
    """Share of random cards at the start."""
    final_epsilon: float = 0.1
    """At the end; linear in between."""
    evaluations: int = 10
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 300.0
    """Time between checkpoints, which hold all answers and so are large."""
    precision: Precision = "auto"
    """What the networks compute in while they train; "auto" is bfloat16 where the processor has instructions for it."""

    def __post_init__(self) -> None:
        for name in ("hands", "threads", "episodes", "episodes_at_once", "memory", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")


PRESETS = {"default": Settings()}


@dataclass(frozen=True)
class PlayAnswers(Columns):
    """M positions of the play and what the expert says of them."""

    seen: np.ndarray  # (M, n) uint8, inputs as packed bits
    chances: np.ndarray  # (M, 13) float32, percent; below 0 where a rank has no value


@dataclass(frozen=True)
class DiscardAnswers(Columns):
    """M hands of six cards and what the expert says of each pair."""

    six: np.ndarray  # (M, 6) int64
    scores: np.ndarray  # (M, 2) int16
    is_dealer: np.ndarray  # (M,) bool
    chances: np.ndarray  # (M, 15) float32, percent


class ExpertIteration:
    """The networks in training, with their optimizers and all answers.

    Args:
        agent: is trained in place.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.optimizers = {
            name: torch.optim.AdamW(network.parameters(), weight_decay=0.01, fused=True)
            for name, network in (("play", agent.play), ("discard", agent.discard))
        }
        n, half = settings.memory, (settings.memory + 1) // 2
        packed = np.zeros((n, (N_PLAY_INPUTS + 7) // 8), np.uint8)
        self.play: Ring[PlayAnswers] = Ring(PlayAnswers(packed, np.zeros((n, 13), np.float32)))
        self.discards: Ring[DiscardAnswers] = Ring(
            DiscardAnswers(
                np.zeros((half, 6), np.int64),
                np.zeros((half, 2), np.int16),
                np.zeros(half, np.bool_),
                np.zeros((half, N_DISCARDS), np.float32),
            )
        )

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network so far."""
        return {name: steps_taken(optimizer) for name, optimizer in self.optimizers.items()}

    def learn(self, n_play: int, n_discards: int, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """The gradient steps that so many new answers are due; what TensorBoard shows of them."""
        values = {}
        for name, n, step in (("play", n_play, self.learn_play), ("discard", n_discards, self.learn_discards)):
            steps = max(1, round(n * self.settings.reuse / self.settings.batch_size))
            losses, regrets = zip(*(step(rate, rng) for _ in range(steps)))
            values[f"learning/{name} loss"] = float(np.mean(losses))
            values[f"learning/{name} regret, percent"] = float(np.mean(regrets))
        return values

    def learn_play(self, rate: float, rng: np.random.Generator) -> tuple[float, float]:
        """One gradient step of the network for the play: loss, and mean regret of its choices by the expert's values.

        Raises:
            FloatingPointError: the loss is not finite.
        """
        batch = self.play.sample(self.settings.batch_size, rng)
        seen = np.unpackbits(batch.seen, axis=1, count=N_PLAY_INPUTS)
        with precision(self.settings.precision):
            values = self.agent.play(torch.from_numpy(seen).float())
        return self._step("play", self.agent.play, values, torch.from_numpy(batch.chances), rate)

    def learn_discards(self, rate: float, rng: np.random.Generator) -> tuple[float, float]:
        """The same for discards."""
        batch = self.discards.sample(self.settings.batch_size, rng)
        seen = discard_inputs(batch.six, batch.scores, batch.is_dealer)
        with precision(self.settings.precision):
            values = self.agent.discard(torch.from_numpy(seen)).squeeze(2)
        return self._step("discard", self.agent.discard, values, torch.from_numpy(batch.chances), rate)

    def _step(
        self, name: str, network: nn.Module, values: torch.Tensor, chances: torch.Tensor, rate: float
    ) -> tuple[float, float]:
        values = values.float()
        loss = centred_loss(values, chances)
        descend(loss, network, self.optimizers[name], rate, f"network {name!r}")
        with torch.no_grad():
            chosen = values.masked_fill(chances < 0, -torch.inf).argmax(dim=1, keepdim=True)
            regret = (chances.max(dim=1).values - chances.gather(1, chosen).squeeze(1)).mean()
        return loss.item(), regret.item()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("agent", self.agent.tensors())
        kept |= named("answers.play", self.play.tensors()) | named("answers.discard", self.discards.tensors())
        for name, optimizer in self.optimizers.items():
            kept |= named(f"adam.{name}", optimizer_tensors(optimizer))
        return kept

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("agent", tensors))
        self.play.load_tensors(part("answers.play", tensors))
        self.discards.load_tensors(part("answers.discard", tensors))
        for name, optimizer in self.optimizers.items():
            load_optimizer_tensors(optimizer, part(f"adam.{name}", tensors))


def centred_loss(values: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Huber loss (δ = 2 percent) between values (B, n) and chances (B, n), each less its mean over the legal ones.

    A chance below 0 is none. The mean over B of the sum over what is legal.
    """
    legal = chances >= 0
    losses = nn.functional.huber_loss(centred(values, legal), centred(chances, legal), reduction="none", delta=2.0)
    return losses.sum(dim=1).mean()


def centred(x: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """``x`` (B, n) less its mean over the legal ones; 0 for the others."""
    x = x * legal
    return (x - x.sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)) * legal


def play_and_ask(
    batch: GameBatch, agent: BestAgent, expert: ExpertAgent, epsilon: float, rng: np.random.Generator
) -> tuple[PlayAnswers, DiscardAnswers]:
    """Plays every deal of a new batch to its end, and puts some of its decisions to the expert.

    Of each deal one decision of the play, by its place in the deal, if it comes to that and there is a choice; and of
    every other deal the hand of one player before the discard.
    """
    n = len(batch)
    play_asked = rng.choice(_PLACES_IN_PLAY, size=n)
    discard_asked = np.where(rng.random(n) < 0.5, 2 * rng.integers(2, size=n), -1)  # pone's first, or the dealer's
    in_play: list[PlayerViews] = []
    before: list[PlayerViews] = []
    while len(rows := batch.acting()):
        views = batch.views(rows)
        discarding = views.discards[:, 1] < 0
        in_play.append(views[~discarding & (views.decisions == play_asked[rows])])
        before.append(views[discarding & (views.decisions == discard_asked[rows])])
        cards = agent.act(views)
        strays = np.flatnonzero(rng.random(len(rows)) < epsilon)
        noise = rng.random((len(strays), views.action_mask.shape[1]))
        cards[strays] = np.where(views.action_mask[strays] != 0, noise, -1.0).argmax(axis=1)
        batch.step(rows, cards)
    return (
        PlayAnswers(
            np.concatenate([np.packbits(play_inputs(v), axis=1) for v in in_play]),
            np.concatenate([_PERCENT * expert.rank_values(v) for v in in_play]).astype(np.float32),
        ),
        DiscardAnswers(
            np.concatenate([six_dealt(v) for v in before]),
            np.concatenate([v.scores for v in before]),
            np.concatenate([v.is_dealer for v in before]),
            np.concatenate([_PERCENT * expert.discard_values(v) for v in before]).astype(np.float32),
        ),
    )


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    The share of time in simulation is that in which deals are played and the expert thinks.
    """
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    agent = BestAgent(settings.hidden, settings.hidden_discard)
    learner = ExpertIteration(agent, settings)
    expert = ExpertAgent(settings.hands, settings.threads)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        started = time.perf_counter()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        batch = GameBatch(seeds, episode="deal", start_spread=settings.start_spread, skip_forced=True)
        play, discards = play_and_ask(batch, agent, expert, now.epsilon, now.rng)
        seconds = time.perf_counter() - started
        learner.play.add(play)
        learner.discards.add(discards)
        return learner.learn(len(play), len(discards), now.learning_rate, now.rng), seconds

    play_and_ask(GameBatch(streams(0, 64), episode="deal"), agent, expert, 1.0, np.random.default_rng(0))  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return agent, {**summary, "updates": learner.updates}
