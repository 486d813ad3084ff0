"""CleanRL's PPO loop on 64 native games: learns the play from the inputs by rank, and discards as `greedy`.

python cleanrl_ppo.py                      # prints its strength against `greedy` after three processor minutes
python cleanrl_ppo.py 30 2                 # after 30 processor seconds, with random seed 2
python cleanrl_ppo.py 180 1 cuda 65536     # on a GPU, 65,536 games

Its one file for PPO: Huang et al. (2022), *CleanRL: High-quality Single-file Implementations of Deep Reinforcement
Learning Algorithms*. Added: the mask. `crib_env` deals, plays the opponent and writes inputs and masks as tensors.
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
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
GAMES = int(sys.argv[4]) if len(sys.argv) > 4 else 64
STEPS, EPOCHS, MINIBATCH, RATE, CLIP, LAMBDA = 128, 3, max(1024, 2 * GAMES), 1e-3, 0.2, 0.9  # nothing is discounted

torch.manual_seed(SEED)
torch.set_num_threads(1)
envs = gymnasium.make_vec(
    "crib_env/CribbagePlay-v0",
    GAMES,
    vectorization_mode="vector_entry_point",
    opponent="greedy",
    observation="ranks",
    device=DEVICE,
)


def layers(outputs, last_scale):
    """Two hidden layers, with orthogonal weights; a small last scale makes the first policy nearly uniform."""
    linear = [nn.Linear(OBSERVATIONS["ranks"].size, 128), nn.Linear(128, 128), nn.Linear(128, outputs)]
    for layer, scale in zip(linear, (2**0.5, 2**0.5, last_scale)):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])


actor, critic = layers(52, 0.01).to(DEVICE), layers(1, 1.0).to(DEVICE)
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
        inputs, mask = (torch.from_numpy(seen).to(DEVICE) for seen in (views.ranks, views.action_mask))
        laid = policy(inputs.float(), mask.bool()).logits.argmax(dim=1).cpu().numpy()
        return np.where(views.is_discard, self.discards.act(views), laid)


seen, _ = envs.reset(seed=SEED)
begins = torch.zeros(GAMES, dtype=torch.bool, device=DEVICE)  # games that ended: their next step begins another one
started, used, update = time.process_time(), 0.0, 0
while used < SECONDS:
    update += 1
    optimiser.param_groups[0]["lr"] = RATE * (1 - used / SECONDS)
    rows = []
    for _ in range(STEPS):  # play
        inputs, mask = seen["observation"].float(), seen["action_mask"].bool() | begins[:, None]
        with torch.no_grad():
            chances, value = policy(inputs, mask), critic(inputs).squeeze(1)
            card = chances.sample()
        seen, reward, over, _, _ = envs.step(card)
        rows.append((inputs, mask, card, chances.log_prob(card), value, reward / 10, over.clone(), ~begins))
        begins = rows[-1][6]
    inputs, mask, card, log_prob, value, reward, over, is_decision = map(torch.stack, zip(*rows))

    with torch.no_grad():  # credit, from the last decision backwards; none crosses the end of a deal
        next_value, later = critic(seen["observation"].float()).squeeze(1), torch.zeros(GAMES, device=DEVICE)
    advantage = torch.zeros(STEPS, GAMES, device=DEVICE)
    for t in reversed(range(STEPS)):
        error = reward[t] + next_value * ~over[t] - value[t]
        advantage[t] = later = error + LAMBDA * later * ~over[t]
        next_value = value[t]

    batch = [x[is_decision] for x in (inputs, mask, card, log_prob, advantage, advantage + value)]
    for _ in range(EPOCHS):  # learn
        for at in torch.randperm(len(batch[0]), device=DEVICE).split(MINIBATCH):
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
        print(f"{update * STEPS * GAMES:>9,} steps {used:4.0f} s  {points:+.2f} net points a deal", flush=True)
print("against greedy:", crib_env.win_rate(Player(), "greedy", 10_000))
