"""Double DQN (van Hasselt et al. 2015), as Sharan and Pawar (2022) applied it to cribbage, with additions that make
it strong.

A round plays many episodes in lockstep with an ε-greedy policy, adds their transitions to replay, and then makes
enough gradient steps to use every new transition ``reuse`` times. The target of a step is::

    r_k  +  γ Q_target(s_(k+1), argmax over legal a of Q(s_(k+1), a))

where k counts one player's own decisions. Both the choice of the best card and the policy consider legal cards only.

``--preset paper`` is the paper's. Differences from it: 209 bits instead of its 13 × 14, suits relabelled, 16 games side
by side, and usual choices where it is silent (ε, memory, learning rate).

The default plays single deals against itself and takes luck out of the rewards (``rewards="settled"``). The play is
rewarded with pegging only. A discard gets the exact mean of hand and crib minus that of the best discard:
potential-based shaping (Ng et al. 1999) with exact means in place of the show. This reward of a discard, and the points
of a card in the play, are known before the card is chosen (:mod:`crib_env.ranks`). They are added to the network's
output, which learns only what comes after. The target network follows the weights slowly; as it has their average, it
is the player that is measured and saved.

``--preset anderson-2022`` is the pair of networks of Anderson et al. (2022), 209 inputs, 60 ReLUs, 52 outputs. One
learns the value of a discard for hand and crib, the other the points of a card at once (γ 0). The paper gives neither
the optimizer nor the amount of training. Here the reward of a card subtracts the opponent's answer, pone's discard also
counts the crib, and the gaps are filled with the default's values.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.seen import Coding, Inputs
from crib_env.gpu.device import Device
from crib_env.gpu.games import Asked
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, ExploringSettings, PeggingCards, Widths
from crib_env.train.shared.experience import (
    Decisions,
    epsilon_greedy,
    explore,
    play_episodes,
    returns_of,
    rewards_of,
)
from crib_env.train.shared.gradients import Descent, Parts, follow, mean_of_steps, precision, scalars_of
from crib_env.train.shared.replay import Columns, Memory
from crib_env.train.shared.self_play import new_games, play_out
from crib_env.values import Positive, Share, WholeNumber


@dataclass(frozen=True)
class QSettings(ExploringSettings):
    """Settings of a learner of Q values, which trains from replay in self-play or against an agent."""

    opponent: str = "self"
    """The opponent: "self", or the name of any agent, for example "random" or "greedy"."""
    observation: str = "209"
    """Observation of the networks: "209", "board" or another of crib_env.observation."""
    networks: Literal["split", "one"] = "split"
    """"split" trains one network for discards and one for the play; "one" trains one for both. Pegging has no discards,
    so its discard network stays untrained. With an LSTM these are the layers after it."""
    inputs: Coding = "ranks"
    """What the networks see of an observation: "bits" is all of it; "ranks" is all by rank, with exact values of
    discards and what a card would be answered, and points that a card is known to gain need not be learned."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers, after an LSTM if there is one."""
    episode: Literal["play", "pegging", "deal", "game"] = "deal"
    """What an episode is: the play of a deal, the play of eight cards and nothing else, a deal, or a game."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    rewards: Literal["settled", "points"] = "settled"
    """"points" as they are scored, or "settled": without the luck that no decision controls (deals and pegging)."""
    skip_forced: bool = True
    """Leave out decisions in which all legal cards have the same rank."""
    warm_up: WholeNumber = 1_024
    """Episodes before the first gradient step."""
    reuse: Positive = 2.0
    """How often a sample is used on average."""
    gamma: Share = 1.0
    """Discount for each of the player's own decisions."""
    target_sync: Count = 500
    """Gradient steps between updates of the target network."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rewards == "settled" and self.episode not in ("deal", "pegging"):
            raise ValueError(f"rewards='settled' is not allowed with episode={self.episode!r}: choose rewards='points'")
        Inputs(self.inputs, self.observation)  # raises what is not allowed
        if self.opponent != "self":
            make_agent(self.opponent)


# What Sharan and Pawar (2022) say of both their learners, and usual choices where they say nothing.
SHARAN_PAWAR: dict[str, Any] = {
    "preset": "paper",
    "opponent": "random",
    "networks": "one",
    "inputs": "bits",
    "episode": "game",
    "rewards": "points",
    "skip_forced": False,
    "episodes": 6_000,
    "episodes_at_once": 16,
    "warm_up": 500,
    "learning_rate": 1e-3,
    "final_learning_rate": 1e-3,
    "target_sync": 1_000,
}


@dataclass(frozen=True)
class DDQNSettings(QSettings):
    """Settings of Double DQN."""

    preset: Literal["default", "paper", "anderson-2022"] = "default"
    """Defaults of the other settings: the best found, Sharan and Pawar's, or Anderson et al.'s."""
    hidden_discard: Widths = (128, 128)
    """Widths of the hidden layers of the network of discards, if it is one of two."""
    replay: Count = 50_000
    """Capacity of each network's replay buffer, in transitions."""
    reuse: Positive = 1.0
    """How often a transition is used on average."""
    episodes: Count = 409_600
    """Episodes to play."""
    episodes_at_once: Count = 2_048
    """Episodes in a round, played side by side."""
    batch_size: Count = 1_024
    """Transitions in a gradient step."""
    epsilon: Share = 0.25
    """Initial probability of a random card."""
    final_epsilon: Share = 0.25
    """Probability of a random card at the end; it changes linearly in between. A player that meets only its own best
    cards becomes weaker against others."""
    target_sync: WholeNumber = 0
    """Gradient steps between updates of the target network; 0 lets it follow the weights after every step."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where games, replay and networks are: on the processor, or on the current GPU (extra gpu): self-play by rank."""
    target_rate: Share = 0.005
    """Share of the way to the new weights that the target network then goes (Lillicrap et al. 2016). It has their
    average, and plays when strength is measured."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.device != "cpu" and not self.is_self_play_by_rank:
            raise ValueError(
                f"device={self.device!r} is only for self-play by rank: give opponent='self', inputs='ranks' and "
                "observation='209', or device='cpu'"
            )
        if self.episode == "play" and self.networks != "one":
            raise ValueError("networks='split' is not allowed with episode='play', which has no discards: choose 'one'")

    @property
    def is_self_play_by_rank(self) -> bool:
        """Whether games can be played on a device."""
        return (self.opponent, self.inputs, self.observation) == ("self", "ranks", "209")


PRESETS = {
    "default": DDQNSettings(),
    "paper": DDQNSettings(
        **SHARAN_PAWAR,
        gamma=0.99,
        epsilon=1.0,
        final_epsilon=0.05,
        hidden=(256, 256, 256),
        replay=100_000,
        reuse=128.0,
        batch_size=128,
    ),
    "anderson-2022": DDQNSettings(
        preset="anderson-2022",
        inputs="bits",
        hidden=(60,),
        hidden_discard=(60,),
        skip_forced=False,
        episodes=600_000,
        episodes_at_once=1_024,
        reuse=2.0,
        batch_size=256,
        gamma=0.0,
        epsilon=0.1,
        final_epsilon=0.03,
        target_sync=500,
    ),
}


def new_agent(settings: DDQNSettings) -> DDQNAgent:
    """An agent with random weights, from torch's generator."""
    coding = settings.networks, settings.observation, settings.inputs
    return DDQNAgent.new(*coding, settings.hidden, settings.hidden_discard)


