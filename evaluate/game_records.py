"""Games on file: JSON lines with all that it takes to play them again, and the result that must come out.

A line holds ``game`` (its number in the match), ``seed`` (the match's), ``players`` (the names in seat 0 and seat 1),
``first_dealer`` (a seat), ``deals`` (thirteen cards each: six for seat 0, six for seat 1, the starter), ``cards`` (for
each deal the cards thrown and laid, in order, whoever acted) and ``scores`` (at the end, by seat). ``first_dealer`` and
``deals`` are options of an environment's ``reset`` as they stand.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from crib_env import parse_cards
from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.cards import format_cards


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

    def to_line(self) -> str:
        """The game as a line of a file."""
        return json.dumps(asdict(self))

    @classmethod
    def of_line(cls, line: str) -> GameRecord:
        """Reads what :meth:`to_line` gave.

        Raises:
            ValueError: it is not a recorded game.
        """
        try:
            found = json.loads(line)
            return cls(
                int(found["game"]),
                int(found["seed"]),
                (str(found["players"][0]), str(found["players"][1])),
                int(found["first_dealer"]),
                tuple(map(str, found["deals"])),
                tuple(map(str, found["cards"])),
                (int(found["scores"][0]), int(found["scores"][1])),
            )
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"it is not a recorded game ({type(error).__name__}: {error})") from None

    def begin(self) -> raw_env:
        """The environment in which this game is about to be played.

        Raises:
            ValueError: a deal is not one; the message names it.
        """
        env = raw_env()
        env.reset(options={"first_dealer": self.first_dealer, "deals": self.deals})
        return env

    def check(self) -> None:
        """Plays the game again.

        Raises:
            ValueError: a card is not legal, or the game does not end with these scores.
        """
        env = self.begin()
        for cards in self.cards:
            for card in parse_cards(cards):
                if not env.agents or all(env.terminations.values()):
                    raise ValueError("there are cards after the end of the game")
                env.step(card)
        if not all(env.terminations.values()) or env.scores != self.scores:
            raise ValueError(f"it was recorded as {self.scores}, and leads to {env.scores}")


class Recorder:
    """Writes down what happens in a batch of games.

    Args:
        batch: games of which no card is thrown yet.
    """

    def __init__(self, batch: GameBatch) -> None:
        self._batch = batch
        self._first_dealers = batch.games["dealer"].tolist()
        self._deals: list[list[str]] = [[] for _ in range(len(batch))]
        self._cards: list[list[list[int]]] = [[] for _ in range(len(batch))]

    def note(self, rows: np.ndarray, cards: np.ndarray) -> None:
        """Is told the cards that are about to be thrown or laid in these games."""
        games = self._batch.games
        begun = rows[(games["discards"][rows] == 0).all(axis=1)]  # nothing is thrown: a deal has just begun
        for row, deal in zip(begun.tolist(), games["cards"][begun].tolist()):
            self._deals[row].append(format_cards(deal))
            self._cards[row].append([])
        for row, card in zip(rows.tolist(), np.asarray(cards).tolist()):
            self._cards[row][-1].append(card)

    def records(self, seed: int, players: list[tuple[str, str]]) -> tuple[GameRecord, ...]:
        """The games, once all are over: with the match's seed, and the names by seat of each."""
        return tuple(
            GameRecord(
                int(self._batch.game_ids[row]),
                seed,
                players[row],
                self._first_dealers[row],
                tuple(self._deals[row]),
                tuple(map(format_cards, self._cards[row])),
                (int(scores[0]), int(scores[1])),
            )
            for row, scores in enumerate(self._batch.games["scores"])
        )


def read_record(path: Path, k: int) -> GameRecord:
    """The ``k``-th game of a file, from 0, played again to see that it is whole.

    Raises:
        ValueError: there is no such file or game, or it does not play; the message names it.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    lines = path.read_text(encoding="utf-8").splitlines()
    if not 0 <= k < len(lines):
        raise ValueError(f"game={k} is not allowed: {path} holds {len(lines)} games, counted from 0")
    try:
        record = GameRecord.of_line(lines[k])
        record.check()
    except ValueError as error:
        raise ValueError(f"{path}, line {k + 1}: {error}") from None
    return record
