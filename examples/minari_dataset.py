"""Writes games of an agent in ``crib_env/Cribbage-v0`` as a Minari dataset, for offline learning.

python examples/minari_dataset.py careful greedy 100    # needs the extra datasets; MINARI_DATASETS_PATH says where to
"""

import sys

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

import crib_env

agent, opponent, games = (*sys.argv[1:], *("careful", "greedy", "100")[len(sys.argv) - 1 :])
env = gymnasium.make("crib_env/Cribbage-v0", opponent=opponent, illegal="raise")
player = crib_env.make_agent(agent)


def episode(seed: int) -> EpisodeBuffer:
    """A game, as Minari keeps it."""
    seen, cards, rewards, ends = [env.reset(seed=seed)[0]], [], [], [False]
    while not ends[-1]:
        cards.append(int(player.act(env.unwrapped.views())[0]))
        observation, reward, over, _, _ = env.step(cards[-1])
        seen.append(observation)
        rewards.append(float(reward))
        ends.append(over)
    return EpisodeBuffer(
        id=seed,
        seed=seed,
        observations={key: np.stack([one[key] for one in seen]) for key in seen[0]},
        actions=np.array(cards),
        rewards=rewards,
        terminations=ends[1:],
        truncations=[False] * len(cards),
    )


data = minari.create_dataset_from_buffers(
    dataset_id=f"cribbage/{agent}-against-{opponent}-v0",
    buffer=[episode(seed) for seed in range(int(games))],
    env=env,
    algorithm_name=agent,
    description=f"{agent} plays Cribbage-v0 against {opponent}",
    data_format="arrow",
)
print(f'{data.total_episodes} episodes, {data.total_steps} steps: minari.load_dataset("{data.id}")')
