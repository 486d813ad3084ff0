"""``response``: what an opponent's play gives away, found by policy gradient from ``best`` (PPO, Schulman et al. 2017).

The networks of ``best`` go on to learn against one opponent that stays as it is, and what they gain on it says how
exploitable it is. With ``--opponent self`` the opponent is what they have become so far.

Only the play is learned. A policy draws ranks by softmax of the network's values; an episode is one deal from random
scores. What a decision is paid is the change, up to the next one, of the chance to win if nothing more were pegged:
the shows to come are counted in full, though no player knows them, so that their luck cancels and the points pegged
remain, at what they are worth at this score. A critic, which is thrown away afterwards, sees the opponent's cards as
well (asymmetric actor and critic, Pinto et al. 2018): a baseline may know all that the card laid does not change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents import make_agent
from agents.best import BestAgent, dense
from agents.best_inputs import N_PLAY_INPUTS
from crib_env.batch import SOURCES, GameBatch
from crib_env.kernels import streams
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part
from train.gradient import descend
from train.response_deals import N_HIDDEN, Choices, advantages, legal_log_chances, play_deals
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder

NAME = "response"


@dataclass(frozen=True)
class Settings:
    """Settings of the response."""

    preset: Literal["default"] = "default"
    """There is only one."""
    seed: int = 0
    """Of the critic's weights, deals, and the cards drawn."""
    opponent: str = "best"
    """Who is to be beaten: the name of any agent, or "self"."""
    start: str = "best"
    """Whose networks to start from: ``best``, ``best:PATH`` or the folder of a run."""
    temperature: float = 0.15
    """Of the softmax, in percent of the chance to win."""
    hidden_critic: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of the critic."""
    episodes: int = 1_000_000
    """How many deals to play."""
    episodes_at_once: int = 8_192
    """Deals of a round, played side by side."""
    warm_up: int = 65_536
    """Deals from which only the critic learns."""
    start_spread: int = 40
    """Scores before a deal are random and lie at most this far apart."""
    trace: float = 0.9
    """λ of the advantages (GAE, Schulman et al. 2016)."""
    epochs: int = 2
    """How often the decisions of a round are learned from."""
    batch_size: int = 1_024
    """Decisions of a gradient step."""
    clip: float = 0.2
    """How far the chance of a card may move in a round before no more gradient flows, as a share of it."""
    learning_rate: float = 3e-4
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    critic_rate: float = 5.0
    """The critic's learning rate, in terms of the other."""
    evaluations: int = 10
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""
    threads: int = 1
    """Of torch. One repeats to the last bit."""

    epsilon = final_epsilon = 0.0  # cards are drawn by the softmax alone

    def __post_init__(self) -> None:
        for name in ("episodes", "episodes_at_once", "epochs", "batch_size", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        if self.temperature <= 0:
            raise ValueError(f"temperature={self.temperature} is not allowed: give more than 0")
        if not 0 <= self.trace <= 1:
            raise ValueError(f"trace={self.trace} is not allowed: give 0 to 1")
        if self.opponent != "self":
            make_agent(self.opponent)
        if not isinstance(make_agent(self.start), BestAgent):
            raise ValueError(f"start={self.start!r} is not allowed: give best, best:PATH or the folder of such a run")


PRESETS = {"default": Settings()}


class Response:
    """The policy in training and its critic, with their optimizers.

    Args:
        agent: is trained in place, in the play alone.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.critic = dense(N_PLAY_INPUTS + N_HIDDEN, settings.hidden_critic, 1)
        self.optimizers = {
            name: torch.optim.Adam(network.parameters(), fused=True)
            for name, network in (("play", agent.play), ("critic", self.critic))
        }

    def learn(self, choices: Choices, rate: float, is_warm: bool, rng: np.random.Generator) -> dict[str, float]:
        """Takes in the decisions of a round; what TensorBoard shows of it.

        Args:
            choices: D of them.
            rate: learning rate of the policy.
            is_warm: whether the policy learns, too.
            rng: shuffles.
        """
        settings = self.settings
        values = np.concatenate([self._value(choices[rows]) for rows in _blocks(np.arange(len(choices)), 8_192)])
        gains = advantages(choices, values, settings.trace)
        targets, scaled = (values + gains).astype(np.float32), (gains / (gains.std() + 1e-6)).astype(np.float32)
        losses: dict[str, list[float]] = {"critic loss": [], "policy loss": []}
        for _ in range(settings.epochs):
            for rows in _blocks(rng.permutation(len(choices)), settings.batch_size):
                batch = choices[rows]
                losses["critic loss"].append(self.learn_values(batch, targets[rows], settings.critic_rate * rate))
                if is_warm:
                    losses["policy loss"].append(self.learn_ranks(batch, scaled[rows], rate))
        return {
            "learning/explained variance": float(1 - gains.var() / max(targets.var(), 1e-9)),
            **{f"learning/{name}": float(np.mean(found)) for name, found in losses.items() if found},
        }

    def _seen(self, choices: Choices) -> torch.Tensor:
        return torch.from_numpy(np.concatenate([choices.seen, choices.hidden], axis=1))

    @torch.inference_mode()
    def _value(self, choices: Choices) -> np.ndarray:
        return self.critic(self._seen(choices)).squeeze(1).double().numpy()

    def learn_values(self, batch: Choices, targets: np.ndarray, rate: float) -> float:
        """One gradient step of the critic towards what was still earned (B,); its loss.

        Raises:
            FloatingPointError: the loss is not finite.
        """
        loss = (self.critic(self._seen(batch)).squeeze(1) - torch.from_numpy(targets)).square().mean()
        descend(loss, self.critic, self.optimizers["critic"], rate, "the critic")
        return loss.item()

    def learn_ranks(self, batch: Choices, gains: np.ndarray, rate: float) -> float:
        """One gradient step of the policy by advantages (B,), in units of their standard deviation; its loss.

        Raises:
            FloatingPointError: the loss is not finite.
        """
        settings = self.settings
        values = self.agent.play(torch.from_numpy(batch.seen).float())
        logs = legal_log_chances(values, torch.from_numpy(batch.legal), settings.temperature)
        log = logs.gather(1, torch.from_numpy(batch.rank)[:, None]).squeeze(1)
        ratio = (log - torch.from_numpy(batch.log_chance)).exp()
        gain = torch.from_numpy(gains)
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        loss = -torch.minimum(ratio * gain, clipped * gain).mean()
        descend(loss, self.agent.play, self.optimizers["play"], rate, "network 'play'")
        return loss.item()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("agent", self.agent.tensors()) | named("critic", self.critic.state_dict())
        for name, optimizer in self.optimizers.items():
            kept |= named(f"adam.{name}", optimizer_tensors(optimizer))
        return kept

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("agent", tensors))
        self.critic.load_state_dict(part("critic", tensors))
        for name, optimizer in self.optimizers.items():
            load_optimizer_tensors(optimizer, part(f"adam.{name}", tensors))


def _blocks(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """The rows, about ``size`` at a time."""
    return np.array_split(rows, max(1, round(len(rows) / size)))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    The share of time in simulation is that in which deals are played, by networks and opponent.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = make_agent(settings.start)
    assert isinstance(agent, BestAgent)
    agent.name = NAME
    learner = Response(agent, settings)
    opponent = None if settings.opponent == "self" else make_agent(settings.opponent)

    def play(seeds: np.ndarray, rng: np.random.Generator, first_id: int) -> tuple[GameBatch, Choices]:
        spread = settings.start_spread
        batch = GameBatch(seeds, episode="deal", start_spread=spread, skip_forced=True, first_id=first_id)
        return batch, play_deals(batch, agent, opponent, settings.temperature, rng)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        started = time.perf_counter()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        batch, choices = play(seeds, now.rng, now.episodes_before)
        seconds = time.perf_counter() - started
        is_warm = now.episodes_before >= settings.warm_up
        values = learner.learn(choices, now.learning_rate, is_warm, now.rng)
        if opponent is not None:
            values["learning/net points a deal in the play"] = _net_pegging(batch)
        return values, seconds

    play(streams(0, 64), np.random.default_rng(0), 0)  # compiles
    return agent, train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)


def _net_pegging(batch: GameBatch) -> float:
    """What the learner pegged in the play of a deal more than its opponent, in the mean over the deals of a batch."""
    pegged = batch.tally[:, :, :, SOURCES.index("play")].sum(axis=2)
    own = np.arange(len(batch)) % 2
    rows = np.arange(len(batch))
    return float((pegged[rows, own] - pegged[rows, 1 - own]).mean())
