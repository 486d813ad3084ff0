"""Datasets: games between two agents as Parquet, one row a decision, written shard by shard.

The folder holds ``config.json``, ``shards/``, and when all is done ``dataset.json`` with counts and checksums, and
``README.md``, the data card. Agents are made anew for every shard, so shards do not depend on each other or on threads.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.distribution import missing
from crib_env.engine import OVER, WIN
from crib_env.evaluate.files import Job, markdown_table, whole_text, write_json
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.files.json_text import read_json
from crib_env.files.whole_file import whole_file
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS, OBSERVATIONS
from crib_env.players.games import Turn, turns
from crib_env.values import Amount, WholeNumber, check_values, typed

BOARD_BYTES = 83  # of 659 bits
CARDS_OF_A_DEAL = 12  # four are discarded, eight are laid
COLUMNS = {
    "game": ("i8", "number of the game, from 0"),
    "deal": ("i2", "number of the deal in its game, from 0"),
    "place": ("i1", "number of the card in its deal, from 0: four are discarded, eight are laid"),
    "player": ("i1", "0 or 1, which agent decides; it has this seat in even games, and the other one in odd games"),
    "is_dealer": ("?", "whether this player deals"),
    "own_score": ("i2", "this player's score before the decision"),
    "other_score": ("i2", "the opponent's score before the decision"),
    "observation": (
        f"{BOARD_BYTES}u1",
        "83 bytes: the 659 bits of the board observation, eight in a byte, the highest first; "
        "the first 209 bits are the standard observation",
    ),
    "mask": ("u8", "legal cards as a set of bits: bit = card id"),
    "action": ("i1", "the card discarded or laid, 13 * suit + rank"),
    "reward": ("i2", "points made less points the opponent made until this player's next decision, or the end"),
    "won": ("?", "whether this player won the game"),
}
"""The type of each column, and what it is."""
ROW = np.dtype([(name, kind) for name, (kind, _) in COLUMNS.items()])
Rows: TypeAlias = "np.recarray[Any, Any]"
"""(N,) decisions of dtype :data:`ROW`, in the order of the games and of the decisions in them."""


def play_rows(
    agents: tuple[Agent, Agent],
    seed: int,
    first: int,
    games: int,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Rows:
    """Plays the games ``first`` to ``first + games - 1`` of a dataset, each on its own deals."""
    batch = GameBatch(streams(seed, first + games)[first:], first_id=first)
    parts = []
    for turn in turns(batch, agents):
        parts.append(_seen(turn))
        turn.play()
        on_progress(int((batch.games["phase"][turn.rows] == OVER).sum()))
    played = np.concatenate(parts)
    rows = played[np.lexsort((played["place"], played["deal"], played["game"]))].view(np.recarray)
    at, seat = rows.game - first, (rows.player + rows.game) % 2
    scores = batch.games["scores"]
    rows.won = scores[at, seat] >= WIN
    # How the lead changes to the same player's next decision in the game, or to its end.
    lead, final = rows.own_score - rows.other_score, scores[at, seat] - scores[at, 1 - seat]
    order = np.lexsort((np.arange(len(rows)), rows.player, rows.game))
    game, player = rows.game[order], rows.player[order]
    goes_on = np.r_[(game[1:] == game[:-1]) & (player[1:] == player[:-1]), False]
    rows.reward[order] = np.where(goes_on, np.r_[lead[order][1:], 0], final[order]) - lead[order]
    return rows


def _seen(turn: Turn) -> np.ndarray:
    views = turn.views
    rows = np.zeros(len(views), ROW)
    rows["game"] = views.game_ids
    rows["deal"], rows["place"] = np.divmod(views.decisions, CARDS_OF_A_DEAL)
    rows["player"], rows["is_dealer"] = turn.player, views.is_dealer
    rows["own_score"], rows["other_score"] = views.scores.T
    rows["observation"] = np.packbits(views.board, axis=1)
    bits = np.arange(N_ACTIONS, dtype=np.uint64)
    rows["mask"] = (views.action_mask.astype(np.uint64) << bits).sum(axis=1, dtype=np.uint64)
    rows["action"] = turn.cards
    return rows


def check_pyarrow() -> None:
    """Raises ``ValueError`` if pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise ValueError(missing("a dataset", ImportError(name="pyarrow")))


def write_rows(path: Path, rows: Rows) -> None:
    """Writes a shard, whole or not at all."""
    import pyarrow
    import pyarrow.parquet as parquet

    packed = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(BOARD_BYTES), len(rows), [None, pyarrow.py_buffer(np.ascontiguousarray(rows.observation))]
    )
    columns = {name: pyarrow.array(np.ascontiguousarray(rows[name])) for name in COLUMNS if name != "observation"}
    table = pyarrow.table({name: columns.get(name, packed) for name in COLUMNS})
    with whole_file(path) as temporary:
        parquet.write_table(table, temporary, compression="zstd")


