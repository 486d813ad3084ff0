"""Learners by name: those of this project, and ``module:Class``, a learner in anybody's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from crib_env.players.agent_from_text import find

if TYPE_CHECKING:
    from crib_env.train.loop.contracts import Learner


class Entry(NamedTuple):
    """A learner on the command line."""

    place: str
    """``module:Class`` in this package."""
    about: str
    """Its line in the help."""


LEARNERS: dict[str, Entry] = {
    "best": Entry("best.learner:Best", "The networks of the agent `best`: policies from the solved play. An hour."),
    "clone": Entry("clone:Cloning", "Behaviour cloning from a dataset (--data FOLDER). A minute."),
    "ddqn": Entry(
        "ddqn:DDQN", "Double DQN by self-play (Sharan and Pawar, Anderson et al. 2022). What `make train` runs."
    ),
    "discard-game": Entry(
        "discard_game.learner:DiscardGame", "A network for the discard game (O'Connor 2000). Half a minute."
    ),
    "drqn": Entry(
        "drqn:DRQN", "Double DQN with an LSTM, which can remember the cards of a deal (Sharan and Pawar 2022)."
    ),
    "escher": Entry(
        "escher:ESCHER", "Regret minimisation with a value of histories, by self-play (McAleer et al. 2022)."
    ),
    "mmd": Entry(
        "mmd:MMD", "Magnetic mirror descent by self-play: a policy that is hard to exploit (Sokota et al. 2023)."
    ),
    "mmd-tables": Entry(
        "mmd_tables.learner:MMDTables",
        "Magnetic mirror descent with tables in place of networks, some fifty times as fast. Ten minutes.",
    ),
    "nfsp": Entry(
        "nfsp:NFSP",
        "Neural fictitious self-play: the average of best responses to its own average (Heinrich and Silver 2016).",
    ),
    "ppo": Entry("ppo.learner:PPOLearner", "Stable-Baselines3's MaskablePPO by self-play."),
    "rnad": Entry(
        "rnad:RNaD", "Regularised Nash dynamics (DeepNash) by self-play, hard to exploit (Perolat et al. 2022)."
    ),
    "strategy-weights": Entry(
        "strategy_weights.learner:StrategyWeights",
        "Weights for eight discard strategies at every pair of scores (Lang 2018). A minute.",
    ),
    "td": Entry("td:TD", "TD learning of afterstate values (O'Connor 2000). Two minutes."),
}
_NEEDED = ("Settings", "play_and_learn", "state_dict", "load_state_dict")  # of a class; its objects have an agent too


def learner_named(name: str) -> type[Learner]:
    """Imports the class of a learner, and of no other learner.

    Args:
        name: of :data:`LEARNERS`, or ``module:Class``, whose code is then run: so only accept it from the user.

    Raises:
        ValueError: there is no such learner, or it lacks one of the names that a learner has.
    """
    if name in LEARNERS:
        return cast("type[Learner]", find(f"crib_env.train.{LEARNERS[name].place}", name, "learner"))
    found: Any = find(name, name, "learner")
    missing = [one for one in _NEEDED if not hasattr(found, one)]
    if missing and not hasattr(found, "own_loop"):
        raise ValueError(f"{name!r} is no learner: it has no {', '.join(missing)}")
    from crib_env.train.loop.learning import RunSettings  # torch takes seconds

    if not (isinstance(found.Settings, type) and issubclass(found.Settings, RunSettings)):
        raise ValueError(f"{name!r} is no learner: its Settings are no dataclass that inherits RunSettings")
    return cast("type[Learner]", found)
