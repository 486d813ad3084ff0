"""``best``: policies from the solved play, and expert iteration for discards and the end of a game.

Two policy networks learn how to lay cards from solutions of the play in points (:mod:`train.best.policy`): one from the
equilibrium of the pegging game, one from real deals in which a share of the opponents are simple players
(:mod:`crib_env.agents.belief.simple_players`), so that it wins more from weak opponents. The play network, for the end
of a game, and the discard network learn what ``expert`` finds (:mod:`train.best.expert_iteration`). In a
round the networks play both sides of many deals, most of them near the end, with a share of random cards.

The networks train against no opponent but themselves. The simple players of the solutions and the two types of opponent
that ``expert`` assumes when it weighs hands (:mod:`crib_env.agents.belief.opponent_hands`) are the same, and this
assumption shapes how they play.

With ``episode="pegging"`` there are no solutions: the play network alone learns that game from ``expert``.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.best.agent import GAMES, BestAgent
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from train.best import policy, solving
from train.best.deals import PlayAnswers, discard, play_and_ask, with_some_near_the_end
from train.best.expert_iteration import DiscardAnswers, ExpertIteration, Lessons, ask_about_discards
from train.best.solving import Solving
from train.loop.checkpoint import in_all
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
_DEALS_NEAR_THE_END, _DISCARDS_NEAR_THE_END = 0.9, 0.5


@dataclass(frozen=True)
class Settings(ExploringSettings):
    """Settings of the solutions, of the policies and of expert iteration."""

    preset: Literal["default"] = "default"
    """The only preset."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else, valued by net points."""
    hidden: Widths = (512, 512)
    """Widths of the hidden layers of the play network."""
    hidden_discard: Widths = (512, 256)
    """Widths of the hidden layers of the discard network."""
    hidden_policy: Widths = (1024, 512)
    """Widths of the hidden layers of each policy network."""
    pegging_iterations: Count = 24
    """Iterations of the solution of the pegging game."""
    iterations: Count = 8
    """Iterations of the solutions of real deals."""
    simple_players: Share = 0.7
    """Share of simple players among the opponents in real deals, below 1."""
    decisions: Count = 39_000_000
    """Decisions sampled from the pegging game, and as many from real deals."""
    policy_episodes: Count = 50_000_000
    """Decisions that each policy network learns from; those sampled come round again until then."""
    policy_evaluations: WholeNumber = 5
    """How often to measure strength while the policy of real deals is learned."""
    hands: Count = 12
    """Opposing hands that the expert searches for each answer."""
    threads: Threads = 2
    """Threads of the solver and of the expert; the result of training does not depend on them."""
    episodes: Count = 1_300_000
    """Deals to play in expert iteration."""
    episodes_at_once: Count = 4_096
    """Deals in a round, played side by side."""
    start_spread: StartSpread = 50
    """A tenth of the deals start at random scores at most this many points apart, the others near the end."""
    passes: Count = 2
    """Passes over the answers about the play, in the round that produced them."""
    batch_size: Count = 256
    """Play decisions in a gradient step."""
    learning_rate: NotNegative = 1e-3
    epsilon: Share = 0.25
    final_epsilon: Share = 0.05
    discards: Positive = 1.2
    """Hands whose discard is analysed exactly, for each deal."""
    discard_memory: Count = 1_000_000
    """Capacity of the replay buffer of analysed discards."""
    discard_reuse: Positive = 4.0
    """How often an analysed discard is used on average."""
    discard_batch_size: Count = 512
    """Discards in a gradient step."""
    evaluations: WholeNumber = 10
    """How often to measure strength during expert iteration."""
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.simple_players == 1:
            raise ValueError("simple_players=1 is not allowed: give at least 0 and less than 1")


PRESETS = {"default": Settings()}


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[BestAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    games = GAMES if settings.episode == "deal" else ()
    agent = BestAgent(settings.hidden, settings.hidden_discard, dict.fromkeys(games, settings.hidden_policy))
    summaries = {f"policy of {game}": learn_policy(agent, game, settings, folder, progress) for game in games}
    shutil.rmtree(folder.path / "decisions", ignore_errors=True)
    summaries |= {"values": learn_values(agent, settings, folder, progress)}
    updates = {name: summary["updates"] for name, summary in summaries.items()}
    return agent, {**in_all(list(summaries.values())), "updates": updates}


def learn_policy(
    agent: BestAgent, game: str, settings: Settings, folder: RunFolder, progress: Progress
) -> dict[str, Any]:
    """Solves a game and trains the agent's policy network for it, in a run folder of its own within ``folder``; returns
    a summary.
    """
    is_pegging = game == "pegging"
    path, found = folder.path / f"policy-{game}", folder.path / "decisions"
    path.mkdir(exist_ok=True)
    found.mkdir(exist_ok=True)
    its = policy.Settings(
        seed=settings.seed,
        evaluations=0 if is_pegging else settings.policy_evaluations,
        evaluation_games=settings.evaluation_games,
        checkpoint_seconds=settings.checkpoint_seconds,
        episodes=settings.policy_episodes,
        precision=settings.precision,
    )
    iterations = settings.pegging_iterations if is_pegging else settings.iterations
    share = 0.0 if is_pegging else settings.simple_players
    how = Solving(iterations, share, settings.decisions, settings.seed, settings.threads)
    sample = solving.pegging_game if is_pegging else solving.deals
    within = RunFolder.begin(path, policy.NAME, asdict(its))
    return policy.distil(agent, game, lambda: sample(how, found, progress), its, within, progress)


def learn_values(agent: BestAgent, settings: Settings, folder: RunFolder, progress: Progress) -> dict[str, Any]:
    """Trains the agent's play and discard networks by expert iteration; returns a summary."""
    learner = ExpertIteration(
        agent,
        Lessons(
            settings.passes,
            settings.batch_size,
            settings.discard_memory,
            settings.discard_reuse,
            settings.discard_batch_size,
            settings.precision,
        ),
    )
    expert = ExpertAgent(settings.hands, settings.threads)

    def deal(
        seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator, thinking: Stopwatch
    ) -> PlayAnswers:
        batch = GameBatch(
            seeds,
            episode=settings.episode,
            start_spread=settings.start_spread if settings.episode == "deal" else None,
            skip_forced=True,
            first_id=first_id,
        )
        with_some_near_the_end(batch, _DEALS_NEAR_THE_END, rng)
        with precision(settings.precision):
            discard(batch, agent, epsilon, rng, thinking)
            return play_and_ask(batch, agent, expert, epsilon, rng, thinking)

    def hands(n: int, rng: np.random.Generator) -> DiscardAnswers:
        batch = GameBatch(
            rng.integers(2**64, size=n, dtype=np.uint64), episode="deal", start_spread=settings.start_spread
        )
        with_some_near_the_end(batch, _DISCARDS_NEAR_THE_END, rng)
        return ask_about_discards(batch, expert, rng)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        everything, thinking = Stopwatch(), Stopwatch()
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        with everything:
            answers = deal(seeds, now.episodes_before, now.epsilon, now.rng, thinking)
        values = learner.learn_play(answers, now.learning_rate, now.rng)
        if settings.episode == "deal":  # the pegging game has no discards
            found = hands(max(1, round(settings.discards * now.episodes)), now.rng)
            values |= learner.learn_discards(found, now.learning_rate, now.rng)
        return values, everything.seconds - thinking.seconds

    deal(streams(0, 64), 0, 1.0, np.random.default_rng(0), Stopwatch())  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return {**summary, "updates": learner.updates}
