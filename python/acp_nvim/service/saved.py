"""What agents sent, as files of our own, for programs of the user's to show.

They lie in a private folder of this host under Neovim's cache, which goes when the host ends. What a host
that was killed has left is removed by the next one: each holds a lock in its folder, a dead one's is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "content-"
LOCK = ".lock"
#: Seconds in which a new folder may not have its lock yet.
GRACE = 60.0


class Saved:
    """``base`` is where hosts make their folders; it is made when it is needed. Methods touch the disk."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._folder: Path | None = None
        self._lock: int | None = None
        _all.append(self)

    def put(self, kind: str, suffix: str, data: bytes) -> Path:
        """Write a file that only the user can read, and return it. The same data is the same file.

        ``kind`` and ``suffix`` are ours, never an agent's. Raises OSError.
        """
        path = self._own() / f"{kind}-{hashlib.sha256(data).hexdigest()[:12]}{suffix}"
        with contextlib.suppress(FileNotFoundError):
            path.unlink()  # a program may have changed it since
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return path

    def sweep(self) -> None:
        """Remove the folders of hosts that are gone."""
        try:
            found = list(self._base.glob(PREFIX + "*"))
        except OSError:
            return
        for folder in found:
            if folder != self._folder and _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove this host's folder."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _own(self) -> Path:
        if self._folder is None or not self._folder.is_dir():
            self.close()
            self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._base))  # mode 0700
            self._lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with contextlib.suppress(OSError):  # a disk without locks: the folder stays until this host ends
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return self._folder


def close_all() -> None:
    """The process is about to end (boot.py)."""
    for saved in _all:
        saved.close()


_all: list[Saved] = []


def _abandoned(folder: Path) -> bool:
    """Whether nobody holds the lock of a folder."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            return time.time() - folder.lstat().st_mtime > GRACE
        return False
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
