"""Neural fictitious self-play (Heinrich and Silver 2016): the result is an average of best responses.

Two policies learn side by side. The best response is Double DQN as in :mod:`crib_env.train.ddqn`, off-policy, from
everything that is played. The average policy is a classifier of the best response's choices, throughout training:
its choices go into a reservoir, a uniform sample of all of them, and the loss is the cross-entropy over legal
cards. In each episode each player follows one of the two, chosen at random: with probability ``anticipation`` (η
in the paper) the best response, ε-greedy, and otherwise the average policy. So the best response learns to beat an
opponent close to the average policy, and the average policy follows it. The resulting agent plays the average policy.

Differences from the paper: one pair of policies for both seats, which see the same game, instead of a pair for each;
networks, Adam, learning rates and double Q-learning as in Double DQN's default instead of plain gradient descent; η is
0.25 instead of 0.1; ε falls linearly and is small, because the average policy learns the random cards too; single deals
with settled rewards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.nfsp import NFSPAgent
from crib_env.batch import GameBatch
from crib_env.evaluate.ranges import Range, Share
from crib_env.kernels import streams
from crib_env.observation import OBSERVATIONS
from crib_env.train import ddqn
from crib_env.train.ddqn import DoubleDQN, explore, new_agent, transitions_of
from crib_env.train.experience.episodes import Decisions, Episodes, Policy, play_episodes
from crib_env.train.experience.q_learning import rewards_of, values_of
from crib_env.train.experience.replay import Transitions
from crib_env.train.experience.reservoir import Choices, Reservoir
from crib_env.train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part, steps_taken
from crib_env.train.loop.gradient import descend
from crib_env.train.loop.precision import precision
from crib_env.train.loop.rounds import Round, train_in_rounds
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import Count, NotNegative

NAME = "nfsp"


@dataclass(frozen=True)
class Settings(ddqn.Settings):
    """Settings of NFSP: those of Double DQN, which learns the best response, and those of the average policy."""

    preset: Literal["default"] = "default"
    """The only preset."""
    opponent: Literal["self"] = "self"
    """NFSP plays itself."""
    episodes: Count = 204_800
    anticipation: Annotated[float, Range(0, 1, above=True)] = 0.25
    """η: probability that a player follows the best response in an episode; otherwise it follows the average policy."""
    reservoir: Count = 400_000
    """Capacity of each average-policy network's reservoir, in decisions of the best response."""
    average_batch_size: Count = 1_024
    """Decisions in a gradient step of the average policy, which takes as many steps as the best response."""
    average_learning_rate: NotNegative = 1e-3
    """Initial learning rate of Adam for the average policy; it falls with ``learning_rate``."""
    epsilon: Share = 0.02
    """Initial probability of a random card, for the best response."""
    final_epsilon: Share = 0.0


PRESETS = {"default": Settings()}


class NFSP:
    """The best response, which Double DQN trains, and the average policy, with optimizers and memories.

    Args:
        best: the best response, trained in place.
        agent: the average policy, trained in place.
        settings: the settings of the run.
    """

    def __init__(self, best: DDQNAgent, agent: NFSPAgent, settings: Settings) -> None:
        self.best, self.agent, self.settings = DoubleDQN(best, settings), agent, settings
        self.networks = agent.networks.networks
        self.optimizers = {n: torch.optim.Adam(net.parameters(), fused=True) for n, net in self.networks.items()}
        size = OBSERVATIONS[settings.observation].size
        self.reservoirs = {n: Reservoir(settings.reservoir, size) for n in self.networks}

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network of either policy so far."""
        average = {f"average {name}": steps_taken(optimizer) for name, optimizer in self.optimizers.items()}
        return {**self.best.updates, **average}

    def learn(
        self, decisions: Decisions, new: Transitions, of_best: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Adds a round and makes the gradient steps due for it, the same number for both policies.

        Args:
            decisions: D decisions.
            new: the same decisions as transitions.
            of_best: (D,) bool, whether the best response took them.
            rate: learning rate of the best response; ``None`` means no step yet.
            rng: for sampling.

        Returns:
            Scalars for TensorBoard.
        """
        settings, before = self.settings, dict(self.best.updates)
        values = self.best.learn(new, decisions.is_discard, rate, rng)
        rows = np.flatnonzero(of_best)
        choices = Choices(decisions.observation[rows], decisions.mask[rows], decisions.card[rows])
        for name, reservoir in self.reservoirs.items():
            reservoir.add(choices[self.best.online.rows_of(name, decisions.is_discard[rows])], rng)
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
            seen = self.agent.networks.see(batch.observation, batch.mask, batch.is_discard)
            outputs = network(self.agent.networks.inputs_of(name, seen.inputs))
        chances = with_gains(outputs, torch.from_numpy(seen.gains)).log_softmax(dim=1)
        loss = -chances.gather(1, torch.from_numpy(seen.named(batch.card))[:, None]).mean()
        descend(loss, network, self.optimizers[name], rate, f"network {name!r} of the average policy")
        return loss.item()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        kept = named("best", self.best.state_dict()) | named("average", self.agent.networks.state_dict())
        for name in self.networks:
            kept |= named(f"reservoir.{name}", self.reservoirs[name].state_dict())
            kept |= named(f"adam.{name}", optimizer_state(self.optimizers[name]))
        return kept

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        self.best.load_state_dict(part("best", tensors))
        self.agent.networks.load_state_dict(part("average", tensors))
        for name in self.networks:
            self.reservoirs[name].load_state_dict(part(f"reservoir.{name}", tensors))
            load_optimizer_state(self.optimizers[name], part(f"adam.{name}", tensors))


def mix(best: Policy, agent: NFSPAgent, plays_best: np.ndarray, rng: np.random.Generator) -> Policy:
    """The best response for the players whose ``plays_best`` (2N,) is true, and the average policy for the others."""

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
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary."""
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
        new = transitions_of(best, decisions, rewards, ends, settings.n_step, settings.gamma)
        of_best = plays_best[decisions.chain]
        rate = now.learning_rate if now.episodes_before + n >= settings.warm_up else None
        learned = learner.learn(decisions, new, of_best, rate, rng)
        return values_of(played, rewards, ends) | learned, played.simulation_seconds

    play(streams(0, 2), 0, 1.0, np.array([True, False, True, False]), np.random.default_rng(0))  # compiles
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
