"""``best``: policy networks that learn the solved play.

Two networks learn how to lay cards from solutions of the play in points (:mod:`crib_env.train.best.policy`): one from
the equilibrium of the pegging game, one from real deals in which a share of the opponents are simple players
(:mod:`crib_env.agents.belief.simple_players`), so that it wins more from weak opponents. Discards and the end of a game
need no learning: there ``best`` analyses and searches.

The simple players of the solutions and the two types of opponent that the search assumes when it weighs hands
(:mod:`crib_env.agents.belief.opponent_hands`) are the same, and this assumption shapes how ``best`` plays.

With ``episode="pegging"`` it learns the policy of the pegging game alone.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch
from rich.progress import Progress

from crib_env.agents.best.agent import BestAgent
from crib_env.evaluate.ranges import Share, Threads, WholeNumber
from crib_env.train.best import solving
from crib_env.train.best.policy import distil
from crib_env.train.best.solving import Solving
from crib_env.train.loop.learning import Count, LearningSettings, NotNegative, Widths
from crib_env.train.loop.run_folder import RunFolder, in_all

NAME = "best"


@dataclass(frozen=True)
class BestSettings(LearningSettings):
    """Settings of the solutions and of the policies."""

    preset: Literal["default"] = "default"
    """The only preset."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else, valued by net points."""
    hidden: Widths = (1024, 512)
    """Widths of the hidden layers of each network."""
    pegging_iterations: Count = 24
    """Iterations of the solution of the pegging game."""
    iterations: Count = 8
    """Iterations of the solutions of real deals."""
    simple_players: Share = 0.7
    """Share of simple players among the opponents in real deals, below 1."""
    decisions: Count = 39_000_000
    """Decisions sampled from the pegging game, and as many from real deals."""
    episodes: Count = 50_000_000
    """Decisions that each network learns from; those sampled come round again until then."""
    episodes_at_once: Count = 65_536
    """Decisions in a round."""
    batch_size: Count = 1_024
    """Decisions in a gradient step."""
    evaluations: WholeNumber = 5
    """How often to measure strength while the last policy is learned."""
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""
    threads: Threads = 2
    """Threads of the solver; the result of training does not depend on them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.simple_players == 1:
            raise ValueError("simple_players=1 is not allowed: give at least 0 and less than 1")


PRESETS = {"default": BestSettings()}


def train(settings: BestSettings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary.

    The last policy is the run of this folder; the other one is a run in a folder within it.
    """
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    *first, last = ("pegging",) if settings.episode == "pegging" else ("pegging", "deals")
    agent = BestAgent(dict.fromkeys((*first, last), settings.hidden))
    parts = []
    for game in first:
        its, path = replace(settings, evaluations=0), folder.path / f"policy-{game}"
        path.mkdir(exist_ok=True)
        within = RunFolder.begin(path, "policy", asdict(its))
        parts.append(_learn(agent, game, its, within, progress))
    parts.append(_learn(agent, last, settings, folder, progress))
    return agent, {**in_all(parts), "updates": {game: part["updates"] for game, part in zip((*first, last), parts)}}


def _learn(
    agent: BestAgent, game: str, settings: BestSettings, folder: RunFolder, progress: Progress
) -> dict[str, Any]:
    """Solves a game and trains the agent's policy network for it; returns a summary."""
    is_pegging = game == "pegging"
    iterations = settings.pegging_iterations if is_pegging else settings.iterations
    share = 0.0 if is_pegging else settings.simple_players
    how = Solving(iterations, share, settings.decisions, settings.seed, settings.threads)
    sample, found = solving.pegging_game if is_pegging else solving.deals, folder.path / "decisions"
    found.mkdir(exist_ok=True)
    summary = distil(agent, game, lambda: sample(how, found, progress), settings, folder, progress)
    shutil.rmtree(found)
    return summary
