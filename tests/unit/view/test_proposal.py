"""A change as windows: which, with which texts and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.session.content import Change, Diff, Location
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.view.case import Case, Proposal
from acp_nvim.view.look import Look
from acp_nvim.view.outcome import Now
from acp_nvim.view.proposal import files, propose
from acp_nvim.view.sides import MAX_LINES, MOST_HIDDEN, buffer_lines

LOOK = Look(Session("s", "claude", "/ws", roots=("/ws",)), label="claude", home="/home/me")
PATH = "/ws/src/a.py"


def change(old: str | None = None, new: str | None = None, **fields: Any) -> Diff:
    patch = fields.pop("patch", None)
    return Diff((Change(fields.pop("op", "modify"), PATH, **fields),), old, new, patch=patch)


def here(text: str | None, *, loaded: bool = False) -> Now:
    return Now(text, exists=text is not None, loaded=loaded, size=len(text or ""))


def shown(proposal: Proposal) -> list[tuple[str, str, list[str]]]:
    """For each side its winbar without blanks at its ends, where the text is from, and its lines."""
    return [
        (" ".join(f"{s.what} {s.shown} {''.join(text for text, _ in s.notes)}".split()), s.source, s.lines)
        for s in proposal.sides
    ]


def test_what_is_not_seen_stands_beside_the_lines() -> None:
    text = "a\n\u00e9\u00adb\U000e0041\n\x1b\u202e\n\U0001f469\u200d\U0001f4bb a\u200d\n"
    for diff in (change("a\n", text), change(text, "a\n"), change(None, text, op="add")):
        made = propose(Case(PATH, [diff], here(diff.old_text)), LOOK)
        found = {number: side.hidden for number, side in enumerate(made.sides) if side.hidden}
        wanted = [(1, 2, "<U+00AD>"), (1, 5, "<U+E0041>"), (2, 1, "<U+202E>"), (3, 13, "<U+200D>")]
        assert list(found.values()) == [wanted]
    many = propose(Case(PATH, [change(None, "\u00ad" * 5000, op="add")], here(None)), LOOK)
    assert len(many.sides[0].hidden) == MOST_HIDDEN


CASES = [
    pytest.param(
        Case(PATH, [change("a\n", "b\n")], here("a\n")),
        "edit",
        [("now src/a.py", "text", ["a"]), ("proposed src/a.py edit +1 -1", "text", ["b"])],
        id="edit",
    ),
    pytest.param(
        Case(PATH, [change("a\n", "b\n")], here("a\n", loaded=True)),
        "edit",
        [("now src/a.py", "buffer", []), ("proposed src/a.py edit +1 -1", "text", ["b"])],
        id="edit of a loaded file: its text is there",
    ),
    pytest.param(
        Case(PATH, [change("a\n", "b\n")], here("b\n", loaded=True), done=True),
        "edit",
        [("before src/a.py", "text", ["a"]), ("now src/a.py edit +1 -1", "buffer", [])],
        id="done",
    ),
    pytest.param(
        Case(PATH, [change("a\nb\n", "a\nc\n")], here("a\nd\n"), done=True),
        "edit",
        [
            ("before src/a.py", "text", ["a", "b"]),
            ("after src/a.py edit +1 -1 the file has changed since", "text", ["a", "c"]),
        ],
        id="done, and changed since",
    ),
    pytest.param(
        Case(PATH, [change("a\n", "b\n")], here("a\n"), state="rejected", files=[PATH, "/ws/b", "/ws/c"]),
        "edit",
        [
            ("now src/a.py", "text", ["a"]),
            ("proposed src/a.py edit +1 -1 rejected file 1 of 3, :AcpDiff", "text", ["b"]),
        ],
        id="rejected, with others",
    ),
    pytest.param(
        Case(PATH, [change(None, "a\nb\n", op="add")], here(None)),
        "new",
        [("proposed src/a.py new file, 2 lines", "text", ["a", "b"])],
        id="new",
    ),
    pytest.param(
        Case(PATH, [change(None, "", op="add")], here(None)),
        "new",
        [("proposed src/a.py new file, 0 lines", "text", [""])],
        id="new, empty",
    ),
    pytest.param(
        Case(PATH, [change(None, "a\n", op="add")], here("a\n"), done=True),
        "new",
        [("now src/a.py new file, 1 line", "text", ["a"])],
        id="new, done",
    ),
    pytest.param(
        Case(PATH, [change(op="delete")], here("a\nb\n", loaded=True)),
        "delete",
        [("proposed src/a.py delete, 2 lines", "text", ["a", "b"])],
        id="delete",
    ),
    pytest.param(
        Case(PATH, [change("a\n", op="delete")], here(None), done=True),
        "delete",
        [("before src/a.py deleted, 1 line", "text", ["a"])],
        id="deleted",
    ),
    pytest.param(
        Case(PATH, [change(op="move", old_path="/ws/old.py")], here(None), before=here("a\n", loaded=True)),
        "move",
        [("proposed old.py -> src/a.py move, text unchanged", "text", ["a"])],
        id="move",
    ),
    pytest.param(
        Case(
            PATH,
            [change("a\n", "b\n", op="move", old_path="/ws/old.py")],
            here(None),
            before=here("a\n", loaded=True),
        ),
        "move",
        [("now old.py", "buffer", []), ("proposed src/a.py move +1 -1", "text", ["b"])],
        id="move and change",
    ),
    pytest.param(
        Case(
            PATH,
            [change(op="copy", old_path="/ws/old.py", patch="@@ -1 +1 @@\n-a\n+b\n")],
            here(None),
            before=here("a\n"),
        ),
        "copy",
        [("now old.py", "text", ["a"]), ("proposed src/a.py copy +1 -1", "text", ["b"])],
        id="copy and change, by a patch",
    ),
    pytest.param(
        Case(PATH, [change(mime="image/png", file_type="binary")], Now(None, exists=True, size=1234)),
        "binary",
        [
            (
                "proposed src/a.py binary",
                "text",
                [
                    "type      image/png",
                    "now       1,234 bytes",
                    "proposed  not said",
                    "",
                    "A binary file has no diff.",
                ],
            )
        ],
        id="binary",
    ),
    pytest.param(
        Case(PATH, [change("a", "b")], Now(None, exists=True, size=5, why="too large (5 bytes)")),
        "edit",
        [
            ("before src/a.py", "text", ["a"]),
            ("proposed src/a.py edit +1 -1 too large (5 bytes)", "text", ["b"]),
        ],
        id="a file that is not read: the agent's texts",
    ),
    pytest.param(
        Case(PATH, [change()], here("a\n")),
        "edit",
        [("proposed src/a.py edit", "text", ["claude does not say what changes in this file."])],
        id="only a path",
    ),
    pytest.param(
        Case(PATH, [change("\ufeffa\r\nb", "a\nb\n")], here("\ufeffa\r\nb")),
        "edit",
        [
            ("now src/a.py", "text", ["a", "b"]),
            (
                "proposed src/a.py edit +2 -2 line ends CRLF to LF adds the final newline without BOM",
                "text",
                ["a", "b"],
            ),
        ],
        id="what lines do not show",
    ),
]


@pytest.mark.parametrize(("case", "op", "wanted"), CASES)
def test_what_is_shown(case: Case, op: str, wanted: Sequence[tuple[str, str, list[str]]]) -> None:
    proposal = propose(case, LOOK)
    assert (proposal.op, shown(proposal)) == (op, list(wanted))


def test_the_first_change() -> None:
    old = "".join(f"{n}\n" for n in range(1, 30))
    for new, wanted in (
        (old.replace("7\n", "x\n", 1), [7, 7]),
        (old.replace("7\n", "7\nnew\n", 1), [7, 8]),
        (old.replace("7\n", "", 1), [7, 6]),
        (old, [1, 1]),
    ):
        assert propose(Case(PATH, [change(old, new)], here(old)), LOOK).at == wanted


def test_too_many_lines() -> None:
    old = "".join(f"{n}\n" for n in range(MAX_LINES + 1))
    proposal = propose(Case(PATH, [change(old, old.replace("777\n", "x\n", 1))], here(old)), LOOK)
    ((bar, _, lines),) = shown(proposal)
    assert bar == "proposed src/a.py edit +1 -1 hunks only, 20,001 lines"
    assert lines == ["@@ -775,7 +775,7 @@", " 774", " 775", " 776", "-777", "+x", " 778", " 779", " 780"]
    assert proposal.sides[0].syntax == "diff"


def test_too_many_changes() -> None:
    old, new = ("".join(f"{n}{sign if n % 2 else ''}\n" for n in range(5_000)) for sign in ("", "x"))
    ((bar, _, _),) = shown(propose(Case(PATH, [change(old, new)], here(old)), LOOK))
    assert bar == "proposed src/a.py edit +2500 -2500 hunks only, 5,000 lines"


@pytest.mark.parametrize(
    ("count", "changes", "windows"),
    [(20_000, 100, 2), (20_000, 101, 1), (5_000, 400, 2), (5_000, 401, 1), (2_000, 1_000, 2)],
)
def test_lines_and_changes_that_are_many_together(count: int, changes: int, windows: int) -> None:
    old = [f"{n}\n" for n in range(count)]
    new = [f"x{line}" if n % 2 and n < 2 * changes else line for n, line in enumerate(old)]
    proposal = propose(Case(PATH, [change("".join(old), "".join(new))], here("".join(old))), LOOK)
    assert len(proposal.sides) == windows


def test_hunks_are_safe_and_bounded() -> None:
    old = "a\n" * 30_000 + "x" * 3_000_000 + "\n"
    new = "b\x1b[2J\u202e\n" * 30_000 + "y" * 3_000_000 + "\n"
    ((_, _, lines),) = shown(propose(Case(PATH, [change(old, new)], here(old)), LOOK))
    assert len(lines) == MAX_LINES + 1
    assert max(map(len, lines)) < 10_000
    assert not any("\x1b" in line or "\u202e" in line for line in lines)


def test_the_files_of_a_call() -> None:
    one, two = change("a", "b"), Diff((Change("modify", "/ws/b"), Change("add", PATH)), patch="")
    call = ToolCall("t", kind="edit", content=[one, two])
    assert files(call) == {PATH: [one, two], "/ws/b": [two]}
    gone = ToolCall("t", kind="delete", locations=[Location("/ws/x")])
    assert files(gone) == {"/ws/x": [Diff((Change("delete", "/ws/x"),))]}
    assert files(ToolCall("t", kind="read", locations=[Location("/ws/x")])) == {}


@given(st.text("a\r\n\ufeff\x00", max_size=30))
def test_lines_of_a_buffer_are_lines(text: str) -> None:
    lines, ends = buffer_lines(text)
    assert lines
    assert not any("\n" in line for line in lines)
    separator = {"unix": "\n", "dos": "\r\n", "mac": "\r"}[ends]
    body = text.removeprefix("\ufeff")
    assert separator.join(lines) in (body, body.removesuffix(separator))
