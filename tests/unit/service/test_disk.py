"""Byte-exact files on a real disk."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.plugin import ROOT, examples

from acp_nvim.service import disk
from acp_nvim.session.ports import RequestError


@pytest.mark.req("V1-163")
@pytest.mark.parametrize("text", ["", "a", "a\r\nb\r\n", "\ufeffa\n", "日本語\n", "a\x1a", "a\r", "\u2028"])
def test_what_is_written_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "new/deep/a.txt"
    disk.write_text(path, text)
    assert path.read_bytes() == text.encode()
    assert disk.read_text(path) == text
    disk.write_text(path, text + "more")
    assert disk.read_text(path) == text + "more"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_text(tmp_path: Path, text: str) -> None:
    disk.write_text(tmp_path / "a", text)
    assert disk.read_text(tmp_path / "a") == text


@pytest.mark.req("V1-165")
@pytest.mark.parametrize("name", ["missing.txt", "no/such/folder/x", "file/below"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RequestError) as caught:
        disk.read_text(tmp_path / name)
    assert caught.value.code == -32002
    assert caught.value.data["uri"] == (tmp_path / name).as_uri()


@pytest.mark.req("V1-166")
def test_what_is_no_text_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "nul").write_bytes(b"a\0b")
    (tmp_path / "latin1").write_bytes("caf\xe9".encode("latin-1"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for path in (
            *(tmp_path / n for n in ("folder", "nul", "latin1", "loop", "fifo", "s")),
            Path("/dev/zero"),
        ):
            with pytest.raises(RequestError) as caught:
                disk.read_text(path)
            assert caught.value.code == -32603, path
            assert str(path) in caught.value.message


@pytest.mark.req("V1-166")
def test_what_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_text("12345678")
    assert disk.read_text(path, limit=8) == "12345678"
    with pytest.raises(RequestError, match="too large"):
        disk.read_text(path, limit=7)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "fifo")
    for name in ("folder", "file/below", "fifo", "n" * 300):
        with pytest.raises(RequestError):
            disk.write_text(tmp_path / name, "text")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fifo", "file", "folder"]
    assert (tmp_path / "file").read_text() == "x"


def test_the_mode_is_kept_and_the_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("old")
    path.chmod(0o754)
    before = path.stat().st_ino
    disk.write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert path.stat().st_ino != before


def test_a_file_that_has_the_text_already_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("same")
    before = path.stat()
    disk.write_text(path, "same")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    disk.write_text(path, "sAme")
    assert path.read_text() == "sAme"


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        disk.write_text(tmp_path / "a", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_file_with_two_names_keeps_both(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("a longer old text")
    other.hardlink_to(path)
    disk.write_text(path, "new")
    assert other.read_text() == "new"
    assert path.stat().st_ino == other.stat().st_ino
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_folder_that_takes_no_new_files(tmp_path: Path) -> None:
    path = tmp_path / "sub/a"
    path.parent.mkdir()
    path.write_text("old")
    path.parent.chmod(0o555)
    try:
        disk.write_text(path, "new")
    finally:
        path.parent.chmod(0o755)
    assert path.read_text() == "new"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(RequestError, match="read-only"):
        disk.write_text(path, "new")
    assert path.read_text() == "old"


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("links", [1, 2])
def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path, links: int) -> None:
    target, path = tmp_path / "target", tmp_path / "a"
    target.write_text("of somebody else")
    if links == 2:
        (tmp_path / "other").hardlink_to(target)
    path.symlink_to(target)
    with pytest.raises(RequestError, match="not a regular file"):
        disk.write_text(path, "new")
    assert (target.read_text(), path.is_symlink()) == ("of somebody else", True)


def test_a_link_that_comes_after_the_last_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, path = tmp_path / "target", tmp_path / "a"
    for each in (target, path):
        each.write_text(each.name)
        (tmp_path / f"other {each.name}").hardlink_to(each)
    before = sorted(each.name for each in tmp_path.iterdir())

    def turn(*_: object) -> bool:
        path.unlink()
        path.symlink_to(target)
        return False

    monkeypatch.setattr(disk, "_holds", turn)
    with pytest.raises(RequestError):
        disk.write_text(path, "new")
    assert (target.read_text(), path.is_symlink()) == ("target", True)
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    monkeypatch.setattr(disk, "_holds", lambda *_: False)
    monkeypatch.setattr(shutil, "copyfile", lambda *_, **__: turn())  # and at the last moment
    path.unlink()
    path.write_text("again")
    (tmp_path / "another").hardlink_to(path)
    with pytest.raises(RequestError):
        disk.write_text(path, "new")
    assert (target.read_text(), path.is_symlink()) == ("target", True)


def test_what_is_no_file_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a device may have effects: a tape goes back to its beginning, a watchdog begins to count."""
    os.mkfifo(tmp_path / "fifo")
    opened: list[Any] = []
    monkeypatch.setattr(os, "open", lambda *words, **_: opened.append(words))
    with pytest.raises(RequestError, match="not a regular file"):
        disk.read_text(tmp_path / "fifo")
    assert opened == []


