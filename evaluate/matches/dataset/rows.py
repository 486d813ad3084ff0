"""The decisions of games between two agents, as columns, and shards of them as Parquet files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.distribution import missing
from crib_env.engine import OVER, WIN
from crib_env.evaluate.matches.game_records import Recorder
from crib_env.evaluate.skill.analysis.decisions import analyse
from crib_env.evaluate.skill.analysis.judges import ExpertJudge
from crib_env.files.whole_file import whole_file
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS, OBSERVATIONS
from crib_env.players.turns import Turn, turns
from crib_env.tables.shipped import standard_win_table

if TYPE_CHECKING:
    import pyarrow

BOARD_BYTES = 83  # of 659 bits
COLUMNS = {
    "game": "number of the game, from 0",
    "deal": "number of the deal in its game, from 0",
    "place": "number of the card in its deal, from 0: four are discarded, eight are laid",
    "player": "0 or 1, which agent decides; it has this seat in even games, and the other one in odd games",
    "is_dealer": "whether this player deals",
    "own_score": "this player's score before the decision",
    "other_score": "the opponent's score before the decision",
    "observation": (
        "83 bytes: the 659 bits of the board observation, eight in a byte, the highest first; "
        "the first 209 bits are the standard observation"
    ),
    "mask": "legal cards as a set of bits: bit = card id",
    "action": "the card discarded or laid, 13 * suit + rank",
    "reward": "points made less points the opponent made until this player's next decision, or the end",
    "won": "whether this player won the game",
    "chance": "to win the game, by the scores and the dealer before the deal, between two `expert` players",
    "loss": (
        "chance to win that the choice loses, by the exact analysis of discards and by `expert` in the play; "
        "null for forced cards, for the second card of a discard, and where losses were not asked for"
    ),
}
"""What each column of :class:`Rows` and of the files is."""


class Rows(NamedTuple):
    """N decisions, in the order of the games and of the decisions in them: an array (N,) for each of ``COLUMNS``, and
    (N, 83) for the observation. A loss that is null in a file is NaN."""

    game: np.ndarray  # int64
    deal: np.ndarray  # int16
    place: np.ndarray  # int8
    player: np.ndarray  # int8
    is_dealer: np.ndarray  # bool
    own_score: np.ndarray  # int16
    other_score: np.ndarray  # int16
    observation: np.ndarray  # uint8
    mask: np.ndarray  # uint64
    action: np.ndarray  # int8
    reward: np.ndarray  # int16
    won: np.ndarray  # bool
    chance: np.ndarray  # float32
    loss: np.ndarray  # float32


def play_rows(
    agents: tuple[Agent, Agent],
    seed: int,
    first: int,
    games: int,
    with_losses: bool = False,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Rows:
    """Plays the games ``first`` to ``first + games - 1`` of a dataset, each on its own deals.

    Raises:
        ValueError: an agent chose an illegal card.
    """
    batch = GameBatch(streams(seed, first + games)[first:], first_id=first)
    recorder = Recorder(batch) if with_losses else None
    parts: list[tuple[np.ndarray, ...]] = []
    for turn in turns(batch, agents):
        if recorder is not None:
            recorder.note(turn.rows, turn.cards)
        parts.append(_seen(turn))
        turn.play()
        on_progress(int((batch.games["phase"][turn.rows] == OVER).sum()))
    columns = [np.concatenate(part) for part in zip(*parts)]
    order = np.lexsort((columns[1], columns[0]))
    game, _, deal, player, is_dealer, own, other, observation, mask, action = (column[order] for column in columns)
    at = game - first
    seat = (player + game) % 2
    deal, place = deal - 1, _places(game, deal)
    final = batch.games["scores"][at, seat] - batch.games["scores"][at, 1 - seat]
    rows = Rows(
        game,
        deal.astype(np.int16),
        place,
        player,
        is_dealer,
        own,
        other,
        observation,
        mask,
        action,
        _rewards(game, player, own - other, final),
        batch.games["scores"][at, seat] >= WIN,
        _chances(place, is_dealer, own, other),
        np.full(len(game), np.nan, np.float32),
    )
    if recorder is not None:
        _fill_losses(rows, first, recorder)
    return rows


def _seen(turn: Turn) -> tuple[np.ndarray, ...]:
    views = turn.views
    return (
        views.game_ids,
        views.decisions,
        turn.batch.games["n_deals"][turn.rows],
        np.full(len(views), turn.player, np.int8),
        views.is_dealer,
        views.scores[:, 0],
        views.scores[:, 1],
        np.packbits(views.board, axis=1),
        (views.action_mask.astype(np.uint64) << np.arange(52, dtype=np.uint64)).sum(axis=1, dtype=np.uint64),
        np.asarray(turn.cards).astype(np.int8),
    )


def _places(game: np.ndarray, deal: np.ndarray) -> np.ndarray:
    """The number of each row in its deal."""
    begins = np.flatnonzero(np.r_[True, (game[1:] != game[:-1]) | (deal[1:] != deal[:-1])])
    lengths = np.diff(np.r_[begins, len(game)])
    return (np.arange(len(game)) - np.repeat(begins, lengths)).astype(np.int8)


def _rewards(game: np.ndarray, player: np.ndarray, lead: np.ndarray, final: np.ndarray) -> np.ndarray:
    """How the lead changes to the same player's next decision in the game, or to its end."""
    order = np.lexsort((np.arange(len(game)), player, game))
    goes_on = np.r_[(game[order][1:] == game[order][:-1]) & (player[order][1:] == player[order][:-1]), False]
    after = np.where(goes_on, np.r_[lead[order][1:], 0], final[order])
    rewards = np.empty(len(game), np.int16)
    rewards[order] = after - lead[order]
    return rewards


