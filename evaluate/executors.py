"""Work shared among threads, each with copies of the players; and past this process, by joblib: on processes of this
machine, or on the workers of a Ray or Dask cluster."""

from __future__ import annotations

import os
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import chain, islice
from queue import SimpleQueue
from threading import Event
from typing import Any, NamedTuple

from crib_env.distribution import missing
from crib_env.players.agent import Agent, copy_of
from crib_env.players.agent_from_text import as_agent

Tell = Callable[[int], None]
"""Is told of further units done."""
Each = Callable[[Callable[[Sequence[Agent], Any, Tell], Any], Iterable[Any]], Iterator[Any]]
"""``each(function, items)`` yields ``function(players, item, tell)`` in the order of the items, which are taken when a
thread has room for them."""


@contextmanager
def shared(players: Sequence[Agent], threads: int, on_progress: Tell = lambda done: None) -> Iterator[Each]:
    """Lets threads work, each with copies of the players, which may have memory.

    With one thread, or if a player must not be copied, the players themselves do all work. At the end, also by an
    error, threads stop when they next call ``tell``, which calls ``on_progress``.
    """
    if threads == 1 or not all(as_agent(player).powers.copyable for player in players):
        yield lambda function, items: (function(players, item, on_progress) for item in items)
        return
    stopped, free = Event(), SimpleQueue[Sequence[Agent]]()
    for _ in range(threads):
        free.put([copy_of(player) for player in players])

    def tell(done: int) -> None:
        if stopped.is_set():  # nobody waits for this thread
            raise InterruptedError
        on_progress(done)

    def call(function: Callable[..., Any], item: Any) -> Any:
        mine = free.get()
        try:
            return function(mine, item, tell)
        finally:
            free.put(mine)

    def each(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        running, left = deque[Future[Any]](), iter(items)
        while True:
            while running and running[0].done():
                yield running.popleft().result()
            busy = [one for one in running if not one.done()]
            begun = [pool.submit(call, function, item) for item in islice(left, threads - len(busy))]
            running.extend(begun)
            if not running:
                return
            wait(busy + begun, return_when=FIRST_COMPLETED)

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield each
        finally:
            stopped.set()


_PACKAGES = {"processes": "joblib", "ray": "ray", "dask": "distributed"}
_CONNECTING = 10.0  # seconds
_RETRIES = 10  # workers in a row that a call has not survived


class Cluster(NamedTuple):
    """Connected workers: a backend of joblib with its options, how many, and the error when one is lost."""

    backend: str
    workers: int
    lost: type[Exception]
    options: dict[str, Any]

    def each(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Calls a function of a module with tuples of arguments, which are taken as workers need them; yields the place
        of a call and its result as calls finish. A call whose worker was lost is made again; after ten in a row comes
        an ``OSError``."""
        from joblib import Parallel, parallel_config

        running: dict[int, tuple[Any, ...]] = {}
        following, lost = enumerate(calls), 0

        def begin(left: Iterable[tuple[int, tuple[Any, ...]]]) -> Iterator[Any]:
            for place, arguments in left:
                running[place] = arguments
                yield _placed, (place, function, arguments), {}

        while True:
            with parallel_config(self.backend, n_jobs=max(1, self.workers), max_nbytes=None, **self.options):
                parallel = Parallel(return_as="generator_unordered", batch_size=1)
            results = parallel(begin(chain(list(running.items()), following)))
            try:
                for place, result in results:
                    del running[place]
                    lost = 0
                    yield place, result
                return
            except self.lost as error:
                lost += 1
                if lost == _RETRIES:
                    raise OSError(f"workers were lost again and again: {error}") from error
            finally:
                with warnings.catch_warnings(record=True):  # joblib's, of calls that are given up
                    results.close()


def _placed(place: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, Any]:
    return place, function(*arguments)


def check_executor(executor: str) -> None:
    """Raises ``ValueError`` if ``--executor`` names none that is installed."""
    name = executor.partition(":")[0]
    if name not in _PACKAGES:
        allowed = "processes, ray, dask, ray:ADDRESS or dask:ADDRESS"
        raise ValueError(f"executor={executor!r} is not allowed: give {allowed}")
    for package in (_PACKAGES[name], "joblib"):
        if find_spec(package) is None:
            raise ValueError(missing(f"executor={executor!r}", ImportError(name=package)))


@contextmanager
def connected(executor: str | None, threads: int = 1) -> Iterator[Cluster | None]:
    """Workers that ``--executor`` names, of so many threads each; without an address, on the cores of this machine.
    ``ValueError`` if there are none; ``None`` if it names nothing."""
    if executor is None:
        yield None
        return
    check_executor(executor)
    name, _, address = executor.partition(":")
    with ExitStack() as opened:
        try:
            if name == "processes":
                cluster = Cluster("loky", (os.cpu_count() or 1) // threads, BrokenExecutor, {})
            else:
                cluster = {"ray": _ray, "dask": _dask}[name](address, threads, opened)
        except Exception as error:
            raise ValueError(f"executor={executor!r} is not allowed: {str(error).partition(chr(10))[0]}") from None
        yield cluster


def _ray(address: str, threads: int, opened: ExitStack) -> Cluster:
    host, _, port = address.rpartition(":")
    if port.isdigit():  # where nothing listens, Ray would try for two minutes
        socket.create_connection((host, int(port)), timeout=_CONNECTING).close()
    elif not address:  # Ray reads this at its import, and then listens on 127.0.0.1 only
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    import ray
    from joblib import register_parallel_backend
    from ray.util.joblib.ray_backend import RayBackend

    class Backend(RayBackend):  # type: ignore[misc]
        supports_return_generator = True  # its pool, unlike that of multiprocessing, reports each end

    register_parallel_backend("ray", Backend)
    opened.enter_context(ray.init(address or "local", include_dashboard=False, logging_level="ERROR"))
    cpus = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    each = {"num_cpus": min(threads, max(cpus))}  # a worker of more than any machine has would never begin
    return Cluster("ray", sum(cpus) // each["num_cpus"], ray.exceptions.RayError, {"ray_remote_args": each})


def _dask(address: str, threads: int, opened: ExitStack) -> Cluster:
    import distributed

    here = {} if address else {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    client = opened.enter_context(distributed.Client(address or None, timeout=_CONNECTING, **here))
    client.run(check_executor, "dask")  # a worker that cannot import this would keep joblib waiting
    workers = sum(client.ncores().values()) // threads
    return Cluster("dask", workers, distributed.KilledWorker, {"client": client})
