"""MaskablePPO of sb3-contrib learns the play from the inputs by rank, and plays a match against `greedy`.

python maskable_ppo.py              # 400,000 steps of training, about a processor minute
python maskable_ppo.py 100000 2     # fewer, with random seed 2
"""

import sys
import time

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

import crib_env

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
OPTIONS = {"opponent": "greedy", "observation": "ranks", "mask": "info", "dtype": "float32"}
envs = make_vec_env("crib_env/CribbagePlay-v0", 64, seed=SEED, env_kwargs=OPTIONS)
model = MaskablePPO(
    "MlpPolicy", envs, n_steps=128, batch_size=1024, n_epochs=4, learning_rate=1e-3, gamma=1.0, seed=SEED, verbose=1
)
model.learn(STEPS)
print(f"{time.process_time():.0f} processor seconds")


class Player:
    """Discards as `greedy`, whose exact values leave little to learn, and lays the most likely card."""

    name, discards = "maskable ppo", crib_env.make_agent("greedy")

    def act(self, views):
        """See :class:`crib_env.agents.Agent`."""
        laid, _ = model.predict(views.ranks.astype(np.float32), action_masks=views.action_mask, deterministic=True)
        return np.where(views.is_discard, self.discards.act(views), laid)


print("against greedy:", crib_env.win_rate(Player(), "greedy", 10_000))
