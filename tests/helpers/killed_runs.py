"""Small runs of every kind of learner, and what one must come to after a kill."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import load_tensors
from crib_env.train import (
    best,
    ddqn,
    discard_game,
    drqn,
    mmd,
    mmd_tables,
    nfsp,
    ppo,
    rnad,
    strategy_weights,
    td,
)
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers import small_ppo, small_settings
from tests.helpers.learner_runs import class_of, killed_run, name_of


class Kind(NamedTuple):
    """A learner, small settings, and how many rounds take about two seconds: enough to kill it between them."""

    learner: Any
    settings: Any
    rounds: int

    @property
    def at_once(self):
        return self.settings.episodes_at_once


KINDS = {
    "best": Kind(best, replace(small_settings.BEST, episode="pegging", pegging_iterations=1), 10),
    "ddqn": Kind(ddqn, small_settings.DDQN, 24),
    "ddqn parts": Kind(ddqn, replace(small_settings.DDQN, networks="one"), 24),
    "discard-game": Kind(discard_game, small_settings.DISCARD_GAME, 64),
    "discard-game paper": Kind(discard_game, small_settings.DISCARD_GAME_PAPER, 64),
    "drqn": Kind(drqn, small_settings.DRQN, 16),
    "drqn games": Kind(drqn, replace(small_settings.DRQN, episodes_at_once=32, **small_settings.DRQN_GAMES), 16),
    "mmd": Kind(mmd, small_settings.MMD, 24),
    "mmd-tables": Kind(mmd_tables, small_settings.MMD_TABLES, 48),
    "nfsp": Kind(nfsp, small_settings.NFSP, 16),
    "ppo": Kind(ppo, small_ppo.PPO, 24),
    "rnad": Kind(rnad, small_settings.RNAD, 24),
    "td": Kind(td, small_settings.TD, 32),
    "td paper": Kind(td, small_settings.TD_PAPER, 64),
    "td traces": Kind(td, replace(small_settings.TD_PAPER, td_lambda=0.7), 64),
    "strategy-weights": Kind(strategy_weights, small_settings.STRATEGY_WEIGHTS, 16),
}


class Begun(Progress):
    """Notes the episodes with which its tasks begin."""

    def __init__(self) -> None:
        super().__init__(disable=True)
        self.at: list[int] = []

    def add_task(self, *arguments, completed=0, **settings):
        """See ``rich.progress.Progress``."""
        self.at.append(completed)
        return super().add_task(*arguments, completed=completed, **settings)


def kill_and_compare(kind: Kind, runs: Path, after: float = 0.0) -> None:
    """Kills a run so many seconds after its first checkpoint, goes on, and compares it with an uninterrupted one."""
    settings = replace(kind.settings, episodes=kind.rounds * kind.at_once, evaluations=1, checkpoint_seconds=0.0)
    folder = killed_run(kind.learner, settings, runs, after)
    position = folder.load_checkpoint()[1]
    whole, begun = RunFolder.create(name_of(kind.learner), settings, runs), Begun()
    run_learner(class_of(kind.learner), settings, folder, lambda: begun)
    run_learner(class_of(kind.learner), settings, whole)
    assert position["episodes"] in begun.at, f"it goes on at {begun.at} episodes, and had {position['episodes']}"
    tensors, expected = (load_tensors(one.final)[0] for one in (folder, whole))
    assert tensors.keys() == expected.keys()
    for key, tensor in expected.items():
        assert torch.equal(tensors[key], tensor), f"{key} differs from that of the run that was not killed"

    summary, of_whole = (json.loads((one.path / "summary.json").read_text()) for one in (folder, whole))
    assert summary["episodes"] == settings.episodes >= position["episodes"]
    assert summary["seconds"] > position["seconds"]  # what was done before counts too
    assert summary["scalars"] == of_whole["scalars"]
