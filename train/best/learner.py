"""``best``: expert iteration, then responses to itself.

Expert iteration (Anthony et al. 2017): networks play, ``expert`` values their choices, and the networks learn these
values.

In a round the networks play both sides of many deals, half of them at 0–0 and half at random scores, with a share of
random cards. For every decision in the play ``expert`` gives the probability of winning after each
rank. Its search looks ahead to the end of the play over hands that the opponent may hold; the network sees only the
position after the card. A search covers only a few sampled hands, so its answers are noisy, but the
network learns their mean: many noisy answers teach more than few good ones. A share of the discards is analysed exactly
(:func:`crib_env.analyse_discard`). The networks learn differences between win probabilities, in percent, by Huber loss.
Scores are among their inputs, so they play to the score.

Then the play network learns responses to itself (:mod:`train.best.responses`).

The networks train against no opponent but themselves. ``expert`` assumes two types of opponent when it weighs hands
(:mod:`crib_env.agents.belief.opponent_hands`), and this assumption shapes its answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress
from torch import nn

from crib_env.agents.best.agent import BestAgent
from crib_env.agents.best.inputs import discard_inputs
from crib_env.agents.discards import six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.kernels import streams
from crib_env.views import views_of
from train.best import response
from train.best.deals import PlayAnswers, discard, new_deals, play_and_ask
from train.best.responses import respond_to_itself
from train.experience.replay import Columns, Ring
from train.loop.checkpoint import in_all, load_optimizer_state, named, optimizer_state, part, steps_taken
from train.loop.gradient import descend
from train.loop.measures import measure_of
from train.loop.precision import precision
from train.loop.rounds import Round, train_in_rounds
from train.loop.run_folder import RunFolder
from train.loop.settings import (
    Count,
    ExploringSettings,
    NotNegative,
    Positive,
    Share,
    StartSpread,
    Threads,
    WholeNumber,
    Widths,
)
from train.loop.stopwatch import Stopwatch

NAME = "best"
_PERCENT = 100.0


@dataclass(frozen=True)
class Settings(ExploringSettings):
    """Settings of expert iteration and of the responses after it."""

    preset: Literal["default"] = "default"
    """The only preset."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else, valued by net points."""
    hidden: Widths = (512, 512)
    """Widths of the hidden layers of the play network."""
    hidden_discard: Widths = (256, 256)
    """Widths of the hidden layers of the discard network."""
    hands: Count = 4
    """Opposing hands that the expert searches for each answer."""
    threads: Threads = 2
    """Threads of the expert; the result of training does not depend on them."""
    episodes: Count = 1_500_000
    """Deals to play in expert iteration."""
    episodes_at_once: Count = 4_096
    """Deals in a round, played side by side."""
    start_spread: StartSpread = 40
    """Half of the deals start at 0–0, half at random scores at most this many points apart."""
    passes: Count = 2
    """Passes over the answers about the play, in the round that produced them."""
    batch_size: Count = 256
    """Play decisions in a gradient step."""
    learning_rate: NotNegative = 1e-3
    final_epsilon: Share = 0.05
    discards: Share = 0.3
    """Share of deals in which one player's discard is analysed exactly."""
    discard_memory: Count = 500_000
    """Capacity of the replay buffer of analysed discards."""
    discard_reuse: Positive = 8.0
    """How often an analysed discard is used on average."""
    discard_batch_size: Count = 512
    """Discards in a gradient step."""
    responses: WholeNumber = 2
    """Number of responses to itself that the play network learns at the end."""
    response_episodes: Count = 4_000_000
    """Deals played in each response; its other settings are those of ``train response``."""
    evaluations: WholeNumber = 20
    """How often to measure strength during expert iteration, and during each response."""
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""


PRESETS = {"default": Settings()}


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
        settings: the settings of the run.
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
        """Learns from answers in batches, ``passes`` times; returns scalars for TensorBoard.

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
        """Adds answers and makes the gradient steps due for them; returns scalars for TensorBoard.

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

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        kept = named("agent", self.agent.state_dict()) | named("discards", self.discards.state_dict())
        for name, optimizer in self.optimizers.items():
            kept |= named(f"adam.{name}", optimizer_state(optimizer))
        return kept

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        self.agent.load_state_dict(part("agent", tensors))
        self.discards.load_state_dict(part("discards", tensors))
        for name, optimizer in self.optimizers.items():
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


def ask_about_discards(batch: GameBatch, expert: ExpertAgent, share: float, rng: np.random.Generator) -> DiscardAnswers:
    """Analyses the discard of one player, pone or dealer, exactly in a share of new deals."""
    rows = np.flatnonzero(rng.random(len(batch)) < share)
    views = views_of(batch.games, rows, rng.integers(2, size=len(rows)), batch.game_ids[rows])
    chances = _PERCENT * expert.discard_values(views)
    return DiscardAnswers(six_dealt(views), views.scores, views.is_dealer, chances.astype(np.float32))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    agent = BestAgent(settings.hidden, settings.hidden_discard)
    learner = ExpertIteration(agent, settings)
    expert = ExpertAgent(settings.hands, settings.threads)
    strength = measure_of(settings)
    share_asked = settings.discards if settings.episode == "deal" else 0.0  # pegging has no discards

    def deal(
        seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator, thinking: Stopwatch
    ) -> tuple[PlayAnswers, DiscardAnswers]:
        parts = []
        for batch in new_deals(seeds, first_id, settings.start_spread, settings.episode):
            with thinking:
                asked = ask_about_discards(batch, expert, share_asked, rng)
            with precision(settings.precision):
                discard(batch, agent, epsilon, rng, thinking)
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
    """The settings of the responses, except opponent and start."""
    return replace(
        response.PRESETS["default"],
        seed=settings.seed,
        episode=settings.episode,
        episodes=settings.response_episodes,
        episodes_at_once=settings.episodes_at_once,
        start_spread=settings.start_spread,
        evaluations=settings.evaluations,
        evaluation_games=settings.evaluation_games,
        checkpoint_seconds=settings.checkpoint_seconds,
        precision=settings.precision,
    )
