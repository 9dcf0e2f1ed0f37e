"""Pictures the user pasted into a prompt, as files of ours: a queued prompt and a kept draft still need them.

They lie in one private folder under Neovim's cache. The oldest go when there are too many.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

#: Files that are kept, bytes of all of them, and seconds after which one goes.
MOST_FILES = 50
MOST_BYTES = 100 * 1024 * 1024
MOST_SECONDS = 14 * 24 * 3600.0


class Pasted:
    """``folder`` is made when it is needed. Methods touch the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, suffix: str, data: bytes) -> Path:
        """Write a picture that only the user can read, and return it. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        stem = time.strftime("picture-%m%d-%H%M%S")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        for number in range(100):
            path = self.folder / f"{stem}{f'-{number}' if number else ''}{suffix}"
            with suppress(FileExistsError):
                handle = os.open(path, flags, 0o600)
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                self.sweep()
                return path
        raise FileExistsError(f"too many pictures at once in {self.folder}")

    def sweep(self) -> None:
        """Remove what is old, and the oldest of what is too much; the newest stays."""
        found = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                with suppress(OSError):
                    info = path.lstat()
                    found.append((info.st_mtime, info.st_size, path))
        size, now = 0, time.time()
        for number, (changed, length, path) in enumerate(sorted(found, reverse=True)):
            size += length
            if number and (number >= MOST_FILES or size > MOST_BYTES or now - changed > MOST_SECONDS):
                with suppress(OSError):
                    path.unlink()
