"""Ray, for ``--executor ray:ADDRESS``.

Every machine of the cluster needs crib_env as it is here, at the same path, and the environment that Ray was started
in.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from crib_env.evaluate.executors.cluster import LOCAL, RETRIES, Cluster, translated

T = TypeVar("T")
_CONNECTING = 10.0  # seconds
_PATIENCE = 60.0  # seconds that stopped tasks may take to save their state


class RayExecutor(Executor):
    """Begins tasks on a connected Ray cluster; see :func:`connected`."""

    def __init__(self, ray: Any, threads: int) -> None:
        self._ray = ray
        # A task that asks for more CPUs than any machine has would wait for ever.
        most = max(int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])
        self._cpus = min(threads, most)
        self._running: set[object] = set()
        self._tasks: dict[Callable[..., object], Any] = {}

    def submit(self, function: Callable[..., T], /, *arguments: object) -> Future[T]:  # type: ignore[override]
        """Begins a task, which is repeated if its worker is lost."""
        if function not in self._tasks:  # each is sent to the cluster once
            self._tasks[function] = self._ray.remote(num_cpus=self._cpus, max_retries=RETRIES)(function)
        one = self._tasks[function].remote(*arguments)
        self._running.add(one)
        found: Future[T] = one.future()
        # A future that was given up says nothing of the task, which `shutdown` interrupts.
        found.add_done_callback(lambda done: None if done.cancelled() else self._running.discard(one))
        return translated(found, self._in_our_words)

    def _in_our_words(self, error: BaseException) -> BaseException:
        if isinstance(error, self._ray.exceptions.RayTaskError):
            return error.cause  # that the task has raised
        if isinstance(error, self._ray.exceptions.RayError):
            return OSError(f"the Ray cluster gave up: {str(error).splitlines()[0]}")
        return error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Interrupts running tasks, as Ctrl-C does, and waits until they have saved their state."""
        running = list(self._running)
        for one in running:
            self._ray.cancel(one)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=_PATIENCE)
        self._running.clear()


def load(address: str) -> Any:
    """The module ``ray``, imported as a cluster at this address needs it."""
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # else the lines of one worker hide those of another
    if address == LOCAL:
        # Ray then listens on 127.0.0.1 only. It reads this variable once, at its import. On macOS and Windows this is
        # the default.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    elif _has_token():
        # Ray itself would not send it to a cluster with an address. One that asks for none ignores it.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    import ray

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
def connected(address: str, threads: int) -> Iterator[Cluster]:
    """Connects to a cluster; at the end of the block, tasks that still run there are stopped.

    Args:
        address: the address of a cluster's head, as ``ray start --head`` prints it, or ``"local"`` for a cluster of
            this machine's cores. No other machine can reach a local one; if it can, a line on stderr says so.
        threads: that a task keeps busy.

    Raises:
        ValueError: there is no cluster at this address, or it asks for a token.
    """
    ray = load(address)
    try:
        try:
            _knock(address)
            if address != LOCAL:  # something listens there; if it refuses, Ray would ask again for twenty seconds
                os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
            ray.init(address, include_dashboard=False, logging_level="ERROR")
        except (ValueError, OSError, RuntimeError, ray.exceptions.AuthenticationError) as error:
            raise ValueError(_refusal(error)) from None
        if address == LOCAL:
            _warn_of_open_ports(ray.util.get_node_ip_address())
        with RayExecutor(ray, threads) as executor:
            yield Cluster(executor, int(ray.cluster_resources().get("CPU", 1)) // threads or 1)
    finally:
        ray.shutdown()
