"""Takes up an interrupted match: its recorded games are played again card by card, and it goes on after them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from crib_env import PlayerViews, parse_cards
from crib_env.agents import Agent
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.mirrored import Games, Shard, play_shard
from crib_env.players.agent import Powers

_AT_ONCE = 512  # pairs


def take_up(path: Path, a: Agent, b: Agent, whole: Shard) -> Games | None:
    """The games of a match that its file of games holds, without the times of decisions; ``None`` if there are none.

    A last line or game that a kill has left without its pair is cut off.

    Args:
        path: the file of games, which need not exist.
        a, b: the players, who are only asked for their names.

    Raises:
        ValueError: the file holds games of another match, more games than this one, or a line that is no game; the
            message names it.
    """
    if not path.exists():
        return None
    parts: list[Games] = []
    pairs = size = 0
    with open(path, "rb") as file:
        while lines := list(islice(file, 2 * _AT_ONCE)):
            if not lines[-1].endswith(b"\n"):
                lines.pop()
            lines = lines[: len(lines) // 2 * 2]
            if pairs + len(lines) // 2 > len(whole.deals):
                raise ValueError(f"{path} holds more games than games={2 * len(whole.deals)}: give as many, or more")
            if lines:
                parts.append(_again(path, lines, (a, b), whole.part(pairs, len(lines) // 2)))
                pairs += len(lines) // 2
                size += sum(map(len, lines))
    with open(path, "rb+") as file:
        file.truncate(size)
    return Games.merged(parts) if parts else None


def _again(path: Path, lines: list[bytes], players: tuple[Agent, Agent], shard: Shard) -> Games:
    """The games of these lines, if they are those of a shard."""
    first = 2 * shard.first
    records = [_record(path, first + k, line) for k, line in enumerate(lines)]
    a, b = (player.name for player in players)
    for k, record in enumerate(records, first):
        found = (record.game, record.players, record.seed)
        asked = (k, (a, b) if k % 2 == 0 else (b, a), shard.seed)
        if found != asked:
            holds, is_asked = ("game {0} of {1[0]} against {1[1]}, seed {2}".format(*what) for what in (found, asked))
            raise ValueError(
                f"{path} holds another match: line {k + 1} is {holds}, not {is_asked}; delete it, or give another file"
            )
    fault = f"{path} holds another match, or was changed: "
    try:
        tape = {
            record.game: iter([card for cards in record.cards for card in parse_cards(cards)]) for record in records
        }
        played = play_shard(_Recorded(a, tape), _Recorded(b, tape), replace(shard, keep_records=True))
    except (ValueError, StopIteration) as error:
        raise ValueError(f"{fault}its games do not follow from their deals ({error or 'a card is missing'})") from None
    for record, again in zip(records, played.records):
        if record != again:
            raise ValueError(f"{fault}line {record.game + 1} is not game {record.game} of seed {shard.seed}")
    return replace(played, records=(), decisions=np.zeros(2, np.int64), seconds=np.zeros(2))


def _record(path: Path, k: int, line: bytes) -> GameRecord:
    try:
        return GameRecord.of_line(line.decode())
    except ValueError as error:
        raise ValueError(f"{path}, line {k + 1}: {error}") from None


class _Recorded:
    """A player that lays the cards of recorded games: the next of each, for they hold those of both players."""

    powers = Powers()

    def __init__(self, name: str, tape: dict[int, Iterator[int]]) -> None:
        self.name, self._tape = name, tape

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return np.array([next(self._tape[game]) for game in views.game_ids.tolist()])
