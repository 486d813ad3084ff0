"""Double DQN (van Hasselt et al. 2015), as Sharan and Pawar (2022) applied it to cribbage, with additions that make
it strong.

A round plays many episodes in lockstep with an ε-greedy policy, adds their transitions to replay, and then makes
enough gradient steps to use every new transition ``reuse`` times. The target of a step is::

    r_k + … + γ^(n-1) r_(k+n-1)  +  γ^n Q_target(s_(k+n), argmax over legal a of Q(s_(k+n), a))

where k counts one player's own decisions. Both the choice of the best card and the policy consider legal cards only.

``--preset paper`` is the paper's: one network of three layers of 256 for everything, rewards as they fall in
whole games, γ 0.99, batches of 128, one step a decision, 500 episodes of warm-up, target sync every 1,000 steps,
6,000 episodes. Differences from it: 209 bits instead of its 13 × 14, suits relabelled, 16 games side by side, and
usual choices where it is silent (ε from 1 to 0.05, memory of 100,000, learning rate 0.001). The default plays
single deals against itself and takes luck out of the rewards (``rewards="settled"``). The play is rewarded with
pegging only, since nothing else can change any more. A discard is rewarded with the exact mean of hand and crib
minus that of the best discard. That difference is potential-based shaping (Ng et al. 1999) with exact means in
place of the show. This reward of a discard, and the points of a card in the play, are known before the card is chosen
(:mod:`crib_env.agents.features.by_rank`). They are added to the network's output, which learns only what comes after.
The target network follows the weights slowly; as it has their average, it is the player that is measured and saved.

``--preset anderson-2022`` is the pair of networks of Anderson et al. (2022), 209 inputs, 60 ReLUs, 52 outputs.
One learns the value of a discard for hand and crib, the other the points of a card at once, because the pair should
learn what their greedy player knows (γ 0). The paper gives neither the optimizer nor the amount of training. Here the
reward of a card subtracts the opponent's answer, pone's discard also counts the crib, and the gaps are filled with the
default's values.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents import make_agent
from crib_env.agents.features.seen import Coding, n_inputs
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.batch import GameBatch
from crib_env.evaluate.ranges import Positive, Share, WholeNumber
from crib_env.kernels import streams
from crib_env.train.experience.episodes import Decisions, Episodes, Policy, play_episodes
from crib_env.train.experience.q_learning import QSettings, epsilon_greedy, rewards_of, values_of
from crib_env.train.experience.replay import Replay, Transitions
from crib_env.train.loop.checkpoint import load_optimizer_state, named, optimizer_state, part
from crib_env.train.loop.gradient import descend
from crib_env.train.loop.precision import precision
from crib_env.train.loop.rounds import Round, train_in_rounds
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import Count, Widths

NAME = "ddqn"
EXPECTED = {"bfloat16": "60.06% (59.38% to 60.74%)", "float32": "60.64% (59.95% to 61.32%)"}


@dataclass(frozen=True)
class Settings(QSettings):
    """Settings of Double DQN."""

    preset: Literal["default", "paper", "anderson-2022"] = "default"
    """Defaults of the other settings: the best found, Sharan and Pawar's, or Anderson et al.'s."""
    networks: Literal["split", "one"] = "split"
    """"split" trains one network for discards and one for the play; "one" trains one for both. Pegging has no discards,
    so its discard network stays untrained."""
    inputs: Coding = "ranks"
    """What the networks see of an observation: "bits" is all of it, "play" adds the state of the play: the count, the
    last cards, and what each rank would score. "ranks" is all by rank, with exact values of discards and what a card
    would be answered, and points that a card is known to gain need not be learned."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers."""
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
    n_step: Count = 1
    """Length of n-step returns, in the player's own decisions."""
    dueling: bool = False
    """Estimate the value of the state and the advantages of its cards separately (Wang et al. 2016)."""
    priority_alpha: Share = 0.0
    """Exponent α of prioritised replay (Schaul et al. 2016); 0 samples uniformly."""
    priority_beta: Share = 1.0
    """Importance-sampling exponent β of prioritised replay."""
    target_sync: WholeNumber = 0
    """Gradient steps between updates of the target network; 0 lets it follow the weights after every step."""
    target_rate: Share = 0.005
    """Share of the way to the new weights that the target network then goes (Lillicrap et al. 2016). It has their
    average, and plays when strength is measured."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.episode == "play" and self.networks != "one":
            raise ValueError("networks='split' is not allowed with episode='play', which has no discards: choose 'one'")


PRESETS = {
    "default": Settings(),
    "paper": Settings(
        preset="paper",
        opponent="random",
        networks="one",
        inputs="bits",
        hidden=(256, 256, 256),
        episode="game",
        rewards="points",
        skip_forced=False,
        episodes=6_000,
        episodes_at_once=16,
        warm_up=500,
        replay=100_000,
        reuse=128.0,
        batch_size=128,
        n_step=1,
        gamma=0.99,
        learning_rate=1e-3,
        final_learning_rate=1e-3,
        epsilon=1.0,
        final_epsilon=0.05,
        target_sync=1_000,
    ),
    "anderson-2022": Settings(
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


def new_agent(settings: Settings) -> DDQNAgent:
    """An agent with random weights, from torch's generator."""
    coding = settings.networks, settings.observation, settings.inputs
    return DDQNAgent.new(*coding, settings.hidden, settings.hidden_discard, settings.dueling)


