"""The one loop that plays mirrored games: in blocks as large as the players' speed allows, on threads or a cluster."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Event

from crib_env.agents import Agent
from crib_env.evaluate.executors import Cluster
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
    """

    def __init__(self) -> None:
        self._size = 1
        self._pair: float | None = None  # seconds

    @property
    def is_measured(self) -> bool:
        """Whether any block has been played."""
        return self._pair is not None

    def next(self, left: int) -> int:
        """The number of pairs of the next block, of ``left``."""
        if not left:
            return 0
        size = min(self._size, left)
        if self._pair is not None:
            size = min(size, max(1, int(_BLOCK / max(self._pair, 1e-9))))
        self._size = min(_GROWTH * self._size, _MOST)
        return size

    def took(self, block: Games) -> None:
        """Notes the speed of a block: by the players' decisions, without those in which kernels may be compiled."""
        timed = max(1, block.decisions.sum())  # none are timed in games that begin near their end
        decisions = timed + UNTIMED * len(block.scores)
        self._pair = float(block.seconds.sum() / timed * decisions / block.pairs)


Playing = Callable[[Iterable[Shard]], Iterator[Games]]
"""Plays blocks, which it takes when it has room for them, and yields their games in order."""


def play_pairs(playing: Playing, shard: Shard, pace: Pace) -> Iterator[Games]:
    """Plays the pairs of a shard in blocks; yields these in order, each as soon as all before it are finished.

    Raises:
        ValueError: a player chose an illegal card.
    """

    def blocks() -> Iterator[Shard]:
        start = 0
        while pairs := pace.next(len(shard.deals) - start):
            yield shard.part(start, pairs)
            start += pairs

    left = blocks()
    # The first block is measured before others begin.
    for some in (left,) if pace.is_measured else (islice(left, 1), left):
        for games in playing(some):
            pace.took(games)
            yield games


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
) -> Iterator[Playing]:
    """Lets threads play, each with copies of the players, which may have memory, or a cluster in their place.

    With one thread, or if a player must not be copied, the players themselves play one block after the other. At the
    end, also by an error, threads stop at their next decision.

    Raises:
        ValueError: a player cannot be copied.
    """
    if cluster is not None:
        yield lambda shards: _told(play_matches(cluster, [(a, b, shards)]), on_progress)
        return
    if threads == 1 or not (as_agent(a).powers.copyable and as_agent(b).powers.copyable):
        yield lambda shards: (play_shard(a, b, shard, on_progress) for shard in shards)
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
            yield partial(_in_threads, pool, threads, play)
        finally:
            stopped.set()


class _StoppedError(Exception):
    """Ends the work of a thread when the others no longer wait for it."""


def _in_threads(
    pool: ThreadPoolExecutor, number: int, play: Callable[[Shard], Games], shards: Iterable[Shard]
) -> Iterator[Games]:
    running, left = deque[Future[Games]](), iter(shards)
    while True:
        while running and running[0].done():
            yield running.popleft().result()
        busy = [one for one in running if not one.done()]
        begun = [pool.submit(play, shard) for shard in islice(left, number - len(busy))]
        running += begun
        if not running:
            return
        wait(busy + begun, return_when=FIRST_COMPLETED)


def check_copyable(*agents: Agent) -> None:
    """Makes sure that agents may play on other machines.

    Raises:
        ValueError: one is not to be copied.
    """
    for agent in agents:
        if not as_agent(agent).powers.copyable:
            raise ValueError(f"agent {agent.name!r} is not to be copied, and cannot play on an executor")


def play_there(players: tuple[Agent, Agent], shard: Shard) -> Games:
    """Plays a shard on a worker, with copies of the players: the objects that arrive may be read-only."""
    return play_shard(*copy.deepcopy(players), shard)


def play_matches(
    cluster: Cluster, matches: Sequence[tuple[Agent, Agent, Iterable[Shard]]]
) -> Iterator[tuple[int, Games]]:
    """Plays several matches side by side on a cluster.

    Args:
        matches: the players of each match, and its blocks.

    Yields:
        The index of a match in ``matches``, and its next games.
    """
    check_copyable(*(agent for a, b, _ in matches for agent in (a, b)))
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
            yield match, part


def _told(played: Iterable[tuple[int, Games]], on_progress: Callable[[int], None]) -> Iterator[Games]:
    for _, games in played:
        on_progress(len(games.scores))
        yield games