def _chances(place: np.ndarray, is_dealer: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    table = standard_win_table().win_probability
    begins = np.flatnonzero(place == 0)  # pone discards first
    lengths = np.diff(np.r_[begins, len(place)])
    dealers, pones = np.repeat(other[begins], lengths), np.repeat(own[begins], lengths)
    wins = table[dealers, pones]
    return np.where(is_dealer, wins, 1 - wins).astype(np.float32)


def _fill_losses(rows: Rows, first: int, recorder: Recorder) -> None:
    records = recorder.records(0, [("seat 0", "seat 1")] * int(rows.game[-1] - first + 1))
    at = {key: n for n, key in enumerate(zip(rows.game.tolist(), rows.deal.tolist(), rows.place.tolist()))}
    for game, analysis in enumerate(analyse(records, ExpertJudge(threads=1), threads=1), start=first):
        for decision in analysis.decisions:
            rows.loss[at[game, decision.deal, decision.place]] = decision.chance_lost


def load_pyarrow() -> Any:
    """The module ``pyarrow.parquet``.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(missing("a dataset", error)) from None
    return pyarrow.parquet


def write_rows(path: Path, rows: Rows) -> None:
    """Writes a shard, whole or not at all."""
    parquet = load_pyarrow()
    import pyarrow

    columns = dict(zip(Rows._fields, rows))
    packed = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(BOARD_BYTES),
        len(rows.game),
        [None, pyarrow.py_buffer(np.ascontiguousarray(rows.observation))],
    )
    arrays = {name: pyarrow.array(column) for name, column in columns.items() if name not in ("observation", "loss")}
    arrays |= {"observation": packed, "loss": pyarrow.array(rows.loss, from_pandas=True)}  # NaN becomes null
    table = pyarrow.table({name: arrays[name] for name in Rows._fields})
    with whole_file(path) as temporary:
        parquet.write_table(table, temporary, compression="zstd")


def read_rows(path: Path) -> Rows:
    """Reads what :func:`write_rows` wrote.

    Raises:
        ValueError: it is not a whole shard; the message names it.
    """
    parquet = load_pyarrow()
    try:
        table = parquet.read_table(path, columns=list(Rows._fields))
        columns = {name: table[name].combine_chunks() for name in Rows._fields}
        observation = _bytes_of(columns.pop("observation"))
        found = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    except Exception as error:  # a damaged file fails in a dozen ways
        raise ValueError(f"{path} is not a whole shard of a dataset ({' '.join(str(error).split())})") from None
    return Rows(**found, observation=observation)


def _bytes_of(column: pyarrow.FixedSizeBinaryArray) -> np.ndarray:
    if column.type.byte_width != BOARD_BYTES or column.null_count:
        raise ValueError(f"its observations have not {BOARD_BYTES} bytes")
    flat = np.frombuffer(column.buffers()[1], np.uint8)
    return flat[column.offset * BOARD_BYTES :][: len(column) * BOARD_BYTES].reshape(-1, BOARD_BYTES)


def observations(rows: Rows, observation: str = "209") -> np.ndarray:
    """(N, 209 or 659) int8 observations, ``"209"`` or ``"board"``.

    Raises:
        ValueError: it is another observation, which the rows do not hold.
    """
    if observation not in ("209", "board"):
        raise ValueError(f"observation={observation!r} is not allowed: a dataset holds '209' and 'board'")
    return np.unpackbits(rows.observation, axis=1, count=OBSERVATIONS[observation].size).astype(np.int8)


def action_masks(rows: Rows) -> np.ndarray:
    """(N, 52) int8, 1 for each legal card."""
    return ((rows.mask[:, None] >> np.arange(N_ACTIONS, dtype=np.uint64)) & np.uint64(1)).astype(np.int8)


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
