"""list_files and search_files: what git ignores and what is secret stays out; all of it is bounded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.tools.desk import ALLOW, ALWAYS, REJECT, Desk, desk

from acp_nvim.service.tools import finding

pytestmark = pytest.mark.anyio


def project(made: Desk, *, git: bool = True) -> None:
    """A small project with all that must not be told."""
    if git:
        made.git("init", "-q")
        made.file(".gitignore", "build/\n")
    made.file("a.py", "find me\nnot this\n")
    made.file("src/b.py", "    FIND me too\n")
    made.file("src/c.txt", "find me 42\n")
    made.file(".env", "find me KEY\n")
    made.file("prod.pem", "find me PEM\n")
    (made.base / "other").mkdir()
    (made.base / "other/x.txt").write_text("find me outside\n")
    (made.ws / "link.txt").symlink_to(made.base / "other/x.txt")
    (made.ws / "env.txt").symlink_to(made.ws / ".env")
    (made.ws / "out").symlink_to(made.base / "other")
    if git:
        made.file("build/d.py", "find me built\n")


async def test_listing(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        project(made)
        made.git("add", "a.py", "src")
        made.file("src/gone.py")
        made.git("add", "src/gone.py")
        (made.ws / "src/gone.py").unlink()
        listed = (await made.use("list_files")).split("\n")
        assert sorted(listed) == [
            ".env",
            ".gitignore",
            "a.py",
            "env.txt",
            "link.txt",
            "out",
            "prod.pem",
            "src/b.py",
            "src/c.txt",
        ]
        assert (made.row.title, made.row.kind) == ("files", "other")
        assert await made.use("list_files", path="src") == "src/b.py\nsrc/c.txt"
        assert made.row.title == "files of src"
        assert await made.use("list_files", path="src/b.py") == "src/b.py"
        assert (await made.use("list_files", path="build")).startswith("(no files")
        assert (await made.use("list_files", path="nowhere")).startswith("It failed: no such file or folder")
        assert made.asked == []


async def test_listing_without_git(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        project(made, git=False)
        made.file(".cache/x")
        listed = (await made.use("list_files")).split("\n")
        assert sorted(listed) == [
            ".env",
            "a.py",
            "env.txt",
            "link.txt",
            "prod.pem",
            "src/b.py",
            "src/c.txt",
        ]


@pytest.mark.parametrize("git", [True, False])
async def test_listing_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: bool) -> None:
    monkeypatch.setattr(finding, "MOST_FILES", 5)
    async with desk(tmp_path) as made:
        if git:
            made.git("init", "-q")
        for number in range(9):
            made.file(f"f{number}")
        said = (await made.use("list_files")).split("\n")
        assert said == [*(f"f{n}" for n in range(5)), "(there are more: ask for a folder)"]


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"pattern": "find me"}, ["a.py:1: find me", "src/c.txt:1: find me 42"]),
        (
            {"pattern": "find ME", "ignore_case": True},
            ["a.py:1: find me", "src/b.py:1: FIND me too", "src/c.txt:1: find me 42"],
        ),
        ({"pattern": "me .d+", "regex": False}, ["(nothing)"]),
        ({"pattern": r"me \d+$", "regex": True}, ["src/c.txt:1: find me 42"]),
        ({"pattern": "find me", "files": "*.py"}, ["a.py:1: find me"]),
        ({"pattern": "me", "files": "src/*.py"}, ["src/b.py:1: FIND me too"]),
        ({"pattern": "find", "path": "src"}, ["src/c.txt:1: find me 42"]),
        ({"pattern": "find", "path": "src/c.txt"}, ["src/c.txt:1: find me 42"]),
        ({"pattern": "--version"}, ["(nothing)"]),
        ({"pattern": "-O", "regex": True}, ["(nothing)"]),
        ({"pattern": "find", "files": "--help"}, ["(nothing)"]),
    ],
)
async def test_searching(tmp_path: Path, git: bool, given: dict[str, Any], found: list[str]) -> None:
    async with desk(tmp_path) as made:
        project(made, git=git)
        assert sorted((await made.use("search_files", **given)).split("\n")) == found
        assert made.asked == []
        assert made.row.raw_output == {"matches": 0 if found == ["(nothing)"] else len(found)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pattern": "(", "regex": True}, "the search failed: "),
        ({"pattern": "a\nb"}, "the pattern must be one line"),
        ({"pattern": "a", "files": "../*"}, "files are meant below the folder"),
        ({"pattern": "a", "files": "/etc/*"}, "files are meant below the folder"),
        ({"pattern": ""}, "the input does not fit"),
        ({"pattern": "a", "path": "/"}, "The user rejected this."),
        ({"pattern": "a", "path": "../other"}, "The user rejected this."),
        ({"pattern": "a", "path": "out"}, "The user rejected this."),
        ({"pattern": "a", "path": "../nothing"}, "The user rejected this."),
        ({"pattern": "a", "path": "link.txt"}, "The user rejected this."),
        ({"pattern": "a", "path": ".env"}, "The user rejected this."),
    ],
)
async def test_searches_that_fail(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    async with desk(tmp_path) as made:
        project(made)
        made.answer = REJECT
        told = await made.use("search_files", **given)
        assert told.startswith(f"It failed: {said}")
        assert "find me" not in told
        assert made.row.final


async def test_searching_where_the_user_has_allowed_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        project(made)
        (made.base / "other/.env").write_text("find me KEY\n")
        made.answer = ALWAYS
        for _ in range(2):
            said = await made.use("search_files", pattern="find", path="../other")
            assert said == "../other/x.txt:1: find me outside"
        assert [permission.subject.real_path for permission in made.asked] == [str(made.base / "other")]  # type: ignore[union-attr]
        assert await made.use("list_files", path="../other")
        assert len(made.asked) == 1
        made.answer = ALLOW
        assert await made.use("search_files", pattern="find", path=".env") == ".env:1: find me KEY"
        assert await made.use("search_files", pattern="find", path="link.txt")
        assert len(made.asked) == 3


async def test_searching_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path) as made:
        made.file("a", "find me\n" * 1000)
        said = (await made.use("search_files", pattern="find")).split("\n")
        assert len(said) == finding.MOST_MATCHES + 1
        assert said[-1].startswith("(there are more matches")
        made.file("b", "find" + "x" * 5000 + "\n")
        assert await made.use("search_files", pattern="findx") == f"b:1: find{'x' * 296}…"
        monkeypatch.setattr(finding, "MOST_BYTES", 100)
        said = (await made.use("search_files", pattern="find me")).split("\n")
        assert said[-1].startswith("(there are more matches")
        assert len(said) < 30


async def test_a_search_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that backtracks for ever is given up by git, or by us; either way nobody waits."""
    monkeypatch.setattr(finding, "MOST_SECONDS", 1.0)
    async with desk(tmp_path) as made:
        for number in range(50):
            made.file(f"f{number}", ("a" * 5000 + "!\n") * 200)
        said = await made.use("search_files", pattern=r"^(a+)+$", regex=True)
        assert "(nothing)" in said or "ended after 1 seconds" in said or said.startswith("It failed: ")
        monkeypatch.setattr(finding, "MOST_SECONDS", 0.0)
        assert "(ended after 0 seconds" in await made.use("search_files", pattern="a")


