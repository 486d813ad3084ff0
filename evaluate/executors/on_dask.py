"""Dask, for ``--executor dask:ADDRESS``. Its workers need the environment and the version of crib_env that are here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import distributed

from crib_env.evaluate.executors.cluster import LOCAL, RETRIES, Cluster, translated

T = TypeVar("T")
_CONNECTING = 10.0  # seconds


class DaskExecutor(Executor):
    """Begins tasks on a connected cluster; see :func:`connected`."""

    def __init__(self, client: Any) -> None:
        self._tasks = client.get_executor(pure=False, retries=RETRIES)

    def submit(self, function: Callable[..., T], /, *arguments: object) -> Future[T]:  # type: ignore[override]
        """Begins a task, which is repeated if its worker is lost."""
        call = partial(function, *arguments)  # Dask takes some tuples among arguments for tasks of its own
        return translated(self._tasks.submit(call), _in_our_words)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Gives up what has not ended."""
        self._tasks.shutdown(wait=False)


def _in_our_words(error: BaseException) -> BaseException:
    return OSError(f"the Dask cluster gave up: {error}") if isinstance(error, distributed.KilledWorker) else error


@contextmanager
def connected(address: str, threads: int) -> Iterator[Cluster]:
    """Connects to a cluster; at the end of the block, tasks that still run there are given up.

    Args:
        address: of a scheduler, as ``dask scheduler`` prints it, or ``"local"`` for workers on the cores of this
            machine, which listen on 127.0.0.1 only.
        threads: that a task keeps busy. Workers elsewhere are not told of it.

    Raises:
        OSError: there is no scheduler at this address.
    """
    if address != LOCAL:
        opened = distributed.Client(address, timeout=_CONNECTING)
    else:
        workers = (os.cpu_count() or 1) // threads or 1
        opened = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with opened as client, DaskExecutor(client) as executor:
        yield Cluster(executor, sum(client.ncores().values()))