def read_rows(path: Path) -> Rows:
    """Reads what :func:`write_rows` wrote; ``ValueError`` names a file that is not a whole shard."""
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path, columns=list(COLUMNS))
        rows = np.zeros(len(table), ROW).view(np.recarray)
        for name in COLUMNS:
            column = table[name].combine_chunks()
            if name != "observation":
                rows[name] = column.to_numpy(zero_copy_only=False)
                continue
            if column.type.byte_width != BOARD_BYTES or column.null_count:
                raise ValueError(f"its observations have not {BOARD_BYTES} bytes")
            flat = np.frombuffer(column.buffers()[1], np.uint8)[column.offset * BOARD_BYTES :]
            rows[name] = flat[: len(rows) * BOARD_BYTES].reshape(-1, BOARD_BYTES)
    except Exception as error:  # a damaged file fails in a dozen ways
        raise ValueError(f"{path} is not a whole shard of a dataset ({' '.join(str(error).split())})") from None
    return rows


def observations(rows: Rows, observation: str = "209") -> np.ndarray:
    """(N, 209 or 659) int8 observations, ``"209"`` or ``"board"``; the rows hold no others."""
    if observation not in ("209", "board"):
        raise ValueError(f"observation={observation!r} is not allowed: a dataset holds '209' and 'board'")
    return np.unpackbits(rows.observation, axis=1, count=OBSERVATIONS[observation].size).astype(np.int8)


def action_masks(rows: Rows) -> np.ndarray:
    """(N, 52) int8, 1 for each legal card."""
    return ((rows.mask[:, None] >> np.arange(N_ACTIONS, dtype=np.uint64)) & np.uint64(1)).astype(np.int8)


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
    release: str
    """Of crib_env."""
    wins: tuple[int, int]
    decisions: int
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class Dataset(Job):
    """The settings of a dataset; ``ValueError`` if an agent or a number is not allowed.

    The first agent has seat 0 in even games; each game is on its own deals; the version is that of the columns.
    """

    KIND = "dataset"

    agents: tuple[str, str]
    games: int
    seed: int = 0
    version: int = VERSION

    def __post_init__(self) -> None:
        check_values({"games": self.games, "seed": self.seed}, {"games": Amount, "seed": WholeNumber})
        check_players(self.agents)

    def write(self, folder: Path, threads: int, on_progress: Callable[[int], None]) -> Manifest:
        """Plays the shards that are not in the folder yet, some side by side, and writes the manifest; tells
        ``on_progress`` of further games done, those found in the folder included."""
        from crib_env import __version__

        (folder / "shards").mkdir(exist_ok=True)
        if not all(make_agent(name).powers.copyable for name in self.agents):
            threads = 1
        with ThreadPoolExecutor(threads) as pool:
            starts = range(0, self.games, GAMES_A_SHARD)
            parts = list(pool.map(lambda start: self._shard(folder, start, on_progress), starts))
        shards, (first, second) = [shard for shard, _ in parts], np.sum([won for _, won in parts], axis=0).tolist()
        decisions = sum(shard.decisions for shard in shards)
        about = VERSION, self.agents, self.games, self.seed, __version__
        manifest = Manifest(*about, (first, second), decisions, tuple(shards))
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
            rows = play_rows((first, second), self.seed, start, games, on_progress)
            write_rows(folder / name, rows)
        last = np.flatnonzero(np.r_[rows.game[1:] != rows.game[:-1], True])
        won = np.bincount(np.where(rows.won[last], rows.player[last], 1 - rows.player[last]), minlength=2)
        return Shard(name, games, len(rows), _hash_of(folder / name)), won


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished dataset; ``ValueError`` if the folder has none."""
    fault = f"{folder} is not the folder of a finished dataset"
    return read_json(folder / MANIFEST, fault, lambda content: typed(content, Manifest))


def read_dataset(folder: Path) -> Iterator[Rows]:
    """The shards of a finished dataset; ``ValueError`` names a file that is missing, or damaged by its checksum."""
    for shard in read_manifest(folder).shards:
        path = folder / shard.file
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            raise ValueError(f"{folder} has no file {shard.file}, which its {MANIFEST} names")
        if _hash_of(path) != shard.sha256:
            raise ValueError(f"{path} is damaged: its checksum is not that of {MANIFEST}")
        yield read_rows(path)


def write_card(folder: Path, manifest: Manifest) -> None:
    """Writes the data card, ``README.md``, into the folder of a finished dataset."""
    (first, second), wins = manifest.agents, manifest.wins
    words = ["crib-env", "dataset", "FOLDER", "--agents", first, second, "--games", str(manifest.games)]
    columns = markdown_table(["column", "meaning"], [[name, meaning] for name, (_, meaning) in COLUMNS.items()])
    files = [[s.file, f"{s.games:,}", f"{s.decisions:,}", f"`{s.sha256}`"] for s in manifest.shards]
    with whole_text(folder / "README.md") as card:
        card.write(
            f"# Cribbage: {manifest.games:,} games of {first} and {second}\n\n"
            f"{manifest.decisions:,} decisions of two-player cribbage, a row each in the order of play, played by "
            f"crib_env {manifest.release}: games to 121, each on its own deals. {first} won {wins[0]:,} games, "
            f"{second} {wins[1]:,}.\n\n```bash\n{shlex.join([*words, '--seed', str(manifest.seed)])}\n```\n\n"
            "`crib_env.evaluate.matches.dataset.read_dataset(folder)` reads it and checks every file. Neither player's "
            f"observation holds a card that it may not know.\n\n{columns}\n"
            f"{markdown_table(['file', 'games', 'decisions', 'SHA-256'], files)}"
        )
