"""``best``: policy networks that learn the solved play.

Two networks learn how to lay cards from solutions of the play in points: one from the equilibrium of the pegging game,
one from real deals in which a share of the opponents are simple players
(:mod:`crib_env.agents.simple_players`), so that it wins more from weak opponents. Discards and the end of a game
need no learning: there ``best`` analyses and searches.

This is policy distillation (Rusu et al. 2015), without search or opponents. Decisions are sampled from each solution
(:mod:`crib_env.train.best.solved_decisions`), which itself would take a gigabyte. A network learns to lay each rank as
often as the solution does: the loss is the Kullback–Leibler divergence. Inputs are ranks and who laid them
(:mod:`crib_env.agents.best`).

The simple players of the solutions and the two types of opponent that the search assumes when it weighs hands
(:mod:`crib_env.agents.belief`) are the same, and this assumption shapes how ``best`` plays.

With ``episode="pegging"`` it learns the policy of the pegging game alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from rich.progress import Progress

from crib_env.agents.best import BestAgent
from crib_env.agents.simple_players import simple_policy
from crib_env.cards import RANKS
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import PlaySolver, Population
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.prior import prior_of_discards
from crib_env.train.best.solved_decisions import Decisions, SolvedPlay
from crib_env.train.loop.contracts import Parts
from crib_env.train.loop.learning import (
    Count,
    Descent,
    LearningSettings,
    NotNegative,
    Widths,
    mean_of_steps,
    split_into_batches,
)
from crib_env.train.loop.number_format import precision
from crib_env.train.loop.rounds import Round, Rounds
from crib_env.train.loop.run_folder import RunFolder, in_all
from crib_env.values import Share, Threads, WholeNumber

_NO_STARTER = -1


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


class Solving(NamedTuple):
    """How a game is solved, and how many decisions are sampled from the solution."""

    iterations: int
    simple_players: float
    """Their share of the opponents."""
    decisions: int
    seed: int
    threads: int
    """They do not change the result."""


def pegging_game(solving: Solving, folder: Path, progress: Progress) -> Decisions:
    """Decisions of the pegging game; from a file in the folder, if they have been sampled before."""
    return _decisions(_NO_STARTER, solving, folder / "pegging.npz", progress)


def deals(solving: Solving, folder: Path, progress: Progress) -> Decisions:
    """Decisions of real deals, as many with each starter; from files in the folder, as far as there are any."""
    each = solving._replace(decisions=max(1, solving.decisions // N_RANKS))
    return Decisions.joined(
        [_decisions(starter, each, folder / f"{RANKS[starter]}.npz", progress) for starter in range(N_RANKS)]
    )


def _decisions(starter: int, solving: Solving, path: Path, progress: Progress) -> Decisions:
    if path.exists():
        return Decisions.load(path, solving.decisions)
    found = _solved(starter, solving, progress).sample(solving.decisions, solving.seed * (N_RANKS + 1) + starter + 1)
    found.save(path)
    return found


def _solved(starter: int, solving: Solving, progress: Progress) -> SolvedPlay:
    is_pegging = starter == _NO_STARTER
    name = "the pegging game" if is_pegging else f"deals with starter {RANKS[starter]}"
    task = progress.add_task(f"solving {name}", total=solving.iterations)
    start = start_of_play(starter=None if is_pegging else starter)
    game = PlayGame(None if is_pegging else prior_of_discards(starter), start, solving.threads)
    population = None
    if solving.simple_players:
        population = Population(game, simple_policy(game, start), solving.simple_players)
    solver = PlaySolver(game, population)
    for _ in range(solving.iterations):
        solver.iterate()
        progress.advance(task)
    progress.remove_task(task)
    return SolvedPlay.of(start, starter, game.prior, game.tree, solver.average)


class Distillation(Parts):
    """A policy network in training, with its optimizer.

    Args:
        agent: the player; the network is trained in place.
        game: which of its policy networks.
        decisions: makes the decisions to learn from; called once, if there is something left to learn.
    """

    def __init__(
        self, agent: BestAgent, game: str, decisions: Callable[[], Decisions], settings: LearningSettings
    ) -> None:
        self.agent, self._network, self._settings = agent, agent.policies[game], settings
        self._decisions = cache(decisions)
        self.descent = Descent(self._network, "the policy network", decay=0.01)
        super().__init__(policy=self._network, adam=self.descent)

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Learns once from some of the decisions, in batches; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        decisions, steps = self._decisions(), []
        rows = now.rng.integers(len(decisions), size=now.episodes)
        for batch in split_into_batches(rows, self._settings.batch_size):
            inputs, chances = (torch.from_numpy(column) for column in decisions.at(batch))
            with precision(self._settings.precision):
                logits = self._network(inputs)
            loss = divergence(logits, chances).mean()
            norm = self.descent.step(loss, now.learning_rate)
            entropy = torch.special.entr(logits.detach().float().softmax(dim=1)).sum(dim=1).mean()
            steps.append({"loss": loss.item(), "gradient norm": norm, "entropy": entropy.item()})
        return mean_of_steps({"policy": steps})


def divergence(logits: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Kullback–Leibler divergence (B,) of the policy with these logits (B, 13) from chances (B, 13)."""
    log_policy = torch.log_softmax(logits, dim=1).clamp(min=-100.0)  # -inf where a rank cannot be laid
    return (torch.special.xlogy(chances, chances) - chances * log_policy).sum(dim=1)


class Best:
    """Both policies. The last is that of the run's folder; the other one has a folder within it.

    Attributes:
        agent: has the networks of both.
    """

    Settings = BestSettings

    def __init__(self, settings: BestSettings) -> None:
        torch.set_num_threads(1)  # the settings' are the solver's
        self._settings, self._folder = settings, Path()
        self._games = ("pegging",) if settings.episode == "pegging" else ("pegging", "deals")
        self.agent = BestAgent(dict.fromkeys(self._games, settings.hidden))
        self._progress = Progress(disable=True)
        self._learner = self._learner_of(self._games[-1])
        self.play_and_learn = self._learner.play_and_learn
        self.state_dict, self.load_state_dict = self._learner.state_dict, self._learner.load_state_dict

    def _learner_of(self, game: str) -> Distillation:
        return Distillation(self.agent, game, lambda: self._solve(game), self._settings)

    def _solve(self, game: str) -> Decisions:
        settings, is_pegging = self._settings, game == "pegging"
        iterations = settings.pegging_iterations if is_pegging else settings.iterations
        share = 0.0 if is_pegging else settings.simple_players
        how = Solving(iterations, share, settings.decisions, settings.seed, settings.threads)
        return (pegging_game if is_pegging else deals)(how, self._folder, self._progress)

    def own_loop(self, rounds: Rounds) -> dict[str, Any]:
        """Solves and distils one game after the other; the summary of both."""
        self._progress, parts = rounds.progress, []
        for game in self._games:
            learner, its = self._learner, rounds
            if game != self._games[-1]:
                path, settings = rounds.folder.path / f"policy-{game}", replace(self._settings, evaluations=0)
                path.mkdir(exist_ok=True)
                within = RunFolder.begin(path, "policy", asdict(settings))
                learner = self._learner_of(game)
                its = Rounds(settings, within, rounds.progress, learner, what=f"policy of {game}")
            self._folder = its.folder.path / "decisions"
            self._folder.mkdir(exist_ok=True)
            its.run()
            shutil.rmtree(self._folder)
            parts.append(its.position.summary())
        return in_all(parts)