@dataclass(frozen=True)
class Transitions(Columns):
    """M transitions from a decision of a player to its next.

    Inputs, names of cards and gains are those of :class:`crib_env.agents.networks.seen.Seen`. ``discount`` is the
    factor of the next decision's value: gamma, or 0 if the chain of decisions has ended; its inputs and gains are then
    meaningless.
    """

    inputs: Any  # (M, n) int8; each column is an array, or a tensor on a device
    card: Any  # (M,) int64
    reward: Any  # (M,) float32, without what the card was known to gain
    discount: Any  # (M,) float32
    next_inputs: Any  # (M, n) int8
    next_gains: Any  # (M, 52) float32
    next_is_discard: Any  # (M,) bool


def transitions_of(decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, gamma: float) -> Transitions:
    """The decisions (D) as transitions; rewards and ends from :func:`rewards_of`."""
    every = np.arange(len(ends))
    after = np.where(ends, every, every + 1)
    gain = np.asarray(torch.as_tensor(decisions.gains[every, decisions.card]).cpu())
    return Transitions(
        decisions.inputs,
        decisions.card,
        (rewards - gain).astype(np.float32),
        np.where(ends, 0.0, gamma).astype(np.float32),
        decisions.inputs[after],
        decisions.gains[after],
        decisions.is_discard[after],
    )


