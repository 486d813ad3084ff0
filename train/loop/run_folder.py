"""The folder of a run: settings, TensorBoard events, checkpoints, final weights, summary; and how far the run is."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from crib_env.agents.networks.weights_file import SUFFIX, load_tensors, save_tensors
from crib_env.evaluate.files import difference, new_folder, write_json
from crib_env.evaluate.runs import format as form
from crib_env.train.loop.settings import RunSettings, processor
from crib_env.values import typed

RUNS = Path("runs")
_KEPT = 2  # number of checkpoints


class RunFolder:
    """``runs/<learner>/<time>-s<seed>/``; every file in it is written whole or not at all.

    Args:
        path: the folder, which exists and has a ``config.json``.

    Attributes:
        learner: its name.
        final: the path of the final weights.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.final = path / f"{form.FINAL}{SUFFIX}"
        self.learner = form.read_config(path).learner
        self._checkpoints = path / form.CHECKPOINTS
        self._checkpoints.mkdir(exist_ok=True)
        self._writer: SummaryWriter | None = None
        self._restored = -1  # number of episodes at the checkpoint that the run continues from

    @classmethod
    def create(
        cls, learner: str, settings: Any, runs: Path = RUNS, seeds: int | None = None, folder: Path | None = None
    ) -> RunFolder:
        """Creates the folder of a run, or of runs with several seeds, by default ``<runs>/<learner>/<time>-s<seed>``.

        Args:
            settings: of the learner, or of a script as a mapping.

        Raises:
            ValueError: ``folder`` already exists.
        """
        given = dict(settings) if isinstance(settings, Mapping) else asdict(settings)
        if folder is None:
            stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-s{given['seed']}" + (f"-x{seeds}" if seeds else "")
            names = (f"{stamp}-{again}" if again else stamp for again in itertools.count())  # within a second
            folder = next(filter(_is_made, (runs / learner.replace(":", ".") / name for name in names)))
        else:
            new_folder(folder, runs)
        return cls.begin(folder, learner, given | ({"seeds": seeds} if seeds else {}))

    @classmethod
    def begin(cls, path: Path, learner: str, settings: dict[str, Any]) -> RunFolder:
        """Turns an existing folder into the folder of a run."""
        write_json(path / form.CONFIG, {"learner": learner, "settings": settings, "processor": processor()})
        return cls(path)

    @classmethod
    def open(cls, path: Path, learner: str) -> tuple[RunFolder, dict[str, Any]]:
        """Opens an existing folder; returns it and the settings of its run.

        Raises:
            ValueError: it is not the folder of a run of this learner.
        """
        found, settings, _ = form.read_config(path)
        if found != learner:
            raise ValueError(f"{path} is a run of {found!r}, not of {learner!r}")
        return cls(path), settings

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Writes scalars to TensorBoard, over the number of episodes played.

        Raises:
            OSError: values do not fit on the disk; perhaps those of an earlier call, as TensorBoard writes in a thread.
        """
        try:
            for tag, value in values.items():
                self._open().add_scalar(tag, value, step)
        except OSError as error:
            raise OSError(error.errno, error.strerror, error.filename or str(self.path)) from None

    def _open(self) -> SummaryWriter:
        if self._writer is None:
            events = EventAccumulator(str(self.path), size_guidance={"scalars": 0}).Reload()
            has_rounds = form.PROCESSOR_SECONDS in events.Tags()["scalars"]
            reached = events.Scalars(form.PROCESSOR_SECONDS)[-1].step if has_rounds else 0
            if reached < self._restored:  # every round has written that tag
                lost = f"{reached:,} to {self._restored:,}"
                print(f"{self.path} has a damaged file of events: its curves lack episodes {lost}", file=sys.stderr)
            while list(self.path.glob(form.EVENTS.replace("*", f"{int(time.time())}.*"))):
                time.sleep(0.05)  # files are read by name: by whole seconds, and by numbers as text, 10 before 9
            # A killed run may have written values after its checkpoint. They will be written again.
            self._writer = SummaryWriter(str(self.path), purge_step=self._restored + 1)
        return self._writer

    def flush(self) -> None:
        """Writes to the disk what was logged."""
        if self._writer is not None:
            self._writer.flush()

    def save_checkpoint(self, episodes: int, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
        """Saves a checkpoint and deletes all but the last two, and damaged ones that a run has skipped."""
        self.flush()
        now = self._checkpoints / f"episode-{episodes:010d}{SUFFIX}"
        save_tensors(now, tensors, about)
        found = self._all_checkpoints()
        last = found.index(now) + 1
        for other in (*found[: max(last - _KEPT, 0)], *found[last:]):
            other.unlink()

    def load_checkpoint(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The last intact checkpoint, or ``None`` if there is none yet.

        If a later one is damaged, a line on stderr says so.

        Raises:
            ValueError: all of them are damaged; the message names them.
        """
        damaged = []
        for path in reversed(self._all_checkpoints()):
            try:
                found = load_tensors(path)
            except ValueError as error:
                damaged.append(str(error))
                continue
            for what in damaged:
                print(f"{what}; the run continues from {path.name}", file=sys.stderr)
            self._restored = int(path.stem.rpartition("-")[2])
            return found
        if damaged:
            raise ValueError("; ".join(damaged))
        return None

    def _all_checkpoints(self) -> list[Path]:
        return sorted(self._checkpoints.glob(f"episode-*{SUFFIX}"))

    def finish(self, summary: dict[str, Any]) -> None:
        """Writes ``summary.json``, then the strength of the finished player in it to TensorBoard."""
        write_json(self.path / form.SUMMARY, summary)
        self.log(form.final_tags(summary.get("scalars", {})), summary["episodes"])
        if self._writer is not None:
            self._writer.close()


def _is_made(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


@dataclass
class Position:
    """The position of a run."""

    rounds: int = 0
    episodes: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    simulation_seconds: float = 0.0
    updates: int = 0

    @classmethod
    def restored(
        cls, folder: RunFolder, load_state_dict: Callable[[dict[str, torch.Tensor]], object], settings: RunSettings
    ) -> Position:
        """The position at the last checkpoint, whose tensors are loaded, or the start if there is none.

        Raises:
            ValueError: the checkpoint is damaged, or not one of this learner with these settings.
        """
        if (checkpoint := folder.load_checkpoint()) is None:
            return cls()
        tensors, about = checkpoint
        try:
            kept = typed(about.pop("settings"), dict[str, Any])
            kept.pop("device", None)  # a run may go on elsewhere
            if other := difference(kept, settings):
                raise ValueError(f"it was saved with {other}")
            position = typed(about, cls)
            if not all(value >= 0 for value in vars(position).values()):
                raise ValueError("its position is before the start of the run")
            if position.episodes and not position.seconds:
                raise ValueError("its episodes have taken no time")
            if position.episodes > settings.all_episodes:
                raise ValueError(f"it has {position.episodes:,} episodes, and the run has {settings.all_episodes:,}")
            load_state_dict(tensors)
        except (IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"the last checkpoint of {folder.path} is not one of this run ({reason})") from None
        return position

    def summary(self) -> dict[str, Any]:
        """The position for ``summary.json``, with ``simulation_share`` and ``updates`` if the learner says them."""
        summary: dict[str, Any] = {
            "episodes": self.episodes,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "episodes_per_second": self.episodes / self.seconds if self.seconds else 0.0,
        }
        if self.simulation_seconds:
            summary["simulation_share"] = self.simulation_seconds / self.seconds
        return summary | ({"updates": self.updates} if self.updates else {})
