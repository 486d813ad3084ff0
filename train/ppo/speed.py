"""``python -m train.ppo.speed``: how fast MaskablePPO trains on the native games and on processes of single ones.

Both play the same games with the same network (two layers of 64 each for policy and value) and update it in the same
way: rollouts of as many decisions, used as often in minibatches of one size. They differ in what a rollout is made of:
many games for a few steps, or, with ``make_vec_env`` and ``SubprocVecEnv``, one game a process for many. Steps are
decisions of the learner, updates included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv

from crib_env.evaluate.console import console
from crib_env.evaluate.ending import reported_errors
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.speed import ROUNDS, Measurement, Rates, measure, ratio_table, speed_table
from crib_env.single_agent import SingleAgentCribbage
from crib_env.train.ppo.sb3_vec_env import CribbageVecEnv

DECISIONS, MINIBATCH, EPOCHS = 12_288, 2_048, 2  # decisions in a rollout and in a gradient step; uses of a rollout
GAMES, PROCESSES = 2_048, (8,)


def measure_ppo_speed(on_progress: Callable[[str], None] = lambda what: None) -> dict[str, Rates]:
    """Steps a second by name, ours first; ``on_progress`` receives the name of the next measurement."""
    torch.set_num_threads(1)
    envs: dict[str, VecEnv] = {f"CribbageVecEnv, {GAMES:,} games": CribbageVecEnv(GAMES)}
    options: dict[str, Any] = {"env_kwargs": {"mask": "info"}, "vec_env_cls": SubprocVecEnv}
    try:
        for n in PROCESSES:
            envs[f"SubprocVecEnv, {n} processes"] = make_vec_env(SingleAgentCribbage, n, **options)
        return measure([_training(name, games) for name, games in envs.items()], 0.0, on_progress)
    finally:
        for games in envs.values():
            games.close()


def _training(name: str, envs: VecEnv) -> Measurement:
    """Measures the steps of a new model, a rollout at a time."""
    steps = DECISIONS // envs.num_envs
    model = MaskablePPO("MlpPolicy", envs, n_steps=steps, batch_size=MINIBATCH, n_epochs=EPOCHS, device="cpu")

    def train() -> int:
        model.learn(DECISIONS, reset_num_timesteps=False)
        return DECISIONS

    return Measurement(name, train)


def main() -> None:
    """Measures and prints steps a second, and how many times as fast the native games are."""
    with progress_bar() as progress:
        task = progress.add_task("setting up", total=(1 + len(PROCESSES)) * (ROUNDS + 1))
        rates = measure_ppo_speed(lambda what: progress.update(task, advance=1, description=what))
    ours, *others = rates
    console.print(
        speed_table(rates), ratio_table({f"{ours} / {other}": rates[ours].over(rates[other]) for other in others})
    )


if __name__ == "__main__":
    with reported_errors():
        tyro.cli(main, prog="python -m train.ppo.speed")
