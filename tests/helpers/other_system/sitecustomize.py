"""Python imports this at its start: what Windows lacks is missing, and the folder READ_ONLY cannot be written.

A text file that this project opens without naming its encoding is an error (with ``PYTHONWARNDEFAULTENCODING=1``).
"""

import os
import signal
import sys
import warnings

for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "killpg", "getpgrp", "setsid", "geteuid", "getuid", "pread", "pwrite"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "setitimer"):
    delattr(signal, name)
warnings.simplefilter("ignore", EncodingWarning)  # of other packages
warnings.filterwarnings("ignore", "only soft file lock")  # on Windows filelock has a lock of its own
warnings.filterwarnings("error", category=EncodingWarning, module="crib_env|__main__")


def refuse(event, arguments):
    """Fails as the system would."""
    if event == "os.symlink":
        raise OSError("a symbolic link takes a privilege here")
    writes = event in ("os.mkdir", "os.rename", "os.remove") or (
        event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    )
    if writes and str(arguments[0]).startswith(os.environ["READ_ONLY"]):
        raise PermissionError(13, "read-only", arguments[0])


sys.addaudithook(refuse)
