"""Recorded games: JSON lines with everything needed to replay them, and the expected result.

A line holds ``game`` (its number in the match), ``seed`` (the match's), ``players`` (the names in seat 0 and seat
1), ``first_dealer`` (a seat), ``start_scores`` (by seat, left out if they are 0–0), ``deals`` (thirteen cards each: six
for seat 0, six for seat 1, the starter), ``cards`` (for each deal the cards discarded and laid, in order, by both
players) and ``scores`` (at the end, by seat). Use ``first_dealer``, ``deals``, and ``start_scores`` as ``scores``,
unchanged as options of an environment's ``reset``.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import ascii_letters  # 52, one for each card

import numpy as np

from crib_env import parse_cards
from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.cards import format_cards
from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import add_lines
from crib_env.values import typed

_LARGEST = 20_000  # bytes of a game


@dataclass(frozen=True)
class GameRecord:
    """One game; see the module. Cards are text, as in ``"5H TD"``."""

    game: int
    seed: int
    players: tuple[str, str]
    first_dealer: int
    deals: tuple[str, ...]
    cards: tuple[str, ...]
    scores: tuple[int, int]
    start_scores: tuple[int, int] = (0, 0)

    @property
    def names(self) -> tuple[str, str]:
        """The players by seat; the seat is added where a player played itself."""
        first, second = self.players
        return self.players if first != second else (f"{first} (seat 0)", f"{second} (seat 1)")

    def to_line(self) -> str:
        """The game as a line of a file."""
        content = asdict(self)
        if self.start_scores == (0, 0):
            del content["start_scores"]
        return json.dumps(content)

    @classmethod
    def of_line(cls, line: str) -> GameRecord:
        """Reads a line of :meth:`to_line`; ``ValueError`` if it is not a recorded game."""
        try:
            content = parse_json(line)
            return typed({"start_scores": [0, 0], **content} if isinstance(content, dict) else content, cls)
        except ValueError as error:
            raise ValueError(f"it is not a recorded game ({error})") from None

    def to_code(self) -> str:
        """The game in letters, digits, ``-`` and ``_``, for the address of a page: some 400 for a whole game."""
        content = json.loads(self.to_line())
        for name in ("deals", "cards"):
            content[name] = ["".join(ascii_letters[card] for card in parse_cards(cards)) for cards in content[name]]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 9)
        return urlsafe_b64encode(packed).decode().rstrip("=")

    @classmethod
    def of_code(cls, code: str) -> GameRecord:
        """Reads what :meth:`to_code` gives; ``ValueError`` if it is not whole."""
        unpacking = zlib.decompressobj()
        try:
            packed = urlsafe_b64decode(code + "=" * (-len(code) % 4))
            content = parse_json(unpacking.decompress(packed, _LARGEST).decode())
            for name in ("deals", "cards"):
                content[name] = [format_cards(map(ascii_letters.index, cards)) for cards in content[name]]
        except (ValueError, TypeError, KeyError, zlib.error):
            unpacking = zlib.decompressobj()
        if not unpacking.eof or unpacking.unused_data:  # the end is missing, or something follows
            raise ValueError("this link to a game is damaged: copy it again, all of it")
        return cls.of_line(json.dumps(content))

    def begin(self) -> raw_env:
        """An environment at the start of this game; ``ValueError`` names a deal or scores that are not possible."""
        env = raw_env(events=True)
        env.reset(options={"first_dealer": self.first_dealer, "deals": self.deals, "scores": self.start_scores})
        return env

    def check(self) -> None:
        """Replays the game; ``ValueError`` says what is wrong, such as a card that is not legal, or other scores."""
        env = self.begin()
        for cards in map(parse_cards, self.cards):
            for card in cards:
                if not env.agents or all(env.terminations.values()):
                    raise ValueError("there are cards after the end of the game")
                env.step(card)
        if not all(env.terminations.values()) or env.scores != self.scores:
            raise ValueError(f"it was recorded as {self.scores}, and leads to {env.scores}")
        if len(self.deals) != len(self.cards) or not all(self.cards):
            raise ValueError(f"it has {len(self.deals)} deals, and cards of {sum(map(bool, self.cards))}")


class Recorder:
    """Records the cards of a batch of games, from before their first card."""

    def __init__(self, batch: GameBatch) -> None:
        self._batch = batch
        self._first_dealers = batch.games["dealer"].tolist()
        self._deals: list[list[str]] = [[] for _ in range(len(batch))]
        self._cards: list[list[list[int]]] = [[] for _ in range(len(batch))]

    def note(self, rows: np.ndarray, cards: np.ndarray) -> None:
        """Records the cards about to be discarded or laid in these games."""
        games = self._batch.games
        begun = rows[(games["discards"][rows] == 0).all(axis=1)]  # nothing is discarded: a deal has just begun
        for row, deal in zip(begun.tolist(), games["cards"][begun].tolist()):
            self._deals[row].append(format_cards(deal))
            self._cards[row].append([])
        for row, card in zip(rows.tolist(), np.asarray(cards).tolist()):
            self._cards[row][-1].append(card)

    def records(self, seed: int, players: list[tuple[str, str]]) -> tuple[GameRecord, ...]:
        """The finished games, with the match's seed, and the names by seat of each."""
        return tuple(
            GameRecord(
                int(self._batch.game_ids[row]),
                seed,
                players[row],
                self._first_dealers[row],
                tuple(self._deals[row]),
                tuple(map(format_cards, self._cards[row])),
                tuple(self._batch.games["scores"][row].tolist()),
                tuple(self._batch.games["start_scores"][row].tolist()),
            )
            for row in range(len(self._batch))
        )


def add_records(path: Path, records: Sequence[GameRecord]) -> None:
    """Adds games at the end of a file of games, or makes the file (:func:`crib_env.files.whole_file.add_lines`)."""
    add_lines(path, (record.to_line() for record in records))


def read_records(path: Path) -> list[GameRecord]:
    """All games of a file, replayed as a check; ``ValueError`` names what is wrong, and the line."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a file of games: {error}") from None
    if not lines:
        raise ValueError(f"{path} holds no games")
    records = []
    for k, line in enumerate(lines, start=1):
        try:
            records.append(GameRecord.of_line(line))
            records[-1].check()
        except ValueError as error:
            raise ValueError(f"{path}, line {k}: {error}") from None
    return records
