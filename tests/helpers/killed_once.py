"""A player and a learner that are killed once, on a worker, in the middle of their work."""

import os
import signal
from pathlib import Path

from crib_env.agents import make_agent
from crib_env.train import ddqn

GAMES = 240


def kill_once(marker: Path):
    """kill -9 of the process that comes here first."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class KilledOnce:
    """Plays as an agent of some name, and is killed in the middle of a game of the second shard."""

    def __init__(self, name, marker):
        self.agent, self.name, self.marker = make_agent(name), name, marker

    def act(self, views):
        if views.game_ids.min() >= GAMES // 6 and views.scores.max() > 60:
            kill_once(self.marker)
        return self.agent.act(views)


class DDQNKilledOnce:
    """The learner, killed after the first checkpoint of one seed."""

    NAME, PRESETS = ddqn.NAME, ddqn.PRESETS

    def __init__(self, marker):
        self.marker = marker

    def train(self, settings, folder, progress):
        update = progress.update

        def and_kill(task, **changes):
            update(task, **changes)
            if settings.seed == 4 and folder.load_checkpoint() is not None:
                kill_once(self.marker)

        progress.update = and_kill
        return ddqn.train(settings, folder, progress)
