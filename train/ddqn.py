"""Double DQN (van Hasselt et al. 2015), as Sharan and Pawar (2022) put it to cribbage and with what makes it strong.

A round plays many episodes in lockstep with an ε-greedy policy, adds their transitions to replay, and then makes as
many gradient steps as it takes to use every new transition ``reuse`` times. The target of a step is::

    r_k + … + γ^(n-1) r_(k+n-1)  +  γ^n Q_target(s_(k+n), argmax over legal a of Q(s_(k+n), a))

where k counts one player's own decisions. Both the choice of the best card and the policy look at legal cards only.

``--preset paper`` is the paper's: one network of three layers of 256 for everything, rewards as they fall in whole
games, γ 0.99, batches of 128, one step a decision, 500 episodes of warm-up, target sync every 1,000 steps, 6,000
episodes. Differences from it: 209 bits instead of its 13 × 14, suits relabelled, 16 games side by side, and where it
is silent (ε from 1 to 0.05, memory of 100,000, learning rate 0.001) a usual choice. The default plays single
deals against itself and takes luck out of the rewards (``rewards="settled"``): the play is paid by pegging alone, as
nothing else can change any more, and a discard by how far the exact mean of hand and crib falls short of the best
discard's. That difference is potential-based shaping (Ng et al. 1999) with exact means in the place of the show.

``--preset anderson-2022`` is the pair of networks of Anderson et al. (2022), 209 inputs, 60 ReLUs, 52 outputs: one
learns what a discard is worth to hand and crib, the other what a card makes at once, for the pair is meant to know what
their greedy player knows (γ 0). The paper gives neither optimizer nor amounts: here what a card makes counts less what
the opponent's answer does, pone's discard counts the crib too, and the default's values stand for the rest.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents import make_agent
from agents.ddqn import DDQNAgent, best_legal
from agents.suits import relabel, relabelled
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.observation import SIZES
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part
from train.episodes import Decisions, Episodes, Policy, play_episodes
from train.gradient import descend
from train.precision import Precision, precision
from train.replay import Replay, Transitions
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder

NAME = "ddqn"


@dataclass(frozen=True)
class Settings:
    """Settings of Double DQN."""

    preset: Literal["default", "paper", "anderson-2022"] = "default"
    """Where the other settings start from: what was found to learn best, Sharan and Pawar's, or Anderson et al.'s."""
    seed: int = 0
    """Of weights, deals, exploration and sampling."""
    opponent: str = "self"
    """Who is played: "self", or the name of any agent, for example "random" or "greedy"."""
    observation: Literal["209", "board"] = "209"
    """What the network sees."""
    networks: Literal["split", "one"] = "split"
    """One network for discards and another for the play, or one for all."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers."""
    ranks: bool = True
    """Feed the networks rank counts and let the four cards of a rank share a part of their value."""
    features: bool = True
    """Feed the networks what the play has come to: the count, the last cards, what each rank would earn."""
    episode: Literal["deal", "game"] = "deal"
    """What an episode is."""
    rewards: Literal["settled", "points"] = "settled"
    """"points" as they fall, or "settled": without the luck that no decision has a part in (deals only)."""
    skip_forced: bool = True
    """Leave out decisions in which all legal cards share a rank."""
    episodes: int = 600_000
    """How many to play."""
    episodes_at_once: int = 1_024
    """Episodes of a round, played side by side."""
    warm_up: int = 1_024
    """Episodes before the first gradient step."""
    replay: int = 50_000
    """Transitions that each network's memory holds."""
    reuse: float = 2.0
    """How often a transition is used on average."""
    batch_size: int = 256
    """Transitions of a gradient step."""
    n_step: int = 1
    """Own decisions between a value and the one it is bootstrapped from."""
    dueling: bool = False
    """Value the state apart from what its cards differ by (Wang et al. 2016)."""
    priority: float = 0.0
    """How much more often a transition is used whose TD error is large (Schaul et al. 2016); 0 is evenly."""
    priority_correction: float = 1.0
    """To what extent such a transition counts less in return, from 0 to 1."""
    gamma: float = 1.0
    """Discount for each own decision."""
    learning_rate: float = 2e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.1
    """Share of random cards at the start."""
    final_epsilon: float = 0.03
    """At the end; linear in between."""
    target_sync: int = 500
    """Gradient steps between copies to the target network."""
    evaluations: int = 20
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""
    precision: Precision = "auto"
    """What the networks compute in while they train; "auto" is bfloat16 where the processor has instructions for it."""
    threads: int = 1
    """Of torch. One is enough for networks of this size, and repeats to the last bit."""

    def __post_init__(self) -> None:
        if self.rewards == "settled" and self.episode != "deal":
            raise ValueError("rewards='settled' is not allowed with episode='game': choose rewards='points'")
        for name in ("episodes", "episodes_at_once", "replay", "batch_size", "n_step", "target_sync", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        for name in ("epsilon", "final_epsilon", "gamma", "priority", "priority_correction"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give 0 to 1")
        if self.opponent != "self":
            make_agent(self.opponent)


PRESETS = {
    "default": Settings(),
    "paper": Settings(
        preset="paper",
        opponent="random",
        networks="one",
        hidden=(256, 256, 256),
        ranks=False,
        features=False,
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
        hidden=(60,),
        ranks=False,
        features=False,
        skip_forced=False,
        gamma=0.0,
    ),
}


def new_agent(settings: Settings) -> DDQNAgent:
    """An agent with random weights, from torch's generator."""
    shape = settings.networks, settings.observation, settings.hidden
    return DDQNAgent.new(*shape, settings.ranks, settings.features, settings.dueling)


class DoubleDQN:
    """The networks of an agent in training, with their targets, optimizers and memories.

    Args:
        agent: is trained in place.
        settings: of the run.
    """

    def __init__(self, agent: DDQNAgent, settings: Settings) -> None:
        self.agent = agent
        self.target = copy.deepcopy(agent)
        self.settings = settings
        self.optimizers = {n: torch.optim.Adam(net.parameters(), fused=True) for n, net in agent.networks.items()}
        priorities = settings.priority, settings.priority_correction
        self.replays = {n: Replay(settings.replay, SIZES[settings.observation], *priorities) for n in agent.networks}
        self.updates = dict.fromkeys(agent.networks, 0)

    def learn(
        self, new: Transitions, is_discard: np.ndarray, rate: float | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Takes in new transitions and makes the gradient steps that they are due.

        Args:
            new: M transitions.
            is_discard: (M,) bool, which of them are discards.
            rate: learning rate; ``None`` is no step yet.
            rng: samples.

        Returns:
            What TensorBoard shows.
        """
        settings, values = self.settings, {}
        for name, replay in self.replays.items():
            rows = self.agent.rows_of(name, is_discard)
            replay.add(new[rows])
            if rate is not None:
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
            name: of the network.
            batch: M transitions.
            weights: (M,) float32, what each counts in the loss.
            rate: learning rate.

        Returns:
            Its loss, mean absolute TD error and mean Q; and the TD errors (M,).

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        network = self.agent.networks[name]
        with precision(self.settings.precision):
            values = network(self.agent.inputs(batch.observation))
            taken = values.gather(1, torch.from_numpy(batch.card)[:, None]).squeeze(1)
            errors = self.targets(batch) - taken
            loss = (torch.from_numpy(weights) * errors.square()).mean()
        descend(loss, network, self.optimizers[name], rate, f"network {name!r}")
        self.updates[name] += 1
        if self.updates[name] % self.settings.target_sync == 0:
            self.target.networks[name].load_state_dict(network.state_dict())
        errors = errors.detach()
        measured = {"loss": loss.item(), "TD error": errors.abs().mean().item(), "mean Q": taken.mean().item()}
        return measured, errors.numpy()

    @torch.no_grad()
    def targets(self, batch: Transitions) -> torch.Tensor:
        """What the values should be: rewards, plus the target network's value of the online network's best card."""
        targets = torch.from_numpy(batch.reward)
        on = np.flatnonzero(batch.discount)  # where the chain of decisions has ended there is no next state
        if not len(on):
            return targets
        seen = self.agent.inputs(batch.next_observation[on])
        is_discard = torch.from_numpy(batch.next_is_discard[on])
        best = best_legal(self.agent.values(seen, is_discard), torch.from_numpy(batch.next_mask[on]))
        ahead = self.target.values(seen, is_discard).gather(1, best[:, None]).squeeze(1)
        return targets.index_add(0, torch.from_numpy(on), torch.from_numpy(batch.discount[on]) * ahead)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = named("online", self.agent.tensors()) | named("target", self.target.tensors())
        for name in self.updates:
            kept |= named(f"replay.{name}", self.replays[name].tensors())
            kept |= named(f"adam.{name}", optimizer_tensors(self.optimizers[name]))
            kept[f"updates.{name}"] = torch.tensor(self.updates[name])
        return kept

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.load_tensors(part("online", tensors))
        self.target.load_tensors(part("target", tensors))
        for name in self.updates:
            self.replays[name].load_tensors(part(f"replay.{name}", tensors))
            load_optimizer_tensors(self.optimizers[name], part(f"adam.{name}", tensors))
            self.updates[name] = int(tensors[f"updates.{name}"])


def rewards_of(decisions: Decisions, settled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each decision up to the same player's next, (D,), and whether there is no next one, (D,) bool."""
    now = decisions.settled if settled else decisions.points
    final = decisions.final_settled if settled else decisions.final_points
    ends = np.append(decisions.chain[1:] != decisions.chain[:-1], True)
    return np.where(ends, final, np.roll(now, -1)) - now, ends


def transitions_of(
    decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, n_step: int, gamma: float
) -> Transitions:
    """The decisions as n-step transitions, one for each, with the rewards and ends that :func:`rewards_of` gave."""
    total = np.zeros(len(rewards))
    at = np.arange(len(rewards))  # the decision whose reward comes next
    going = np.ones(len(rewards), bool)
    for k in range(n_step):
        total += np.where(going, gamma**k * rewards[at], 0.0)
        going &= ~ends[at]
        at = np.where(going, at + 1, at)
    observation, mask, order = relabel(decisions.observation, decisions.mask)
    return Transitions(
        observation,
        relabelled(decisions.card, order),
        total.astype(np.float32),
        np.where(going, gamma**n_step, 0.0).astype(np.float32),
        observation[at],
        mask[at],
        decisions.is_discard[at],
    )


def stray(cards: np.ndarray, masks: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Cards (B,) as they were given, but for a share of random legal ones."""
    out = cards.copy()
    strays = np.flatnonzero(rng.random(len(cards)) < epsilon)
    noise = rng.random((len(strays), masks.shape[1]))
    out[strays] = np.where(masks[strays] != 0, noise, -1.0).argmax(axis=1)
    return out


def explore(agent: DDQNAgent, epsilon: float, rng: np.random.Generator) -> Policy:
    """The agent's choices, with a random legal card in place of a share of them."""

    def policy(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return stray(agent.choose(observation, masks, is_discard), masks, epsilon, rng)

    return policy


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[DDQNAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    Everything random follows from the seed and the number of the round, so a run that was stopped goes on exactly
    where its last checkpoint stands.
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
        new = transitions_of(played.decisions, rewards, ends, settings.n_step, settings.gamma)
        is_warm = now.episodes_before + now.episodes >= settings.warm_up
        values = {
            "learning/episode return": float(rewards.sum() / ends.sum()),
            "learning/net points against the opponent": float(played.net_points.mean()),
            **learner.learn(new, played.decisions.is_discard, now.learning_rate if is_warm else None, now.rng),
        }
        return values, played.simulation_seconds

    play(streams(0, 2), 0, 1.0, np.random.default_rng(0))  # compiles, so that the clocks show work alone
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return agent, {**summary, "updates": learner.updates}
