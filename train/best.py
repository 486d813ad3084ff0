"""``best``: expert iteration, then responses to itself.

Expert iteration (Anthony et al. 2017): networks play, ``expert`` says what their choices are worth, they learn it.

A round deals many hands, half of them at 0–0 and half at random scores, and the networks play both sides, a share of
the cards at random. Every choice in the play is put to ``expert``, whose answer is a chance to win the game for each
rank: its search looks ahead to the end of the play over hands that the opponent may hold, the network only at what the
card leads to. Only a few of those hands are searched for one answer, so that it scatters, but they are drawn, and the
network learns the mean: many rough answers teach more than few good ones. Some discards are put to the exact analysis
(:func:`crib_env.analyse_discard`). What is learned are the differences between chances, in percent, by Huber loss.
Scores are part of what the networks see, and so they play to the score.

Then the network for the play learns against itself (:mod:`train.best_responses`).

No opponent but itself is ever met. ``expert`` reckons with two kinds of opponent when it weighs hands (see
:mod:`agents.opponent_hands`); its answers carry that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress
from torch import nn

from agents.best import BestAgent
from agents.best_inputs import discard_inputs
from agents.discards import six_dealt
from agents.expert import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.kernels import streams
from crib_env.views import views_of
from train import response, strength
from train.best_deals import PlayAnswers, new_deals, play_and_ask, throw
from train.best_responses import respond_to_itself
from train.checkpoint import in_all, load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.gradient import descend
from train.precision import Precision, precision
from train.replay import Columns, Ring
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder
from train.stopwatch import Stopwatch

NAME = "best"
_PERCENT = 100.0


@dataclass(frozen=True)
class Settings:
    """Settings of expert iteration, and of the responses that follow."""

    preset: Literal["default"] = "default"
    """There is only one."""
    seed: int = 0
    """Of weights, deals, exploration and sampling."""
    hidden: tuple[int, ...] = (512, 512)
    """Widths of the hidden layers of the network for the play."""
    hidden_discard: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of the network for discards."""
    hands: int = 4
    """How many opposing hands the expert's search looks at for an answer."""
    threads: int = 2
    """Of the expert; what is learned does not depend on it."""
    episodes: int = 1_500_000
    """How many deals to play in expert iteration."""
    episodes_at_once: int = 4_096
    """Deals of a round, played side by side."""
    start_spread: int = 40
    """Half of the deals begin at 0–0, half at random scores, which lie at most this far apart."""
    passes: int = 2
    """How often each answer about the play is learned from, all in the round in which it is given."""
    batch_size: int = 256
    """Choices in the play of a gradient step."""
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.1
    """Share of random cards at the start."""
    final_epsilon: float = 0.05
    """At the end; linear in between."""
    discards: float = 0.3
    """In what share of the deals the discard of one player is put to the exact analysis."""
    discard_memory: int = 500_000
    """How many of its answers are kept to learn from."""
    discard_reuse: float = 8.0
    """How often an answer is used on average."""
    discard_batch_size: int = 512
    """Discards of a gradient step."""
    responses: int = 2
    """How often the network for the play responds to itself in the end."""
    response_episodes: int = 4_000_000
    """How many deals a response plays; its other settings are those of ``train response``."""
    evaluations: int = 20
    """How often strength is measured on the way, in expert iteration and in each response."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 300.0
    """Time between checkpoints."""
    precision: Precision = "auto"
    """What the networks compute in while they train; "auto" is bfloat16 where the processor has instructions for it."""

    def __post_init__(self) -> None:
        counts = ("hands", "threads", "episodes", "episodes_at_once", "passes", "batch_size")
        for name in (*counts, "discard_memory", "discard_batch_size", "response_episodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        if self.responses < 0:
            raise ValueError(f"responses={self.responses} is not allowed: give at least 0")
        for name in ("epsilon", "final_epsilon", "discards"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give 0 to 1")


PRESETS = {"default": Settings()}


@dataclass(frozen=True)
class DiscardAnswers(Columns):
    """M hands of six cards and what the exact analysis says of each pair."""

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
    """The networks in training, with their optimizers and the answers about discards.

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
        self.discards: Ring[DiscardAnswers] = Ring(DiscardAnswers.empty(settings.discard_memory))

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network so far."""
        return {name: steps_taken(optimizer) for name, optimizer in self.optimizers.items()}

    def learn_play(self, answers: PlayAnswers, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Takes in answers in batches, ``passes`` times; what TensorBoard shows of it.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        if not answers.n_decisions:
            return {}
        losses = []
        for _ in range(self.settings.passes):
            for batch in answers.batches(self.settings.batch_size, rng):
                _, seen, gain, worth, chances = (torch.from_numpy(column) for column in batch)
                with precision(self.settings.precision):
                    to_come = self.agent.play(seen)
                loss = centred_loss(gain + worth * to_come, chances, torch.from_numpy(batch.decision))
                descend(loss, self.agent.play, self.optimizers["play"], rate, "network 'play'")
                losses.append(loss.item())
        return {"learning/play loss": float(np.mean(losses))}

    def learn_discards(self, new: DiscardAnswers, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Takes in answers and makes the gradient steps that they are due; what TensorBoard shows of it.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        self.discards.add(new)
        if not len(self.discards):
            return {}
        settings, found = self.settings, []
        for _ in range(max(1, round(len(new) * settings.discard_reuse / settings.discard_batch_size))):
            batch = self.discards.sample(settings.discard_batch_size, rng)
            seen = torch.from_numpy(discard_inputs(batch.six, batch.scores, batch.is_dealer))
            with precision(settings.precision):
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

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("agent", self.agent.tensors()) | named("discards", self.discards.tensors())
        for name, optimizer in self.optimizers.items():
            kept |= named(f"adam.{name}", optimizer_tensors(optimizer))
        return kept

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("agent", tensors))
        self.discards.load_tensors(part("discards", tensors))
        for name, optimizer in self.optimizers.items():
            load_optimizer_tensors(optimizer, part(f"adam.{name}", tensors))


def centred_loss(values: torch.Tensor, chances: torch.Tensor, decision: torch.Tensor) -> torch.Tensor:
    """Huber loss (δ = 2 percent) between values (M,) and chances (M,), each less its mean in its decision (M,).

    The mean over decisions, numbered from 0, of the sum over what could be chosen.
    """
    counts = torch.bincount(decision)

    def centred(x: torch.Tensor) -> torch.Tensor:
        means = x.new_zeros(len(counts)).index_add(0, decision, x) / counts
        return x - means[decision]

    losses = nn.functional.huber_loss(centred(values), centred(chances), reduction="sum", delta=2.0)
    return losses / len(counts)


def ask_about_discards(batch: GameBatch, expert: ExpertAgent, share: float, rng: np.random.Generator) -> DiscardAnswers:
    """Puts the discard of one player, pone or dealer, to the exact analysis in a share of new deals."""
    rows = np.flatnonzero(rng.random(len(batch)) < share)
    views = views_of(batch.games, rows, rng.integers(2, size=len(rows)), batch.game_ids[rows])
    chances = _PERCENT * expert.discard_values(views)
    return DiscardAnswers(six_dealt(views), views.scores, views.is_dealer, chances.astype(np.float32))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    agent = BestAgent(settings.hidden, settings.hidden_discard)
    learner = ExpertIteration(agent, settings)
    expert = ExpertAgent(settings.hands, settings.threads)

    def deal(
        seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator, thinking: Stopwatch
    ) -> tuple[PlayAnswers, DiscardAnswers]:
        parts = []
        for batch in new_deals(seeds, first_id, settings.start_spread):
            with thinking:
                asked = ask_about_discards(batch, expert, settings.discards, rng)
            with precision(settings.precision):
                throw(batch, agent, epsilon, rng, thinking)
                parts.append((play_and_ask(batch, agent, expert, epsilon, rng, thinking), asked))
        plays, discards = zip(*parts)
        return PlayAnswers.joined(list(plays)), DiscardAnswers.joined(discards)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        everything, thinking = Stopwatch(), Stopwatch()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        with everything:
            plays, discards = deal(seeds, now.episodes_before, now.epsilon, now.rng, thinking)
        values = learner.learn_play(plays, now.learning_rate, now.rng)
        values |= learner.learn_discards(discards, now.learning_rate, now.rng)
        return values, everything.seconds - thinking.seconds

    deal(streams(0, 64), 0, 1.0, np.random.default_rng(0), Stopwatch())  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    updates, summaries, player = learner.updates, [summary], agent
    responses = respond_to_itself(agent, settings.responses, _of_responses(settings), folder, progress)
    for player, summary in responses:
        updates["play"] += summary["updates"]
        summaries.append(summary)
        results = strength.measure(player, settings.evaluation_games, settings.seed)
        folder.log(strength.scalars(results), in_all(summaries)["episodes"])
    return player, {**in_all(summaries), "updates": updates}


def _of_responses(settings: Settings) -> response.Settings:
    """The settings of responses, but for who responds to whom."""
    return replace(
        response.PRESETS["default"],
        seed=settings.seed,
        episodes=settings.response_episodes,
        episodes_at_once=settings.episodes_at_once,
        start_spread=settings.start_spread,
        evaluations=settings.evaluations,
        evaluation_games=settings.evaluation_games,
        checkpoint_seconds=settings.checkpoint_seconds,
        precision=settings.precision,
    )
