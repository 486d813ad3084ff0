"""Self-play of whole games in one short file: one network discards and lays cards for both players.

It learns what a card of each rank is worth: the net points from there to the end of the deal, as they came. Both
players take the card that is worth most, and now and then another. A game is a row of deals; it sees no scores.

    python self_play.py     # a minute of one core; another number of rounds may follow
"""

import sys
import time

import numpy as np
import torch
from torch import nn

import crib_env

DEALS, STEPS, BATCH = 1_024, 12, 1_024  # deals of a round, its gradient steps, decisions of each
RANKS = np.arange(52) % 13


class Player:
    """Takes the legal card with the highest value."""

    name = "self-play example"

    def __init__(self):
        self.network = nn.Sequential(nn.Linear(479, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 13))

    @torch.inference_mode()
    def best(self, seen, mask):
        """The cards (B,) for inputs by rank (B, 479) and masks (B, 52)."""
        values = self.network(torch.from_numpy(seen).float()).numpy()
        return np.where(mask, values[:, RANKS], -np.inf).argmax(axis=1)

    def act(self, views):
        """See :class:`crib_env.Agent`."""
        return self.best(views.ranks, views.action_mask)


def play(player, epsilon, rng):
    """All decisions of some deals: what the player saw, the rank it chose, the net points that followed."""
    batch = crib_env.GameBatch(crib_env.streams(int(rng.integers(2**32)), DEALS), episode="deal")
    decisions = []
    while len(rows := batch.acting()):
        seats, scores = batch.games["turn"][rows], batch.games["scores"][rows]
        seen, mask = batch.observe(rows, "ranks")
        cards = np.where(
            rng.random(len(rows)) < epsilon, (rng.random(mask.shape) * mask).argmax(1), player.best(seen, mask)
        )
        decisions.append((seen, cards % 13, rows, seats, scores))
        batch.step(rows, cards)
    seen, ranks, rows, seats, scores = map(np.concatenate, zip(*decisions))
    made = (batch.games["scores"][rows] - scores).astype(np.float32)
    return seen, ranks, (made[:, 0] - made[:, 1]) * (1 - 2 * seats)


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng, player, began = np.random.default_rng(0), Player(), time.process_time()
    optimiser = torch.optim.Adam(player.network.parameters())
    for number in range(rounds):
        left = 1 - number / rounds
        optimiser.param_groups[0]["lr"] = 1e-3 * left
        data = [torch.from_numpy(part) for part in play(player, 0.2 * left, rng)]
        for _ in range(STEPS):
            at = torch.from_numpy(rng.integers(len(data[0]), size=BATCH))
            seen, ranks, net = (part[at] for part in data)
            values = player.network(seen.float()).gather(1, ranks[:, None])[:, 0]
            optimiser.zero_grad()
            nn.functional.mse_loss(values, net).backward()
            optimiser.step()
    print(f"{rounds * DEALS * 12:,} decisions, {time.process_time() - began:.0f} processor seconds")
    print("against greedy:", crib_env.win_rate(player, "greedy", 10_000))
