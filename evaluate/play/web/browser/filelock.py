"""In the place of filelock: one page has the browser's games."""

Timeout = TimeoutError


class FileLock:
    """Is always free."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def acquire(self) -> None:
        """See filelock."""

    def release(self) -> None:
        """See filelock."""
