"""Unsaved edits in the way of a write, as windows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from acp_nvim.session.asked import PathSubject
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Session
from acp_nvim.text.diff import diff
from acp_nvim.view.case import Case, Proposal
from acp_nvim.view.conflict import conflict
from acp_nvim.view.look import Look
from acp_nvim.view.outcome import Now
from acp_nvim.view.proposal import propose
from acp_nvim.view.sides import MAX_CHANGES, line_in

LOOK = Look(Session("s", "claude", "/ws", roots=("/ws",)), label="claude", home="/home/me")
PATH = "/ws/a.py"
MANY = "".join(f"{n}\n" for n in range(3 * MAX_CHANGES))


def case(
    mine: str, disk: str | None, theirs: str, base: str | None = None, *, why: str = "", loaded: bool = True
) -> Case:
    change = Diff((Change("modify", PATH),), mine, theirs)
    subject = PathSubject("write", PATH, PATH, "modified", change, base, disk)
    now = Now(mine, exists=True, loaded=loaded, disk=disk, disk_why=why)
    return Case(PATH, [change], now, files=[PATH], conflict=subject)


def shown(proposal: Proposal) -> list[tuple[str, list[str]]]:
    return [
        (" ".join(f"{s.what} {''.join(text for text, _ in s.notes)}".split()), s.lines)
        for s in proposal.sides
    ]


@pytest.mark.parametrize(
    ("made", "op", "wanted", "at"),
    [
        (
            case("m\n2\n3\n", "1\n2\nd\n", "1\n2\nt\n", "1\n2\n3\n"),
            "conflict",
            [
                ("now", []),
                ("on disk changed since claude saw it", ["1", "2", "d"]),
                ("proposed conflict +2 -2", ["1", "2", "t"]),
            ],
            [1, 1, 1],
        ),
        (
            case("1\n2\n3\n", "0\n1\n2\n", "1\n2\nt\n", "0\n1\n2\n"),
            "conflict",
            [("now", []), ("on disk", ["0", "1", "2"]), ("proposed conflict +1 -1", ["1", "2", "t"])],
            [3, 3, 3],
        ),
        (case("m\n", "m\n", "t\n"), "edit", [("now", []), ("proposed edit +1 -1", ["t"])], [1, 1]),
        (case("m\n", "t\n", "t\n"), "edit", [("now", []), ("on disk written already +1 -1", ["t"])], [1, 1]),
        (
            case("m\n", None, "t\n", why="not on disk"),
            "edit",
            [("now", []), ("proposed edit +1 -1 not on disk", ["t"])],
            [1, 1],
        ),
        (
            case("m\n", "d\n", "t\r\nu\r\n"),
            "conflict",
            [
                ("now", []),
                ("on disk", ["d"]),
                ("proposed conflict +2 -1 line ends LF to CRLF", ["t", "u"]),
            ],
            [1, 1, 1],
        ),
        (
            case(MANY, re.sub("[02]\n", "x\n", MANY), re.sub("[57]\n", "x\n", MANY)),
            "large",
            [("proposed conflict +600 -600 hunks only, 3,000 lines the disk has another text", None)],
            [1],
        ),
        (
            case("m\n", "d\n" * 400_001, "t\n"),
            "edit",
            [("now", []), ("proposed edit +1 -1 the disk has another text", ["t"])],
            [1, 1],
        ),
    ],
)
def test_what_is_shown(
    made: Case, op: str, wanted: list[tuple[str, list[str] | None]], at: list[int]
) -> None:
    proposal = propose(made, LOOK)
    found = [
        (words, None if mine is None else lines)
        for (words, lines), (_, mine) in zip(shown(proposal), wanted, strict=True)
    ]
    assert (proposal.op, found, proposal.at) == (op, wanted, at)


def test_only_while_it_is_asked_and_the_file_is_loaded() -> None:
    asked = case("m\n", "d\n", "t\n")
    assert conflict(asked, LOOK) is not None
    assert conflict(structs.replace(asked, conflict=None), LOOK) is None
    assert conflict(case("m\n", "d\n", "t\n", loaded=False), LOOK) is None


text = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12).map(
    lambda rows: "".join(r + "\n" for r in rows)
)


@given(old=text, new=text)
def test_lines_of_one_text_in_the_other(old: str, new: str) -> None:
    """A line that is the same in both is found where it is; any other within the text."""
    compared = diff(old, new)
    assert compared is not None
    changed = {at for change in compared.changes for at in range(change.a, change.b)}
    rows = new.split("\n")
    for at, line in enumerate(compared.old):
        found = line_in(compared, at + 1)
        assert 1 <= found <= max(len(compared.new), 1)
        if at not in changed:
            assert rows[found - 1] + "\n" == line
