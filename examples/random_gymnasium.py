"""Random play against `greedy`: one game through Gymnasium, then a thousand at once.

python random_gymnasium.py
"""

import gymnasium
import numpy as np

import crib_env  # registers the ids

env = gymnasium.make("crib_env/Cribbage-v0", opponent="greedy")
observation, info = env.reset(seed=1)
env.action_space.seed(1)
total, over = 0.0, False
while not over:
    card = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(card)
    total, over = total + reward, terminated or truncated
print(f"scores {info['scores']}, in seat {info['seat']}; the rewards add up to {total:+.0f}")

envs = gymnasium.make_vec(
    "crib_env/Cribbage-v0", num_envs=1000, vectorization_mode="vector_entry_point", opponent="greedy"
)
observations, infos = envs.reset(seed=1)
rng, n_over, n_won = np.random.default_rng(1), 0, 0
while n_over < 1000:
    cards = (rng.random((1000, 52)) * infos["action_mask"]).argmax(axis=1)  # a random legal card in each game
    observations, rewards, terminated, truncated, infos = envs.step(cards)
    n_over += terminated.sum()
    n_won += (infos["scores"][np.arange(1000), infos["seat"]] == 121)[terminated].sum()
print(f"{n_won} of {n_over} games won, with crib_env {crib_env.__version__}")


class Random:
    """The same player in mirrored games, which tell more: each deal twice, with the seats swapped."""

    def act(self, views):
        """See :class:`crib_env.Agent`."""
        return (rng.random(views.action_mask.shape) * views.action_mask).argmax(axis=1)


print("against greedy:", crib_env.win_rate(Random(), "greedy", 2_000))
