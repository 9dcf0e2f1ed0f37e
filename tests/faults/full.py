"""A disk that is full: a small file system of memory where the test may mount one, else a limit on files."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

LIMIT = 64 * 1024
"""Bytes that fit into one file under ``limited``, and on a disk of ``small_disk``."""


@contextmanager
def limited(size: int = LIMIT) -> Iterator[None]:
    """No file of this process may grow beyond ``size`` bytes: the write that would fails in the middle."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@contextmanager
def limited_process(pid: int, size: int) -> Iterator[None]:
    """The same for a process that runs; the test is skipped where that cannot be done to another one."""
    if sys.platform != "linux":
        pytest.skip("no limits of other processes here")
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def small_disk(folder: Path, size: int = LIMIT) -> Iterator[Path]:
    """A file system of so many bytes at ``folder``; the test is skipped where none can be mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A disk of ``small_disk`` that may not be written, whoever asks."""
    remount = ["mount", "-o", "remount,ro", str(folder)]
    subprocess.run(remount, check=True)
    try:
        yield
    finally:
        subprocess.run([*remount[:2], "remount,rw", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all room that is left on a disk; returns the file that has it."""
    path = folder / "filler"
    with path.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 512):
            continue
    return path
