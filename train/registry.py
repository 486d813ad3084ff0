"""Learners by name: those of this project, and ``module:Class``, a learner in anybody's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crib_env.players.agent_from_text import find

# Of each learner its ``module:Class`` in this package, and its line in the help.
LEARNERS = {
    "best": ("best:Best", "The networks of the agent `best`: policies from the solved play. An hour."),
    "ddqn": ("ddqn:DDQN", "Double DQN by self-play (Sharan and Pawar, Anderson et al. 2022). What `make train` runs."),
    "discard-game": ("discard_game:DiscardGame", "A network for the discard game (O'Connor 2000). Half a minute."),
    "drqn": ("drqn:DRQN", "Double DQN with an LSTM, which can remember the cards of a deal (Sharan and Pawar 2022)."),
    "mmd": ("mmd:MMD", "Magnetic mirror descent by self-play: a policy that is hard to exploit (Sokota et al. 2023)."),
    "mmd-tables": (
        "mmd_tables:MMDTables",
        "Magnetic mirror descent with tables in place of networks, some fifty times as fast. Ten minutes.",
    ),
    "nfsp": (
        "nfsp:NFSP",
        "Neural fictitious self-play: the average of best responses to its own average (Heinrich and Silver 2016).",
    ),
    "ppo": ("ppo:PPOLearner", "Stable-Baselines3's MaskablePPO by self-play."),
    "rnad": ("rnad:RNaD", "Regularised Nash dynamics (DeepNash) by self-play, hard to exploit (Perolat et al. 2022)."),
    "strategy-weights": (
        "strategy_weights:StrategyWeights",
        "Weights for eight discard strategies at every pair of scores (Lang 2018). A minute.",
    ),
    "td": ("td:TD", "TD learning of afterstate values (O'Connor 2000). Two minutes."),
}
_NEEDED = ("Settings", "play_and_learn", "state_dict", "load_state_dict")  # of a class; its objects have an agent too


def learner_named(name: str) -> Any:
    """Imports the class of a learner of :data:`LEARNERS`, or of ``module:Class``, whose code is then run: only accept
    its name from the user.

    docs/train/your-own-learner.md says what it has. It may also have ``PRESETS``, settings by name, ``default`` among
    them; ``STRENGTH``, a :class:`crib_env.train.loop.strength.Measure`, if the player cannot play matches of cribbage;
    and ``own_loop(rounds)``, which calls ``rounds.run()`` and does more. torch's seed and threads are set before it is
    made. If it compiles kernels then, no clock runs.

    Raises:
        ValueError: there is no such learner, or it lacks one of the names that a learner has.
    """
    if name in LEARNERS:
        return find(f"crib_env.train.{LEARNERS[name][0]}", name, "learner")
    found: Any = find(name, name, "learner")
    if missing := [one for one in _NEEDED if not hasattr(found, one)]:
        raise ValueError(f"{name!r} is no learner: it has no {', '.join(missing)}")
    from crib_env.train.loop.settings import RunSettings  # torch takes seconds

    if not (isinstance(found.Settings, type) and issubclass(found.Settings, RunSettings)):
        raise ValueError(f"{name!r} is no learner: its Settings are no dataclass that inherits RunSettings")
    return found


def presets_of(learner: Any) -> Mapping[str, Any]:
    """Settings by the name of their preset."""
    found: Mapping[str, Any] = getattr(learner, "PRESETS", None) or {"default": learner.Settings()}
    return found
