"""Work on a Ray cluster: tasks of lost workers are repeated, and results equal those of one machine.

Ray is an extra, ``pip install -c constraints.txt -e ".[workbench,ray]"``, and is imported only when needed.
Every machine of the cluster needs this checkout at the same path and the environment that Ray was started in.
"""

from __future__ import annotations

import copy
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crib_env.agents import Agent
from evaluate.matches.mirrored import Games, Shard, is_copyable, play_shard

LOCAL = "local"  # the address that stands for the cores of this machine
_RETRIES = 10  # what takes ten workers down with it will take the next one, too
_CONNECTING = 10.0  # seconds
_PATIENCE = 60.0  # seconds that what is stopped may take to save its state


class Cluster:
    """A connected Ray cluster; see :func:`connected`."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._running: set[Any] = set()

    @property
    def most_cpus(self) -> int:
        """Of one machine: a task that asks for more would wait for ever."""
        return max(int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"])

    def each(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], cpus: int = 1
    ) -> Iterator[tuple[int, Any]]:
        """Calls a function of a module with each of several tuples of arguments, a task each.

        Args:
            function: that may be called again where a worker was lost.
            calls: the arguments.
            cpus: how many of a machine's a task keeps busy.

        Yields:
            The place of a call in ``calls`` and what came out, in the order in which they finish.

        Raises:
            OSError: a call was lost again and again, or cannot be made.
            Exception: what a call has raised.
        """
        task = self._ray.remote(num_cpus=cpus, max_retries=_RETRIES)(function)
        left = [task.remote(*arguments) for arguments in calls]
        places = {one: place for place, one in enumerate(left)}
        self._running.update(left)
        while left:
            (done,), left = self._ray.wait(left)
            self._running.discard(done)
            yield places[done], self._outcome(done)

    def _outcome(self, done: Any) -> Any:
        try:
            return self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise OSError(f"the Ray cluster gave up: {str(error).splitlines()[0]}") from None

    def play_shards(
        self,
        a: Agent,
        b: Agent,
        parts: Sequence[Shard],
        keep_records: bool = False,
        on_progress: Callable[[int], None] = lambda done: None,
        measure_luck: bool = False,
    ) -> Iterator[Games]:
        """:func:`evaluate.matches.mirrored.play_shards` with a task for each shard; the players travel as they are."""
        players, finished, place = self._send(a, b), dict[int, Games](), 0
        for done, games in self.each(play_there, [(players, shard, keep_records, measure_luck) for shard in parts]):
            on_progress(len(games.scores))
            finished[done] = games
            while place in finished:
                yield finished.pop(place)
                place += 1

    def play_matches(
        self,
        players: Sequence[tuple[Agent, Agent]],
        parts: Sequence[Shard],
        on_progress: Callable[[int, int], None] = lambda match, done: None,
        measure_luck: bool = False,
    ) -> Iterator[tuple[int, Games]]:
        """Plays the same shards with each two of several players.

        Args:
            players: of each match.
            parts: what each of them plays.
            on_progress: is told in which match how many more games are done.

        Yields:
            The place of a match in ``players`` and its games, in the order in which matches finish.
        """
        sent = [self._send(*two) for two in players]
        played = [dict[int, Games]() for _ in players]
        for done, games in self.each(
            play_there, [(two, shard, False, measure_luck) for two in sent for shard in parts]
        ):
            match, place = divmod(done, len(parts))
            played[match][place] = games
            on_progress(match, len(games.scores))
            if len(played[match]) == len(parts):
                yield match, Games.merged([played[match].pop(k) for k in range(len(parts))])

    def _send(self, a: Agent, b: Agent) -> Any:
        for agent in (a, b):
            if not is_copyable(agent):
                raise ValueError(f"agent {agent.name!r} is not to be copied, and cannot play on a Ray cluster")
        return self._ray.put((a, b))

    def stop(self) -> None:
        """Interrupts what is running, as Ctrl-C does, and waits until it has saved its state."""
        running = list(self._running)
        for one in running:
            self._ray.cancel(one)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=_PATIENCE)
        self._running.clear()


def play_there(players: tuple[Agent, Agent], shard: Shard, keep_records: bool, measure_luck: bool) -> Games:
    """Plays a shard on a worker, with players of its own: those that arrive cannot be written to."""
    return play_shard(*copy.deepcopy(players), shard, keep_records, measure_luck=measure_luck)


def load_ray(address: str) -> Any:
    """The module ``ray``.

    Args:
        address: what it is asked for with.

    Raises:
        ValueError: it is not installed.
    """
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # or the lines of one worker hide those of another
    if address == LOCAL:
        # Ray then listens on 127.0.0.1 alone. It reads this once, when it is imported; on macOS and Windows it is so
        # without it.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError:
        raise ValueError(
            f"ray={address!r} needs the extra `ray`: pip install -c constraints.txt -e '.[workbench,ray]'"
        ) from None
    return ray


def _knock(address: str) -> None:
    """Raises ``OSError`` if nobody listens: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=_CONNECTING).close()


def _warn_of_open_ports(listens_at: str) -> None:
    if not ipaddress.ip_address(listens_at).is_loopback:
        print(
            f"warning: Ray listens at {listens_at}, not at 127.0.0.1 alone: whoever reaches its ports can run programs "
            "here, so keep them behind a firewall",
            file=sys.stderr,
        )


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """A cluster for as long as it is needed; at the end what still runs there is stopped.

    Args:
        address: of a cluster's head, as ``ray start --head`` prints it, or ``"local"`` for one of this machine's cores,
            which no other machine can reach; where it can, a line on stderr says so.

    Raises:
        ValueError: Ray is not installed, or there is no cluster at this address.
    """
    ray = load_ray(address)
    try:
        try:
            _knock(address)
            ray.init(address, include_dashboard=False, logging_level="ERROR")
        except (ValueError, OSError, RuntimeError) as error:
            raise ValueError(f"ray={address!r} is not allowed: {str(error).splitlines()[0]}") from None
        if address == LOCAL:
            _warn_of_open_ports(ray.util.get_node_ip_address())
        cluster = Cluster(ray)
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        ray.shutdown()
