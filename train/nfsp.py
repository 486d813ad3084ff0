"""Neural fictitious self-play (Heinrich and Silver 2016): what is learned in the end is an average of best responses.

Two policies learn side by side. The best response is Double DQN as it stands in :mod:`train.ddqn`, off-policy, from
everything that is played. The average policy is a classifier of what the best response has chosen, throughout training:
its choices go into a reservoir, an even sample of all of them, and the loss is the cross-entropy over legal cards. In
each episode each player follows one of the two, drawn anew: with the chance ``anticipation`` (η in the paper) the best
response, ε-greedy, and otherwise the average policy. So the best response learns to beat what is nearly the average
policy, and the average policy follows it. The agent that comes of it plays the average policy.

Differences from the paper: one pair of policies for both seats, which see the same game, instead of a pair for each;
networks, Adam, learning rates and double Q-learning as in Double DQN's default instead of plain gradient descent; η is
0.25 instead of 0.1; ε falls linearly and is small, because the average policy learns the random cards too; single deals
with settled rewards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents.ddqn import DDQNAgent
from agents.nfsp import NFSPAgent, legal_log_chances
from agents.suits import relabel, relabelled
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.observation import SIZES
from train import ddqn
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.ddqn import DoubleDQN, explore, new_agent, rewards_of, transitions_of
from train.episodes import Decisions, Episodes, Policy, play_episodes
from train.gradient import descend
from train.precision import precision
from train.replay import Transitions
from train.reservoir import Choices, Reservoir
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder

NAME = "nfsp"


@dataclass(frozen=True)
class Settings(ddqn.Settings):
    """Settings of NFSP: those of Double DQN, for the best response, and the average policy's."""

    preset: Literal["default"] = "default"
    """There is one."""
    opponent: Literal["self"] = "self"
    """NFSP plays itself."""
    episodes: int = 800_000
    """How many to play."""
    anticipation: float = 0.25
    """Chance that a player plays the best response through an episode; else it plays the average policy."""
    reservoir: int = 400_000
    """Choices of the best response that are kept for each network of the average policy."""
    average_batch_size: int = 256
    """Choices of a gradient step of the average policy; it takes as many steps as the best response."""
    average_learning_rate: float = 1e-3
    """Of Adam, at the start, for the average policy; falls with ``learning_rate``."""
    epsilon: float = 0.02
    """Share of random cards of the best response at the start."""
    final_epsilon: float = 0.0
    """At the end; linear in between."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("reservoir", "average_batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        if not 0 < self.anticipation <= 1:
            raise ValueError(f"anticipation={self.anticipation} is not allowed: give more than 0, at most 1")


PRESETS = {"default": Settings()}


class NFSP:
    """The best response, which Double DQN trains, and the average policy, with optimizers and memories.

    Args:
        best: is trained in place, as the best response.
        agent: is trained in place, as the average policy.
        settings: of the run.
    """

    def __init__(self, best: DDQNAgent, agent: NFSPAgent, settings: Settings) -> None:
        self.best, self.agent, self.settings = DoubleDQN(best, settings), agent, settings
        self.networks = agent.networks.networks
        self.optimizers = {n: torch.optim.Adam(net.parameters(), fused=True) for n, net in self.networks.items()}
        self.reservoirs = {n: Reservoir(settings.reservoir, SIZES[settings.observation]) for n in self.networks}

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network of either policy so far."""
        average = {f"average {name}": steps_taken(optimizer) for name, optimizer in self.optimizers.items()}
        return {**self.best.updates, **average}

    def learn(
        self, decisions: Decisions, new: Transitions, of_best: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Takes in a round and makes the gradient steps that it is due, as many for one policy as for the other.

        Args:
            decisions: D of them.
            new: the same as transitions.
            of_best: (D,) bool, which of them the best response took.
            rate: learning rate of the best response; ``None`` is no step yet.
            rng: samples.

        Returns:
            What TensorBoard shows.
        """
        settings, before = self.settings, dict(self.best.updates)
        values = self.best.learn(new, decisions.is_discard, rate, rng)
        rows = np.flatnonzero(of_best)
        choices = choices_of(decisions, rows)
        for name, reservoir in self.reservoirs.items():
            reservoir.add(choices[self.best.agent.rows_of(name, decisions.is_discard[rows])], rng)
            if rate is not None and len(reservoir):
                own_rate = rate * settings.average_learning_rate / settings.learning_rate
                losses = [
                    self.imitate(name, reservoir.sample(settings.average_batch_size, rng), own_rate)
                    for _ in range(self.best.updates[name] - before[name])
                ]
                values[f"learning/average {name} loss"] = float(np.mean(losses))
        return values

    def imitate(self, name: str, batch: Choices, rate: float) -> float:
        """One gradient step of a network of the average policy towards these choices; its loss.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        network = self.networks[name]
        with precision(self.settings.precision):
            logits = network(self.agent.networks.inputs(batch.observation))
        chosen = legal_log_chances(logits, batch.mask).gather(1, torch.from_numpy(batch.card)[:, None])
        loss = -chosen.mean()
        descend(loss, network, self.optimizers[name], rate, f"network {name!r} of the average policy")
        return loss.item()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("best", self.best.tensors()) | named("average", self.agent.networks.tensors())
        for name in self.networks:
            kept |= named(f"reservoir.{name}", self.reservoirs[name].tensors())
            kept |= named(f"adam.{name}", optimizer_tensors(self.optimizers[name]))
        return kept

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.best.load_tensors(part("best", tensors))
        self.agent.networks.load_tensors(part("average", tensors))
        for name in self.networks:
            self.reservoirs[name].load_tensors(part(f"reservoir.{name}", tensors))
            load_optimizer_tensors(self.optimizers[name], part(f"adam.{name}", tensors))


def choices_of(decisions: Decisions, rows: np.ndarray) -> Choices:
    """Some of the decisions, suits relabelled."""
    observation, mask, order = relabel(decisions.observation[rows], decisions.mask[rows])
    return Choices(observation, mask, relabelled(decisions.card[rows], order))


def mix(best: Policy, agent: NFSPAgent, plays_best: np.ndarray, rng: np.random.Generator) -> Policy:
    """The best response for the players for whom ``plays_best`` (2N,) says so, else the average policy."""

    def policy(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        cards = np.empty(len(chain), np.int64)
        rows = np.flatnonzero(plays_best[chain])
        others = np.flatnonzero(~plays_best[chain])
        cards[rows] = best(observation[rows], masks[rows], is_discard[rows], chain[rows])
        numbers = rng.random(len(others))
        cards[others] = agent.choose(observation[others], masks[others], is_discard[others], numbers)
        return cards

    return policy


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[NFSPAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    best, average = (new_agent(settings) for _ in range(2))
    learner = NFSP(best, NFSPAgent(average, settings.seed), settings)

    def play(seeds: np.ndarray, first_id: int, epsilon: float, plays_best: np.ndarray, rng: Any) -> Episodes:
        batch = GameBatch(seeds, episode=settings.episode, skip_forced=settings.skip_forced, first_id=first_id)
        policy = mix(explore(best, epsilon, rng), learner.agent, plays_best, rng)
        with precision(settings.precision):
            return play_episodes(batch, policy, None, settings.observation)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        rng, n = now.rng, now.episodes
        seeds, plays_best = rng.integers(2**64, size=n, dtype=np.uint64), rng.random(2 * n) < settings.anticipation
        played = play(seeds, now.episodes_before, now.epsilon, plays_best, rng)
        decisions = played.decisions
        rewards, ends = rewards_of(decisions, settings.rewards == "settled")
        new = transitions_of(decisions, rewards, ends, settings.n_step, settings.gamma)
        of_best = plays_best[decisions.chain]
        rate = now.learning_rate if now.episodes_before + n >= settings.warm_up else None
        values = {
            "learning/episode return": float(rewards.sum() / ends.sum()),
            "learning/net points against the opponent": float(played.net_points.mean()),
            **learner.learn(decisions, new, of_best, rate, rng),
        }
        return values, played.simulation_seconds

    play(streams(0, 2), 0, 1.0, np.array([True, False, True, False]), np.random.default_rng(0))  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