class DoubleDQN:
    """The networks of an agent in training, with their targets, optimizers and replay buffers.

    Args:
        online: trained in place.
        settings: the settings of the run.

    Attributes:
        agent: whose strength is measured: the target network if it has the average of the weights.
    """

    def __init__(self, online: DDQNAgent, settings: Settings) -> None:
        self.online = online
        self.target = copy.deepcopy(online)
        self.agent = self.online if settings.target_sync else self.target
        self.settings = settings
        self.optimizers = {n: torch.optim.Adam(net.parameters(), fused=True) for n, net in online.networks.items()}
        priorities = settings.priority_alpha, settings.priority_beta
        width = n_inputs(settings.inputs, settings.observation)
        self.replays = {n: Replay(settings.replay, width, *priorities) for n in online.networks}
        self.updates = dict.fromkeys(online.networks, 0)

    def learn(
        self, new: Transitions, is_discard: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Adds new transitions and makes the gradient steps due for them.

        Args:
            new: M transitions.
            is_discard: (M,) bool, which of them are discards.
            rate: learning rate; ``None`` means no step yet.
            rng: for sampling.

        Returns:
            Scalars for TensorBoard.
        """
        settings, values = self.settings, {}
        for name, replay in self.replays.items():
            rows = self.online.rows_of(name, is_discard)
            replay.add(new[rows])
            if rate is not None and len(replay):
                steps = max(1, round(len(rows) * settings.reuse / settings.batch_size))
                measured = [self._update_from_replay(name, rate, rng) for _ in range(steps)]
                for key in measured[0]:
                    values[f"learning/{name} {key}"] = float(np.mean([step[key] for step in measured]))
        return values

    def _update_from_replay(self, name: str, rate: float, rng: np.random.Generator) -> dict[str, float]:
        replay = self.replays[name]
        rows, weights = replay.draw(self.settings.batch_size, rng)
        measured, errors = self.update(name, replay[rows], weights, rate)
        replay.rate(rows, errors)
        return measured

    def update(
        self, name: str, batch: Transitions, weights: np.ndarray, rate: float
    ) -> tuple[dict[str, float], np.ndarray]:
        """One gradient step of a network.

        Args:
            name: the name of the network.
            batch: M transitions.
            weights: (M,) float32, the weight of each in the loss.
            rate: learning rate.

        Returns:
            Its loss, mean absolute TD error and mean output; and the TD errors (M,).

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        network = self.online.networks[name]
        with precision(self.settings.precision):
            outputs = network(self.online.inputs_of(name, batch.inputs))
            taken = outputs.gather(1, torch.from_numpy(batch.card)[:, None]).squeeze(1)
            errors = self.targets(batch) - taken
            loss = (torch.from_numpy(weights) * errors.square()).mean()
        descend(loss, network, self.optimizers[name], rate, f"network {name!r}")
        self.updates[name] += 1
        self._move_target(name)
        errors = errors.detach()
        measured = {"loss": loss.item(), "TD error": errors.abs().mean().item(), "mean output": taken.mean().item()}
        return measured, errors.numpy()

    @torch.no_grad()
    def _move_target(self, name: str) -> None:
        network, target = self.online.networks[name], self.target.networks[name]
        if not self.settings.target_sync:
            for old, new in zip(target.parameters(), network.parameters()):
                old.lerp_(new, self.settings.target_rate)
        elif self.updates[name] % self.settings.target_sync == 0:
            target.load_state_dict(network.state_dict())

    @torch.no_grad()
    def targets(self, batch: Transitions) -> torch.Tensor:
        """Targets of the outputs: rewards, plus the target network's value of the online network's best card."""
        targets = torch.from_numpy(batch.reward)
        on = np.flatnonzero(batch.discount)  # where the chain of decisions has ended there is no next state
        if not len(on):
            return targets
        inputs, is_discard = batch.next_inputs[on], batch.next_is_discard[on]
        gains = torch.from_numpy(batch.next_gains[on])
        best = with_gains(self.online.outputs(inputs, is_discard), gains).argmax(dim=1, keepdim=True)
        ahead = (self.target.outputs(inputs, is_discard) + gains).gather(1, best).squeeze(1)
        return targets.index_add(0, torch.from_numpy(on), torch.from_numpy(batch.discount[on]) * ahead)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        kept = named("online", self.online.state_dict()) | named("target", self.target.state_dict())
        for name in self.updates:
            kept |= named(f"replay.{name}", self.replays[name].state_dict())
            kept |= named(f"adam.{name}", optimizer_state(self.optimizers[name]))
            kept[f"updates.{name}"] = torch.tensor(self.updates[name])
        return kept

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        self.online.load_state_dict(part("online", tensors))
        self.target.load_state_dict(part("target", tensors))
        for name in self.updates:
            self.replays[name].load_state_dict(part(f"replay.{name}", tensors))
            load_optimizer_state(self.optimizers[name], part(f"adam.{name}", tensors))
            self.updates[name] = int(tensors[f"updates.{name}"])


def transitions_of(
    agent: DDQNAgent, decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, n_step: int, gamma: float
) -> Transitions:
    """The decisions, as an agent sees them, as n-step transitions, one for each.

    Args:
        agent: whose coding is used.
        decisions: D of them.
        rewards: and ``ends``, as :func:`rewards_of` gave them, (D,).
        n_step: decisions to the next state.
        gamma: discount for each of them.
    """
    total = np.zeros(len(rewards))
    at = np.arange(len(rewards))  # the decision whose reward comes next
    going = np.ones(len(rewards), bool)
    for k in range(n_step):
        total += np.where(going, gamma**k * rewards[at], 0.0)
        going &= ~ends[at]
        at = np.where(going, at + 1, at)
    seen = agent.see(decisions.observation, decisions.mask, decisions.is_discard)
    cards = seen.named(decisions.card)
    return Transitions(
        seen.inputs,
        cards,
        (total - seen.gains[np.arange(len(cards)), cards]).astype(np.float32),
        np.where(going, gamma**n_step, 0.0).astype(np.float32),
        seen.inputs[at],
        seen.gains[at],
        decisions.is_discard[at],
    )


def explore(agent: DDQNAgent, epsilon: float, rng: np.random.Generator) -> Policy:
    """The agent's ε-greedy policy over legal cards."""

    def policy(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return epsilon_greedy(agent.choose(observation, masks, is_discard), masks, epsilon, rng)

    return policy


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[DDQNAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary.

    All random numbers follow from the seed and the round's number, so a stopped run continues exactly
    from its last checkpoint.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = new_agent(settings)
    learner = DoubleDQN(agent, settings)
    opponent = None if settings.opponent == "self" else make_agent(settings.opponent)

    def play(seeds: np.ndarray, first_id: int, epsilon: float, rng: np.random.Generator) -> Episodes:
        batch = GameBatch(seeds, episode=settings.episode, skip_forced=settings.skip_forced, first_id=first_id)
        with precision(settings.precision):
            return play_episodes(batch, explore(agent, epsilon, rng), opponent, settings.observation)

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        seeds = now.rng.integers(2**64, size=now.episodes, dtype=np.uint64)
        played = play(seeds, now.episodes_before, now.epsilon, now.rng)
        rewards, ends = rewards_of(played.decisions, settings.rewards == "settled")
        new = transitions_of(agent, played.decisions, rewards, ends, settings.n_step, settings.gamma)
        is_warm = now.episodes_before + now.episodes >= settings.warm_up
        learned = learner.learn(new, played.decisions.is_discard, now.learning_rate if is_warm else None, now.rng)
        return values_of(played, rewards, ends) | learned, played.simulation_seconds

    play(streams(0, 2), 0, 1.0, np.random.default_rng(0))  # compiles the kernels before the clocks start
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
