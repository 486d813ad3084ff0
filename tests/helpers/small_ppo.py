"""Settings of a run of PPO that takes a second; apart from the others, because its libraries load slowly."""

from __future__ import annotations

from crib_env.train.ppo import learner as ppo

PPO = ppo.PPOSettings(
    hidden=(32,),
    value_hidden=(16,),
    episodes=1_000,
    episodes_at_once=128,
    batch_size=256,
    refresh=2,
    evaluations=2,
    evaluation_games=20,
    final_games=20,
    precision="float32",
)
