"""A player and a learner that are killed once, on a worker, in the middle of their work."""

import os
import signal
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Settings(ddqn.DDQNSettings):
    """Those of the learner, and the file that says that it has been killed."""

    marker: str = ""


class DDQNKilledOnce(ddqn.DDQN):
    """The learner, killed after the first checkpoint of one seed."""

    Settings, PRESETS = Settings, None

    def play_and_learn(self, now):
        if self.settings.seed == 4 and now.episodes_before:
            kill_once(Path(self.settings.marker))
        return super().play_and_learn(now)
