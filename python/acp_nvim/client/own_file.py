"""Files of ours that several Neovims write: a lock for the time of a change, and no half-written file."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds to wait for another Neovim that writes the file.
PATIENCE = 2.0
#: Seconds after which nobody is still writing a file.
ABANDONED = 3600.0


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock, a file of its own. After ``PATIENCE`` go on without it: a stuck Neovim must stop nobody.

    Raises OSError when the lock cannot be made.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    break
                time.sleep(0.02)
            except OSError:  # a file system without locks
                break
        yield
    finally:
        os.close(handle)


def read_whole(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of a regular file. Raises OSError, also for what is none: a FIFO would keep
    us waiting for ever.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read(most)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by one that is the user's alone (0600). Raises OSError.

    What a process that was killed in the middle has left goes by and by.
    """
    for left in path.parent.glob(f"{path.name}?*"):
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > ABANDONED:
                left.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
