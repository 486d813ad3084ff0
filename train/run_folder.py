"""The folder of a run: settings, TensorBoard events, checkpoints, final weights, summary."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from agents.weights_file import SUFFIX, load_tensors, save_tensors
from train.curve_layout import layout_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure  # takes half a second, and few runs draw

RUNS = Path("runs")
_KEPT = 2  # checkpoints


class RunFolder:
    """``runs/<learner>/<time>-s<seed>/``; every file in it is written whole or not at all.

    Args:
        path: the folder, which exists and has a ``config.json``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checkpoints = path / "checkpoints"
        self._checkpoints.mkdir(exist_ok=True)
        self._writer: SummaryWriter | None = None
        self._tags: dict[str, None] = {}  # of the scalars written, in order

    @classmethod
    def create(cls, learner: str, settings: Any, runs: Path = RUNS, seeds: int | None = None) -> RunFolder:
        """A new folder for a learner's settings (a dataclass with a ``seed``), or for runs of several seeds."""
        stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-s{settings.seed}" + (f"-x{seeds}" if seeds else "")
        for again in range(1000):
            path = runs / learner / (f"{stamp}-{again}" if again else stamp)
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:
                continue
        return cls.begin(path, learner, asdict(settings) | ({"seeds": seeds} if seeds else {}))

    @classmethod
    def begin(cls, path: Path, learner: str, settings: dict[str, Any]) -> RunFolder:
        """Makes a folder that is there the folder of a run."""
        _write_json(path / "config.json", {"learner": learner, "settings": settings})
        return cls(path)

    @classmethod
    def open(cls, path: Path, learner: str) -> tuple[RunFolder, dict[str, Any]]:
        """A folder that is there already, and the settings of its run.

        Raises:
            ValueError: it is not the folder of a run of this learner.
        """
        try:
            config = json.loads((path / "config.json").read_text())
            found, settings = config["learner"], dict(config["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is not the folder of a run: it has no readable config.json") from None
        if found != learner:
            raise ValueError(f"{path} is a run of {found!r}, not of {learner!r}")
        return cls(path), settings

    def log(self, values: dict[str, float], episodes: int) -> None:
        """Writes scalars to TensorBoard, over the number of episodes played."""
        if self._writer is None:
            self._tags = dict.fromkeys(EventAccumulator(str(self.path)).Reload().Tags()["scalars"])
            # purge_step: what a killed run wrote past its last checkpoint will be written again.
            self._writer = SummaryWriter(str(self.path), purge_step=episodes)
        if not values.keys() <= self._tags.keys():
            self._tags |= dict.fromkeys(values)
            self._writer.add_custom_scalars(layout_of(self._tags))  # TensorBoard goes by the last one
        for tag, value in values.items():
            self._writer.add_scalar(tag, value, episodes)

    def log_picture(self, tag: str, picture: Figure, episodes: int) -> None:
        """Shows a picture in TensorBoard, beside what :meth:`log` writes."""
        self.log({}, episodes)  # opens the file
        assert self._writer is not None
        self._writer.add_figure(tag, picture, episodes)

    def log_settings(self, settings: Any, results: dict[str, float]) -> None:
        """Writes the hyperparameters beside what they came to."""
        assert self._writer is not None
        plain = {k: v if isinstance(v, (bool, int, float, str)) else str(v) for k, v in asdict(settings).items()}
        self._writer.add_hparams(plain, results, run_name="settings")

    def save_checkpoint(self, episodes: int, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
        """Keeps a checkpoint and forgets all but the last two."""
        if self._writer is not None:
            self._writer.flush()
        save_tensors(self._checkpoints / f"episode-{episodes:010d}{SUFFIX}", tensors, about)
        for old in self._all_checkpoints()[:-_KEPT]:
            old.unlink()

    def load_checkpoint(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The last checkpoint, or ``None`` if there is none yet.

        Raises:
            ValueError: it is damaged; the message names it.
        """
        checkpoints = self._all_checkpoints()
        return load_tensors(checkpoints[-1]) if checkpoints else None

    def _all_checkpoints(self) -> list[Path]:
        return sorted(self._checkpoints.glob(f"episode-*{SUFFIX}"))

    @property
    def final(self) -> Path:
        """Where the final weights lie."""
        return self.path / f"final{SUFFIX}"

    def finish(self, summary: dict[str, Any]) -> None:
        """Writes ``summary.json`` and closes the event file."""
        _write_json(self.path / "summary.json", summary)
        if self._writer is not None:
            self._writer.close()


def _write_json(path: Path, content: dict[str, Any]) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(content, indent=2) + "\n")
    os.replace(temporary, path)
