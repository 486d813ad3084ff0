"""Settings of a run of PPO that takes a second; apart from the others, because its libraries load slowly."""

from __future__ import annotations

from crib_env.train import ppo
from tests.helpers.small_settings import small

PPO = small(ppo, hidden=(32,), episodes=1_000, batch_size=256, refresh=2, evaluations=2)
