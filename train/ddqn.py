"""Double DQN (van Hasselt et al. 2015), as Sharan and Pawar (2022) put it to cribbage and with what makes it strong.

A round plays many episodes in lockstep with an ε-greedy policy, adds their transitions to replay, and then makes as
many gradient steps as it takes to use every new transition ``reuse`` times. The target of a step is::

    r_k + … + γ^(n-1) r_(k+n-1)  +  γ^n Q_target(s_(k+n), argmax over legal a of Q(s_(k+n), a))

where k counts one player's own decisions. Both the choice of the best card and the policy look at legal cards only.

``--preset paper`` is the paper's: one network of three layers of 256 for everything, rewards as they fall in whole
games, γ 0.99, batches of 128, one step a decision, 500 episodes of warm-up, target sync every 1,000 steps, 6,000
episodes. Differences from it: 209 bits instead of its 13 × 14, and 16 games side by side. The default plays single
deals against itself and takes luck out of the rewards (``rewards="settled"``): the play is paid by pegging alone, as
after the discard nothing else can change, and a discard by the exact mean of the hand kept, the crib and the pegging.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress
from torch import nn

from agents import make_agent
from agents.ddqn import DDQNAgent, QNetwork, best_legal
from crib_env.batch import GameBatch
from crib_env.observation import SIZES
from train.episodes import Decisions, play_episodes
from train.replay import Replay, Transitions
from train.run_folder import RunFolder
from train.strength import measure, scalars


@dataclass(frozen=True)
class Settings:
    """Settings of Double DQN."""

    preset: Literal["default", "paper"] = "default"
    """Where the other settings start from: what was found to learn best, or Sharan and Pawar's."""
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
    episode: Literal["deal", "game"] = "deal"
    """What an episode is."""
    rewards: Literal["settled", "points"] = "settled"
    """"points" as they fall, or "settled": without the luck that no decision has a part in (deals only)."""
    skip_forced: bool = True
    """Leave out decisions in which all legal cards share a rank."""
    episodes: int = 1_500_000
    """How many to play."""
    episodes_at_once: int = 1_024
    """Episodes of a round, played side by side."""
    warm_up: int = 1_024
    """Episodes before the first gradient step."""
    replay: int = 50_000
    """Transitions that each network's memory holds."""
    reuse: float = 1.0
    """How often a transition is used on average."""
    batch_size: int = 512
    """Transitions of a gradient step."""
    n_step: int = 2
    """Own decisions between a value and the one it is bootstrapped from."""
    gamma: float = 1.0
    """Discount for each own decision."""
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    epsilon: float = 0.1
    """Share of random cards at the start."""
    final_epsilon: float = 0.03
    """At the end; linear in between."""
    target_sync: int = 200
    """Gradient steps between copies to the target network."""
    evaluations: int = 20
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""
    threads: int = 2
    """Of torch. Runs on one thread repeat to the last bit."""

    def __post_init__(self) -> None:
        if self.rewards == "settled" and self.episode != "deal":
            raise ValueError("rewards='settled' is not allowed with episode='game': choose rewards='points'")
        for name in ("episodes", "episodes_at_once", "replay", "batch_size", "n_step", "target_sync", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        for name in ("epsilon", "final_epsilon", "gamma"):
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
}


