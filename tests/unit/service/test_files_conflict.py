"""Unsaved edits of the user in the way of what an agent writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.service.helpers import OPTIONS, Place

from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import ToolCall
from acp_nvim.session.events import PermissionClosed, PermissionOpened, ToolPatch
from acp_nvim.session.ports import RequestError

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.req("V1-170")
@pytest.mark.parametrize("answer", [0, 1, 2])
async def test_unsaved_edits_the_agent_has_not_seen_ask(place: Place, answer: int) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    place.answer = answer
    if answer == 1:
        await place.write("ws/a", "theirs")
        assert place.editor.buffers[path] == ["theirs", False]
    else:
        assert await place.code(lambda: place.write("ws/a", "theirs")) == -32603
        assert place.editor.buffers[path] == ["mine", True]
    assert [(s.why, s.diff) for s in place.asked] == [
        ("modified", Diff((Change("modify", path),), "mine", "theirs"))
    ]


async def test_the_question_has_the_base_and_the_disk(place: Place) -> None:
    path = place.ws / "a"
    path.write_text("disk")
    place.editor.type(str(path), "mine")
    await place.code(lambda: place.write("ws/a", "theirs"))
    place.editor.buffers[str(path)] = ["base", False]
    await place.read("ws/a")
    place.editor.type(str(path), "mine")
    await place.code(lambda: place.write("ws/a", "theirs"))
    path.write_text("theirs")
    place.files.forget(place.session)
    await place.code(lambda: place.write("ws/a", "theirs"))
    assert [(s.base, s.disk) for s in place.asked] == [("disk", "disk"), ("base", "disk"), (None, "theirs")]


@pytest.mark.parametrize(
    ("mine", "theirs", "both", "offered"),
    [
        ("M\n2\n3\n", "1\n2\nT\n", "M\n2\nT\n", "Keep both: merge into the buffer, unsaved"),
        ("M\n2\n3\n", "T\n2\n3\n", None, "Keep both: merge into the buffer, 1 conflict marked, unsaved"),
        ("M\n2\n3\n", "1\n2\n3\n", None, None),
    ],
)
async def test_both_texts_can_be_kept(
    place: Place, mine: str, theirs: str, both: str | None, offered: str | None
) -> None:
    path = str(place.ws / "a")
    place.editor.buffers[path] = ["1\n2\n3\n", False]
    await place.read("ws/a")
    place.editor.type(path, mine)
    place.answer = 3 if offered else 1
    await place.write("ws/a", theirs)
    assert place.offered == ([offered] if offered else [])
    if both is not None:
        assert place.editor.buffers[path] == [both, True]
    assert place.changed == [path]
    # What the agent wrote is what it knows: the merged text is the user's.
    assert place.files._known.knows("s1", path, theirs)


@pytest.mark.parametrize(
    ("asked", "base"),
    [
        (("read by itself", "theirs"), "read by itself"),
        (("read by itself", "not theirs"), None),
        ((None, "theirs"), None),
        (("", "theirs"), None),
    ],
)
@pytest.mark.parametrize("dropped", [False, True])
async def test_the_base_is_what_the_agent_says_it_has_read(
    place: Place, asked: tuple[str | None, str], base: str | None, dropped: bool
) -> None:
    """An agent that never reads through us (opencode) has written the disk, too, before it tells us."""
    path = place.ws / "a"
    path.write_text("theirs")
    place.editor.type(str(path), "mine")
    diff = Diff((Change("modify", str(path)),), *asked)
    call = ToolCall("t1", kind="edit", content=[] if dropped else [diff], proposed=[diff])
    place.session.tool_calls["t1"] = call
    place.session.tool_calls["t2"] = ToolCall("t2")
    await place.code(lambda: place.write("ws/a", "theirs"))
    assert [(s.base, s.disk, s.written) for s in place.asked] == [(base, "theirs", True)]
    assert bool(place.offered) == (base is not None)


async def test_a_no_to_what_is_on_disk_already_says_so(place: Place) -> None:
    path = place.ws / "a"
    path.write_text("theirs")
    place.editor.type(str(path), "mine")
    with pytest.raises(RequestError, match="the file has this text, but"):
        await place.write("ws/a", "theirs")
    assert place.editor.buffers[str(path)] == ["mine", True]


@pytest.mark.req("V1-170")
@pytest.mark.parametrize("answer", [1, 2])
async def test_a_file_that_changed_under_edits_the_agent_knows_is_asked_about(
    place: Place, answer: int
) -> None:
    """Its text is nowhere but on the disk: neither the buffer nor the undo history has it."""
    path = place.ws / "a"
    path.write_text("other program\n")
    place.editor.type(str(path), "mine")
    assert await place.read("ws/a") == "mine"
    place.editor.behind[str(path)] = "1"
    place.answer = answer
    if answer == 1:
        await place.write("ws/a", "theirs")
    else:
        assert await place.code(lambda: place.write("ws/a", "theirs")) == -32603
    assert [(s.why, s.disk) for s in place.asked] == [("modified", "other program\n")]
    assert place.editor.buffers[str(path)] == (["theirs", False] if answer == 1 else ["mine", True])


async def test_edits_made_while_it_was_asked_are_merged_anew(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.buffers[path] = ["1\n2\n3\n4\n5\n", False]
    await place.read("ws/a")
    place.editor.type(path, "M\n2\n3\n4\n5\n")
    place.answer = 3
    edits = iter(["M\nmore\n3\n4\n5\n"])

    def edit() -> None:
        if place.asked and (text := next(edits, None)):
            place.editor.type(path, text)

    place.editor.before_write = edit
    await place.write("ws/a", "1\n2\n3\n4\nT\n")
    assert len(place.asked) == 2
    assert place.editor.buffers[path] == ["M\nmore\n3\n4\nT\n", True]


async def test_unsaved_edits_the_agent_has_read_do_not_ask(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    await place.read("ws/a", 1, 0)
    await place.write("ws/a", "theirs")
    assert place.asked == []
    place.editor.type(path, "mine again")
    other = place.room.session("s2", str(place.ws))
    await place.files.read(other, path, None, None)
    assert await place.code(lambda: place.write("ws/a", "theirs")) == -32603
    assert [s.why for s in place.asked] == ["modified"]


async def test_edits_made_while_it_was_asked_are_asked_about_again(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "one")
    place.answer = 1
    edits = iter(["two", "three"])

    def edit() -> None:
        if len(place.asked) > 0 and (text := next(edits, None)):
            place.editor.type(path, text)

    place.editor.before_write = edit
    await place.write("ws/a", "theirs")
    assert [s.diff.old_text for s in place.asked if s.diff] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("kind", "old", "asks"), [("ok", "mine", 0), ("no", "mine", 1), ("ok", "not mine", 1)]
)
async def test_a_diff_the_user_has_approved_does_not_ask(
    place: Place, kind: str, old: str, asks: int
) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    place.answer = 1
    agent_asks(place, Diff((Change("modify", path),), old, "theirs"), kind)
    await place.write("ws/a", "theirs")
    assert len(place.asked) == asks


async def test_a_diff_that_came_after_the_answer_is_not_approved(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    place.answer = 1
    shown, other = (Diff((Change("modify", path),), "mine", text) for text in ("shown", "theirs"))
    agent_asks(place, shown, "ok")
    place.room.store.apply(place.session, ToolPatch("t1", content=(other,)))
    await place.write("ws/a", "theirs")
    assert len(place.asked) == 1


async def test_the_answer_to_one_question_about_a_call_is_not_that_to_another(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    place.answer = 1
    for text, answer in (("first", "ok"), ("theirs", "no")):
        agent_asks(place, Diff((Change("modify", path),), "mine", text), answer)
    await place.write("ws/a", "theirs")
    assert len(place.asked) == 1
    place.editor.type(path, "mine")
    place.room.store.apply(place.session, ToolPatch("t1", content=()))  # what was shown then still counts
    await place.write("ws/a", "first")
    assert len(place.asked) == 1


def agent_asks(place: Place, diff: Diff, answer: str) -> None:
    """A question of the agent about a change, and the user's answer."""
    permission = Permission(f"p {diff.new_text}", list(OPTIONS), tool_call_id="t1")
    place.room.store.apply(place.session, ToolPatch("t1", kind="edit", content=(diff,)))
    place.room.store.apply(place.session, PermissionOpened(permission))
    place.room.store.apply(place.session, PermissionClosed(permission.id, "selected", answer, "user"))


async def test_outside_with_unsaved_edits_is_one_question(place: Place) -> None:
    path = str(place.base / "other.txt")
    place.editor.type(path, "mine")
    place.answer = 1
    await place.write("other.txt", "theirs")
    assert [(s.why, s.diff.old_text if s.diff else None) for s in place.asked] == [("outside", "mine")]
