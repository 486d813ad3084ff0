"""``response`` measures how exploitable a player is: a network trains against it, by TD(λ) on win probabilities.

The opponent stays fixed. A round plays deals against it, half of them at 0–0 and half at random scores. The network's
value of the position after each own card is trained towards its λ-return (:mod:`crib_env.train.td.returns`): a change
in the probability of winning. The show is counted from the actual cards, so only the play causes this change. The
learner sees only the cards that the opponent plays. In training both players discard by the exact analysis, as
``best`` does. What it wins in mirrored games, in which equal players win nothing, is a lower bound on how exploitable
the opponent is. ``--opponent self`` is self-play.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents import make_agent
from crib_env.agents.values.agent import ValueAgent
from crib_env.evaluate.ranges import Share, Threads
from crib_env.kernels import streams
from crib_env.train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part, steps_taken
from crib_env.train.loop.gradient import descend
from crib_env.train.loop.precision import precision
from crib_env.train.loop.rounds import Round, train_in_rounds
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import Count, ExploringSettings, NotNegative, StartSpread, Widths
from crib_env.train.loop.stopwatch import Stopwatch
from crib_env.train.response.deals import Plays, discard, new_deals, play

NAME = "response"


@dataclass(frozen=True)
class Settings(ExploringSettings):
    """Settings of the response."""

    preset: Literal["default"] = "default"
    """The only preset."""
    opponent: str = "best"
    """The opponent to beat: any agent that keeps no memory, by name, or "self" for self-play."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else, valued by net points."""
    hidden: Widths = (512, 512)
    """Widths of the hidden layers."""
    start: str | None = None
    """Network to start from, in place of a new one: the folder of a run, or best:PATH for weights of version 1.0."""
    td_lambda: Share = 0.5
    """λ of TD(λ): 0 bootstraps after one step, 1 is the Monte Carlo return."""
    episodes: Count = 2_000_000
    """Deals to play."""
    episodes_at_once: Count = 4_096
    """Deals in a round, played side by side."""
    start_spread: StartSpread = 40
    """Half of the deals start at 0–0, half at random scores at most this many points apart."""
    batch_size: Count = 512
    """Laid cards in a gradient step."""
    learning_rate: NotNegative = 1e-3
    epsilon: Share = 0.05
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""
    threads: Threads = 1
    """Threads of torch. With one, runs repeat to the last bit on the same kind of processor."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opponent not in ("self", "best"):
            make_agent(self.opponent)
        if self.start is not None and not isinstance(make_agent(self.start), ValueAgent):
            raise ValueError(f"start={self.start!r} is not allowed: give the folder of a run of response")


PRESETS = {"default": Settings()}


class Response:
    """The play network in training, with its optimizer.

    Args:
        agent: trained in place.
        settings: the settings of the run.
    """

    def __init__(self, agent: ValueAgent, settings: Settings) -> None:
        self.agent, self.settings = agent, settings
        self.optimizer = torch.optim.AdamW(agent.play.parameters(), weight_decay=0.01, fused=True)

    @property
    def updates(self) -> int:
        """Gradient steps so far."""
        return steps_taken(self.optimizer)

    def learn(self, plays: Plays, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Learns once from every card laid, in batches; returns scalars for TensorBoard.

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

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return named("agent", self.agent.state_dict()) | named("adam", optimizer_state(self.optimizer))

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        self.agent.load_state_dict(part("agent", tensors))
        load_optimizer_state(self.optimizer, part("adam", tensors))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[ValueAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = ValueAgent(settings.hidden) if settings.start is None else make_agent(settings.start)
    assert isinstance(agent, ValueAgent)
    agent.name = NAME
    opponent = None if settings.opponent == "self" else make_agent(settings.opponent)
    learner = Response(agent, settings)

    def deal(seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator, thinking: Stopwatch) -> Plays:
        parts = []
        for batch in new_deals(seeds, first_id, settings.start_spread, settings.episode):
            with precision(settings.precision):
                discard(batch, agent, thinking)
                parts.append(play(batch, agent, opponent, epsilon, settings.td_lambda, rng, thinking))
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
