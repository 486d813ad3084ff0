"""Masked PPO in one file: learns the play against `greedy` on the native vector environment.

What a discard is worth is known exactly, so this agent discards as `greedy` does. It learns the play, on
`crib_env/CribbagePlay-v0`, whose reward is points pegged less points conceded. Strength is measured in whole games.

    python ppo.py                 # some minutes of one core; --help lists the settings
    tensorboard --logdir runs     # its curves, while it trains

Schulman et al. (2017), *Proximal Policy Optimization Algorithms*; masks as in Huang and Ontañón (2022), *A Closer
Look at Invalid Action Masking in Policy Gradient Algorithms*. Left out: the entropy bonus, clipping of the value loss.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

import crib_env
from crib_env.files.whole_file import whole_file
from crib_env.observation import COUNT, HAND, IS_DEALER, KNOWN, OPPONENT_CARDS, OPPONENT_LAID, OWN_DISCARDS, SLOTS


@dataclass
class Settings:
    """Settings of a run."""

    seed: int = 0
    """Of the weights, the deals and the sampled cards."""
    decisions: int = 6_000_000
    """The learner's decisions in all; a deal has four."""
    num_envs: int = 2048
    """Games side by side."""
    num_steps: int = 8
    """Decisions in each game between two updates: two deals."""
    epochs: int = 2
    """How many times the decisions of an update are learned from."""
    minibatch: int = 2048
    """Decisions in one gradient step."""
    learning_rate: float = 1e-3
    """Of Adam at the start; it falls to zero in a straight line."""
    gae_lambda: float = 0.9
    """λ of generalised advantage estimation. Rewards are not discounted: an episode has four decisions."""
    clip: float = 0.2
    """How far the ratio of new to old probability may move."""
    hidden: int = 256
    """Width of both hidden layers of both networks."""
    evaluations: int = 20
    """How many times strength is measured, in 2,000 mirrored games each, before the end."""
    final_games: int = 10_000
    """Mirrored games of the last measurement."""
    folder: Path = Path("runs/examples/ppo")
    """Receives TensorBoard's events and curve.json."""


N_RANKS, N_INPUTS = 13, 198


def by_rank(cards: np.ndarray) -> np.ndarray:
    """(B, 52) cards as (B, 13), the number of each rank: suits have no part in the play."""
    return cards.reshape(-1, 4, N_RANKS).sum(axis=1, dtype=np.int8)


def see(board: np.ndarray, mask: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """What the networks see of board observations (B, 659) and masks (B, 52): (B, 198) int8; (B, 13) legal ranks."""
    hand, known, opponent_laid = (by_rank(board[:, at : at + 52]) for at in (HAND, KNOWN, OPPONENT_LAID))
    dealer, laid = board[:, IS_DEALER : IS_DEALER + 1], board[:, SLOTS : SLOTS + 8 * N_RANKS]
    count, opponent_cards = board[:, COUNT:OWN_DISCARDS], board[:, OPPONENT_CARDS:]
    inputs = np.concatenate([dealer, hand, known, opponent_laid, laid, count, opponent_cards], axis=1)
    return torch.from_numpy(inputs), torch.from_numpy(by_rank(mask) > 0)


def card_of(rank: torch.Tensor, mask: np.ndarray) -> np.ndarray:
    """The first legal card (B,) of each rank."""
    return (mask * (np.arange(52) % N_RANKS == rank.numpy()[:, None])).argmax(axis=1)


def layers(inputs: int, hidden: int, outputs: int, last_scale: float) -> nn.Sequential:
    """Two hidden layers, with orthogonal weights; a small last scale makes the first policy nearly uniform."""
    linear = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
    for layer, scale in zip(linear, (2**0.5, 2**0.5, last_scale)):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])


class ActorCritic(nn.Module):
    """A policy and a value, each a network of its own."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.actor = layers(N_INPUTS, hidden, N_RANKS, 0.01)
        self.critic = layers(N_INPUTS, hidden, 1, 1.0)

    def policy(self, inputs: torch.Tensor, legal: torch.Tensor) -> Categorical:
        """Over the legal ranks alone: the logits of all others become minus infinity."""
        return Categorical(logits=self.actor(inputs.float()).masked_fill(~legal, -torch.inf), validate_args=False)

    def value(self, inputs: torch.Tensor) -> torch.Tensor:
        """(B,) net points expected until the deal is over."""
        return self.critic(inputs.float()).squeeze(-1)


class Player:
    """The trained policy as an agent of matches: discards as `greedy`, lays the most likely rank."""

    name = "ppo example"

    def __init__(self, model: ActorCritic) -> None:
        self.model, self.discards = model, crib_env.make_agent("greedy")

    @torch.inference_mode()
    def act(self, views: crib_env.PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.Agent`."""
        rank = self.model.policy(*see(views.board, views.action_mask)).logits.argmax(dim=1)
        return np.where(views.is_discard, self.discards.act(views), card_of(rank, views.action_mask))


