"""A full disk for tests, which need none of their own for it."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(size):
    """Inside, no file grows beyond so many bytes: writes fail with an ``OSError``, as they do on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
