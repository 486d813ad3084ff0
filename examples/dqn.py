"""Double DQN by self-play in one file, on the pegging game: eight cards, four each, and nothing but the play.

One network plays both seats of hundreds of deals side by side (`crib_env.GameBatch`). The reward of a decision is the
player's net points until its next decision, or the end of the deal: what the other player does in between is part of
its environment. The same player may act twice in a row, so everything is kept by seat and no sign alternates.

    python dqn.py     # two minutes of one core; --help lists the settings

Mnih et al. (2015), *Human-level control through deep reinforcement learning*; van Hasselt et al. (2016), *Deep
Reinforcement Learning with Double Q-learning*. Differences: targets look only at legal cards; nothing is discounted.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from torch import nn

import crib_env
from crib_env.evaluate.matches.mirrored import play_deals
from crib_env.observation import N_ACTIONS, N_BOARD


@dataclass
class Settings:
    """Settings of a run."""

    seed: int = 0
    """Of the weights, the deals and the exploration."""
    rounds: int = 300
    """Rounds of play and learning."""
    deals: int = 512
    """Deals played side by side in a round."""
    updates: int = 24
    """Gradient steps in a round."""
    batch_size: int = 512
    """Decisions in a gradient step."""
    memory: int = 200_000
    """Decisions remembered."""
    target_every: int = 200
    """Gradient steps between copies of the network into the target network."""
    learning_rate: float = 1e-3
    """Of Adam at the start; it falls to zero in a straight line."""
    exploration: tuple[float, float] = (0.3, 0.03)
    """Share of random cards, at the start and at the end."""
    test_deals: int = 20_000
    """Deals played against greedy at the end, each twice with the seats swapped."""
    final_games: int = 10_000
    """Whole games played against greedy at the end."""


class Memory:
    """The last decisions: what was seen, the card, the reward, and what was seen and legal next (zeros at the end)."""

    def __init__(self, size: int) -> None:
        self.seen, self.next_seen = (np.zeros((size, N_BOARD), np.int8) for _ in range(2))
        self.next_mask = np.zeros((size, N_ACTIONS), np.int8)
        self.card, self.reward = np.zeros(size, np.int64), np.zeros(size, np.float32)
        self.added, self.size = 0, size

    def add(self, seen, card, reward, next_seen, next_mask) -> None:
        """Adds B decisions, over the oldest."""
        at = (self.added + np.arange(len(card))) % self.size
        self.seen[at], self.card[at], self.reward[at] = seen, card, reward
        self.next_seen[at], self.next_mask[at] = next_seen, next_mask
        self.added += len(card)

    def sample(self, n: int, rng: np.random.Generator) -> list[torch.Tensor]:
        """N of them at random, as tensors."""
        at = rng.integers(min(self.added, self.size), size=n)
        return [torch.from_numpy(x[at]) for x in (self.seen, self.card, self.reward, self.next_seen, self.next_mask)]


class QPlayer:
    """Lays the card with the highest value. In whole games it discards as `greedy`."""

    name = "dqn example"

    def __init__(self) -> None:
        self.discards = crib_env.make_agent("greedy")
        self.network = nn.Sequential(
            nn.Linear(N_BOARD, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, N_ACTIONS)
        )

    @torch.inference_mode()
    def best(self, board: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """The best legal cards (B,) of board observations (B, 659) and masks (B, 52)."""
        values = self.network(torch.from_numpy(board).float())
        return values.masked_fill(torch.from_numpy(mask) == 0, -torch.inf).argmax(dim=1).numpy()

    def act(self, views: crib_env.PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.Agent`."""
        return np.where(views.is_discard, self.discards.act(views), self.best(views.board, views.action_mask))


def play(player: QPlayer, memory: Memory, deals: int, epsilon: float, rng: np.random.Generator) -> None:
    """Plays deals against itself to their ends, and remembers every decision of both players."""
    batch = crib_env.GameBatch(crib_env.streams(int(rng.integers(2**32)), deals), episode="pegging")
    waits = np.zeros((deals, 2), bool)  # who has laid a card whose reward is not yet complete
    seen, card = np.zeros((deals, 2, N_BOARD), np.int8), np.zeros((deals, 2), np.int64)
    margin = np.zeros((deals, 2), np.float32)  # own points less the opponent's when that card was chosen

    def settle(rows, seats, next_seen, next_mask):
        """The reward of the last cards of these seats is complete: they act again, or the deal is over."""
        scores = batch.games["scores"].astype(np.float32)
        now = scores[rows, seats] - scores[rows, 1 - seats]
        done = waits[rows, seats]
        r, s = rows[done], seats[done]
        memory.add(seen[r, s], card[r, s], now[done] - margin[r, s], next_seen[done], next_mask[done])
        margin[rows, seats], waits[rows, seats] = now, True

    while len(rows := batch.acting()):
        seats = batch.games["turn"][rows].astype(np.int64)
        board, mask = batch.observe(rows, "board")
        settle(rows, seats, board, mask)
        random_card = (rng.random(mask.shape) * mask).argmax(axis=1)
        chosen = np.where(rng.random(len(rows)) < epsilon, random_card, player.best(board, mask))
        seen[rows, seats], card[rows, seats] = board, chosen
        batch.step(rows, chosen)
    for seat in range(2):
        none = np.zeros((deals, N_BOARD), np.int8), np.zeros((deals, N_ACTIONS), np.int8)
        settle(np.arange(deals), np.full(deals, seat), *none)


def learn(player: QPlayer, target: QPlayer, optimiser: torch.optim.Optimizer, sample: list[torch.Tensor]) -> None:
    """One gradient step: the network chooses the next card, the target network says what it is worth."""
    seen, card, reward, next_seen, next_mask = sample
    with torch.no_grad():
        next_card = (
            player.network(next_seen.float()).masked_fill(next_mask == 0, -torch.inf).argmax(dim=1, keepdim=True)
        )
        next_value = target.network(next_seen.float()).gather(1, next_card).squeeze(1)
        goal = reward + next_value * (next_mask.sum(dim=1) > 0)
    value = player.network(seen.float()).gather(1, card[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


if __name__ == "__main__":
    settings = tyro.cli(Settings)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    rng, memory = np.random.default_rng(settings.seed), Memory(settings.memory)
    player, target = QPlayer(), QPlayer()
    target.network.load_state_dict(player.network.state_dict())
    optimiser = torch.optim.Adam(player.network.parameters())
    steps, started = 0, time.process_time()
    for number in range(settings.rounds):
        done = number / settings.rounds
        first, last = settings.exploration
        play(player, memory, settings.deals, first + (last - first) * done, rng)
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (1 - done)
        for _ in range(settings.updates):
            learn(player, target, optimiser, memory.sample(settings.batch_size, rng))
            steps += 1
            if steps % settings.target_every == 0:
                target.network.load_state_dict(player.network.state_dict())
        if (number + 1) % max(1, settings.rounds // 10) == 0:
            print(
                f"round {number + 1:4}  {memory.added:>9,} decisions  {time.process_time() - started:4.0f} s",
                flush=True,
            )

    points = play_deals(player, crib_env.make_agent("greedy"), settings.test_deals, settings.seed, episode="pegging")
    net = (points[:, 0] - points[:, 1]).sum(axis=(1, 2)).reshape(-1, 2).mean(axis=1)  # a deal and its mirror image
    error = 1.96 * net.std() / len(net) ** 0.5
    print(f"net points a deal against greedy: {net.mean():+.3f} ± {error:.3f}, {2 * len(net):,} deals")
    print("against greedy:", crib_env.win_rate(player, "greedy", settings.final_games))
