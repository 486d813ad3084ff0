"""Behaviour cloning: a network learns to choose as the players of a dataset did, and then plays.

crib-env dataset games/ --agents best best --games 10000
python examples/clone.py games/

It sees the 209 bits and is asked at every decision of the dataset. Usage: clone.py FOLDER [EPOCHS]
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

import crib_env
from crib_env.evaluate.matches.dataset import action_masks, observations, read_dataset

BATCH = 512


class Cloned:
    """Chooses the legal card that the network finds most likely."""

    name = "cloned"

    def __init__(self):
        self.network = nn.Sequential(nn.Linear(209, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 52))

    def logits(self, observation, mask):
        """(B, 52), -inf for a card that is not legal."""
        outputs = self.network(torch.as_tensor(observation[:, :209], dtype=torch.float32))
        return outputs.masked_fill(torch.as_tensor(mask == 0), -torch.inf)

    @torch.no_grad()
    def act(self, views):
        """The most likely card of each decision."""
        return self.logits(views.observation, views.action_mask).argmax(dim=1).numpy()


def clone(folder, epochs=3, seed=0):
    """The player, and in what share of the last epoch's decisions it chose the card that was chosen."""
    torch.manual_seed(seed)
    agent, rng = Cloned(), np.random.default_rng(seed)
    adam = torch.optim.Adam(agent.network.parameters(), lr=1e-3)
    for _ in range(epochs):
        agreed = []
        for rows in read_dataset(folder):
            order = rng.permutation(len(rows))
            for batch in np.array_split(order, max(1, len(rows) // BATCH)):
                chosen = torch.as_tensor(rows.action[batch].astype(int))
                logits = agent.logits(observations(rows[batch]), action_masks(rows[batch]))
                loss = nn.functional.cross_entropy(logits, chosen)
                adam.zero_grad()
                loss.backward()
                adam.step()
                agreed.append((logits.argmax(dim=1) == chosen).float().mean().item())
    return agent, float(np.mean(agreed))


if __name__ == "__main__":
    player, agreement = clone(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    print(f"agrees with {agreement:.1%} of the decisions")
    print(f"against greedy: {crib_env.win_rate(player, 'greedy', 1_000)}")
