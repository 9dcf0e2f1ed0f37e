"""The files of a project: what git says, and what a walk finds."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from acp_nvim.process.spawn import Spawner
from acp_nvim.service import listing as module
from acp_nvim.service.listing import Listing, fill

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("marker")]


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, stdout=subprocess.DEVNULL)


async def listed(root: Path) -> tuple[list[str], Listing]:
    spawner, made, calls = Spawner(), Listing(str(root)), list[int]()
    await fill(made, spawner, lambda: calls.append(len(made.paths)))
    spawner.reaper.close()
    assert made.done
    assert calls
    assert calls[-1] == len(made.paths)
    assert len(set(made.paths.whole)) == len(made.paths)
    return sorted(made.paths.whole), made


async def test_git_says_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", "src/b.py", "src/deep/er/ü x.py", "new/file.py", "out/built.o", "line\nbreak")
    with contextlib.suppress(OSError):  # macOS has no such names
        (tmp_path / os.fsdecode(b"latin-\xfc")).write_text("no UTF-8")
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "link").symlink_to("/")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py", "src", ".gitignore")
    git(tmp_path, "commit", "-qm", "x")
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path}/ran; true")
    expected = [
        ".gitignore", "a.py", "line\nbreak", "link", "new/", "new/file.py", "src/", "src/b.py", "src/deep/",
        "src/deep/er/", "src/deep/er/ü x.py",
    ]  # fmt: skip
    assert (await listed(tmp_path))[0] == expected
    assert not (tmp_path / "ran").exists()
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as git sets it for its editor
    assert (await listed(tmp_path))[0] == expected
    assert (await listed(tmp_path / "src"))[0] == ["b.py", "deep/", "deep/er/", "deep/er/ü x.py"]
    assert (await listed(tmp_path / "out"))[0] == ["built.o"], "ignored: git says nothing of it"


async def test_a_repository_within_another(tmp_path: Path) -> None:
    write(tmp_path / "part", "p.py")
    for root in (tmp_path / "part", tmp_path / "whole"):
        root.mkdir(exist_ok=True)
        git(root, "init", "-q")
    git(tmp_path / "part", "add", ".")
    git(tmp_path / "part", "commit", "-qm", "x")
    git(
        tmp_path / "whole",
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        "../part",
        "sub",
    )
    write(tmp_path / "whole", "other/.git/x")
    git(tmp_path / "whole" / "other", "init", "-q")
    write(tmp_path / "whole", "other/unknown.py")
    paths, _ = await listed(tmp_path / "whole")
    assert {"sub/", "sub/p.py", "other/"} <= set(paths)


@pytest.mark.parametrize("path", [None, "/nowhere"])
async def test_without_git_the_folders_are_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str | None
) -> None:
    if path is not None:
        monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write(tmp_path, "a.py", "src/b.py", "src/node_modules/x/y.js", ".git/config", ".github/w.yml")
    (tmp_path / "src" / "up").symlink_to(tmp_path)
    (tmp_path / "empty").mkdir()
    expected = [".github/", ".github/w.yml", "a.py", "empty/", "src/", "src/b.py", "src/up"]
    assert (await listed(tmp_path))[0] == expected


@pytest.mark.parametrize("tracked", [True, False])
async def test_what_is_kept_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracked: bool
) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    write(tmp_path, *(f"d/{number}.py" for number in range(40)))
    if tracked:
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
    else:
        monkeypatch.setenv("PATH", "/nowhere")
    paths, made = await listed(tmp_path)
    assert made.cut
    assert 10 <= len(paths) <= 11  # the folder of the last one comes along


async def test_what_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT_S", 0.2)
    slow = tmp_path / "bin" / "git"
    write(tmp_path, "bin/git", "a.py")
    slow.write_text("#!/bin/sh\nprintf 'first.py\\0'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    paths, made = await listed(tmp_path)
    assert (paths, made.cut) == (["first.py"], True)


async def test_a_root_that_is_gone(tmp_path: Path) -> None:
    assert (await listed(tmp_path / "gone"))[0] == []


def test_staleness_is_told_by_the_folders(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", ".gitignore")
    made = Listing(str(tmp_path), began=1000.0)
    made.add(["src/a.py", ".gitignore"])
    folders = (tmp_path, tmp_path / "src")

    def times(*values: float) -> None:
        for folder, value in zip((*folders, tmp_path / ".gitignore"), values, strict=True):
            os.utime(folder, (value, value))

    times(900, 900, 900)
    assert not made.stale()
    (tmp_path / "src" / "a.py").write_text("changed")  # files may change as they like
    assert not made.stale()
    for values in ((1001, 900, 900), (900, 1001, 900), (900, 900, 1001), (999.5, 900, 900)):
        times(*values)
        assert made.stale(), values
    times(900, 900, 900)
    (tmp_path / "src" / "a.py").rename(tmp_path / "b.py")
    (tmp_path / "src").rmdir()
    times_of_root = 900
    os.utime(tmp_path, (times_of_root, times_of_root))
    assert made.stale(), "a folder is gone"
