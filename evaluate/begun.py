"""Work that a folder keeps part by part, so that it goes on after a stop: how the folder is begun, and read again."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.evaluate.files import new_folder, write_json
from crib_env.files.json_text import read_json, typed

P = TypeVar("P", bound="Plan")


def going_on(command: str, folder: Path, agents: Iterable[str], *more: str) -> str:
    """The command line that goes on with a folder; it names again the agents on which a file may not decide."""
    named = filter(is_outside_agent, agents)
    return shlex.join(["crib-env", command, *named, "--resume", str(folder), *more])


class Plan:
    """What is to be done, a dataclass; ``config.json`` of its folder holds its fields."""

    KIND = ""
    """In words."""
    FOLDERS = Path()
    """Where folders are made by default."""
    PARTS = ""
    """The folder within it for finished parts."""

    def begin(self: Any, folder: Path | None) -> Path:
        """Makes the folder of this plan, by default ``FOLDERS/<time>``.

        Raises:
            ValueError: it already exists.
        """
        folder = new_folder(folder, self.FOLDERS)
        (folder / self.PARTS).mkdir()
        write_json(folder / "config.json", self)
        return folder

    @classmethod
    def of_folder(cls: type[P], folder: Path, said: Collection[str] = ()) -> P:
        """The plan that a folder was begun for.

        Args:
            folder: made by :meth:`begin`.
            said: agents outside this project, ``module:Class``, that the user has named; only their code may run.

        Raises:
            ValueError: it is not the folder of such a plan, or names another agent outside this project; the message
                names it.
        """
        file, fault = folder / "config.json", f"{folder} is not the folder of a {cls.KIND}"
        names = read_json(file, fault, lambda content: typed(content.get("agents", []), tuple[str, ...]))
        check_names_of_file(names, said, folder)  # before any is made
        return read_json(file, fault, lambda content: typed(content, cls))
