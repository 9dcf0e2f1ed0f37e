"""Where a tool call works, what may be opened, and which line a diff changes."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.service.roots import inside
from acp_nvim.session.asked import CommandSubject, PathSubject, Permission
from acp_nvim.session.content import Change, Diff, Location
from acp_nvim.session.entities import ToolCall
from acp_nvim.view.places import MAX_BYTES, line_in, line_on_disk, look, place_of


def change(path: str, old: str | None = "a\n", new: str | None = "b\n", op: str = "modify") -> Diff:
    return Diff((Change(op, path),), old, new)


@pytest.mark.parametrize(
    ("kind", "locations", "content", "wanted"),
    [
        ("read", [("/ws/a", 7)], [], ("/ws/a", 7, "read")),
        ("read", [("/ws/a", None)], [], ("/ws/a", None, "read")),
        ("search", [("/ws/a", 1), ("/ws/b", 2)], [], ("/ws/b", 2, "search")),
        ("edit", [("/ws/a", 3)], ["/ws/b"], ("/ws/a", 3, "edit")),
        ("edit", [], ["/ws/a", "/ws/b"], ("/ws/b", None, "edit")),
        ("edit", [], [], None),
        ("other", [], ["/ws/a"], ("/ws/a", None, "edit")),
        ("other", [("/ws/a", 3)], [], None),
        ("execute", [("/ws", None)], [], None),
        ("delete", [("/ws/a", None)], ["/ws/a"], None),
        ("move", [], ["/ws/a"], None),
        ("think", [("/ws/a", None)], [], None),
        ("read", [("src/a", 7)], [], ("/ws/src/a", 7, "read")),
        ("read", [("/ws/x/../a", 7)], [], ("/ws/a", 7, "read")),
        ("read", [("", 7)], [], None),
    ],
)
def test_place_of(
    kind: str,
    locations: list[tuple[str, int | None]],
    content: list[str],
    wanted: tuple[str, int | None, str] | None,
) -> None:
    call = ToolCall("t", kind=kind)
    call.locations = [Location(path, line) for path, line in locations]
    call.content = [change(path) for path in content]
    place = place_of(call, "/ws")
    assert (place and (place.path, place.line, place.verb)) == wanted


def test_the_diff_of_that_very_file_tells_the_line() -> None:
    call = ToolCall("t", kind="edit", locations=[Location("/ws/b")])
    call.content = [change("/ws/a"), change("/ws/b", "x\n", "y\n"), change("/ws/c")]
    place = place_of(call, "/ws")
    assert place is not None and place.change is call.content[1]
    call.locations = [Location("/ws/d")]
    other = place_of(call, "/ws")
    assert other is not None and other.change is None


def test_our_own_question_is_a_place() -> None:
    call = ToolCall("question:q", side="client")
    diff = change("/ws/a")
    subject = PathSubject("write", "/ws/a", "/ws/a", "modified", diff)
    call.permissions = [Permission("q", [], subject=subject)]
    place = place_of(call, "/ws")
    assert place is not None and (place.path, place.verb, place.change) == ("/ws/a", "edit", diff)
    call.permissions = [Permission("q", [], subject=CommandSubject("rm -r x"))]
    assert place_of(call, "/ws") is None


def test_another_line_or_text_is_another_place() -> None:
    def key(line: int | None, new: str | None) -> tuple[object, ...]:
        call = ToolCall("t", kind="edit", locations=[Location("/ws/a", line)])
        if new is not None:
            call.content = [change("/ws/a", "a", new)]
        place = place_of(call, "/ws")
        assert place is not None
        return place.key

    keys = [key(None, None), key(1, None), key(2, None), key(1, "b"), key(1, "c")]
    assert len(set(keys)) == len(keys)
    assert key(1, "b") == key(1, "b")


# -- what may be opened


def why(path: Path | str, root: Path) -> str | None:
    return look(str(path), (str(root),), inside).why


def test_look(tmp_path: Path) -> None:
    ws, evil = tmp_path / "ws", tmp_path / "ws-evil"
    for folder in (ws / "src", evil):
        folder.mkdir(parents=True)
    (ws / "a.py").write_text("x\n")
    (ws / "empty").touch()
    (ws / "utf16.txt").write_text("hello\n", encoding="utf-16")
    (ws / "latin.txt").write_bytes(b"caf\xe9\n")
    (ws / "bin").write_bytes(b"\x7fELF\0\0")
    (ws / "late").write_bytes(b"x" * 9000 + b"\0")
    with (ws / "big").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.mkfifo(ws / "fifo")
    (evil / "secret.txt").write_text("s\n")
    (ws / "link.txt").symlink_to(evil / "secret.txt")
    (ws / "folder").symlink_to(evil)
    (ws / "good.txt").symlink_to(ws / "a.py")
    (ws / "loop").symlink_to(ws / "loop")
    (tmp_path / "other").symlink_to(ws)
    cases = {
        "a.py": None,
        "empty": None,
        "utf16.txt": None,
        "latin.txt": None,
        "late": None,
        "good.txt": None,
        "src": "a folder",
        ".": "a folder",
        "bin": "binary",
        "big": "4 MB",
        "fifo": "not a regular file",
        "../ws-evil/secret.txt": "outside the project",
        "link.txt": "outside the project",
        "folder/secret.txt": "outside the project",
        "nothing": "no such file",
        "a.py/x": "no such file",
        "x" * 300: "file name too long",
        "a\0b": "not a path",
        "\ud800": "not a path",
    }
    found = {name: why(os.path.join(ws, name), ws) for name in cases}  # noqa: PTH118
    assert found == cases
    assert why(ws / "loop", ws) not in (None, "outside the project")
    assert why(tmp_path / "other" / "a.py", ws) is None, "one folder, two names"
    assert why(ws / "a.py", tmp_path / "other") is None
    assert look(str(ws / "nothing"), (str(ws),), inside).missing
    assert not look(str(ws / "bin"), (str(ws),), inside).missing


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_nobody_may_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)
    assert why(tmp_path / "a", tmp_path) == "permission denied"


def test_several_roots(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("x")
    roots = (str(tmp_path / "one"), str(tmp_path / "two"))
    found = [look(str(tmp_path / name / "a"), roots, inside).why for name in ("one", "two", "three")]
    assert found == [None, None, "outside the project"]


# -- the line


FILE = "".join(f"line {n}\n" for n in range(1, 21))
LATER = FILE.replace("line 7\n", "line seven\nand more\n")


@pytest.mark.parametrize(
    ("text", "old", "new", "done", "line"),
    [
        (FILE, FILE, LATER, False, 7),  # the whole file
        (LATER, FILE, LATER, True, 7),
        (FILE, "line 6\nline 7\n", "line 6\nline seven\n", False, 7),  # a fragment
        (LATER, "line 6\nline 7\n", "line 6\nline seven\n", True, 7),
        (LATER, "line 7", "line seven\nand more", False, 7),  # said before, asked after
        (FILE, "ine 7\nline", "ine seven\nline", False, 7),  # not whole lines
        (FILE, "line 20\n", "", False, 20),  # a deletion
        (FILE.replace("line 20\n", ""), "line 20\n", "", True, None),
        (FILE, None, LATER, False, 7),  # an overwrite
        (FILE, "", "new\n", False, 1),
        ("", "", "new\n", False, 1),  # a new file
        (LATER, "", LATER, True, 1),
        (FILE, "nowhere\n", "else\n", False, None),
        (FILE, "line 3\n", "line 3\n", False, None),  # nothing changes
        (FILE.replace("\n", "\r\n"), "line 6\nline 7\n", "line 6\nx\n", False, 7),
        (FILE, "line 6\r\nline 7\r\n", "line 6\r\nx\r\n", False, 7),
        (FILE, "   ", "x", False, None),
        (FILE.replace("line 9\n", "mine\n"), FILE, LATER, False, 7),  # unsaved edits after it
        (FILE.replace("line 2\n", "mine\nand mine\n"), FILE, LATER, False, 8),  # before it
        (FILE.replace("line 2\n", ""), FILE, LATER, False, 6),
        (FILE.replace("line 7\n", "mine\n"), FILE, LATER, False, 7),  # in it
        ("".join(f"mine {n}\n" for n in range(1, 21)), FILE, LATER, False, None),
    ],
)
def test_line_in(text: str, old: str | None, new: str, done: bool, line: int | None, tmp_path: Path) -> None:
    assert line_in(text, change("/ws/a", old, new), done) == line
    (tmp_path / "a").write_text(text, newline="")
    assert line_on_disk(str(tmp_path / "a"), change("/ws/a", old, new), done) == line


TWICE = "}\nif a:\n    x\nif b:\n    x\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "done", "near", "line"),
    [
        (TWICE, "    x\n", "    y\n", False, None, 3),  # nothing decides: the first
        (TWICE, "    x\n", "    y\n", False, 5, 5),  # where it was before
        (TWICE, "    x\n", "    y\n", False, 2, 3),
        (TWICE.replace("b:\n    x", "b:\n    y") + "c\n    y\n", "    x\n", "    y\n", True, 7, 7),
        ("ab\nxb\nb\n", "b\n", "c\n", False, None, 3),  # a whole line goes before parts of lines
        ("a\n\tb  c\n", "b c\n", "d\n", False, None, 2),  # blanks differ
        ("x\n  y\nx\n y\n", "x\ny\n", "z\n", False, 3, 3),
        ("x\n  y\nx\n y\n", "x\ny\n", "z\n", False, None, 1),
    ],
)
def test_a_fragment_that_stands_in_several_places(
    text: str, old: str, new: str, done: bool, near: int | None, line: int | None
) -> None:
    assert line_in(text, change("/ws/a", old, new), done, near) == line


@pytest.mark.parametrize(
    ("patch", "line"),
    [
        ("--- a\n+++ b\n@@ -5,3 +5,4 @@ def f\n one\n two\n+new\n three\n", 7),
        ("@@ -1 +1 @@\n-a\n+b\n", 1),
        ("@@ -1,2 +0,0 @@\n-a\n-b\n", 1),
        ("no patch", None),
        (f"@@ -1 +{'9' * 5000} @@\n-a\n+b\n", None),
        ("", None),
    ],
)
def test_line_of_a_patch(patch: str, line: int | None) -> None:
    diff = Diff((Change("modify", "/ws/a"),), patch_format="git_patch", patch=patch)
    assert line_in(FILE, diff, False) == line


def test_a_file_that_went_away_has_no_line(tmp_path: Path) -> None:
    assert line_on_disk(str(tmp_path / "gone"), change("/ws/a"), False) is None


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=30), st.data())
def test_a_unique_edit_is_found(lines: list[str], data: st.DataObject) -> None:
    """A line that was changed to something unique is found before and after, as a fragment of any size."""
    at = data.draw(st.integers(0, len(lines) - 1))
    before = [*lines[:at], "unique", *lines[at + 1 :]]
    after = [*lines[:at], "changed", *lines[at + 1 :]]
    first = data.draw(st.integers(0, at))
    last = data.draw(st.integers(at + 1, len(lines)))
    old, new = "\n".join(before[first:last]), "\n".join(after[first:last])
    diff = change("/ws/a", old, new)
    assert line_in("\n".join(before), diff, False) == at + 1
    assert line_in("\n".join(after), diff, True) == at + 1


def test_large_texts_take_no_time() -> None:
    chance = random.Random(1)
    rows = [f"{chance.random()}\n" for _ in range(200_000)]
    text = "".join(rows)
    diff = change("/ws/a", rows[150_000], "x\n")
    assert line_in(text, diff, False) == 150_001
