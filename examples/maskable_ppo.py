"""MaskablePPO of sb3-contrib learns the play against `greedy`, on the Gymnasium id.

python examples/maskable_ppo.py 100000     # steps of training
"""

import sys

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

ID = "crib_env:crib_env/CribbagePlay-v0"  # the prefix imports crib_env
OPTIONS = {"opponent": "greedy", "observation": "board"}

envs = make_vec_env(ID, 8, seed=0, env_kwargs=OPTIONS)
model = MaskablePPO("MultiInputPolicy", envs, n_steps=256, batch_size=256, gamma=1.0, seed=0, verbose=1)
model.learn(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)

env, margins = gymnasium.make(ID, **OPTIONS), []
for deal in range(200):
    (observation, info), over = env.reset(seed=deal), False
    margins.append(0.0)
    while not over:
        card, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        observation, reward, over, _, info = env.step(card)
        margins[-1] += reward
error = 1.96 * np.std(margins) / len(margins) ** 0.5
print(f"net points a deal in the play: {np.mean(margins):+.2f} ± {error:.2f}, {len(margins)} deals")
