"""``response``: what an opponent's play gives away: ``best`` goes on to learn against one that stays as it is.

The method is that of :mod:`train.best`, with play-outs in place of the expert: a round plays deals at random scores,
and from every choice in the play each rank is laid in a copy of the game, which both players then play to its end. The
network learns the differences between the chances to win that they come to. Answers are exact for the hand that the
opponent happens to hold, and the network, which does not see it, learns their mean. What it gains on the opponent in
the end says how exploitable that opponent's play is; discards stay as they were.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents import make_agent
from agents.best import BestAgent
from agents.best_inputs import N_PLAY_INPUTS
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from train.best import centred
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.gradient import descend
from train.precision import Precision, precision
from train.replay import Ring
from train.response_deals import PlayedOut, play_and_ask
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder

NAME = "response"


@dataclass(frozen=True)
class Settings:
    """Settings of the response."""

    preset: Literal["default"] = "default"
    """There is only one."""
    seed: int = 0
    """Of deals, exploration and sampling."""
    opponent: str = "best"
    """Who is to be beaten: the name of any agent that remembers nothing, or "self" for what has been learned so far."""
    start: str = "best"
    """Whose networks to start from: ``best``, ``best:PATH`` or the folder of a run."""
    episodes: int = 1_000_000
    """How many deals to play."""
    episodes_at_once: int = 4_096
    """Deals of a round, played side by side."""
    start_spread: int = 20
    """Scores before a deal are random and lie at most this far apart."""
    memory: int = 1_000_000
    """Decisions that are kept to learn from."""
    reuse: float = 4.0
    """How often a decision is used on average."""
    batch_size: int = 1_024
    """Decisions of a gradient step."""
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.1
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
    """What the network computes in while it trains; "auto" is bfloat16 where the processor has instructions for it."""
    threads: int = 1
    """Of torch. One repeats to the last bit."""

    def __post_init__(self) -> None:
        for name in ("episodes", "episodes_at_once", "memory", "batch_size", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        if self.opponent != "self":
            make_agent(self.opponent)
        if not isinstance(make_agent(self.start), BestAgent):
            raise ValueError(f"start={self.start!r} is not allowed: give best, best:PATH or the folder of such a run")


PRESETS = {"default": Settings()}


class Response:
    """The network for the play in training, with its optimizer and what it learns from.

    Args:
        agent: is trained in place, in the play alone.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.optimizer = torch.optim.AdamW(agent.play.parameters(), weight_decay=0.01, fused=True)
        self.memory: Ring[PlayedOut] = Ring(PlayedOut.empty(settings.memory))

    @property
    def updates(self) -> int:
        """Gradient steps so far."""
        return steps_taken(self.optimizer)

    def learn(self, new: PlayedOut, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Takes in a round and makes the gradient steps that it is due; what TensorBoard shows of it."""
        self.memory.add(new)
        steps = max(1, round(len(new) * self.settings.reuse / self.settings.batch_size))
        losses = [self.update(self.memory.sample(self.settings.batch_size, rng), rate) for _ in range(steps)]
        return {"learning/loss": float(np.mean(losses))}

    def update(self, batch: PlayedOut, rate: float) -> float:
        """One gradient step; its loss.

        Raises:
            FloatingPointError: the loss is not finite.
        """
        seen = np.unpackbits(batch.seen, axis=1, count=N_PLAY_INPUTS)
        with precision(self.settings.precision):
            values = self.agent.play(torch.from_numpy(seen).float())
        loss = centred_square(values.float(), torch.from_numpy(batch.chances), torch.from_numpy(batch.weight))
        descend(loss, self.agent.play, self.optimizer, rate, "network 'play'")
        return loss.item()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("agent", self.agent.tensors()) | named("memory", self.memory.tensors())
        return kept | named("adam", optimizer_tensors(self.optimizer))

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("agent", tensors))
        self.memory.load_tensors(part("memory", tensors))
        load_optimizer_tensors(self.optimizer, part("adam", tensors))


def centred_square(values: torch.Tensor, chances: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Squared differences between values (B, 13) and chances (B, 13), each less its mean over the legal ones.

    A chance below 0 is none. The mean over B, by ``weight`` (B,), of the sum over what is legal. A square, and not the
    Huber loss of :mod:`train.best`: it is the mean of many noisy answers that is wanted.
    """
    losses = (centred(values, chances >= 0) - centred(chances, chances >= 0)).square()
    return (weight * losses.sum(dim=1)).mean()


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    The share of time in simulation is that in which deals are played and played out.
    """
    torch.set_num_threads(settings.threads)
    agent = make_agent(settings.start)
    assert isinstance(agent, BestAgent)
    agent.name = NAME
    learner = Response(agent, settings)
    opponent = agent if settings.opponent == "self" else make_agent(settings.opponent)

    def ask(seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator) -> PlayedOut:
        spread = settings.start_spread
        batch = GameBatch(seeds, episode="deal", start_spread=spread, skip_forced=True, first_id=first_id)
        return play_and_ask(batch, agent, opponent, epsilon, rng)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        started = time.perf_counter()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        new = ask(seeds, now.episodes_before, now.epsilon, now.rng)
        seconds = time.perf_counter() - started
        return learner.learn(new, now.learning_rate, now.rng), seconds

    ask(streams(0, 64), 0, 0.1, np.random.default_rng(0))  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return agent, {**summary, "updates": learner.updates}
