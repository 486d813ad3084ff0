"""The one loop that plays mirrored games: in blocks as large as the players' speed allows, on threads or a cluster."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from crib_env.agents import Agent
from crib_env.evaluate.executors.cluster import Cluster
from crib_env.evaluate.matches.mirrored import UNTIMED, Games, Shard, copy_of, play_shard
from crib_env.players.agent_from_text import as_agent

_BLOCK = 10.0  # seconds that a block of slow players should take
_GROWTH = 8  # factor from one block to the next, while these are quick
_MOST = 512  # largest number of pairs in a block: larger ones are hardly faster, and fewer can be shared among threads


class Pace:
    """How many pairs the next block of a match has.

    Blocks have 1, 8, 64 and then 512 pairs, whatever the clock says, as long as they take no more than a few seconds: a
    network, which may round otherwise in another batch, then decides in the same batches each time. Blocks of slower
    players are smaller.

    Args:
        seconds: begin no block after this time, and none that should take longer than is left of it. One pair is
            played in any case.

    Raises:
        ValueError: ``seconds`` is not above 0.
    """

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds={seconds} is not allowed: give more than 0")
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._size = 1
        self._pair: float | None = None  # seconds

    @property
    def is_measured(self) -> bool:
        """Whether any block has been played."""
        return self._pair is not None

    def next(self, left: int) -> int:
        """The number of pairs of the next block, of ``left``; 0 when the time is up."""
        if not left:
            return 0
        size = min(self._size, left)
        if self._pair is not None:
            remaining = self._end - time.perf_counter()
            if remaining <= 0:
                return 0
            size = min(size, max(1, int(min(_BLOCK, remaining) / max(self._pair, 1e-9))))
        self._size = min(_GROWTH * self._size, _MOST)
        return size

    def took(self, block: Games) -> None:
        """Notes the speed of a block: by the players' decisions, without those in which kernels may be compiled."""
        timed = max(1, block.decisions.sum())  # none are timed in games that begin near their end
        decisions = timed + UNTIMED * len(block.scores)
        self._pair = float(block.seconds.sum() / timed * decisions / block.pairs)


class Workers(NamedTuple):
    """Who plays: at most ``number`` blocks at a time, each from ``begin`` until its future is done."""

    number: int
    begin: Callable[[Shard], Future[Games]]


def play_pairs(workers: Workers, shard: Shard, pace: Pace) -> Iterator[Games]:
    """Plays the pairs of a shard in blocks; yields these in order, each as soon as all before it are finished.

    Raises:
        ValueError: a player cannot be copied, or chose an illegal card.
    """
    running: deque[Future[Games]] = deque()
    start = 0
    while True:
        while running and running[0].done():
            games = running.popleft().result()
            pace.took(games)
            yield games
        busy = [block for block in running if not block.done()]
        # The first block is measured before others begin.
        if len(busy) < (workers.number if pace.is_measured else 1) and (pairs := pace.next(len(shard.deals) - start)):
            running.append(workers.begin(shard.part(start, pairs)))
            start += pairs
        elif running:
            wait(busy, return_when=FIRST_COMPLETED)
        else:
            return


def cut(shard: Shard) -> list[Shard]:
    """A shard as the blocks that quick players get."""
    pace, parts, start = Pace(), [], 0
    while pairs := pace.next(len(shard.deals) - start):
        parts.append(shard.part(start, pairs))
        start += pairs
    return parts


@contextmanager
def working(
    a: Agent,
    b: Agent,
    threads: int = 1,
    cluster: Cluster | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Workers]:
    """Lets threads play, each with copies of the players, which may have memory, or a cluster in their place.

    With one thread, or if a player must not be copied, the players themselves play one block after the other. At the
    end, also by an error, threads stop at their next decision.

    Raises:
        ValueError: a player cannot be copied.
    """
    if cluster is not None:
        begin = cluster.begin_shards(a, b, on_progress)
        yield Workers(2 * cluster.tasks, begin)  # twice as many, so that no worker waits for its next block
        return
    if threads == 1 or not (as_agent(a).powers.copyable and as_agent(b).powers.copyable):

        def play_now(shard: Shard) -> Future[Games]:
            played: Future[Games] = Future()
            played.set_result(play_shard(a, b, shard, on_progress))
            return played

        yield Workers(1, play_now)
        return
    stopped, players = Event(), SimpleQueue[tuple[Agent, Agent]]()
    for _ in range(threads):
        players.put((copy_of(a), copy_of(b)))

    def tell(done: int) -> None:
        if stopped.is_set():
            raise _StoppedError
        on_progress(done)

    def play(shard: Shard) -> Games:
        mine = players.get()
        try:
            return play_shard(*mine, shard, tell)
        finally:
            players.put(mine)

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield Workers(threads, lambda shard: pool.submit(play, shard))
        finally:
            stopped.set()


class _StoppedError(Exception):
    """Ends the work of a thread when the others no longer wait for it."""