if __name__ == "__main__":
    settings = tyro.cli(Settings)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    writer = SummaryWriter(str(settings.folder))
    envs = gymnasium.make_vec(
        "crib_env/CribbagePlay-v0",
        settings.num_envs,
        vectorization_mode="vector_entry_point",
        opponent="greedy",
        observation="board",
        autoreset_mode=AutoresetMode.SAME_STEP,  # every step is a decision: none is lost on a reset
    )
    model = ActorCritic(settings.hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, eps=1e-5)
    T, N = settings.num_steps, settings.num_envs
    n_updates = max(1, settings.decisions // (T * N))
    inputs, legal = torch.zeros(T, N, N_INPUTS, dtype=torch.int8), torch.zeros(T, N, N_RANKS, dtype=torch.bool)
    ranks, over = torch.zeros(T, N, dtype=torch.int64), torch.zeros(T, N, dtype=torch.bool)
    log_probs, values, rewards = (torch.zeros(T, N) for _ in range(3))
    seen, _ = envs.reset(seed=settings.seed)
    curve, seconds = [], 0.0
    for update in range(1, n_updates + 1):
        started = time.process_time()
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (1 - (update - 1) / n_updates)

        for t in range(T):  # play
            inputs[t], legal[t] = see(seen["observation"], seen["action_mask"])
            with torch.no_grad():
                policy = model.policy(inputs[t], legal[t])
                ranks[t] = policy.sample()
                log_probs[t], values[t] = policy.log_prob(ranks[t]), model.value(inputs[t])
            seen, points, terminated, _, _ = envs.step(card_of(ranks[t], seen["action_mask"]))
            rewards[t], over[t] = torch.from_numpy(points), torch.from_numpy(terminated)

        with torch.no_grad():
            next_value = model.value(see(seen["observation"], seen["action_mask"])[0])
        advantage, later = torch.zeros(T, N), torch.zeros(N)
        for t in reversed(range(T)):  # credit, from the last decision backwards; none crosses the end of a deal
            error = rewards[t] + next_value * ~over[t] - values[t]
            advantage[t] = later = error + settings.gae_lambda * later * ~over[t]
            next_value = values[t]
        batch = [x.flatten(0, 1) for x in (inputs, legal, ranks, log_probs, advantage, advantage + values)]

        for _ in range(settings.epochs):  # learn
            for rows in torch.randperm(T * N).split(settings.minibatch):
                seen_then, legal_then, rank, old_log_prob, gain, target = (x[rows] for x in batch)
                ratio = (model.policy(seen_then, legal_then).log_prob(rank) - old_log_prob).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -torch.minimum(gain * ratio, gain * clipped).mean()
                value_loss = (model.value(seen_then) - target).square().mean() / 2
                optimiser.zero_grad()
                (policy_loss + value_loss).backward()  # they share no weights
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimiser.step()
        seconds += time.process_time() - started

        if update % max(1, n_updates // settings.evaluations) == 0 or update == n_updates:
            games = settings.final_games if update == n_updates else min(2_000, settings.final_games)
            result = crib_env.win_rate(Player(model), "greedy", games, settings.seed)
            decisions = update * T * N
            writer.add_scalar("evaluation/win rate against greedy", result.rate, decisions)
            writer.add_scalar("learning/net points a deal", rewards.sum() / over.sum().clamp(min=1), decisions)
            curve.append({"decisions": decisions, "seconds": seconds, "games": games, "win_rate": result.rate})
            curve[-1] |= {"low": result.low, "high": result.high}
            print(f"{decisions:>10,} decisions {seconds:5.0f} s  against greedy: {result}")

    writer.close()
    with whole_file(settings.folder / "curve.json") as file:
        file.write_text(json.dumps({"settings": asdict(settings), "curve": curve}, default=str) + "\n")
