"""Work shared out to an executor of ``concurrent.futures``: shards of matches, and calls of functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import NamedTuple, TypeVar

from crib_env.agents import Agent
from crib_env.evaluate.matches.mirrored import Games, Shard, play_shard
from crib_env.players.agent_from_text import as_agent

T = TypeVar("T")
LOCAL = "local"  # the address that stands for the cores of this machine
RETRIES = 10  # a call that ten workers have not survived would end the next one, too


class Cluster(NamedTuple):
    """An executor, and how many of its tasks can run at once.

    The executor pickles functions and arguments, and repeats a task whose worker was lost, so that results equal those
    of one machine. ``ProcessPoolExecutor`` may serve too, but repeats nothing.
    """

    executor: Executor
    tasks: int

    def each(self, function: Callable[..., T], calls: Sequence[tuple[object, ...]]) -> Iterator[tuple[int, T]]:
        """Calls a function of a module with each of several tuples of arguments, a task each.

        Args:
            function: the function; it may be called again if a worker was lost.

        Yields:
            The index of a call in ``calls`` and its result, in the order in which calls finish.

        Raises:
            OSError: a call was lost again and again, or cannot be made.
            Exception: the error that a call has raised.
        """
        places = {self.executor.submit(function, *arguments): place for place, arguments in enumerate(calls)}
        try:
            for done in as_completed(places):
                yield places[done], done.result()
        finally:
            for future in places:
                future.cancel()

    def begin_shards(
        self, a: Agent, b: Agent, on_progress: Callable[[int], None] = lambda done: None
    ) -> Callable[[Shard], Future[Games]]:
        """A function that begins to play a shard in a task of its own; the players are sent as they are."""
        check_copyable(a, b)

        def begin(shard: Shard) -> Future[Games]:
            played = self.executor.submit(play_there, (a, b), shard)
            played.add_done_callback(tell)
            return played

        def tell(played: Future[Games]) -> None:
            if not played.cancelled() and played.exception() is None:
                on_progress(len(played.result().scores))

        return begin

    def play_matches(self, matches: Sequence[tuple[Agent, Agent, Sequence[Shard]]]) -> Iterator[tuple[int, Games]]:
        """Plays several matches side by side.

        Args:
            matches: the players of each match, and its shards.

        Yields:
            The index of a match in ``matches`` and the games of its next shard.
        """
        calls, places = [], []
        for match, (a, b, shards) in enumerate(matches):
            check_copyable(a, b)
            calls += [((a, b), shard) for shard in shards]
            places += [(match, shard.first) for shard in shards]
        played = [dict[int, Games]() for _ in matches]
        following = [shards[0].first if shards else 0 for *_, shards in matches]
        for done, games in self.each(play_there, calls):
            match, first = places[done]
            played[match][first] = games
            while (part := played[match].pop(following[match], None)) is not None:
                following[match] += part.pairs
                yield match, part


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


def translated(inner: Future[T], in_our_words: Callable[[BaseException], BaseException]) -> Future[T]:
    """The outcome of another future, with its error put in the words of this project."""
    outer = Future[T]()

    def settle(done: Future[T]) -> None:
        if not outer.set_running_or_notify_cancel():
            return
        try:
            outer.set_result(done.result())
        except BaseException as error:
            outer.set_exception(in_our_words(error))

    outer.add_done_callback(lambda one: inner.cancel() if one.cancelled() else None)
    inner.add_done_callback(settle)
    return outer
