"""A simulated full disk for tests."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(size):
    """Inside the block no file grows beyond ``size`` bytes: writes fail with an ``OSError``, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