class DoubleDQN(Parts):
    """An agent in training, ``online``, with target networks, optimizers and memories. Strength is measured of
    ``agent``, which is the target network if it has the average of the weights."""

    def __init__(self, online: DDQNAgent, settings: DDQNSettings) -> None:
        self.device = Device(settings.device).torch_device.type
        for network in online.networks.values():
            network.to(self.device)
        self.online, self.target, self.settings = online, copy.deepcopy(online), settings
        self.agent = self.online if settings.target_sync else self.target
        self.descents = {name: Descent(network, f"network {name!r}") for name, network in online.networks.items()}
        room = settings.replay, online.inputs.size
        self.memories = {name: Memory(Transitions.zeros(*room), self.device) for name in online.networks}
        super().__init__(online=online, target=self.target, replay=self.memories, adam=self.descents)

    def learn(
        self, new: Transitions, is_discard: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, list[dict[str, float]]]:
        """Adds new transitions (M), some of them discards (M,), and makes the gradient steps due for them, none at the
        rate ``None``; returns the scalars of each, by network."""
        settings, steps = self.settings, dict[str, list[dict[str, float]]]()
        for name, memory in self.memories.items():
            rows = self.online.rows_of(name, is_discard)
            memory.add(new[rows])
            if rate is not None and len(memory):
                due = max(1, round(len(rows) * settings.reuse / settings.batch_size))
                steps[name] = [self.update(name, memory.sample(settings.batch_size, rng), rate) for _ in range(due)]
        return steps

    def update(self, name: str, batch: Transitions, rate: float) -> dict[str, float]:
        """One gradient step of a network; its scalars."""
        network, target = self.online.networks[name], self.target.networks[name]
        with precision(self.settings.precision, self.device):
            outputs = network(self.online.inputs_of(name, batch.inputs))
            taken = outputs.gather(1, torch.as_tensor(batch.card)[:, None]).squeeze(1)
            errors = self.targets(batch) - taken
            loss = errors.square().mean()
        norm = self.descents[name].step(loss, rate)
        if not self.settings.target_sync:
            follow(target, network, self.settings.target_rate)
        elif self.descents[name].steps % self.settings.target_sync == 0:
            target.load_state_dict(network.state_dict())
        return {**scalars_of(loss, errors, taken, norm), "share of the buffer": self.memories[name].filled}

    @torch.no_grad()
    def targets(self, batch: Transitions) -> torch.Tensor:
        """Targets of the outputs: rewards, plus the target network's value of the online network's best card."""
        targets, discount = torch.as_tensor(batch.reward), torch.as_tensor(batch.discount)
        on = discount.nonzero()[:, 0]  # where the chain of decisions has ended there is no next state
        if not len(on):
            return targets
        inputs, is_discard, gains = (
            torch.as_tensor(column)[on] for column in (batch.next_inputs, batch.next_is_discard, batch.next_gains)
        )
        best = with_gains(self.online.outputs(inputs, is_discard), gains).argmax(dim=1, keepdim=True)
        ahead = (self.target.outputs(inputs, is_discard) + gains).gather(1, best).squeeze(1)
        return targets.index_add(0, on, discount[on] * ahead)


class DDQN(DoubleDQN):
    """Double DQN as a learner: an agent that plays itself, or another one."""

    Settings, PRESETS = DDQNSettings, PRESETS

    def __init__(self, settings: DDQNSettings) -> None:
        super().__init__(new_agent(settings), settings)
        self._opponent = None if settings.opponent == "self" else make_agent(settings.opponent)
        self.play(Round.first())  # compiles the kernels before the clocks start

    def play(self, now: Round) -> Decisions:
        """The decisions of a round."""
        settings = self.settings
        if settings.is_self_play_by_rank:
            return self.play_itself(now)
        games = now.deal(settings.episode, settings.skip_forced, settings.cards)
        policy = explore(self.online, now.epsilon, now.rng)
        return play_episodes(games, policy, self._opponent, self.online.inputs.of_games, settings.precision)

    def play_itself(self, now: Round) -> Decisions:
        """The same on a device; inputs and gains stay there."""
        settings = self.settings
        games = new_games(now, settings.episode, settings.cards, settings.device, skip_forced=settings.skip_forced)

        @torch.no_grad()
        def choose(asked: Asked) -> tuple[torch.Tensor, ...]:
            values = with_gains(self.online.outputs(asked.inputs, asked.is_discard), asked.gains)
            legal = (asked.gains > -torch.inf).cpu().numpy()
            cards = epsilon_greedy(values.argmax(dim=1).cpu().numpy(), legal, now.epsilon, now.rng)
            return (torch.as_tensor(cards, device=self.device),)

        taken = play_out(games, settings.precision, choose)
        seen = taken.seen
        if self.device == "cpu":
            seen = seen._replace(inputs=seen.inputs.numpy(), gains=seen.gains.numpy())
        small = taken.card, seen.is_discard, seen.points, seen.settled, taken.points, taken.settled
        chain, *columns = (column.cpu().numpy() for column in (seen.chain, *small))
        return Decisions(chain, seen.inputs, seen.gains, *columns)

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        settings, decisions = self.settings, self.play(now)
        rewards, ends = rewards_of(decisions, settings.rewards == "settled")
        new = transitions_of(decisions, rewards, ends, settings.gamma)
        learned = self.learn(new, decisions.is_discard, now.rate_after(settings.warm_up), now.rng)
        return returns_of(decisions, rewards, ends, self._opponent) | mean_of_steps(learned)
