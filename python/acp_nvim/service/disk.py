"""Reading and writing text files, byte-exact. Everything here blocks: run it in a thread.

Raises RequestError with the codes of V1-165 and V1-166.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..session.ports import RequestError

NOT_FOUND = -32002
INTERNAL_ERROR = -32603

MAX_BYTES = 64 * 1024 * 1024
"""A larger file is refused: it would be one line on the agent's pipe."""


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The whole text of a regular UTF-8 file; a byte-order mark stays in it as U+FEFF."""
    data = read_bytes(path, limit)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_text(path) from error
    if "\0" in text:
        raise not_text(path)
    return text


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """All of a regular file."""
    try:
        # Looked at before it is opened: opening a device can have effects, a FIFO would wait.
        _must_be_file(path, path.stat(), limit)
        with open(path, "rb", opener=without_waiting) as file:
            _must_be_file(path, os.fstat(file.fileno()), limit)
            data = file.read(limit + 1)
    except OSError as error:
        raise failure(path, error) from error
    if len(data) > limit:
        raise RequestError(INTERNAL_ERROR, f"too large: {path}", {"path": str(path)})
    return data


def write_text(path: Path, text: str) -> None:
    """Write a file and the folders above it. ``path`` is real: no link in it is followed.

    A file that holds the text already stays untouched: its time tells its other writer what it last saw.
    A regular file with one name, of ours, in a folder we may write is replaced in one step, mode kept;
    any other is written in place after a backup. A failure leaves the old content.
    """
    data = text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            old = path.lstat()
        except FileNotFoundError:
            _replace(path, data, None)
            return
        if not stat.S_ISREG(old.st_mode):
            raise not_file(path, old.st_mode)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "read-only", str(path))
        if _holds(path, old, data):
            return
        if old.st_nlink == 1 and old.st_uid == os.geteuid() and os.access(path.parent, os.W_OK | os.X_OK):
            _replace(path, data, old)
        else:
            _overwrite(path, data)
    except OSError as error:
        raise failure(path, error) from error


def failure(path: Path, error: OSError) -> RequestError:
    """The answer to a failed call of the system."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return missing(path)
    return RequestError(INTERNAL_ERROR, f"{error.strerror or error}: {path}", {"path": str(path)})


def missing(path: Path) -> RequestError:
    """The answer for a file that is not there."""
    return RequestError(NOT_FOUND, f"no such file: {path}", {"uri": path.as_uri(), "path": str(path)})


def not_text(path: Path) -> RequestError:
    """The answer for a file that is not UTF-8."""
    return RequestError(INTERNAL_ERROR, f"not a text file (UTF-8): {path}", {"path": str(path)})


def not_file(path: Path, mode: int) -> RequestError:
    """The answer for what is no regular file; ``mode`` as ``stat`` gives it."""
    what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
    return RequestError(INTERNAL_ERROR, f"{what}: {path}", {"path": str(path)})


def _must_be_file(path: Path, info: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise not_file(path, info.st_mode)
    if info.st_size > limit:
        raise RequestError(INTERNAL_ERROR, f"too large ({info.st_size} bytes): {path}", {"path": str(path)})


def _holds(path: Path, info: os.stat_result, data: bytes) -> bool:
    if info.st_size != len(data):
        return False
    try:
        with open(path, "rb", opener=without_waiting) as file:
            return file.read(len(data) + 1) == data
    except OSError:
        return False


def without_waiting(name: str, flags: int) -> int:
    """For ``open``: what is no regular file after all does not keep us waiting."""
    return os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _without_links(name: str, flags: int) -> int:
    """For ``open``: a link that came after the last look is an error."""
    return without_waiting(name, flags | os.O_NOFOLLOW)


def _replace(path: Path, data: bytes, old: os.stat_result | None) -> None:
    temporary = path.with_name(f".acp-{secrets.token_hex(6)}.tmp")
    try:
        if not _write_unnamed(temporary, path, data, old):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(temporary, flags, 0o666), "wb") as file:  # noqa: PTH123 (a descriptor)
                _fill(file, path, data, old)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _write_unnamed(temporary: Path, path: Path, data: bytes, old: os.stat_result | None) -> bool:
    """Write a file that gets its name when it is whole: who is killed in the middle leaves nothing behind.

    Returns False where that cannot be done; nothing has happened then.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        descriptor = os.open(path.parent, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o666)
    except OSError:  # this file system does not know it, or what is wrong will be wrong again
        return False
    with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor, not a path)
        _fill(file, path, data, old)
        try:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            # With a folder's descriptor, because only then the link to the file is followed.
            os.link(f"/proc/self/fd/{descriptor}", temporary.name, dst_dir_fd=folder)
        except OSError:
            return False
        finally:
            os.close(folder)
    return True


def _fill(file: BinaryIO, path: Path, data: bytes, old: os.stat_result | None) -> None:
    file.write(data)
    if old is not None:
        _keep_attributes(path, file.fileno(), old)
    file.flush()
    os.fsync(file.fileno())


def _keep_attributes(path: Path, descriptor: int, old: os.stat_result) -> None:
    """Mode must be kept; group and extended attributes (access lists, labels) as far as we are allowed."""
    with suppress(OSError):
        os.fchown(descriptor, -1, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path):
                os.setxattr(descriptor, name, os.getxattr(path, name))


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; some file systems cannot, which costs nothing else."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _overwrite(path: Path, data: bytes) -> None:
    folder = path.parent if os.access(path.parent, os.W_OK | os.X_OK) else None
    descriptor, name = tempfile.mkstemp(prefix=".acp-", suffix=".backup", dir=folder)
    os.close(descriptor)
    backup = Path(name)
    try:
        shutil.copyfile(path, backup, follow_symlinks=False)  # one that has come since raises
    except BaseException:
        backup.unlink(missing_ok=True)
        raise
    try:
        _put(path, data)
    except OSError as error:
        try:
            _put(path, backup.read_bytes())
        except OSError:
            # The only copy of the old text is the backup now: it stays, and the message names it.
            raise OSError(error.errno, f"{error.strerror}; the old text is in {backup}") from error
        backup.unlink(missing_ok=True)
        raise
    backup.unlink(missing_ok=True)


def _put(path: Path, data: bytes) -> None:
    with open(path, "r+b", opener=_without_links) as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
