"""CleanRL's PPO loop on 64 native games: learns the play from the inputs by rank, and discards as `greedy`.

python cleanrl_ppo.py           # prints its strength against `greedy` after three processor minutes
python cleanrl_ppo.py 30 2      # after 30 processor seconds, with random seed 2

Its one file for PPO: Huang et al. (2022), *CleanRL: High-quality Single-file Implementations of Deep Reinforcement
Learning Algorithms*. Added: the mask. `crib_env` deals, plays the opponent and writes masks and float32 inputs.
"""

import sys
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import crib_env
from crib_env.observation import OBSERVATIONS

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
GAMES, STEPS, EPOCHS, MINIBATCH, RATE, CLIP, LAMBDA = 64, 128, 3, 1024, 1e-3, 0.2, 0.9  # nothing is discounted

torch.manual_seed(SEED)
torch.set_num_threads(1)
envs = gymnasium.make_vec(
    "crib_env/CribbagePlay-v0",
    GAMES,
    vectorization_mode="vector_entry_point",
    opponent="greedy",
    observation="ranks",
    dtype="float32",
    autoreset_mode="SameStep",  # every step is a decision
)


def layers(outputs, last_scale):
    """Two hidden layers, with orthogonal weights; a small last scale makes the first policy nearly uniform."""
    linear = [nn.Linear(OBSERVATIONS["ranks"].size, 128), nn.Linear(128, 128), nn.Linear(128, outputs)]
    for layer, scale in zip(linear, (2**0.5, 2**0.5, last_scale)):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])


actor, critic = layers(52, 0.01), layers(1, 1.0)
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=RATE, eps=1e-5)


def policy(inputs, mask):
    """Over the legal cards alone."""
    return Categorical(logits=actor(inputs).masked_fill(~mask, -torch.inf), validate_args=False)


class Player:
    """Discards as `greedy`, whose exact values leave little to learn, and lays the most likely card."""

    name, discards = "cleanrl ppo", crib_env.make_agent("greedy")

    @torch.inference_mode()
    def act(self, views):
        """See :class:`crib_env.agents.Agent`."""
        inputs, mask = torch.from_numpy(views.ranks).float(), torch.from_numpy(views.action_mask).bool()
        laid = policy(inputs, mask).logits.argmax(dim=1).numpy()
        return np.where(views.is_discard, self.discards.act(views), laid)


seen, _ = envs.reset(seed=SEED)
started, used, update = time.process_time(), 0.0, 0
while used < SECONDS:
    update += 1
    optimiser.param_groups[0]["lr"] = RATE * (1 - used / SECONDS)
    rows = []
    for _ in range(STEPS):  # play
        inputs, mask = torch.from_numpy(seen["observation"]), torch.from_numpy(seen["action_mask"])
        with torch.no_grad():
            chances, value = policy(inputs, mask), critic(inputs).squeeze(1)
            card = chances.sample()
        seen, reward, over, _, _ = envs.step(card.numpy())
        reward, over = torch.from_numpy(reward).float() / 10, torch.from_numpy(over)
        rows.append((inputs, mask, card, chances.log_prob(card), value, reward, over))
    inputs, mask, card, log_prob, value, reward, over = map(torch.stack, zip(*rows))

    with torch.no_grad():  # credit, from the last decision backwards; none crosses the end of a deal
        next_value, later = critic(torch.from_numpy(seen["observation"])).squeeze(1), torch.zeros(GAMES)
    advantage = torch.zeros(STEPS, GAMES)
    for t in reversed(range(STEPS)):
        error = reward[t] + next_value * ~over[t] - value[t]
        advantage[t] = later = error + LAMBDA * later * ~over[t]
        next_value = value[t]

    batch = [x.flatten(0, 1) for x in (inputs, mask, card, log_prob, advantage, advantage + value)]
    for _ in range(EPOCHS):  # learn
        for at in torch.randperm(STEPS * GAMES).split(MINIBATCH):
            inputs, mask, card, log_prob, gain, target = (x[at] for x in batch)
            chances = policy(inputs, mask)
            ratio = (chances.log_prob(card) - log_prob).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            policy_loss = -torch.minimum(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = (critic(inputs).squeeze(1) - target).square().mean() / 2
            optimiser.zero_grad()
            (policy_loss + value_loss).backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimiser.step()
    used = time.process_time() - started
    if update % 10 == 0:
        points = reward.sum().item() * 10 / over.sum().item()
        print(f"{update * STEPS * GAMES:>9,} decisions {used:4.0f} s  {points:+.2f} net points a deal", flush=True)
print("against greedy:", crib_env.win_rate(Player(), "greedy", 10_000))
