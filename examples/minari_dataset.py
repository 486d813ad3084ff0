"""Writes games of an agent in ``crib_env/Cribbage-v0`` as a Minari dataset, for offline learning.

python examples/minari_dataset.py careful greedy 100    # needs the extra datasets; MINARI_DATASETS_PATH says where to
"""

import sys

import gymnasium
import minari

import crib_env

agent, opponent, games = (*sys.argv[1:], *("careful", "greedy", "100")[len(sys.argv) - 1 :])
env = minari.DataCollector(gymnasium.make("crib_env/Cribbage-v0", opponent=opponent, illegal="raise"))
player, views = crib_env.make_agent(agent), env.unwrapped.views
for seed in range(int(games)):
    env.reset(seed=seed)
    over = False
    while not over:
        card = int(player.act(views())[0])
        _, _, over, _, _ = env.step(card)
data = env.create_dataset(
    dataset_id=f"cribbage/{agent}-against-{opponent}-v0",
    algorithm_name=agent,
    description=f"{agent} plays Cribbage-v0 against {opponent}",
)
print(f'{data.total_episodes} episodes, {data.total_steps} steps: minari.load_dataset("{data.id}")')