def test_what_becomes_something_else_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "fifo")
    stand_in = (tmp_path / "file").stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: stand_in)
    with pytest.raises(RequestError, match="not a regular file"):
        disk.read_text(tmp_path / "fifo")


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_text("abc")
    small = path.stat()
    path.write_text("abcdef")
    monkeypatch.setattr(Path, "stat", lambda *_, **__: small)
    monkeypatch.setattr(os, "fstat", lambda _: small)
    assert disk.read_text(path, 6) == "abcdef"
    with pytest.raises(RequestError, match="too large"):
        disk.read_text(path, 5)


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("named", [False, True], ids=["without names", "with names"])
def test_a_full_disk_leaves_the_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: int, named: bool
) -> None:
    if named:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "a"
    path.write_text("old")
    if links == 2:
        (tmp_path / "b").hardlink_to(path)
    sync, calls = os.fsync, []

    def fail_once(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            full()
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_once)
    with pytest.raises(RequestError, match="No space left"):
        disk.write_text(path, "a new and longer text")
    assert path.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"][:links]


def test_the_backup_stays_when_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    (tmp_path / "b").hardlink_to(path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RequestError, match="the old text is in") as caught:
        disk.write_text(path, "new")
    backup = next(p for p in tmp_path.iterdir() if p.name.startswith(".acp-"))
    assert str(backup) in caught.value.message
    assert backup.read_text() == "old"


def test_no_backup_no_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    (tmp_path / "b").hardlink_to(path)
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(RequestError, match="No space left"):
        disk.write_text(path, "new")
    assert path.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


KILLED = """
import os, signal, sys
from pathlib import Path
from acp_nvim.service import disk
disk.os.fsync = lambda _descriptor: os.kill(os.getpid(), signal.SIGKILL)
disk.write_text(Path(sys.argv[1]), "new" * 100000)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without names")
@pytest.mark.parametrize("old", [True, False])
def test_who_is_killed_while_writing_leaves_nothing_behind(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "a.txt"
    if old:
        path.write_text("old")
    python = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=python, capture_output=True)
    assert done.returncode == -9, done.stderr
    assert [each.name for each in tmp_path.iterdir()] == (["a.txt"] if old else [])
    assert not old or path.read_text() == "old"


@pytest.mark.parametrize("missing", ["O_TMPFILE", "link"])
def test_a_system_without_files_without_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def fail(*_args: object, **_keywords: object) -> None:
        raise OSError(errno.ENOENT, "no /proc")

    if missing == "link":
        monkeypatch.setattr(os, "link", fail)
    else:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "a.txt"
    for text in ("new", "newer"):
        disk.write_text(path, text)
        assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