class Learner:
    """One Q-network with its target network, optimizer and memory.

    Args:
        network: is trained in place.
        settings: of the run.
    """

    def __init__(self, network: QNetwork, settings: Settings) -> None:
        self.network = network
        self.target = copy.deepcopy(network).requires_grad_(False)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        self.replay = Replay(settings.replay, SIZES[settings.observation])
        self.updates = 0
        self._sync = settings.target_sync

    def update(self, batch: Transitions) -> dict[str, float]:
        """One gradient step; its loss, mean absolute TD error and mean Q.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        values = self.network(torch.from_numpy(batch.observation).float())
        taken = values.gather(1, torch.from_numpy(batch.card)[:, None]).squeeze(1)
        errors = self.targets(batch) - taken
        loss = errors.square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self._sync == 0:
            self.target.load_state_dict(self.network.state_dict())
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()} at update {self.updates}")
        with torch.no_grad():
            return {"loss": loss.item(), "TD error": errors.abs().mean().item(), "mean Q": taken.mean().item()}

    @torch.no_grad()
    def targets(self, batch: Transitions) -> torch.Tensor:
        """What the values should be: rewards, plus the target network's value of the online network's best card."""
        targets = torch.from_numpy(batch.reward)
        on = np.flatnonzero(batch.discount)  # where the chain has ended there is no next state
        if len(on):
            seen = torch.from_numpy(batch.next_observation[on]).float()
            best = best_legal(self.network(seen), torch.from_numpy(batch.next_mask[on]))
            ahead = self.target(seen).gather(1, best[:, None]).squeeze(1)
            targets = targets.index_add(0, torch.from_numpy(on), torch.from_numpy(batch.discount[on]) * ahead)
        return targets

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        kept |= {f"target.{k}": v for k, v in self.target.state_dict().items()}
        kept |= {f"replay.{k}": v for k, v in self.replay.tensors().items()}
        for i, state in self.optimizer.state_dict()["state"].items():
            kept |= {f"adam.{i}.{k}": v for k, v in state.items()}
        return {**kept, "updates": torch.tensor(self.updates)}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""

        def part(name: str) -> dict[str, torch.Tensor]:
            return {k.removeprefix(f"{name}."): v for k, v in tensors.items() if k.startswith(f"{name}.")}

        self.network.load_state_dict(part("network"))
        self.target.load_state_dict(part("target"))
        self.replay.load_tensors(part("replay"))
        self.updates = int(tensors["updates"])
        state: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in part("adam").items():
            i, name = key.split(".")
            state.setdefault(int(i), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})


def rewards_of(decisions: Decisions, settled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each decision up to the same player's next, (D,), and whether there is no next one, (D,) bool."""
    ends = np.append(decisions.chain[1:] != decisions.chain[:-1], True)
    if not settled:
        after = np.where(ends, decisions.final_points, np.roll(decisions.net_points, -1))
        return after - decisions.net_points, ends
    is_discard = decisions.is_discard
    last_discard = is_discard & ~np.append(is_discard[1:] & ~ends[:-1], False)
    after = np.where(ends, decisions.final_pegging, np.roll(decisions.net_pegging, -1))
    pegging = after - decisions.net_pegging
    rewards = np.where(is_discard, 0.0, pegging)
    rewards[last_discard] = (decisions.settled_show + decisions.final_pegging)[last_discard]
    return rewards, ends | last_discard


def transitions_of(decisions: Decisions, settled: bool, n_step: int, gamma: float) -> Transitions:
    """The decisions as n-step transitions, one for each."""
    rewards, ends = rewards_of(decisions, settled)
    n = len(rewards)
    total = np.zeros(n)
    at = np.arange(n)  # the decision whose reward comes next
    going = np.ones(n, bool)
    for k in range(n_step):
        total += np.where(going, gamma**k * rewards[at], 0.0)
        going &= ~ends[at]
        at = np.where(going, at + 1, at)
    return Transitions(
        decisions.observation,
        decisions.card,
        total.astype(np.float32),
        np.where(going, gamma**n_step, 0.0).astype(np.float32),
        decisions.observation[at],
        decisions.mask[at],
    )


