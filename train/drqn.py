"""Deep recurrent Q-learning (Hausknecht and Stone 2015), as Sharan and Pawar (2022) applied it to cribbage.

Double DQN (:mod:`crib_env.train.ddqn`) with an LSTM as the first layer: the value of a card depends on all that its
player has seen in this episode. It samples sequences of one player's consecutive decisions (:class:`Sequences`). A
sequence that begins within an episode is preceded by a burn-in, which warms up the LSTM and has no gradient
(Kapturowski et al. 2019). The agent carries its state from decision to decision through the deal, or through the game
if its episodes are games.

``--preset paper`` is the paper's: an LSTM and two layers of 256, γ 1, ε 0.1, a gradient step for every fourth decision,
target sync every 1,000 steps, 500 episodes of warm-up, 6,000 episodes against ``random`` (the other series of the paper
is ``--opponent greedy``), batches of its 128 decisions, here 16 pieces of 8. Differences from it: whole games with
209 bits, discards included, where the paper plays cards on 13 × 14 bits and does not say who discards; points as they
fall; 16 games side by side; suits relabelled; a learning rate of 0.001 instead of 0.1. It does not say how long
sequences are (here 8 decisions after a burn-in of 8), how many are kept, or how long the network remembers: the
program that it prints passes no state from one call to the next.

The default plays single deals against itself, with the rewards and the inputs of Double DQN's default. Its LSTM
stands beside the inputs instead of before them: the layers above see both. Forced decisions are left out in training,
so the agent does not remember them either.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import with_gains
from crib_env.agents.networks.drqn import DRQNAgent, RecurrentQNetwork
from crib_env.agents.networks.seen import Seen
from crib_env.train.ddqn import SHARAN_PAWAR, QSettings
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, Width
from crib_env.train.shared.experience import (
    Decisions,
    Policy,
    epsilon_greedy,
    play_episodes,
    returns_of,
    rewards_of,
)
from crib_env.train.shared.gradients import Descent, Parts, mean_of_steps, precision, scalars_of
from crib_env.train.shared.replay import Columns, Memory
from crib_env.values import WholeNumber


@dataclass(frozen=True)
class DRQNSettings(QSettings):
    """Settings of DRQN."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or Sharan and Pawar's."""
    memory: Width = 128
    """Width of the LSTM, which remembers a game, or else a deal."""
    direct: bool = True
    """Feed the layers above the observation as well as the output of the LSTM."""
    episodes: Count = 61_440
    """Episodes to play."""
    length: Count = 6
    """Decisions in a training sequence; a deal has no more than six."""
    burn_in: WholeNumber = 0
    """Decisions before a sequence that only warm up the LSTM, if the sequence starts within an episode."""
    replay: Count = 12_000
    """Capacity of the replay buffer, in sequences."""
    batch_size: Count = 64
    """Sequences in a gradient step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.burn_in > self.length:
            raise ValueError(f"burn_in={self.burn_in} is not allowed: give 0 to length={self.length}")


PRESETS = {
    "default": DRQNSettings(),
    "paper": DRQNSettings(
        **SHARAN_PAWAR,
        memory=256,
        length=8,
        burn_in=8,
        replay=12_500,
        direct=False,
        reuse=32.0,
        batch_size=16,
        gamma=1.0,
        epsilon=0.1,
        final_epsilon=0.1,
    ),
}


@dataclass(frozen=True)
class Sequences(Columns):
    """M sequences of L = burn-in + length + 1 decisions; no card is legal where there is none.

    The learner trains on the ``length`` decisions after the burn-in. The decisions of the burn-in only warm up the
    LSTM; there are none at the start of a chain of decisions. The last decision is the successor of the one before, if
    the chain goes on.
    """

    inputs: np.ndarray  # (M, L, n) int8
    gains: np.ndarray  # (M, L, 52) float32, -inf for a card that is not legal
    card: np.ndarray  # (M, L) int64
    reward: np.ndarray  # (M, L) float32, up to the next decision
    discount: np.ndarray  # (M, L) float32, factor of the next decision's value, 0 where there is none
    is_discard: np.ndarray  # (M, L) bool


def sequences_of(
    decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, burn_in: int, length: int, gamma: float
) -> Sequences:
    """Cuts the decisions into sequences, so that each is learned from in exactly one of them. Rewards and ends (D,) are
    those of :func:`crib_env.train.shared.experience.rewards_of`."""
    n = len(rewards)
    begins = np.append(True, ends[:-1])
    place = np.arange(n) - np.flatnonzero(begins)[np.cumsum(begins) - 1]  # in the chain
    first = np.flatnonzero(place % length == 0)
    at = first[:, None] + np.arange(-burn_in, length + 1)
    inside = (at >= 0) & (at < n)
    at = at.clip(0, n - 1)
    inside &= decisions.chain[at] == decisions.chain[first][:, None]
    every = Sequences(
        decisions.inputs,
        decisions.gains,
        decisions.card,
        rewards.astype(np.float32),
        np.where(ends, 0.0, gamma).astype(np.float32),
        decisions.is_discard,
    )
    pieces = every[at]
    for column in vars(pieces).values():
        column[~inside] = 0
    pieces.gains[~inside] = -np.inf
    return pieces


class DRQN(Parts):
    """The network of an agent in training, with its target, optimizer and replay buffer of sequences."""

    Settings, PRESETS = DRQNSettings, PRESETS

    def __init__(self, settings: DRQNSettings) -> None:
        self.settings = settings
        self.agent = DRQNAgent.new(
            networks=settings.networks,
            observation=settings.observation,
            memory=settings.memory,
            hidden=settings.hidden,
            direct=settings.direct,
            inputs=settings.inputs,
            lasts="game" if settings.episode == "game" else "deal",
            skip_forced=settings.skip_forced,
        )
        self.target = copy.deepcopy(self.agent.network)
        self.descent = Descent(self.agent.network, "the network")
        self._opponent = None if settings.opponent == "self" else make_agent(settings.opponent)
        longest = settings.burn_in + settings.length + 1
        self.replay = Memory(Sequences.zeros(settings.replay, longest, self.agent.inputs.size))
        super().__init__(online=self.agent.network, target=self.target, replay=self.replay, adam=self.descent)
        self.play(Round.first())  # compiles the kernels before the clocks start

    def play(self, now: Round) -> Decisions:
        """The decisions of a round."""
        settings = self.settings
        policy = explore(self.agent, now.epsilon, now.rng, now.episodes)
        games = now.deal(settings.episode, settings.skip_forced, settings.cards)
        return play_episodes(games, policy, self._opponent, self.agent.inputs.of_games, settings.precision)

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        settings, decisions = self.settings, self.play(now)
        rewards, ends = rewards_of(decisions, settings.rewards == "settled")
        new = sequences_of(decisions, rewards, ends, settings.burn_in, settings.length, settings.gamma)
        self.replay.add(new)
        values = returns_of(decisions, rewards, ends, self._opponent)
        if (rate := now.rate_after(settings.warm_up)) is not None:
            steps = max(1, round(len(new) * settings.reuse / settings.batch_size))
            measured = [self.update(self.replay.sample(settings.batch_size, now.rng), rate) for _ in range(steps)]
            values |= mean_of_steps({"all": measured})
        return values

    def update(self, batch: Sequences, rate: float) -> dict[str, float]:
        """One gradient step; its scalars."""
        with precision(self.settings.precision):
            values, targets = self.values_and_targets(batch)
            errors = targets - values
            loss = errors.square().mean()
        norm = self.descent.step(loss, rate)
        if self.descent.steps % self.settings.target_sync == 0:
            self.target.load_state_dict(self.agent.network.state_dict())
        return {**scalars_of(loss, errors, values, norm), "share of the buffer": self.replay.filled}

    def values_and_targets(self, batch: Sequences) -> tuple[torch.Tensor, torch.Tensor]:
        """Values of the chosen cards in all decisions to learn from, (D,), and their targets, as for Double DQN."""
        burn_in, length = self.settings.burn_in, self.settings.length
        is_real = torch.from_numpy(batch.gains > -np.inf).any(dim=2)
        longest = int(is_real.any(dim=0).nonzero()[-1]) + 1
        here = is_real[:, burn_in:longest]
        decisions = batch[:, burn_in:longest][here.numpy()]  # consecutive decisions of a sequence stay consecutive
        is_learned = here.nonzero()[:, 1] < length
        inputs = torch.from_numpy(batch.inputs[:, :longest]).float()
        cards = torch.from_numpy(batch.card[:, burn_in:longest])[here]
        gains = torch.from_numpy(batch.gains[:, burn_in:longest])[here]

        def unroll(network: RecurrentQNetwork) -> torch.Tensor:
            """Values (D, 52) of the decisions, piece by piece; no gradient flows into the burn-in."""
            state = None
            if burn_in:
                with torch.no_grad():
                    _, state = network.remember(inputs[:, :burn_in])
                    state = state * is_real[:, :1, None]  # without burn-in the chain, and the memory, begin here
            remembered, _ = network.remember(inputs[:, burn_in:], state)
            is_discard = torch.from_numpy(decisions.is_discard)
            return with_gains(network.values(inputs[:, burn_in:][here], remembered[here], is_discard), gains)

        values = unroll(self.agent.network)
        with torch.no_grad():
            best = values.argmax(dim=1, keepdim=True)
            ahead = unroll(self.target).gather(1, best).squeeze(1).roll(-1)
            targets = torch.from_numpy(decisions.reward) + torch.from_numpy(decisions.discount) * ahead
        taken = values.gather(1, cards[:, None]).squeeze(1)
        return taken[is_learned], targets[is_learned]


def explore(agent: DRQNAgent, epsilon: float, rng: np.random.Generator, games: int) -> Policy:
    """The agent's ε-greedy policy in new games, with a separate state for each player."""
    states = np.zeros((2 * games, 2, agent.about["memory"]), np.float32)

    def policy(seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        cards, states[chain] = agent.choose(seen, is_discard, states[chain])
        return epsilon_greedy(cards, seen.legal, epsilon, rng)

    return policy
