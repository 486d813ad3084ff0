"""The executors that ``--executor`` names: each is an extra, and is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import NamedTuple

from crib_env.distribution import missing
from crib_env.evaluate.executors.cluster import LOCAL, Cluster

NAMES = ("ray", "dask", "submitit")


class _Named(NamedTuple):
    name: str
    address: str
    connected: Callable[[str, int], AbstractContextManager[Cluster]]


def check_executor(executor: str) -> None:
    """Makes sure that ``--executor`` names one that is installed.

    Raises:
        ValueError: it does not.
    """
    _named(executor)


@contextmanager
def connected(executor: str, threads: int = 1) -> Iterator[Cluster]:
    """Connects to a cluster. At the end of the block tasks that still run there are stopped.

    Args:
        executor: a name, and after a colon an address: ``ray:HOST:6379``, ``dask:tcp://HOST:8786``,
            ``submitit:slurm``. Without an address, the cores of this machine.
        threads: that a task keeps busy.

    Raises:
        ValueError: there is no such executor, it is not installed, or there is no cluster at this address.
    """
    found = _named(executor)
    with ExitStack() as opened:
        try:
            cluster = opened.enter_context(found.connected(found.address, threads))
        except (ValueError, OSError) as error:
            raise ValueError(f"executor={executor!r} is not allowed: {error}") from None
        yield cluster


def _named(executor: str) -> _Named:
    name, _, address = executor.partition(":")
    if name not in NAMES:
        raise ValueError(f"executor={executor!r} is not allowed: give {', '.join(NAMES)}, or one with its :ADDRESS")
    try:
        module = import_module(f"crib_env.evaluate.executors.on_{name}")
        module.load(address or LOCAL)
    except ImportError as error:
        raise ValueError(missing(f"executor={executor!r}", error)) from None
    return _Named(name, address or LOCAL, module.connected)
