"""What is recorded of a run, whoever owns the loop: its position, curves, strength on the way, and its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.evaluate.console import console
from crib_env.evaluate.job import new_folder
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.runs.format import (
    EPISODES_PER_SECOND,
    PROCESSOR_SECONDS,
    SIMULATION_SECONDS,
    SIMULATION_SHARE,
    UPDATES,
    final_tags,
)
from crib_env.train.loop.contracts import StrengthMeasure
from crib_env.train.loop.learning import RunSettings
from crib_env.train.loop.run_folder import RUNS, Position, RunFolder, new_run
from crib_env.train.loop.strength import Matches
from crib_env.train.loop.tensorboard import summaries
from crib_env.train.registry import LEARNERS


def print_line(line: str) -> None:
    """Prints a line without wrapping it, so that its path can be copied."""
    console.print(line, soft_wrap=True, markup=False, highlight=False)


class Recording:
    """The position, curves and strength of a run in its folder. Time between its calls is training; measuring is not.

    Args:
        settings: how many games measure strength, and the seed of their deals.

    Attributes:
        folder, position: of the run.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: RunSettings,
        strength: StrengthMeasure[Any, Any],
        position: Position,
        tell: Callable[[str], None] = print_line,
    ) -> None:
        self.folder, self.position = folder, position
        self._settings, self._strength, self._tell = settings, strength, tell
        self.start_clocks()

    def start_clocks(self) -> None:
        """What came before now, since the last call of :meth:`log`, was no training."""
        self._began = time.perf_counter(), time.process_time()

    def log(self, values: Mapping[str, float], episodes: int) -> None:
        """Writes curves, with those of speed.

        Args:
            values: by tag; one without a group, such as ``"loss"``, gets ``learning/``. ``speed/seconds in
                simulation``, since the last call, becomes a share; ``speed/updates``, of weights, are added up.
            episodes: played so far.

        Raises:
            ValueError: there were more at an earlier call.
        """
        position, n = self.position, episodes - self.position.episodes
        if n < 0:
            raise ValueError(f"episodes={episodes} is not allowed: {position.episodes} were played before")
        seconds, on_processor = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        position.rounds += 1
        position.episodes = episodes
        position.seconds += seconds
        position.processor_seconds += on_processor
        shown = {tag if "/" in tag else f"learning/{tag}": value for tag, value in values.items()}
        position.updates += int(shown.pop(UPDATES, 0))
        if (simulated := shown.pop(SIMULATION_SECONDS, None)) is not None:
            position.simulation_seconds += simulated
            shown[SIMULATION_SHARE] = simulated / seconds
        if n:
            shown |= {EPISODES_PER_SECOND: n / seconds, PROCESSOR_SECONDS: position.processor_seconds}
        self.folder.log(shown, episodes)
        self.start_clocks()

    def measure(self, agent: Any) -> dict[str, float]:
        """Plays ``evaluation_games`` against each baseline, writes how strong the agent is now, and says it; returns it
        by tag. :func:`crib_env.win_rate` takes the same agents."""
        result = self._strength.measure(agent, self._settings.evaluation_games, self._settings.seed)
        self._tell(f"{self.position.episodes:,} episodes: {self._strength.in_words(result)}")
        values = self._strength.scalars(result)
        self.folder.log(values, self.position.episodes)
        self.start_clocks()
        return values

    def finish(
        self, agent: Any, progress: Progress, given: Mapping[str, Any], start: Mapping[str, Any], /, **about: Any
    ) -> Any:
        """Measures the finished agent, writes the summary and the picture, and prints both; returns the result.

        Args:
            given: the settings of the run.
            start: those of its preset.
            about: what else belongs in the summary.
        """
        settings, folder, measured_by = self._settings, self.folder, self._strength
        task = progress.add_task("measuring its strength", total=measured_by.total(settings.final_games))
        result = measured_by.measure(
            agent, settings.final_games, settings.seed + 1, lambda done: progress.update(task, advance=done)
        )
        values = measured_by.scalars(result)
        summary = {**self.position.summary(), **about, "strength": measured_by.as_json(result), "scalars": values}
        folder.begin_end()
        folder.log(final_tags(values), summary["episodes"])
        folder.log_hparams(summaries(folder.learner, given, start))
        folder.flush()
        curve = measured_by.draw(folder.path, f"{folder.learner}, seed {settings.seed}", summary)
        folder.finish(summary)
        console.print(measured_by.table(folder.learner, result))
        share = summary.get("simulation_share")
        told = "" if share is None else f", {share:.1%} of the time in simulation"
        print_line(f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s{told}")
        if folder.final.exists():
            print_line(f"weights: {folder.final}")
        print_line(f"curve: {curve}")
        return result


_MEASURED = ("seed", "evaluation_games", "final_games")


class Run(Recording):
    """A run of a script with a loop of its own, in a folder with the curves of this project's learners.

    Args:
        name: of the learner, in tables and curves.
        settings: of the script, in JSON. ``seed`` (0), ``evaluation_games`` (1,000) and ``final_games`` (10,000) are
            those of :class:`RunSettings`.
        folder: a new one; by default ``runs/NAME/TIME-sSEED``.

    Raises:
        ValueError: an argument is not allowed.
    """

    def __init__(self, name: str, settings: Mapping[str, Any] | None = None, folder: str | Path | None = None) -> None:
        if not name or not name.isprintable() or name in LEARNERS or name != Path(name).name:
            raise ValueError(
                f"name={name!r} is not allowed: give one that is a folder's and no learner's of this project"
            )
        given = {key: value for key, value in (settings or {}).items() if key in _MEASURED}
        its = RunSettings(**given)
        self._given = {key: getattr(its, key) for key in _MEASURED} | json.loads(json.dumps(dict(settings or {})))
        at = new_run(RUNS / name, its.seed) if folder is None else new_folder(Path(folder), RUNS)
        super().__init__(RunFolder.begin(at, name, self._given), its, Matches(), Position())

    def save(self, agent: Any, tensors: Mapping[str, torch.Tensor] | None = None) -> None:
        """Ends the run: saves tensors, plays ``final_games``, writes the summary and the learning curve, prints both.

        Args:
            agent: the finished one.
            tensors: its weights; a file of the ``safetensors`` format.
        """
        if tensors is not None:
            save_tensors(self.folder.final, dict(tensors), {"learner": self.folder.learner})
        with progress_bar() as progress:
            self.finish(agent, progress, self._given, self._given)
