"""Work on a Ray cluster: tasks of lost workers are repeated, and results equal those of one machine.

Ray is an extra, and is imported only when needed. Every machine of the cluster needs crib_env as it is here, at the
same path, and the environment that Ray was started in.
"""

from __future__ import annotations

import copy
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from crib_env.agents import Agent
from crib_env.distribution import missing
from crib_env.evaluate.matches.mirrored import Games, Shard, play_shard
from crib_env.players.agent_from_text import as_agent

LOCAL = "local"  # the address that stands for the cores of this machine
_RETRIES = 10  # a call that ten workers have not survived would end the next one, too
_CONNECTING = 10.0  # seconds
_PATIENCE = 60.0  # seconds that stopped tasks may take to save their state


class Cluster:
    """A connected Ray cluster; see :func:`connected`."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._running: set[Any] = set()

    @property
    def most_cpus(self) -> int:
        """The most CPUs of one machine; a task that asks for more would wait for ever."""
        return max(int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"])

    def each(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], cpus: int = 1
    ) -> Iterator[tuple[int, Any]]:
        """Calls a function of a module with each of several tuples of arguments, a task each.

        Args:
            function: the function; it may be called again if a worker was lost.
            calls: the arguments.
            cpus: the number of CPUs that a task keeps busy.

        Yields:
            The index of a call in ``calls`` and its result, in the order in which calls finish.

        Raises:
            OSError: a call was lost again and again, or cannot be made.
            Exception: the error that a call has raised.
        """
        task = self._ray.remote(num_cpus=cpus, max_retries=_RETRIES)(function)
        left = [task.remote(*arguments) for arguments in calls]
        places = {one: place for place, one in enumerate(left)}
        self._running.update(left)
        while left:
            (done,), left = self._ray.wait(left)
            self._running.discard(done)
            yield places[done], self._outcome(partial(self._ray.get, done))

    def _outcome(self, get: Callable[[], Any]) -> Any:
        """What ``get`` returns; an error of a task becomes the one that the task has raised."""
        try:
            return get()
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise OSError(f"the Ray cluster gave up: {str(error).splitlines()[0]}") from None

    @property
    def cpus(self) -> int:
        """The CPUs of all machines together."""
        return int(self._ray.cluster_resources().get("CPU", 1))

    def begin_shards(
        self, a: Agent, b: Agent, on_progress: Callable[[int], None] = lambda done: None
    ) -> Callable[[Shard], Future[Games]]:
        """A function that begins to play a shard in a task of its own; the players are sent once, as they are."""
        players = self._send(a, b)
        task = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(play_there)

        def begin(shard: Shard) -> Future[Games]:
            one, found = task.remote(players, shard), Future[Games]()
            self._running.add(one)

            def settle(done: Future[Games]) -> None:
                self._running.discard(one)
                try:
                    games = self._outcome(done.result)
                    on_progress(len(games.scores))
                except BaseException as error:
                    found.set_exception(error)
                else:
                    found.set_result(games)

            one.future().add_done_callback(settle)
            return found

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
            players = self._send(a, b)
            calls += [(players, shard) for shard in shards]
            places += [(match, shard.first) for shard in shards]
        played = [dict[int, Games]() for _ in matches]
        following = [shards[0].first if shards else 0 for *_, shards in matches]
        for done, games in self.each(play_there, calls):
            match, first = places[done]
            played[match][first] = games
            while (part := played[match].pop(following[match], None)) is not None:
                following[match] += part.pairs
                yield match, part

    def _send(self, a: Agent, b: Agent) -> Any:
        for agent in (a, b):
            if not as_agent(agent).powers.copyable:
                raise ValueError(f"agent {agent.name!r} is not to be copied, and cannot play on a Ray cluster")
        return self._ray.put((a, b))

    def stop(self) -> None:
        """Interrupts running tasks, as Ctrl-C does, and waits until they have saved their state."""
        running = list(self._running)
        for one in running:
            self._ray.cancel(one)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=_PATIENCE)
        self._running.clear()


def play_there(players: tuple[Agent, Agent], shard: Shard) -> Games:
    """Plays a shard on a worker, with copies of the players: the objects that arrive are read-only."""
    return play_shard(*copy.deepcopy(players), shard)


def load_ray(address: str) -> Any:
    """The module ``ray``.

    Args:
        address: the address that the user has given, for the message.

    Raises:
        ValueError: it is not installed.
    """
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # else the lines of one worker hide those of another
    if address == LOCAL:
        # Ray then listens on 127.0.0.1 only. It reads this variable once, at its import. On macOS and Windows this is
        # the default.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    elif _has_token():
        # Ray itself would not send it to a cluster with an address. One that asks for none ignores it.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError as error:
        raise ValueError(missing(f"ray={address!r}", error)) from None
    return ray


def _has_token() -> bool:
    """Whether Ray finds a token here, with which ``ray start`` guards a cluster."""
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or Path(path).is_file()


def _refusal(error: BaseException) -> str:
    """Why Ray has not connected, in a line. That a token is missing or wrong it says in the causes of its error."""
    causes: list[BaseException | None] = [error]
    while causes[-1] is not None:
        causes.append(causes[-1].__cause__)
    if any(sign in str(cause) for cause in causes for sign in ("InvalidAuthToken", "no authentication token")):
        return (
            "the cluster asks for its token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to what `ray get-auth-token` "
            "prints on its head node"
        )
    return str(error).splitlines()[0]


def _knock(address: str) -> None:
    """Raises ``OSError`` if nothing listens at an address: Ray itself would try for minutes."""
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
    """Connects to a cluster; at the end of the block, tasks that still run there are stopped.

    Args:
        address: the address of a cluster's head, as ``ray start --head`` prints it, or ``"local"`` for a cluster of
            this machine's cores. No other machine can reach a local one; if it can, a line on stderr says so.

    Raises:
        ValueError: Ray is not installed, there is no cluster at this address, or it asks for a token.
    """
    ray = load_ray(address)
    try:
        try:
            _knock(address)
            if address != LOCAL:  # something listens there; if it refuses, Ray would ask again for twenty seconds
                os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
            ray.init(address, include_dashboard=False, logging_level="ERROR")
        except (ValueError, OSError, RuntimeError, ray.exceptions.AuthenticationError) as error:
            raise ValueError(f"ray={address!r} is not allowed: {_refusal(error)}") from None
        if address == LOCAL:
            _warn_of_open_ports(ray.util.get_node_ip_address())
        cluster = Cluster(ray)
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        ray.shutdown()
