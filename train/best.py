"""``best``: policy networks that learn the solved play.

Two networks learn how to lay cards from solutions of the play in points: one from the equilibrium of the pegging game,
one from real deals in which a share of the opponents are simple players
(:mod:`crib_env.agents.simple_players`), so that it wins more from weak opponents. Discards and the end of a game
need no learning: there ``best`` analyses and searches.

This is policy distillation (Rusu et al. 2015), without search or opponents. Decisions are sampled from each solution
(:mod:`crib_env.train.solved_decisions`), which itself would take a gigabyte. A network learns to lay each rank as
often as the solution does: the loss is the Kullback–Leibler divergence. Inputs are ranks and who laid them
(:mod:`crib_env.agents.best`).

The simple players of the solutions and the two types of opponent that the search assumes when it weighs hands
(:mod:`crib_env.agents.belief`) are the same, and this assumption shapes how ``best`` plays.

The policy of the pegging game is learned first, in ``episodes``, then that of deals in as many. With
``episode="pegging"`` it learns the policy of the pegging game alone.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
from crib_env.train.loop.learning import (
    Count,
    Descent,
    LearningSettings,
    NotNegative,
    Parts,
    Widths,
    by_network,
    mean_of_steps,
    precision,
    split_into_batches,
)
from crib_env.train.loop.run import Round, Rounds
from crib_env.train.solved_decisions import Decisions, SolvedPlay
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
    """How often to measure strength during training."""
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""
    threads: Threads = 2
    """Threads of the solver; the result of training does not depend on them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.simple_players == 1:
            raise ValueError("simple_players=1 is not allowed: give at least 0 and less than 1")

    @property
    def games(self) -> tuple[str, ...]:
        """Whose policies are learned, one after the other."""
        return ("pegging",) if self.episode == "pegging" else ("pegging", "deals")

    @property
    def all_episodes(self) -> int:
        """Decisions that both networks learn from."""
        return self.episodes * len(self.games)


def decisions_of(game: str, settings: BestSettings, folder: Path, progress: Progress) -> Decisions:
    """Decisions of the pegging game, or of real deals, as many with each starter; from files in the folder, as far as
    they have been sampled before."""
    if game == "pegging":
        return _decisions(_NO_STARTER, settings, settings.decisions, folder / "pegging.npz", progress)
    each, starters = max(1, settings.decisions // N_RANKS), enumerate(RANKS)
    return Decisions.joined([_decisions(k, settings, each, folder / f"{rank}.npz", progress) for k, rank in starters])


def _decisions(starter: int, settings: BestSettings, n: int, path: Path, progress: Progress) -> Decisions:
    if path.exists():
        return Decisions.load(path, n)
    found = solved(starter, settings, progress).sample(n, settings.seed * (N_RANKS + 1) + starter + 1)
    found.save(path)
    return found


def solved(starter: int, settings: BestSettings, progress: Progress) -> SolvedPlay:
    """The solution with a starter, or with -1 of the pegging game."""
    is_pegging = starter == _NO_STARTER
    iterations = settings.pegging_iterations if is_pegging else settings.iterations
    name = "the pegging game" if is_pegging else f"deals with starter {RANKS[starter]}"
    task = progress.add_task(f"solving {name}", total=iterations)
    start = start_of_play(starter=None if is_pegging else starter)
    game = PlayGame(None if is_pegging else prior_of_discards(starter), start, settings.threads)
    population = None
    if settings.simple_players and not is_pegging:
        population = Population(game, simple_policy(game, start), settings.simple_players)
    solver = PlaySolver(game, population)
    for _ in range(iterations):
        solver.iterate()
        progress.advance(task)
    progress.remove_task(task)
    return SolvedPlay.of(start, starter, game.prior, game.tree, solver.average)


def divergence(logits: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Kullback–Leibler divergence (B,) of the policy with these logits (B, 13) from chances (B, 13)."""
    log_policy = torch.log_softmax(logits, dim=1).clamp(min=-100.0)  # -inf where a rank cannot be laid
    return (torch.special.xlogy(chances, chances) - chances * log_policy).sum(dim=1)


class Best(Parts):
    """The policies in training, with their optimizers."""

    Settings = BestSettings

    def __init__(self, settings: BestSettings) -> None:
        torch.set_num_threads(1)  # the settings' are the solver's
        self._settings, self._folder, self._progress = settings, Path(), Progress(disable=True)
        self.agent = BestAgent(dict.fromkeys(settings.games, settings.hidden))
        policies = self.agent.policies
        self.descents = {game: Descent(policies[game], "the policy network", decay=0.01) for game in settings.games}
        self._held: tuple[str, Decisions] | None = None
        super().__init__(**by_network("policy", policies), **by_network("adam", self.descents))

    def own_loop(self, rounds: Rounds) -> None:
        """Keeps what is sampled from solutions in the run's folder until the end."""
        self._progress, self._folder = rounds.progress, rounds.folder.path / "decisions"
        self._folder.mkdir(exist_ok=True)
        rounds.run()
        shutil.rmtree(self._folder)

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Learns once from some of the decisions of a game, in batches; returns scalars for TensorBoard.

        Raises:
            FloatingPointError: a loss is not finite.
        """
        game, steps = self._settings.games[now.episodes_before // self._settings.episodes], []
        decisions = self._decisions_of(game)
        rows = now.rng.integers(len(decisions), size=now.episodes)
        for batch in split_into_batches(rows, self._settings.batch_size):
            inputs, chances = (torch.from_numpy(column) for column in decisions.at(batch))
            with precision(self._settings.precision):
                logits = self.agent.policies[game](inputs)
            loss = divergence(logits, chances).mean()
            norm = self.descents[game].step(loss, now.learning_rate)
            entropy = torch.special.entr(logits.detach().float().softmax(dim=1)).sum(dim=1).mean()
            steps.append({"loss": loss.item(), "gradient norm": norm, "entropy": entropy.item()})
        return mean_of_steps({"policy": steps})

    def _decisions_of(self, game: str) -> Decisions:
        """Those of one game at a time: they take gigabytes."""
        if self._held is None or self._held[0] != game:
            self._held = None
            self._held = game, decisions_of(game, self._settings, self._folder, self._progress)
        return self._held[1]
