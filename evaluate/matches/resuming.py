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

    A last line or game that a kill has left without its pair is cut off, once it is known to be of this match.

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
    with open(path, "rb+") as file:
        while lines := list(islice(file, 2 * _AT_ONCE)):
            n = min(sum(line.endswith(b"\n") for line in lines) // 2, len(whole.deals) - pairs)
            if n:
                parts.append(_again(path, lines[: 2 * n], (a, b), whole.part(pairs, n)))
                pairs += n
                size += sum(map(len, lines[: 2 * n]))
            if left := lines[2 * n :]:
                if pairs == len(whole.deals):
                    raise ValueError(f"{path} holds more games than games={2 * pairs}: give as many, or more")
                for k, line in enumerate(left, 2 * pairs):
                    _check_begins(path, line, _asked(k, (a, b), whole.seed))
                file.truncate(size)
    return Games.merged(parts) if parts else None


def _again(path: Path, lines: list[bytes], players: tuple[Agent, Agent], shard: Shard) -> Games:
    """The games of these lines, if they are those of a shard."""
    first = 2 * shard.first
    records = [_record(path, first + k, line) for k, line in enumerate(lines)]
    a, b = (player.name for player in players)
    for k, record in enumerate(records, first):
        found, asked = (record.game, record.players, record.seed), _asked(k, players, shard.seed)
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


def _asked(k: int, players: tuple[Agent, Agent], seed: int) -> tuple[int, tuple[str, str], int]:
    """The number of a game, its players by seat, and the seed, as its line must have them."""
    a, b = (player.name for player in players)
    return k, (a, b) if k % 2 == 0 else (b, a), seed


def _check_begins(path: Path, line: bytes, asked: tuple[int, tuple[str, str], int]) -> None:
    """Checks that a line, of which the end may be missing, begins as that of this game."""
    k, names, seed = asked
    begins = GameRecord(k, seed, names, 0, (), (), (0, 0)).to_line().partition(', "first_dealer"')[0].encode()
    if line[: len(begins)] != begins[: len(line)]:
        raise ValueError(
            f"{path}, line {k + 1} is neither a game nor the beginning of game {k} of {names[0]} against {names[1]}, "
            f"seed {seed}; delete it, or give another file"
        )


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
