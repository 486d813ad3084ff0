"""submitit, for ``--executor submitit:slurm``: each task is a job of its own, whose files are in ``runs/submitit``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import submitit

from crib_env.evaluate.executors.cluster import LOCAL, RETRIES, Cluster

T = TypeVar("T")
_FOLDER = Path("runs", "submitit")
_JOBS = 64  # at once in a queue that says nothing of its size
_MINUTES = 24 * 60  # that a job may take; variables of the queue, such as SBATCH_TIMELIMIT, say otherwise


class SubmititExecutor(ThreadPoolExecutor):
    """A thread waits for each job, and begins a lost one again."""

    def __init__(self, cluster: str, jobs: int, threads: int) -> None:
        super().__init__(jobs)
        self._running, self._ends = set[Any](), False
        self._queue = submitit.AutoExecutor(folder=_FOLDER / "%j", cluster=cluster)
        self._queue.update_parameters(timeout_min=_MINUTES, cpus_per_task=threads)

    def submit(self, function: Callable[..., T], /, *arguments: object) -> Future[T]:  # type: ignore[override]
        """Begins a job when a thread is free for it."""
        return super().submit(self._call, function, arguments)

    def _call(self, function: Callable[..., T], arguments: tuple[object, ...]) -> T:
        lost = 0
        while lost < RETRIES and not self._ends:
            job = self._queue.submit(_outcome, function, arguments)
            self._running.add(job)
            try:
                result, error = job.result()
            except submitit.core.utils.UncompletedJobError:
                lost += 1
                continue
            finally:
                self._running.discard(job)
            if error is not None:
                raise error
            return result
        raise OSError(f"a job was lost {lost} times; the lines of its processes are in {_FOLDER}")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Interrupts running jobs, as Ctrl-C does."""
        self._ends = True  # so that no interrupted job is begun again
        for job in list(self._running):
            job.cancel()
        super().shutdown(wait=False, cancel_futures=True)


def _outcome(function: Callable[..., T], arguments: tuple[object, ...]) -> tuple[T | None, Exception | None]:
    """What a call returns or raises: submitit itself keeps only the text of an error."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


@contextmanager
def connected(address: str, threads: int) -> Iterator[Cluster]:
    """Begins jobs in a queue; at the end of the block, those that still run are interrupted.

    Args:
        address: ``"slurm"``, or ``"local"`` for processes on the cores of this machine.
        threads: that a job keeps busy.

    Raises:
        ValueError: there is no such queue here.
    """
    jobs = (os.cpu_count() or 1) // threads or 1 if address == LOCAL else _JOBS
    try:
        executor = SubmititExecutor(address, jobs, threads)
    except (RuntimeError, ValueError) as error:
        raise ValueError(str(error).splitlines()[0]) from None
    with executor:
        yield Cluster(executor, jobs)
