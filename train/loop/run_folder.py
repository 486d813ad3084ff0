"""The folder of a run: settings, TensorBoard events, checkpoints, final weights, summary; and how far the run is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.tensorboard import SummaryWriter

from crib_env.agents.networks.weights_file import SUFFIX, load_tensors, save_tensors
from crib_env.evaluate.files import difference, new_folder, write_json
from crib_env.evaluate.runs import format as form
from crib_env.train.loop.settings import NotNegative, RunSettings, processor
from crib_env.values import WholeNumber, typed

RUNS = Path("runs")
_KEPT = 2  # number of checkpoints


class RunFolder:
    """An existing folder with a ``config.json``, by default ``runs/<learner>/<time>-s<seed>/``; every file in it is
    written whole or not at all. ``final`` is the path of the final weights."""

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
        """Creates the folder of a run, or of runs with several seeds; settings are those of a learner, or a mapping.
        ``ValueError`` if ``folder`` already exists."""
        given = dict(settings) if isinstance(settings, Mapping) else asdict(settings)
        if folder is None:
            stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-s{given['seed']}" + (f"-x{seeds}" if seeds else "")
            folder = runs / learner.replace(":", ".") / stamp
            while folder.exists():  # begun within the same second
                folder = folder.with_name(f"{folder.name}-1")
        return cls.begin(new_folder(folder, runs), learner, given | ({"seeds": seeds} if seeds else {}))

    @classmethod
    def begin(cls, path: Path, learner: str, settings: dict[str, Any]) -> RunFolder:
        """Turns an existing folder into the folder of a run."""
        write_json(path / form.CONFIG, {"learner": learner, "settings": settings, "processor": processor()})
        return cls(path)

    @classmethod
    def open(cls, path: Path, learner: str) -> tuple[RunFolder, dict[str, Any]]:
        """The folder of a run and its settings; ``ValueError`` if it is not one of this learner."""
        found, settings, _ = form.read_config(path)
        if found != learner:
            raise ValueError(f"{path} is a run of {found!r}, not of {learner!r}")
        return cls(path), settings

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Writes scalars to TensorBoard, over the number of episodes played. An ``OSError`` may be about those of an
        earlier call, as TensorBoard writes in a thread."""
        if self._writer is None:
            while list(self.path.glob(form.EVENTS.replace("*", f"{int(time.time())}.*"))):
                time.sleep(0.05)  # files are read by name: by whole seconds, and by numbers as text, 10 before 9
            # A killed run may have written values after its checkpoint. They will be written again.
            self._writer = SummaryWriter(str(self.path), purge_step=self._restored + 1)
        for tag, value in values.items():
            self._writer.add_scalar(tag, value, step)

    def save_checkpoint(self, episodes: int, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
        """Saves a checkpoint and deletes all but the last two."""
        if self._writer is not None:
            self._writer.flush()
        save_tensors(self._checkpoints / f"episode-{episodes:010d}{SUFFIX}", tensors, about)
        for other in self._all_checkpoints()[:-_KEPT]:
            other.unlink()

    def load_checkpoint(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The last checkpoint, or ``None`` if there is none yet. A ``ValueError`` names one that is damaged: without it
        the run continues from the one before."""
        if not (found := self._all_checkpoints()):
            return None
        self._restored = int(found[-1].stem.rpartition("-")[2])
        return load_tensors(found[-1])

    def _all_checkpoints(self) -> list[Path]:
        return sorted(self._checkpoints.glob(f"episode-*{SUFFIX}"))

    def finish(self, summary: dict[str, Any]) -> None:
        """Writes ``summary.json``, then the strength of the finished player in it to TensorBoard."""
        write_json(self.path / form.SUMMARY, summary)
        self.log(form.final_tags(summary.get("scalars", {})), summary["episodes"])
        if self._writer is not None:
            self._writer.close()


@dataclass
class Position:
    """The position of a run."""

    rounds: WholeNumber = 0
    episodes: WholeNumber = 0
    seconds: NotNegative = 0.0
    processor_seconds: NotNegative = 0.0

    @classmethod
    def restored(
        cls, folder: RunFolder, load_state_dict: Callable[[dict[str, torch.Tensor]], object], settings: RunSettings
    ) -> Position:
        """The position at the last checkpoint, whose tensors are loaded, or the start if there is none; ``ValueError``
        if it is damaged, or not one of this learner with these settings."""
        if (checkpoint := folder.load_checkpoint()) is None:
            return cls()
        tensors, about = checkpoint
        try:
            kept = typed(about.pop("settings"), dict[str, Any])
            kept.pop("device", None)  # a run may go on elsewhere
            if other := difference(kept, settings):
                raise ValueError(f"it was saved with {other}")
            position = typed(about, cls)
            load_state_dict(tensors)
        except (IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"the last checkpoint of {folder.path} is not one of this run ({reason})") from None
        return position

    def summary(self) -> dict[str, Any]:
        """The position for ``summary.json``."""
        return {**asdict(self), "episodes_per_second": self.episodes / (self.seconds or 1.0)}
