"""Is it the network that holds self-play back? `python -m docs.capacity`, two minutes of a core.

The network of `mmd` learns the equilibrium of the pegging game with three cards each, from the solver's own chances, as
often as decisions come up when the equilibrium plays itself. Exact best responses measure it.
"""

import time

import numpy as np
import torch

from crib_env import GameBatch, PlayerViews, streams
from crib_env.agents.choosing import draw
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.hands import N_RANKS, hand_number
from crib_env.players.agent import Powers
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from docs.search_curve import CARDS, node_of

ITERATIONS, DEALS, PASSES, BATCH, RATE = 64, 262_144, 4, 1_024, 6e-3


class Equilibrium:
    """Plays by the solver's chances, and keeps what the network would see of each decision, and those chances."""

    name = "equilibrium of three cards"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, solver: PlaySolver) -> None:
        self._solver, self._known = solver, {}
        self.kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self.probabilities(views).argmax(axis=1)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        inputs, gains = views.ranks_and_gains
        legal = gains > -np.inf
        ranks = np.zeros((len(views), N_RANKS))
        for b in range(len(views)):
            held = views.hand[b][views.hand[b] >= 0] % N_RANKS
            at = node_of(self._solver.game, views, b), int(hand_number(sorted(held.tolist())))
            if at not in self._known:
                self._known[at] = self._solver.game.chances_at(self._solver.average, *at)
            ranks[b] = self._known[at]
        self.kept.append((inputs, gains, ranks))
        same = np.tile(legal.reshape(-1, 4, N_RANKS).sum(axis=1), 4)
        return np.where(legal, np.tile(ranks, 4) / np.maximum(same, 1), 0)


def learn(kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> PolicyAgent:
    """A network that has learned the chances kept."""
    inputs, gains, chances = (torch.from_numpy(np.concatenate(column)) for column in zip(*kept))
    torch.manual_seed(0)
    agent = PolicyAgent("mmd", DDQNAgent.new("split", "209", "ranks", (256, 64), (8,)))
    network, steps = agent.networks.networks["play"], PASSES * -(-len(inputs) // BATCH)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for rows in (rows for _ in range(PASSES) for rows in torch.randperm(len(inputs)).split(BATCH)):
        logits = with_gains(network(agent.networks.inputs_of("play", inputs[rows])), gains[rows].float())
        likely = logits.softmax(dim=1).view(-1, 4, N_RANKS).sum(dim=1).clamp_min(1e-8)
        loss = -(chances[rows] * likely.log()).sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return agent


def main() -> None:
    """Prints what it comes to."""
    torch.set_num_threads(1)
    solver = PlaySolver(PlayGame(start=start_of_play(CARDS), threads=1))
    for _ in range(ITERATIONS):
        solver.iterate()
    player, rng = Equilibrium(solver), np.random.default_rng(0)
    batch = GameBatch(streams(0, DEALS), episode="pegging", cards=CARDS, skip_forced=True)
    while len(rows := batch.acting()):
        batch.step(rows, draw(player.probabilities(batch.views(rows)), rng.random(len(rows))))
    n, before = sum(len(gains) for _, gains, _ in player.kept), time.process_time()
    agent = learn(player.kept)
    seconds, found = time.process_time() - before, exploitability(agent, solver.game).mean
    print(f"{n:,} decisions, {PASSES} times each: {found:.4f}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
