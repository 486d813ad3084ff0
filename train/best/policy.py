"""Policy distillation (Rusu et al. 2015): a network learns the policy of the solved play.

The play is solved (:mod:`crib_env.train.best.solving`), and decisions are sampled from the solution
(:mod:`crib_env.train.best.solved_decisions`). The network learns to lay each rank as often as the solution does: the
loss is the Kullback–Leibler divergence. Inputs are ranks and who laid them (:mod:`crib_env.agents.best.policy`). There
is no search, and no opponent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.best.agent import BestAgent
from crib_env.train.best.solved_decisions import Decisions
from crib_env.train.loop.contracts import Parts
from crib_env.train.loop.learning import Descent, LearningSettings, precision
from crib_env.train.loop.rounds import Round, train_in_rounds
from crib_env.train.loop.run_folder import RunFolder


class Distillation(Parts):
    """A policy network in training, with its optimizer.

    Args:
        agent: the player; the network is trained in place.
        game: which of its policy networks.
        settings: of the run.
    """

    def __init__(self, agent: BestAgent, game: str, settings: LearningSettings) -> None:
        self.agent, self._network, self._settings = agent, agent.policies[game], settings
        self.descent = Descent(self._network, "the policy network", decay=0.01)
        super().__init__(policy=self._network, adam=self.descent)

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
            self.descent.step(loss, rate)
            losses.append(loss.item())
        return {"learning/divergence": float(np.mean(losses))}


def divergence(logits: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Kullback–Leibler divergence (B,) of the policy with these logits (B, 13) from chances (B, 13)."""
    log_policy = torch.log_softmax(logits, dim=1).clamp(min=-100.0)  # -inf where a rank cannot be laid
    return (torch.special.xlogy(chances, chances) - chances * log_policy).sum(dim=1)


def distil(
    agent: BestAgent,
    game: str,
    decisions: Callable[[], Decisions],
    settings: LearningSettings,
    folder: RunFolder,
    progress: Progress,
) -> dict[str, Any]:
    """Trains a policy network of an agent, from the last checkpoint in the folder if there is one; returns a summary.

    Args:
        agent: its network is trained in place.
        game: one of :data:`crib_env.agents.best.agent.GAMES`.
        decisions: makes the decisions to learn from; called only if there is something left to learn.
        settings: of the run.
        folder: of the run.
        progress: shows its progress.
    """
    learner, sampled = Distillation(agent, game, settings), cache(decisions)

    def learn(now: Round) -> tuple[dict[str, float], float]:
        found = sampled()
        return learner.learn(found, now.rng.integers(len(found), size=now.episodes), now.learning_rate), 0.0

    summary = train_in_rounds(f"policy of {game}", settings, folder, progress, learner, learn)
    return {**summary, "updates": learner.descent.steps}
