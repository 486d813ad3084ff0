"""Mirrored games: the same deals played twice, with the players' seats swapped, in shards that merge exactly.

They are played in blocks as large as the players' speed allows, on threads or a cluster. Single deals are mirrored too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.engine import OVER, WIN
from crib_env.evaluate.executors import Cluster, shared
from crib_env.evaluate.matches.game_records import GameRecord, Recorder
from crib_env.evaluate.skill.luck.variates import LuckMeter
from crib_env.evaluate.statistics import match_points
from crib_env.kernels import streams
from crib_env.players.agent_from_text import as_agent
from crib_env.players.games import Observers, by_player, play_out, turns
from crib_env.views import PlayerViews

_UNTIMED = 12  # decisions in a deal: the first of each game are not timed, because kernels are compiled in them
_BLOCK = 10.0  # seconds that a block of slow players should take
_GROWTH = 8  # factor from one block to the next, while these are quick
_DEALS = 2_048  # pairs of single deals, or twice as many games of a series, played side by side
_MOST = 512  # largest number of pairs in a block: larger ones are hardly faster, and fewer can be shared among threads


@dataclass(frozen=True)
class Shard:
    """Some consecutive pairs of a match, and what to note of them; :meth:`of` makes one.

    Pair k is the games 2k and 2k + 1, both dealt by the k-th stream of the match's seed. A game depends on nothing else
    but its position, so it is the same in every shard, thread or order.
    """

    seed: int
    """Of the match."""
    first: int
    """Number of the first pair."""
    deals: np.ndarray
    """(N,) uint64, a random stream for each pair."""
    position: tuple[int, int] | None = None
    """Scores at which all games begin: of the dealer, who is seat 0, and of pone; ``None`` is 0–0 and a coin."""
    keep_records: bool = False
    """Write the games down, card by card."""
    measure_luck: bool = False
    """Measure how lucky ``a`` was."""

    @classmethod
    def of(cls, seed: int, first: int, pairs: int, *, keep_records: bool = False, measure_luck: bool = False) -> Shard:
        """The pairs ``first`` to ``first + pairs - 1`` of the match of a seed."""
        deals = streams(seed, first + pairs)[first:]
        return cls(seed, first, deals, keep_records=keep_records, measure_luck=measure_luck)

    def part(self, start: int, pairs: int) -> Shard:
        """Some of these pairs: ``pairs`` of them, or as many as there are, from the ``start``-th on."""
        return replace(self, first=self.first + start, deals=self.deals[start : start + pairs])


@dataclass(frozen=True)
class Games:
    """Finished games, in order; the first axis (of ``scores`` the second) is 0 for player ``a`` and 1 for ``b``."""

    scores: np.ndarray
    """(2N, 2) int64; games 2k and 2k + 1 are a pair, in the first of them ``a`` has seat 0."""
    deals: int
    """How many were begun."""
    decisions: np.ndarray
    """(2,) int64, decisions that were timed: all but those of a game's first deal."""
    seconds: np.ndarray
    """(2,) float64, the time of these decisions."""
    records: tuple[GameRecord, ...] = ()
    """The games card by card, if they were kept."""
    luck: np.ndarray | None = None
    """(2N, 3, 3) float64 luck of ``a`` by ``CHANCES`` and ``RESULTS``, if it was measured."""

    @classmethod
    def merged(cls, parts: Sequence[Games]) -> Games:
        """Parts of a match as one, in the order given."""

        return cls(
            np.concatenate([part.scores for part in parts]),
            sum(part.deals for part in parts),
            np.sum([part.decisions for part in parts], axis=0),
            np.sum([part.seconds for part in parts], axis=0),
            tuple(record for part in parts for record in part.records),
            None if any(part.luck is None for part in parts) else np.concatenate([part.luck for part in parts]),
        )

    @property
    def pairs(self) -> int:
        """N, the number of pairs."""
        return len(self.scores) // 2

    @property
    def won(self) -> np.ndarray:
        """(2N,) bool, the games that ``a`` won."""
        return self.scores[:, 0] >= WIN

    @property
    def all_luck(self) -> np.ndarray:
        """(2N, 3) luck of ``a`` by ``RESULTS``, of all chances together; ``ValueError`` if it was not measured."""
        if self.luck is None:
            raise ValueError("the luck of these games was not measured")
        luck: np.ndarray = self.luck.sum(axis=1)
        return luck