async def test_another_repository_of_the_environment_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path) as made:
        project(made)
        monkeypatch.setenv("GIT_DIR", str(made.base / "other"))
        monkeypatch.setenv("GIT_WORK_TREE", str(made.base / "other"))
        assert await made.use("list_files", path="src") == "src/b.py\nsrc/c.txt"


PROGRAMS = (
    "core.fsmonitor", "core.pager", "pager.grep", "diff.external", "diff.x.textconv", "diff.x.command",
    "filter.x.clean", "filter.x.smudge", "filter.x.process", "alias.grep", "alias.ls-files", "core.editor",
    "core.sshCommand", "core.askPass", "credential.helper", "core.gitProxy",
)  # fmt: skip
"""Settings of git that name a program."""


async def test_nothing_of_the_repository_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path) as made:
        project(made)
        made.git("add", "a.py", "src")
        for name in PROGRAMS:
            made.git("config", name, f"touch {tmp_path}/ran; false")
        made.git("config", "extensions.partialClone", "origin")
        made.git("config", "remote.origin.promisor", "true")
        made.git("config", "remote.origin.url", f"ext::touch {tmp_path}/ran")
        made.file(".gitattributes", "* diff=x filter=x\n")
        made.file("git", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (made.ws / "git").chmod(0o755)
        made.file("a.py", "find me changed\n")
        monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
        assert "a.py" in await made.use("list_files")
        assert "find me changed" in await made.use("search_files", pattern="find me")
        assert "find me changed" in await made.use("read_file", path="a.py")
        assert not (tmp_path / "ran").exists()


async def test_without_git_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path) as made:
        made.git("init", "-q")
        made.file("a", "x\n")
        bare = made.base / "bin"
        bare.mkdir()
        (bare / "env").symlink_to("/usr/bin/env")
        monkeypatch.setenv("PATH", str(bare))
        assert "git is not installed" in await made.use("search_files", pattern="x")
        assert await made.use("list_files") == "a"
        made.answer = REJECT  # nobody can tell whether it is ignored
        assert "rejected" in await made.use("read_file", path="a")
