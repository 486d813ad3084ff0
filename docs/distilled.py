"""Tables as teachers: `python -m docs.distilled AGENT PATH`; with four cards each, a quarter of an hour of a core.

A network of `mmd` learns the chances of another agent in the pegging game, at the decisions that come up when that
agent plays itself and lays any legal card once in ten. An exact best response measures it; `mmd:PATH` is the agent.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from crib_env import GameBatch, streams
from crib_env.agents import make_agent
from crib_env.agents.choosing import draw
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.hands import N_RANKS
from crib_env.players.agent import Agent
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play

AT_ONCE, BATCH, RATE, ANY_CARD, AVERAGED = 16_384, 1_024, 4e-3, 0.1, 0.002


def decisions(agent: Agent, cards: int, seeds: np.ndarray) -> list[torch.Tensor]:
    """Inputs, gains and the agent's chances by rank, at all choices of its deals against itself."""
    batch = GameBatch(seeds, episode="pegging", cards=cards, skip_forced=True)
    rng, kept = np.random.default_rng(seeds[:4]), []
    while len(rows := batch.acting()):
        views = batch.views(rows)
        chances, (inputs, gains) = agent.probabilities(views), views.ranks_and_gains
        kept.append((inputs, gains.astype(np.float32), chances.reshape(-1, 4, N_RANKS).sum(axis=1).astype(np.float32)))
        legal = views.action_mask / views.action_mask.sum(axis=1, keepdims=True)
        batch.step(rows, draw((1 - ANY_CARD) * chances + ANY_CARD * legal, rng.random(len(rows))))
    return [torch.from_numpy(np.concatenate(column)) for column in zip(*kept)]


def main() -> None:
    """Prints the exploitability on the way and at the end."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("agent")
    options.add_argument("path", type=Path, help="of the weights, as in distilled.safetensors")
    options.add_argument("--cards", type=int, default=4)
    options.add_argument("--deals", type=int, default=6_000_000)
    options.add_argument("--hidden", type=int, nargs="+", default=[1024, 64])
    asked = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    teacher, game = make_agent(asked.agent), PlayGame(start=start_of_play(asked.cards), threads=1)
    learner = PolicyAgent("mmd", DDQNAgent.new("split", "209", "ranks", tuple(asked.hidden), (8,)))
    average = PolicyAgent("mmd", DDQNAgent.new("split", "209", "ranks", tuple(asked.hidden), (8,)))
    network, averaged = (one.networks.networks["play"] for one in (learner, average))
    optimizer, steps, n, started = torch.optim.Adam(network.parameters(), lr=RATE), 0, 0, time.process_time()
    rounds = -(-asked.deals // AT_ONCE)
    for number in range(1, rounds + 1):
        inputs, gains, chances = decisions(teacher, asked.cards, streams(number, AT_ONCE))
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - (number - 1) / rounds)
        for rows in torch.randperm(len(inputs)).split(BATCH):
            logits = with_gains(network(learner.networks.inputs_of("play", inputs[rows])), gains[rows])
            likely = logits.softmax(dim=1).view(-1, 4, N_RANKS).sum(dim=1).clamp_min(1e-8)
            loss = -(chances[rows] * likely.log()).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            with torch.no_grad():
                for old, new in zip(averaged.parameters(), network.parameters()):
                    old.lerp_(new, max(AVERAGED, 9 / (steps + 9)))
        n += len(inputs)
        if number in {rounds >> k for k in range(3)}:
            seconds, found = time.process_time() - started, exploitability(average, game).mean
            print(f"{number * AT_ONCE:,} deals, {n:,} decisions, {seconds:.0f} s: {found:.4f}", flush=True)
    average.save(asked.path)


if __name__ == "__main__":
    main()