def mean_of_pairs(values: np.ndarray) -> np.ndarray:
    """(N, …) means over the two games of each pair, of values (2N, …) in the order of the games."""
    return values.reshape(-1, 2, *values.shape[1:]).mean(axis=1)


def play_shard(a: Agent, b: Agent, shard: Shard, on_progress: Callable[[int], None] = lambda done: None) -> Games:
    """Plays the games of a shard side by side, with the players themselves and not copies; each decides all games in
    which it acts at once."""
    for agent in (a, b):
        if as_agent(agent).powers.plays_once:
            raise ValueError(
                f"agent {agent.name!r} plays no mirrored games, in which it would hold cards that it has played against"
            )
    dealer = None if shard.position is None else 0
    batch = GameBatch(np.repeat(shard.deals, 2), first_id=2 * shard.first, first_dealer=dealer, scores=shard.position)
    recorder = Recorder(batch) if shard.keep_records else None
    meter = LuckMeter(batch.games, by_coin=dealer is None) if shard.measure_luck else None
    seat_of_a = batch.game_ids % 2
    observers = Observers(batch, (a, seat_of_a), (b, 1 - seat_of_a))
    decisions, seconds = np.zeros(2, np.int64), np.zeros(2)
    for turn in turns(batch, (a, b)):
        if turn.views.decisions[0] >= _UNTIMED:  # all games have equally many
            seconds[turn.player] += turn.seconds
            decisions[turn.player] += len(turn.rows)
        if recorder is not None:
            recorder.note(turn.rows, turn.cards)
        before = batch.games[turn.rows] if observers else None
        turn.play()
        if meter is not None:
            meter.note(turn.rows)
        if before is not None:
            observers.tell(turn.rows, before, turn.cards)
        on_progress(int((batch.games["phase"][turn.rows] == OVER).sum()))
    return Games(
        by_player(batch, batch.games["scores"]),
        int(batch.games["n_deals"].sum(dtype=np.int64)),
        decisions,
        seconds,
        recorder.records(shard.seed, [(a.name, b.name), (b.name, a.name)] * len(shard.deals)) if recorder else (),
        meter.luck * np.where(seat_of_a == 0, 1, -1)[:, None, None] if meter is not None else None,
    )


def check_players(names: Iterable[str]) -> None:
    """Raises ``ValueError`` if a named agent cannot be made, or plays single games only, as a person does."""
    for name in names:
        if make_agent(name).powers.plays_once:
            raise ValueError(f"agent {name!r} cannot play many games: give another")


class Pace:
    """How many pairs the next block of a match has: 1, 8, 64 and then 512, and less for slow players.

    Those of quick players do not depend on the clock, since a network may round otherwise in another batch.
    """

    def __init__(self) -> None:
        self._size = 1
        self.pair: float | None = None  # seconds, once a block was played

    def blocks(self, shard: Shard) -> Iterator[Shard]:
        """A shard in blocks; the size of each is decided when it is taken."""
        start = 0
        while left := len(shard.deals) - start:
            pairs = min(self._size, left)
            if self.pair is not None:
                pairs = min(pairs, max(1, int(_BLOCK / max(self.pair, 1e-9))))
            self._size = min(_GROWTH * self._size, _MOST)
            yield shard.part(start, pairs)
            start += pairs

    def took(self, block: Games) -> None:
        """Notes the speed of a block: by the players' decisions, without those in which kernels may be compiled."""
        timed = max(1, block.decisions.sum())  # none are timed in games that begin near their end
        decisions = timed + _UNTIMED * len(block.scores)
        self.pair = float(block.seconds.sum() / timed * decisions / block.pairs)


