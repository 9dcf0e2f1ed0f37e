"""Display cells, and paths as people read them."""

from __future__ import annotations

import pytest

from acp_nvim.text.paths import absolute, relative, shorten
from acp_nvim.text.width import cells_of, cut_to, pad


@pytest.mark.parametrize(
    ("text", "cells"),
    [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("🚀", 2), ("✓–●", 3), ("한\u1160", 2), ("", 0)],
)
def test_cells(text: str, cells: int) -> None:
    assert cells_of(text) == cells
    assert cells_of(pad(text, 8)) == 8
    assert pad(text, cells) == text


def test_cut_keeps_marks_with_their_letter() -> None:
    assert cut_to("ae\u0301b", 2) == "ae\u0301"
    assert cut_to("日本", 3) == "日"
    assert cut_to("abc", 0) == ""


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me/src/app/src/date.py", "src/date.py"),
        ("/home/me/src/app", "."),
        ("/home/me/src/app-evil/x", "~/src/app-evil/x"),
        ("/home/me/notes.md", "~/notes.md"),
        ("/home/me", "~"),
        ("/home/mean", "/home/mean"),
        ("/etc/npmrc", "/etc/npmrc"),
        ("/", "/"),
        ("src/x.py", "src/x.py"),
        ("/etc/a\nb\u202e", "/etc/a^Jb<U+202E>"),
        ("/etc/ end ", "/etc/ end "),
    ],
)
def test_relative(path: str, shown: str) -> None:
    assert relative(path, "/home/me/src/app", "/home/me") == shown


def test_absolute_is_never_relative_to_the_session() -> None:
    assert absolute("/home/me/src/app", "/home/me") == "~/src/app"
    assert absolute("/ws", "/home/me") == "/ws"


@pytest.mark.parametrize(
    ("path", "cells", "shown"),
    [
        ("src/date.py", 40, "src/date.py"),
        ("packages/web/src/date/parser.test.ts", 24, "packages/…/parser.test.ts"),
        (
            "packages/frontend/src/components/date/parser.test.ts",
            40,
            "packages/…/date/parser.test.ts",
        ),
        ("/usr/share/doc/very/long/way/file.txt", 20, "/usr/…/way/file.txt"),
        ("a-name-without-folders-that-is-long.py", 10, "a-name-without-folders-that-is-long.py"),
        ("folder/a-name-that-is-long.py", 10, "folder/a-name-that-is-long.py"),
    ],
)
def test_shorten(path: str, cells: int, shown: str) -> None:
    assert shorten(path, cells) == shown


def test_display_uses_the_cut_of_the_icons() -> None:
    path = "/ws/packages/frontend/src/components/date/parser.test.ts"
    assert shorten(relative(path, "/ws", "/home/me"), cut="...") == "packages/.../date/parser.test.ts"


def test_of_many_folders_the_last_ones_stay() -> None:
    assert shorten("/a/" + "b/" * 100_000 + "c", 12) == "/a/…/b/b/b/c"
    assert shorten("/a/" + "//" * 100 + "c", 9) == "/a/…////c"
