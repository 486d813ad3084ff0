"""``response``: how exploitable a player is: ``best`` goes on to learn against it, by TD(λ) in chances to win.

The opponent stays as it is. A round plays deals against it, half of them at 0–0 and half at random scores, and what
each own card led to moves towards its λ-return (:mod:`train.td_returns`), which is a gain or loss of a chance to win:
the show counts as it lies, so that it is the doing of the play alone. Nothing is known of the opponent but what it
does. Discards stay as they were, and are those of both players in training. What the learner then gains on the
opponent, beyond what ``best`` does, is given away by the opponent's play. ``--opponent self`` is self-play.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents import make_agent
from agents.best import BestAgent
from crib_env.kernels import streams
from train.best_deals import new_deals, throw
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.gradient import descend
from train.precision import Precision, precision
from train.response_deals import Plays, play
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder
from train.stopwatch import Stopwatch

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
    decay: float = 0.5
    """λ: how far a value answers for what comes after the next one, from 0 to 1, as for itself."""
    episodes: int = 6_000_000
    """How many deals to play."""
    episodes_at_once: int = 4_096
    """Deals of a round, played side by side."""
    start_spread: int = 40
    """Half of the deals begin at 0–0, half at random scores, which lie at most this far apart."""
    batch_size: int = 2_048
    """Cards laid of a gradient step."""
    learning_rate: float = 3e-4
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.05
    """Share of random cards at the start."""
    final_epsilon: float = 0.03
    """At the end; linear in between."""
    evaluations: int = 20
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 300.0
    """Time between checkpoints."""
    precision: Precision = "auto"
    """What the network computes in while it trains; "auto" is bfloat16 where the processor has instructions for it."""
    threads: int = 1
    """Of torch. One repeats to the last bit."""

    def __post_init__(self) -> None:
        for name in ("episodes", "episodes_at_once", "batch_size", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        for name in ("decay", "epsilon", "final_epsilon"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give 0 to 1")
        if self.opponent not in ("self", "best"):
            make_agent(self.opponent)
        if self.start != "best" and not isinstance(make_agent(self.start), BestAgent):
            raise ValueError(f"start={self.start!r} is not allowed: give best, best:PATH or the folder of such a run")


PRESETS = {"default": Settings()}


class Response:
    """The network for the play in training, with its optimizer.

    Args:
        agent: is trained in place, in the play alone.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.optimizer = torch.optim.AdamW(agent.play.parameters(), weight_decay=0.01, fused=True)

    @property
    def updates(self) -> int:
        """Gradient steps so far."""
        return steps_taken(self.optimizer)

    def learn(self, plays: Plays, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Takes every card laid once, in batches; what TensorBoard shows of it.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        if not len(plays):
            return {}
        batches = np.array_split(rng.permutation(len(plays)), max(1, round(len(plays) / self.settings.batch_size)))
        losses = []
        for rows in batches:
            batch = plays[rows]
            with precision(self.settings.precision):
                values = self.agent.play(torch.from_numpy(batch.seen))
            errors = values - torch.from_numpy(batch.target)
            loss = (torch.from_numpy(batch.weight) * errors.square()).mean()
            descend(loss, self.agent.play, self.optimizer, rate, "network 'play'")
            losses.append(loss.item())
        return {"learning/play loss": float(np.mean(losses))}

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        return named("agent", self.agent.tensors()) | named("adam", optimizer_tensors(self.optimizer))

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("agent", tensors))
        load_optimizer_tensors(self.optimizer, part("adam", tensors))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = make_agent(settings.start)
    assert isinstance(agent, BestAgent)
    agent.name = NAME
    opponent = None if settings.opponent == "self" else make_agent(settings.opponent)
    learner = Response(agent, settings)

    def deal(seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator, thinking: Stopwatch) -> Plays:
        parts = []
        for batch in new_deals(seeds, first_id, settings.start_spread):
            with precision(settings.precision):
                throw(batch, agent, 0.0, rng, thinking)
                parts.append(play(batch, agent, opponent, epsilon, settings.decay, rng, thinking))
        return Plays.joined(parts)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        everything, thinking = Stopwatch(), Stopwatch()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        with everything:
            plays = deal(seeds, now.episodes_before, now.epsilon, now.rng, thinking)
        return learner.learn(plays, now.learning_rate, now.rng), everything.seconds - thinking.seconds

    deal(streams(0, 64), 0, 1.0, np.random.default_rng(0), Stopwatch())  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return agent, {**summary, "updates": learner.updates}
