"""``crib-env train LEARNER``, in a checkout also ``python -m train``: trains an agent and measures its strength."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from crib_env.evaluate.command_line import choose
from crib_env.evaluate.ending import reported_errors

if TYPE_CHECKING:
    from crib_env.train.loop.contracts import Learner

_ABOUT = """Trains an agent and measures its strength.

A run is saved in runs/LEARNER/TIME-sSEED, with its TensorBoard curves. --resume FOLDER continues a \
stopped run; --seeds 5 trains five times and reports mean and spread."""


class Entry(NamedTuple):
    """A learner on the command line."""

    module: str
    """The module in this package, a :class:`crib_env.train.loop.contracts.Learner`."""
    about: str
    """Its line in the help."""


LEARNERS: dict[str, Entry] = {
    "best": Entry("best.learner", "The networks of the agent `best`: policies from the solved play. An hour."),
    "clone": Entry("clone", "Behaviour cloning from a dataset (--data FOLDER). A minute."),
    "ddqn": Entry("ddqn", "Double DQN by self-play (Sharan and Pawar, Anderson et al. 2022). What `make train` runs."),
    "discard-game": Entry("discard_game.learner", "A network for the discard game (O'Connor 2000). Half a minute."),
    "drqn": Entry("drqn", "Double DQN with an LSTM, which can remember the cards of a deal (Sharan and Pawar 2022)."),
    "escher": Entry("escher", "Regret minimisation with a value of histories, by self-play (McAleer et al. 2022)."),
    "mmd": Entry("mmd", "Magnetic mirror descent by self-play: a policy that is hard to exploit (Sokota et al. 2023)."),
    "mmd-tables": Entry(
        "mmd_tables.learner",
        "Magnetic mirror descent with tables in place of networks, some fifty times as fast. Ten minutes.",
    ),
    "nfsp": Entry(
        "nfsp",
        "Neural fictitious self-play: the average of best responses to its own average (Heinrich and Silver 2016).",
    ),
    "ppo": Entry("ppo.learner", "Stable-Baselines3's MaskablePPO by self-play."),
    "rnad": Entry("rnad", "Regularised Nash dynamics (DeepNash) by self-play, hard to exploit (Perolat et al. 2022)."),
    "strategy-weights": Entry(
        "strategy_weights.learner",
        "Weights for eight discard strategies at every pair of scores (Lang 2018). A minute.",
    ),
    "td": Entry("td.learner", "TD learning of afterstate values (O'Connor 2000). Two minutes."),
}


def module_of(name: str) -> Learner[Any]:
    """Imports the module of a learner, and of no other learner."""
    return cast("Learner[Any]", import_module(f"crib_env.train.{LEARNERS[name].module}"))


def main() -> None:
    """Reads the command line and trains."""
    train(sys.argv[1:])


def train(words: list[str]) -> None:
    """Trains as the words after ``crib-env train`` say."""
    with reported_errors():
        abouts = {name: learner.about for name, learner in LEARNERS.items()}
        name, arguments = choose("crib-env train", "learner", _ABOUT, abouts, words)
        import tensorboard  # noqa: F401 -- the first import, so that the extra that is named has torch and all of them

        # Imported here: torch and other imports take seconds.
        from crib_env.evaluate.executors.named import check_executor
        from crib_env.train.command_line import read_command
        from crib_env.train.loop.learning import with_precision
        from crib_env.train.loop.run import load_settings, run_learner
        from crib_env.train.loop.run_folder import RunFolder
        from crib_env.train.loop.sweep import Sweep

        learner = module_of(name)
        start, given, opponent = read_command(learner, LEARNERS[name].about, arguments)
        seeds = start.seeds
        if start.resume is not None:
            folder, found = RunFolder.open(start.resume, name)
            seeds = found.pop("seeds", None)
            settings = load_settings(learner, found, folder.path, () if opponent is None else (opponent,))
        if start.executor is not None:
            if seeds is None:
                raise ValueError(
                    f"executor={start.executor!r} is not allowed without --seeds: one run stays on one machine"
                )
            check_executor(start.executor)
        if given is not None:
            settings = with_precision(given)
            folder = RunFolder.create(name, settings, seeds=seeds, folder=start.folder)
    with reported_errors(
        f"stopped; continue with: crib-env train {name} --resume {shlex.quote(folder.path.as_posix())}"
    ):
        if seeds is None:
            run_learner(learner, settings, folder)
        else:
            Sweep(learner, settings, seeds, folder.path).run(start.executor)


if __name__ == "__main__":
    main()
