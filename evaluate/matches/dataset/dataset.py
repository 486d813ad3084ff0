"""A dataset in its folder, written shard by shard, so that a stopped one can be continued.

The folder holds ``config.json``, ``shards/``, and when all is done ``dataset.json`` with counts and checksums,
``README.md``, the data card. Agents are made anew for every shard, so shards do not depend on each other or on threads.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.agents import make_agent
from crib_env.evaluate.files import markdown_table, whole_text, write_json
from crib_env.evaluate.job import Job
from crib_env.evaluate.matches.dataset.rows import (
    COLUMNS,
    Rows,
    hash_of,
    load_pyarrow,
    play_rows,
    read_rows,
    write_rows,
)
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.ranges import MOST_GAMES
from crib_env.files.json_text import read_json, typed

VERSION = 1
"""The version of the columns and files of a dataset."""
MANIFEST = "dataset.json"
GAMES_A_SHARD = 1_000


class Shard(NamedTuple):
    """A file of a dataset."""

    file: str
    """Within the folder."""
    games: int
    decisions: int
    sha256: str


class Manifest(NamedTuple):
    """What ``dataset.json`` holds."""

    version: int
    agents: tuple[str, str]
    games: int
    seed: int
    losses: bool
    release: str
    """Of crib_env."""
    wins: tuple[int, int]
    decisions: int
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class Dataset(Job):
    """The settings of a dataset: games and columns.

    Attributes:
        agents: names of both; the first has seat 0 in even games.
        games: how many, each on its own deals.
        seed: of the deals.
        losses: whether each choice is compared with the best, which takes longer than to play.
        form: ``"parquet"`` or ``"minari"``.
        version: of the columns.

    Raises:
        ValueError: an agent cannot be made, sees hidden cards or is a person, or a number is not allowed.
    """

    KIND = "dataset"

    agents: tuple[str, str]
    games: int
    seed: int = 0
    losses: bool = False
    form: str = "parquet"
    version: int = VERSION

    def __post_init__(self) -> None:
        if not 1 <= self.games <= MOST_GAMES:
            raise ValueError(f"games={self.games} is not allowed: give 1 to {MOST_GAMES:,}")
        if self.seed < 0:
            raise ValueError(f"seed={self.seed} is not allowed: give at least 0")
        check_players(self.agents)

    def write(self, folder: Path, threads: int, on_progress: Callable[[int], None]) -> Manifest:
        """Plays the shards that are not in the folder yet, and writes the manifest.

        Args:
            threads: how many shards are played side by side; they do not change the files.
            on_progress: called with the number of further games done, those found in the folder included.

        Raises:
            ValueError: a shard is damaged, or an agent chose an illegal card.
        """
        from crib_env import __version__

        load_pyarrow()
        (folder / "shards").mkdir(exist_ok=True)
        if not all(make_agent(name).powers.copyable for name in self.agents):
            threads = 1
        with ThreadPoolExecutor(threads) as pool:
            starts = range(0, self.games, GAMES_A_SHARD)
            parts = list(pool.map(lambda start: self._shard(folder, start, on_progress), starts))
        shards, wins = tuple(shard for shard, _ in parts), np.sum([won for _, won in parts], axis=0).tolist()
        decisions = sum(shard.decisions for shard in shards)
        manifest = Manifest(
            VERSION, self.agents, self.games, self.seed, self.losses, __version__, (wins[0], wins[1]), decisions, shards
        )
        write_json(folder / MANIFEST, manifest)
        return manifest

    def _shard(self, folder: Path, start: int, on_progress: Callable[[int], None]) -> tuple[Shard, np.ndarray]:
        name = f"shards/{start // GAMES_A_SHARD:05d}.parquet"
        games = min(GAMES_A_SHARD, self.games - start)
        if (folder / name).exists():
            rows = read_rows(folder / name)
            if rows.game[0] != start or rows.game[-1] != start + games - 1:
                raise ValueError(f"{folder / name} holds other games: take it away, and they are played again")
            on_progress(games)
        else:
            first, second = (make_agent(agent) for agent in self.agents)
            rows = play_rows((first, second), self.seed, start, games, self.losses, on_progress)
            write_rows(folder / name, rows)
        last = np.flatnonzero(np.r_[rows.game[1:] != rows.game[:-1], True])
        won = np.bincount(np.where(rows.won[last], rows.player[last], 1 - rows.player[last]), minlength=2)
        return Shard(name, games, len(rows.game), hash_of(folder / name)), won


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished dataset.

    Raises:
        ValueError: the folder has none.
    """
    fault = f"{folder} is not the folder of a finished dataset"
    return read_json(folder / MANIFEST, fault, lambda content: typed(content, Manifest))


def read_dataset(folder: Path) -> Iterator[Rows]:
    """The shards of a finished dataset, each checked by its checksum.

    Raises:
        ValueError: it is not finished, or a shard is missing or damaged; the message names it.
    """
    for shard in read_manifest(folder).shards:
        yield read_shard(folder, shard)


def read_shard(folder: Path, shard: Shard) -> Rows:
    """A shard of a finished dataset, checked by its checksum.

    Raises:
        ValueError: it is missing or damaged; the message names it.
    """
    path = folder / shard.file
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        raise ValueError(f"{folder} has no file {shard.file}, which its {MANIFEST} names")
    if hash_of(path) != shard.sha256:
        raise ValueError(f"{path} is damaged: its checksum is not that of {MANIFEST}")
    return read_rows(path)


def write_card(folder: Path, manifest: Manifest) -> None:
    """Writes the data card, ``README.md``, into the folder of a finished dataset."""
    first, second = manifest.agents
    words = ["crib-env", "dataset", "FOLDER", "--agents", first, second, "--games", str(manifest.games)]
    command = shlex.join([*words, "--seed", str(manifest.seed), *(["--losses"] if manifest.losses else [])])
    about = (
        f"{manifest.decisions:,} decisions of two-player cribbage, played by crib_env {manifest.release}: games to "
        f"121, each on its own deals. {first} won {manifest.wins[0]:,} games, {second} {manifest.wins[1]:,}."
    )
    files = [[s.file, f"{s.games:,}", f"{s.decisions:,}", f"`{s.sha256}`"] for s in manifest.shards]
    with whole_text(folder / "README.md") as card:
        card.write(
            f"# Cribbage: {manifest.games:,} games of {first} and {second}\n\n"
            f"{about} The data follows from this command alone:\n\n"
            f"```bash\n{command}\n```\n\n"
            "`crib_env.evaluate.matches.dataset.dataset.read_dataset(folder)` reads it and checks every file; any "
            "reader of Parquet reads it, too.\n\n"
            "## A row is a decision\n\n"
            f"{markdown_table(['column', 'meaning'], [list(one) for one in COLUMNS.items()])}\n"
            "The rows stand in the order of play, forced cards among them. Neither player's observation holds a card "
            "that it may not know. The choices are those of two programs, and positions that these avoid are rare.\n\n"
            "## Files\n\n"
            f"{markdown_table(['file', 'games', 'decisions', 'SHA-256'], files)}"
        )
