"""Neural fictitious self-play (Heinrich and Silver 2016): the result is an average of best responses.

Two policies learn side by side. The best response is Double DQN as in :mod:`crib_env.train.ddqn`, off-policy, from
everything that is played. The average policy is a classifier of the best response's choices, throughout training:
its choices go into a reservoir, a uniform sample of all of them, and the loss is the cross-entropy over legal
cards. In each episode each player follows one of the two, chosen at random: with probability ``anticipation`` (η
in the paper) the best response, ε-greedy, and otherwise the average policy. So the best response learns to beat an
opponent close to the average policy, and the average policy follows it. The resulting agent plays the average policy.

Differences from the paper: one pair of policies for both seats, which see the same game, instead of a pair for each;
networks, Adam and double Q-learning as in Double DQN's default instead of plain gradient descent, with sparse first
layers (:mod:`crib_env.agents.networks.ddqn`); η is 0.25 instead of 0.1; ε falls linearly and is small, because the
average policy learns the random cards too; single deals with settled rewards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch

from crib_env.agents.networks.ddqn import make_sparse, with_gains
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.agents.networks.seen import Seen
from crib_env.train.ddqn import DDQNSettings, DoubleDQN, Transitions, new_agent, transitions_of
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, NotNegative
from crib_env.train.shared.experience import Decisions, Policy, explore, play_episodes, returns_of, rewards_of
from crib_env.train.shared.gradients import Descent, Parts, mean_of_steps, precision
from crib_env.train.shared.replay import Columns, Reservoir
from crib_env.values import Positive, Range, Share


@dataclass(frozen=True)
class NFSPSettings(DDQNSettings):
    """Settings of NFSP: those of Double DQN, which learns the best response, and those of the average policy."""

    preset: Literal["default"] = "default"
    """The only preset."""
    opponent: Literal["self"] = "self"
    """NFSP plays itself."""
    device: Literal["cpu"] = "cpu"
    """NFSP learns on the processor."""
    episodes: Count = 204_800
    learning_rate: NotNegative = 4e-3
    """Initial learning rate of Adam for the best response."""
    reuse: Positive = 2.0
    """How often a transition is used on average, and as many steps are made: with fewer, both policies lag behind."""
    anticipation: Annotated[float, Range(0, 1, above=True)] = 0.25
    """η: probability that a player follows the best response in an episode; otherwise it follows the average policy."""
    reservoir: Count = 400_000
    """Capacity of each average-policy network's reservoir, in decisions of the best response. The average policy takes
    as many gradient steps as the best response, from as many decisions each."""
    average_learning_rate: NotNegative = 4e-3
    """Initial learning rate of Adam for the average policy; it falls with ``learning_rate``."""
    epsilon: Share = 0.02
    """Initial probability of a random card, for the best response."""
    final_epsilon: Share = 0.0


@dataclass(frozen=True)
class BestResponses(Columns):
    """M decisions of the best response and the cards that it chose."""

    inputs: np.ndarray  # (M, n) int8
    gains: np.ndarray  # (M, 52) float32
    card: np.ndarray  # (M,) int64
    is_discard: np.ndarray  # (M,) bool


class NFSP(Parts):
    """The best response, which Double DQN trains, and the average policy, the agent, with optimizers and memories."""

    Settings = NFSPSettings

    def __init__(self, settings: NFSPSettings) -> None:
        best, average = (new_agent(settings) for _ in range(2))
        for network in best.networks.values():
            make_sparse(network.body)
        self.best, self.settings = DoubleDQN(best, settings), settings
        self.agent, self.networks = PolicyAgent("nfsp", average, seed=settings.seed), average.networks
        size = average.inputs.size
        self.descents = {n: Descent(net, f"network {n!r} of the average policy") for n, net in self.networks.items()}
        self.reservoirs = {name: Reservoir(BestResponses.zeros(settings.reservoir, size)) for name in self.networks}
        super().__init__(best=self.best, average=average, reservoir=self.reservoirs, adam=self.descents)
        self.play(Round.first())  # compiles the kernels before the clocks start

    def play(self, now: Round) -> tuple[Decisions, np.ndarray]:
        """The decisions of a round, and which of them are of the best response, (D,) bool."""
        settings, best = self.settings, self.best.online
        games = now.deal(settings.episode, settings.skip_forced, settings.cards)
        plays_best = now.rng.random(2 * now.episodes) < settings.anticipation
        policy = mix(explore(best, now.epsilon, now.rng), self.agent, plays_best, now.rng)
        decisions = play_episodes(games, policy, None, best.inputs.of_games, settings.precision)
        return decisions, plays_best[decisions.chain]

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        settings, (decisions, of_best) = self.settings, self.play(now)
        rewards, ends = rewards_of(decisions, settings.rewards == "settled")
        new = transitions_of(decisions, rewards, ends, settings.gamma)
        learned = self.learn(decisions, new, of_best, now.rate_after(settings.warm_up), now.rng)
        return returns_of(decisions, rewards, ends, None) | learned

    def learn(
        self, decisions: Decisions, new: Transitions, of_best: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Adds a round's decisions (D), which are transitions ``new``, and makes the gradient steps due for it, the
        same number for both policies; ``of_best`` (D,) are of the best response. Scalars for TensorBoard."""
        settings, steps = self.settings, self.best.learn(new, decisions.is_discard, rate, rng)
        rows = np.flatnonzero(of_best)
        kinds = decisions.inputs, decisions.gains, decisions.card, decisions.is_discard
        choices = BestResponses(*(column[rows] for column in kinds))
        for name, reservoir in self.reservoirs.items():
            reservoir.add_sample(choices[self.best.online.rows_of(name, choices.is_discard)], rng)
            if rate is not None and len(reservoir):
                own_rate = rate * settings.average_learning_rate / settings.learning_rate
                steps[f"average {name}"] = [
                    self.imitate(name, reservoir.sample(settings.batch_size, rng), own_rate)
                    for _ in steps.get(name, ())
                ]
        return mean_of_steps(steps)

    def imitate(self, name: str, batch: BestResponses, rate: float) -> dict[str, float]:
        """One gradient step of a network of the average policy towards these choices; its scalars."""
        network = self.networks[name]
        with precision(self.settings.precision):
            outputs = network(self.agent.networks.inputs_of(name, batch.inputs))
        chances = with_gains(outputs, torch.from_numpy(batch.gains)).log_softmax(dim=1)
        loss = -chances.gather(1, torch.from_numpy(batch.card)[:, None]).mean()
        self.descents[name].step(loss, rate)
        entropy = torch.special.entr(chances.detach().exp()).sum(dim=1).mean()
        return {"policy loss": loss.item(), "entropy": entropy.item()}


def mix(best: Policy, agent: PolicyAgent, plays_best: np.ndarray, rng: np.random.Generator) -> Policy:
    """The best response for the players whose ``plays_best`` (2N,) is true, and the average policy for the others."""

    def policy(seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        cards = np.empty(len(chain), np.int64)
        rows = np.flatnonzero(plays_best[chain])
        others = np.flatnonzero(~plays_best[chain])
        cards[rows] = best(seen.at(rows), is_discard[rows], chain[rows])
        numbers = rng.random(len(others))
        cards[others] = agent.choose(seen.at(others), is_discard[others], numbers)
        return cards

    return policy