def explore(agent: DDQNAgent, epsilon: float, rng: np.random.Generator) -> Any:
    """The agent's choices, with a random legal card in place of a share of them."""

    def policy(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> np.ndarray:
        cards = agent.choose(observation, masks, is_discard)
        strays = np.flatnonzero(rng.random(len(cards)) < epsilon)
        noise = rng.random((len(strays), masks.shape[1]))
        cards[strays] = np.where(masks[strays] != 0, noise, -1.0).argmax(axis=1)
        return cards

    return policy


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[DDQNAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    Everything random follows from the seed and the number of the round, so a run that was stopped goes on exactly
    where its last checkpoint stands.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = DDQNAgent.new(settings.networks, settings.observation, settings.hidden)
    learners = {name: Learner(network, settings) for name, network in agent.networks.items()}
    opponent = None if settings.opponent == "self" else make_agent(settings.opponent)
    about = {"round": 0, "episodes": 0, "seconds": 0.0, "simulation_seconds": 0.0}
    if (checkpoint := folder.load_checkpoint()) is not None:
        tensors, about = checkpoint
        for name, learner in learners.items():
            learner.load_tensors(
                {k.removeprefix(f"{name}/"): v for k, v in tensors.items() if k.startswith(f"{name}/")}
            )

    def save() -> None:
        tensors = {f"{name}/{k}": v for name, learner in learners.items() for k, v in learner.tensors().items()}
        folder.save_checkpoint(about["episodes"], tensors, about)

    task = progress.add_task("ddqn", total=settings.episodes, completed=about["episodes"])
    saved_at = time.perf_counter()
    try:
        while about["episodes"] < settings.episodes:
            started = time.perf_counter()
            done = about["episodes"] / settings.episodes
            epsilon = settings.epsilon + done * (settings.final_epsilon - settings.epsilon)
            rate = settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate)
            rng = np.random.default_rng([settings.seed, about["round"]])

            n = min(settings.episodes_at_once, settings.episodes - about["episodes"])
            batch = GameBatch(
                rng.integers(2**64, size=n, dtype=np.uint64),
                episode=settings.episode,
                skip_forced=settings.skip_forced,
                first_id=about["episodes"],
            )
            played = play_episodes(batch, explore(agent, epsilon, rng), opponent, settings.observation)
            decisions = played.decisions
            new = transitions_of(decisions, settings.rewards == "settled", settings.n_step, settings.gamma)
            about["round"] += 1
            about["episodes"] += n

            values: dict[str, float] = {
                "learning/episode return": float(played.returns.mean()),
                "learning/epsilon": epsilon,
                "learning/learning rate": rate,
            }
            for name, learner in learners.items():
                mine = (
                    np.arange(len(new))
                    if name == "all"
                    else np.flatnonzero(decisions.is_discard == (name == "discard"))
                )
                learner.replay.add(Transitions(*(column[mine] for column in vars(new).values())))
                if about["episodes"] < settings.warm_up:
                    continue
                learner.optimizer.param_groups[0]["lr"] = rate
                steps = max(1, round(len(mine) * settings.reuse / settings.batch_size))
                measured = [learner.update(learner.replay.sample(settings.batch_size, rng)) for _ in range(steps)]
                for key in measured[0]:
                    values[f"learning/{name} {key}"] = float(np.mean([step[key] for step in measured]))

            seconds = time.perf_counter() - started
            about["seconds"] += seconds
            about["simulation_seconds"] += played.simulation_seconds
            values["speed/episodes per second"] = n / seconds
            values["speed/share of time in simulation"] = played.simulation_seconds / seconds
            due = settings.evaluations and (
                about["episodes"] * settings.evaluations // settings.episodes
                > (about["episodes"] - n) * settings.evaluations // settings.episodes
            )
            if due:
                strength = measure(agent, settings.evaluation_games, settings.seed)
                values |= scalars(strength)
                rates = ", ".join(f"{100 * r.win_rate:.1f} % {name}" for name, r in strength.items())
                progress.update(task, description=f"ddqn ({rates})")
            folder.log(values, about["episodes"])
            progress.update(task, completed=about["episodes"])
            if time.perf_counter() - saved_at > settings.checkpoint_seconds:
                save()
                saved_at = time.perf_counter()
    except KeyboardInterrupt:
        save()
        raise
    save()
    summary = {
        "episodes": about["episodes"],
        "seconds": about["seconds"],
        "updates": {name: learner.updates for name, learner in learners.items()},
        "episodes_per_second": about["episodes"] / about["seconds"],
        "simulation_share": about["simulation_seconds"] / about["seconds"],
    }
    return agent, summary