@contextmanager
def playing(
    a: Agent,
    b: Agent,
    threads: int = 1,
    cluster: Cluster | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Callable[[Shard], Iterator[Games]]]:
    """Lets threads play (:func:`crib_env.evaluate.executors.shared`), or a cluster in their place.

    Gives the function that plays the pairs of a shard in blocks, and yields these in order, each as soon as all before
    it are finished.
    """
    pace = Pace()
    with shared((a, b), 1 if cluster is not None else threads, on_progress) as each:

        def play(shard: Shard) -> Iterator[Games]:
            left = pace.blocks(shard)
            # The first block is measured before others begin.
            for some in (islice(left, 1), left) if pace.pair is None else (left,):
                if cluster is not None:
                    found = _on_cluster(cluster, a, b, some, on_progress)
                else:
                    found = each(lambda players, block, tell: play_shard(players[0], players[1], block, tell), some)
                for games in found:
                    pace.took(games)
                    yield games

        yield play


def play_there(players: tuple[Agent, Agent], shard: Shard) -> Games:
    """Plays a shard on a worker, with copies of the players: the objects that arrive may be read-only."""
    return play_shard(*copy.deepcopy(players), shard)


def _on_cluster(
    cluster: Cluster, a: Agent, b: Agent, shards: Iterable[Shard], on_progress: Callable[[int], None]
) -> Iterator[Games]:
    for agent in (a, b):
        if not as_agent(agent).powers.copyable:
            raise ValueError(f"agent {agent.name!r} is not to be copied, and cannot play on an executor")
    finished: dict[int, Games] = {}
    following = 0
    for place, played in cluster.each(play_there, (((a, b), shard) for shard in shards)):
        finished[place] = played
        while (games := finished.pop(following, None)) is not None:
            following += 1
            on_progress(len(games.scores))
            yield games


def play_deals(
    a: Agent,
    b: Agent,
    pairs: int,
    seed: int,
    *,
    episode: str = "deal",
    cards: int = 4,
    watch: Callable[[PlayerViews, np.ndarray], None] = lambda views, cards: None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Plays single deals, each twice with the seats swapped.

    Args:
        episode: ``"deal"``, or ``"play"`` or ``"pegging"`` (:mod:`crib_env.aec`), with so many ``cards`` each.
        watch: called with every decision and the chosen cards.

    Returns:
        Points (2 pairs, 2, 2, 4) int64, the two games of a deal side by side: of ``a`` and of ``b``, as pone and as
        dealer, by ``crib_env.batch.SOURCES``.
    """
    deals, tallies = streams(seed, pairs), []
    for first in range(0, pairs, _DEALS):
        part = np.repeat(deals[first : first + _DEALS], 2)
        batch = GameBatch(part, episode=episode, cards=cards, first_id=2 * first)
        for turn in turns(batch, (a, b)):
            watch(turn.views, turn.cards)
            turn.play()
        tallies.append(by_player(batch, batch.tally))
        on_progress(len(part) // 2)
    return np.concatenate(tallies)


def play_series(a: Agent, b: Agent, games: int, seed: int) -> np.ndarray:
    """Final scores (N, 2) of ``a`` and ``b`` in games from 0–0, each on its own deals, as Lang (2018) played them.

    The players change seats after each game; the first dealer is a fair coin.
    """
    deals, scores = streams(seed, games), []
    for first in range(0, games, 2 * _DEALS):
        batch = GameBatch(deals[first : first + 2 * _DEALS], first_id=first)
        play_out(batch, (a, b))
        scores.append(by_player(batch, batch.games["scores"]))
    return np.concatenate(scores)


def wins_series(scores: np.ndarray) -> bool:
    """Whether the first player wins a series: by match points, then by the point spread; a full tie too."""
    first, second = match_points(scores).sum(axis=0)
    return bool(first > second or (first == second and scores[:, 0].sum() >= scores[:, 1].sum()))
