"""The executors that ``--executor`` names: each is an extra, and is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec

from crib_env.distribution import missing
from crib_env.evaluate.executors.cluster import LOCAL, Cluster

_PACKAGES = {"ray": "ray", "dask": "distributed", "submitit": "submitit"}


def check_executor(executor: str) -> None:
    """Makes sure that ``--executor`` names one that is installed.

    Raises:
        ValueError: it does not.
    """
    name = executor.partition(":")[0]
    if name not in _PACKAGES:
        raise ValueError(f"executor={executor!r} is not allowed: give {', '.join(_PACKAGES)}, or one with its :ADDRESS")
    if find_spec(_PACKAGES[name]) is None:
        raise ValueError(missing(f"executor={executor!r}", ImportError(name=_PACKAGES[name])))


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
    check_executor(executor)
    name, _, address = executor.partition(":")
    module = import_module(f"crib_env.evaluate.executors.on_{name}")
    with ExitStack() as opened:
        try:
            cluster = opened.enter_context(module.connected(address or LOCAL, threads))
        except (ValueError, OSError) as error:
            raise ValueError(f"executor={executor!r} is not allowed: {error}") from None
        yield cluster
