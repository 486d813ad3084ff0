"""Policy distillation (Rusu et al. 2015): a network learns the policy of the solved play.

Solutions hold how likely each rank is laid in a hundred million situations: of the pegging game, and of real deals with
each starter (``python -m evaluate solve-play``). Decisions are sampled from them
(:mod:`train.distil.solved_decisions`), and the network learns to lay each rank as often: the loss is the
Kullback–Leibler divergence. Inputs are ranks and who laid them (:mod:`crib_env.agents.best.policy`). There is no
search, and no opponent.

The player is ``best`` with this policy for its play. Its discards, and its play near the end of a game, where points do
not stand for the chance to win, are those of the networks that it starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents import make_agent
from crib_env.agents.best.agent import BestAgent
from crib_env.solver.hands import N_RANKS, ORDERINGS
from crib_env.solver.prior import prior_of_discards
from crib_env.solver.public_state import start_of_play
from evaluate.commands.solve_play import PEGGING_GAME, after_discards
from train.distil.solved_decisions import Decisions, SolvedPlay
from train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part, steps_taken
from train.loop.gradient import descend
from train.loop.precision import precision
from train.loop.rounds import Round, train_in_rounds
from train.loop.run_folder import RunFolder
from train.loop.settings import Count, LearningSettings, NotNegative, Share, WholeNumber, Widths

NAME = "distil"


@dataclass(frozen=True)
class Settings(LearningSettings):
    """Settings of policy distillation."""

    pegging_game: str = ""
    """File of ``solve-play``."""
    real_deals: str = ""
    """Folder of ``solve-play --prior discards``, with a file for each starter; by default only the pegging game is
    learned."""
    simple_players: Share = 0.0
    """Share of simple players in the solutions of real deals (``solve-play --simple-players``)."""
    start: str = "best"
    """Networks for discards and for the end of a game: ``best``, ``best:PATH`` or the folder of a run."""
    hidden: Widths = (768, 512)
    """Widths of the hidden layers."""
    decisions: Count = 6_000_000
    """Decisions sampled from the pegging game, and a quarter of them for each starter."""
    episodes: Count = 50_000_000
    """Decisions to learn from; those sampled come round again until then."""
    episodes_at_once: Count = 65_536
    """Decisions in a round."""
    batch_size: Count = 1_024
    """Decisions in a gradient step."""
    learning_rate: NotNegative = 2e-3
    """Initial learning rate of Adam."""
    evaluations: WholeNumber = 10
    """How often to measure strength during training."""


PRESETS = {"default": Settings()}


class Distillation:
    """The policy network in training, with its optimizer.

    Args:
        agent: its policy network is trained in place.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, settings: Settings) -> None:
        assert agent.policy is not None
        self.agent, self._network, self._settings = agent, agent.policy, settings
        self._optimizer = torch.optim.AdamW(self._network.parameters(), weight_decay=0.01, fused=True)

    @property
    def updates(self) -> int:
        """Gradient steps so far."""
        return steps_taken(self._optimizer)

    def learn(self, decisions: Decisions, rows: np.ndarray, rate: float) -> dict[str, float]:
        """Learns once from these decisions (m,), in batches; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        losses = []
        for batch in np.array_split(rows, max(1, round(len(rows) / self._settings.batch_size))):
            inputs, chances = (torch.from_numpy(column) for column in decisions.at(batch))
            with precision(self._settings.precision):
                logits = self._network(inputs)
            loss = divergence(logits, chances).mean()
            descend(loss, self._network, self._optimizer, rate, "the policy network")
            losses.append(loss.item())
        return {"learning/divergence": float(np.mean(losses))}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """See :class:`train.loop.contracts.Trainee`."""
        return named("policy", self._network.state_dict()) | named("adam", optimizer_state(self._optimizer))

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """See :class:`train.loop.contracts.Trainee`."""
        self._network.load_state_dict(part("policy", tensors))
        load_optimizer_state(self._optimizer, part("adam", tensors))


def divergence(logits: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Kullback–Leibler divergence (B,) of the policy with these logits (B, 13) from chances (B, 13)."""
    log_policy = torch.log_softmax(logits, dim=1).clamp(min=-100.0)  # -inf where a rank cannot be laid
    return (torch.special.xlogy(chances, chances) - chances * log_policy).sum(dim=1)


def sample(settings: Settings, progress: Progress) -> Decisions:
    """Decisions of all solutions.

    Raises:
        ValueError: a file is missing, damaged, or of another game.
    """
    files = [(Path(settings.pegging_game), PEGGING_GAME)]
    if settings.real_deals:
        folder, share = Path(settings.real_deals), settings.simple_players
        files += [after_discards(folder, starter, share) for starter in range(N_RANKS)]
    for file, about in files:
        if not file.is_file():
            raise ValueError(f"there is no file {file}: give a solution of {about}, from python -m evaluate solve-play")
    task = progress.add_task("decisions of the solutions", total=len(files))
    parts = []
    for starter, (file, about) in enumerate(files, -1):
        is_pegging = starter < 0
        start = start_of_play(starter=None if is_pegging else starter)
        prior = [ORDERINGS[4]] * 2 if is_pegging else prior_of_discards(starter)
        play = SolvedPlay.load(file, about, start, starter, prior)
        n = settings.decisions if is_pegging else max(1, settings.decisions // 4)
        parts.append(play.sample(n, settings.seed * (N_RANKS + 1) + starter + 1))
        progress.advance(task)
    progress.remove_task(task)
    return Decisions.joined(parts)


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    Raises:
        ValueError: ``pegging_game`` or ``real_deals`` is no solution, or ``start`` no player like ``best``.
    """
    if not settings.pegging_game:
        raise ValueError("pegging_game='' is not allowed: give a file of python -m evaluate solve-play")
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    start = make_agent(settings.start)
    if not isinstance(start, BestAgent):
        raise ValueError(f"start={settings.start!r} is not allowed: give best, best:PATH or the folder of such a run")
    agent = BestAgent(start.hidden, start.hidden_discard, start.by_kind, settings.hidden, NAME)
    agent.play, agent.discard = start.play, start.discard
    learner = Distillation(agent, settings)
    decisions = sample(settings, progress)

    def learn(now: Round) -> tuple[dict[str, float], float]:
        rows = now.rng.integers(len(decisions), size=now.episodes)
        return learner.learn(decisions, rows, now.learning_rate), 0.0

    summary = train_in_rounds(NAME, settings, folder, progress, learner, learn)
    return agent, {**summary, "updates": learner.updates}
