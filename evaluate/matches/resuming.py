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
                    _check_begins(path, line, k, (a.name, b.name) if k % 2 == 0 else (b.name, a.name), whole.seed)
                file.truncate(size)
    return Games.merged(parts) if parts else None


def _again(path: Path, lines: list[bytes], players: tuple[Agent, Agent], shard: Shard) -> Games:
    """The games of these lines, if they are those of a shard."""
    first, fault = 2 * shard.first, f"{path} holds another match, or was changed: "
    records = []
    for k, line in enumerate(lines, first):
        try:
            records.append(GameRecord.of_line(line.decode()))
        except ValueError as error:
            raise ValueError(f"{path}, line {k + 1}: {error}") from None
    try:
        cards = ([card for deal in record.cards for card in parse_cards(deal)] for record in records)
        tape = {k: iter(of_game) for k, of_game in enumerate(cards, first)}
        a, b = (_Recorded(player.name, tape) for player in players)
        played = play_shard(a, b, replace(shard, keep_records=True))
    except (ValueError, StopIteration) as error:
        raise ValueError(f"{fault}its games do not follow from their deals ({error or 'a card is missing'})") from None
    for record, again in zip(records, played.records):
        if record != again:
            game = "game {} of {} against {}, seed {}".format(again.game, *again.players, again.seed)
            raise ValueError(f"{fault}line {again.game + 1} is not {game}; delete it, or give another file")
    return replace(played, records=(), decisions=np.zeros(2, np.int64), seconds=np.zeros(2))


def _check_begins(path: Path, line: bytes, k: int, names: tuple[str, str], seed: int) -> None:
    """Checks that a line, of which the end may be missing, begins as that of the k-th game."""
    begins = GameRecord(k, seed, names, 0, (), (), (0, 0)).to_line().partition(', "first_dealer"')[0].encode()
    if line[: len(begins)] != begins[: len(line)]:
        raise ValueError(
            f"{path}, line {k + 1} is neither a game nor the beginning of game {k} of {names[0]} against {names[1]}, "
            f"seed {seed}; delete it, or give another file"
        )


class _Recorded:
    """A player that lays the cards of recorded games: the next of each, for they hold those of both players."""

    powers = Powers()

    def __init__(self, name: str, tape: dict[int, Iterator[int]]) -> None:
        self.name, self._tape = name, tape

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return np.array([next(self._tape[game]) for game in views.game_ids.tolist()])
