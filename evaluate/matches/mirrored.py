"""Mirrored games: the same deals played twice, with the players' seats swapped, in shards that merge exactly.

They are played in blocks as large as the players' speed allows, on threads or a cluster. Single deals are mirrored too;
series of games are those of Lang (2018), each on its own deals.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from queue import SimpleQueue
from threading import Event

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.engine import OVER, WIN
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.matches.game_records import GameRecord, Recorder
from crib_env.evaluate.skill.luck.variates import LuckMeter
from crib_env.evaluate.statistics import match_points
from crib_env.kernels import streams
from crib_env.players.agent import copy_of
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
    tally: np.ndarray
    """(2, 2, 4) int64, points as pone and as dealer, by ``crib_env.batch.SOURCES``."""
    deals: np.ndarray
    """(2, 2) int64, deals begun as pone and as dealer."""
    decisions: np.ndarray
    """(2,) int64, decisions that were timed: all but those of a game's first deal, in which kernels are compiled."""
    seconds: np.ndarray
    """(2,) float64, the time of these decisions."""
    records: tuple[GameRecord, ...] = ()
    """The games card by card, if they were kept."""
    luck: np.ndarray | None = None
    """(2N, 3, 3) float64 luck of ``a`` by ``CHANCES`` and ``RESULTS`` of :mod:`crib_env.evaluate.skill.luck`, if it was
    measured."""

    @classmethod
    def merged(cls, parts: Sequence[Games]) -> Games:
        """Parts of a match as one, in the order given."""

        def total(name: str) -> np.ndarray:
            return np.sum([getattr(part, name) for part in parts], axis=0)

        return cls(
            np.concatenate([part.scores for part in parts]),
            total("tally"),
            total("deals"),
            total("decisions"),
            total("seconds"),
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
    """Plays the games of a shard side by side; each player decides all games in which it acts at once.

    Args:
        a, b: the players themselves, not copies.
        on_progress: called from time to time with the number of further games done.
    """
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
        by_player(batch, batch.tally).sum(axis=0),
        by_player(batch, _deals_begun(batch)).sum(axis=0),
        decisions,
        seconds,
        recorder.records(shard.seed, [(a.name, b.name), (b.name, a.name)] * len(shard.deals)) if recorder else (),
        meter.luck * np.where(seat_of_a == 0, 1, -1)[:, None, None] if meter is not None else None,
    )


def _deals_begun(batch: GameBatch) -> np.ndarray:
    """(n, 2, 2) deals by seat, as pone and as dealer. Seats deal by turns, and the last dealer is known."""
    n_deals, last_dealer = batch.games["n_deals"].astype(np.int64), batch.games["dealer"]
    dealt = (n_deals[:, None] + (last_dealer[:, None] == np.arange(2))) // 2
    return np.stack([n_deals[:, None] - dealt, dealt], axis=2)


def check_players(names: Iterable[str]) -> None:
    """Raises ``ValueError`` if a named agent cannot be made, or plays single games only, as a person does."""
    for name in names:
        if make_agent(name).powers.plays_once:
            raise ValueError(f"agent {name!r} cannot play many games: give another")


class Pace:
    """How many pairs the next block of a match has.

    Blocks have 1, 8, 64 and then 512 pairs, whatever the clock says, as long as they take no more than a few seconds: a
    network, which may round otherwise in another batch, then decides in the same batches each time. Blocks of slower
    players are smaller.
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


Playing = Callable[[Iterable[Shard]], Iterator[Games]]
"""Plays blocks, which it takes when it has room for them, and yields their games in order."""


def play_pairs(playing: Playing, shard: Shard, pace: Pace) -> Iterator[Games]:
    """Plays the pairs of a shard in blocks; yields these in order, each as soon as all before it are finished."""
    left = pace.blocks(shard)
    # The first block is measured before others begin.
    for some in (islice(left, 1), left) if pace.pair is None else (left,):
        for games in playing(some):
            pace.took(games)
            yield games


@contextmanager
def working(
    a: Agent,
    b: Agent,
    threads: int = 1,
    cluster: Cluster | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Playing]:
    """Lets threads play, each with copies of the players, which may have memory, or a cluster in their place.

    With one thread, or if a player must not be copied, the players themselves play one block after the other. At the
    end, also by an error, threads stop at their next decision.
    """
    if cluster is not None:
        yield lambda shards: (games for _, games in play_matches(cluster, [(a, b, shards)], on_progress))
        return
    if threads == 1 or not (as_agent(a).powers.copyable and as_agent(b).powers.copyable):
        yield lambda shards: (play_shard(a, b, shard, on_progress) for shard in shards)
        return
    stopped, players = Event(), SimpleQueue[tuple[Agent, Agent]]()
    for _ in range(threads):
        players.put((copy_of(a), copy_of(b)))

    def tell(done: int) -> None:
        if stopped.is_set():  # the others no longer wait for this thread
            raise InterruptedError
        on_progress(done)

    def play(shard: Shard) -> Games:
        mine = players.get()
        try:
            return play_shard(*mine, shard, tell)
        finally:
            players.put(mine)

    def in_order(shards: Iterable[Shard]) -> Iterator[Games]:
        running, left = deque[Future[Games]](), iter(shards)
        while True:
            while running and running[0].done():
                yield running.popleft().result()
            busy = [one for one in running if not one.done()]
            begun = [pool.submit(play, shard) for shard in islice(left, threads - len(busy))]
            running.extend(begun)
            if not running:
                return
            wait(busy + begun, return_when=FIRST_COMPLETED)

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield in_order
        finally:
            stopped.set()


def play_there(players: tuple[Agent, Agent], shard: Shard) -> Games:
    """Plays a shard on a worker, with copies of the players: the objects that arrive may be read-only."""
    return play_shard(*copy.deepcopy(players), shard)


def play_matches(
    cluster: Cluster,
    matches: Sequence[tuple[Agent, Agent, Iterable[Shard]]],
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[tuple[int, Games]]:
    """Plays several matches side by side on a cluster; yields the index of a match, and its next games.

    Args:
        matches: the players of each match, and its blocks.
        on_progress: called with the number of further games done, before they are yielded.
    """
    for agent in (agent for a, b, _ in matches for agent in (a, b)):
        if not as_agent(agent).powers.copyable:
            raise ValueError(f"agent {agent.name!r} is not to be copied, and cannot play on an executor")
    begun: list[tuple[int, int]] = []  # the match of each block, and the number of its first pair
    following: dict[int, int] = {}
    finished: dict[tuple[int, int], Games] = {}

    def calls() -> Iterator[tuple[tuple[Agent, Agent], Shard]]:
        for match, (a, b, blocks) in enumerate(matches):
            for block in blocks:
                begun.append((match, block.first))
                following.setdefault(match, block.first)
                yield (a, b), block

    for place, games in cluster.each(play_there, calls()):
        match, first = begun[place]
        finished[match, first] = games
        while (part := finished.pop((match, following[match]), None)) is not None:
            following[match] += part.pairs
            on_progress(len(part.scores))
            yield match, part


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
        episode: ``"deal"``, or ``"play"`` or ``"pegging"`` (:mod:`crib_env.aec`).
        cards: of each player in ``"pegging"``.
        watch: called with every decision and the chosen cards.
        on_progress: called with the number of further pairs done.

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
