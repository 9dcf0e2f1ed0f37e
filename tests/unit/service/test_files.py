"""File access for agents: buffers first, the boundary, questions, order."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest
from tests.unit.service.helpers import Place

from acp_nvim.service import disk
from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import RequestError

pytestmark = pytest.mark.anyio


def text_of(path: str) -> str:
    return Path(path).read_text()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.req("V1-163")
async def test_reads_of_the_disk(place: Place) -> None:
    (place.ws / "a.txt").write_bytes(b"a\nb\r\nc")
    assert await place.read("ws/a.txt") == "a\nb\r\nc"
    assert await place.read("ws/a.txt", 2, 1) == "b\r\n"
    assert await place.read("ws/a.txt", 9) == ""
    assert await place.read("ws/a.txt", None, 0) == ""
    assert place.asked == []


@pytest.mark.req("V1-162")
async def test_the_buffer_comes_first_by_its_real_name(place: Place) -> None:
    path = place.ws / "a.py"
    path.write_text("disk\n")
    (place.base / "link").symlink_to(place.ws)
    place.editor.type(str(path), "UNSAVED\ntwo\n")
    for name in ("ws/a.py", "link/a.py", "ws/../ws/a.py"):
        assert (await place.read(name)).startswith("UNSAVED\n")
    assert await place.read("ws/a.py", 2, 1) == "two\n"


@pytest.mark.parametrize("text", ["a\0b", "a\udce9b"])
async def test_a_buffer_that_is_no_text(place: Place, text: str) -> None:
    place.editor.buffers[str(place.ws / "a")] = [text, False]
    assert await place.code(lambda: place.read("ws/a")) == disk.INTERNAL_ERROR


@pytest.mark.req("V1-165")
async def test_a_missing_file_and_the_quirk(place: Place) -> None:
    assert await place.code(lambda: place.read("ws/new.txt")) == -32002
    place.quirks = {"missing_file": "empty"}
    assert await place.read("ws/new.txt") == ""
    assert await place.code(lambda: place.read("ws")) == -32603


@pytest.mark.req("V1-172")
async def test_relative_paths(place: Place) -> None:
    for job in (
        place.files.read(place.session, "a.txt", None, None),
        place.files.write(place.session, "a", "x"),
    ):
        with pytest.raises(RequestError) as caught:
            await job
        assert caught.value.code == -32602
    assert place.asked == []


OUTSIDE = ["other/secret.txt", "ws-evil/secret.txt", "ws/../other/secret.txt", "ws/out/secret.txt"]


@pytest.mark.req("V1-173")
@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("answer", [0, 1, 2])
async def test_outside_the_roots_the_user_is_asked(place: Place, name: str, answer: int) -> None:
    for folder in ("other", "ws-evil"):
        (place.base / folder).mkdir()
        (place.base / folder / "secret.txt").write_text("s\n")
    (place.ws / "out").symlink_to(place.base / "other")
    place.answer = answer
    real = str((place.base / name).resolve())
    if answer == 1:
        assert await place.read(name) == "s\n"
        await place.write(name, "t\n")
        assert text_of(real) == "t\n"
    else:
        assert await place.code(lambda: place.read(name)) == -32603
        assert await place.code(lambda: place.write(name, "t\n")) == -32603
        assert text_of(real) == "s\n"
    assert [(s.op, s.real_path, s.why) for s in place.asked] == [
        ("read", real, "outside"),
        ("write", real, "outside"),
    ]
    assert place.asked[0].diff is None
    assert place.asked[1].diff == Diff((Change("modify", real),), "s\n", "t\n")
    if answer != 1:
        assert place.changed == []
        assert all(call.local == "rejected" for call in place.session.tool_calls.values())


async def test_nothing_is_read_before_the_answer(place: Place) -> None:
    await place.code(lambda: place.read("other/none.txt"))
    assert place.editor.calls == []


async def test_protected_files_ask(place: Place) -> None:
    assert await place.code(lambda: place.write("ws/.git/hooks/pre-commit", "#!/bin/sh\n")) == -32603
    place.answer = 1
    await place.write("ws/.envrc", "x\n")
    assert [s.why for s in place.asked] == ["protected", "protected"]
    assert (place.ws / ".envrc").read_text() == "x\n"
    assert not (place.ws / ".git").exists()


@pytest.mark.req("V1-167")
async def test_writes_to_the_disk(place: Place) -> None:
    await place.write("ws/new/deep/a.txt", "one\r\ntwo")
    assert (place.ws / "new/deep/a.txt").read_bytes() == b"one\r\ntwo"
    assert place.changed == [str(place.ws / "new/deep/a.txt")]
    (place.ws / "link").symlink_to(place.ws / "target.txt")
    await place.write("ws/link", "x")
    assert (place.ws / "target.txt").read_text() == "x"
    assert (place.ws / "link").is_symlink()


@pytest.mark.parametrize(
    ("text", "expected"), [("a\ud800b", "a\ufffdb"), ("\ud83d\ude80", "🚀"), ("\udc80", "\ufffd"), ("é", "é")]
)
async def test_half_characters_never_reach_the_disk(place: Place, text: str, expected: str) -> None:
    await place.write("ws/a", text)
    assert (place.ws / "a").read_text() == expected


@pytest.mark.req("V1-169")
async def test_a_loaded_buffer_is_written_through(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.buffers[path] = ["old", False]
    await place.write("ws/a", "new")
    assert place.editor.buffers[path] == ["new", False]
    assert not (place.ws / "a").exists(), "the buffer's own write is the editor's work"
    assert place.changed == [path]
    place.editor.failure = "E514: write error"
    with pytest.raises(RequestError, match="E514"):
        await place.write("ws/a", "newer")
    assert len(place.changed) == 1


async def test_a_buffer_in_which_a_command_was_begun_is_waited_for(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.buffers[path] = ["old", False]
    place.editor.busy = 3
    await place.write("ws/a", "new")
    assert place.editor.buffers[path] == ["new", False]
    assert [name for name, _ in place.editor.calls] == ["read", *["write"] * 4]


async def test_what_a_write_changes_is_told(place: Place) -> None:
    real = str(place.ws / "a")
    (place.base / "link").symlink_to(place.ws)
    await place.write("link/a", "1\n")
    await place.write("ws/a", "2\n")
    await place.write("ws/a", "2\n")
    place.editor.buffers[real] = ["3\n", False]
    await place.write("ws/a", "4\n")
    told = [event.diff for event in place.written]
    assert told == [
        Diff((Change("add", real),), None, "1\n"),
        Diff((Change("modify", real),), "1\n", "2\n"),
        Diff((Change("modify", real),), "3\n", "4\n"),
    ]
    assert str(place.base / "link/a") in place.written[0].names


async def test_what_is_written_already_is_no_news(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.buffers[path] = ["same", False]
    await place.write("ws/a", "same")
    assert place.changed == []


async def test_a_buffer_too_large_for_a_line(place: Place) -> None:
    place.editor.buffers[str(place.ws / "a")] = ["x", False]
    place.editor.large = True
    with pytest.raises(RequestError, match="too large"):
        await place.read("ws/a")


async def test_a_path_that_moves_while_it_is_asked_about(place: Place) -> None:
    (place.base / "good.txt").write_text("good")
    (place.base / "bad.txt").write_text("bad")
    link = place.ws / "link"
    link.symlink_to(place.base / "good.txt")
    show = place.room.on_show

    def swap(session: Session, permission: Permission) -> None:
        link.unlink()
        link.symlink_to(place.base / "bad.txt")
        show(session, permission)

    place.room.on_show = swap
    place.answer = 1
    with pytest.raises(RequestError, match="elsewhere"):
        await place.read("ws/link")


@pytest.mark.req("V1-175")
async def test_the_same_file_in_the_order_of_arrival(place: Place) -> None:
    (place.base / "link").symlink_to(place.ws)
    (place.ws / "a").write_text("0")
    seen: list[str] = []

    async def look(name: str) -> None:
        seen.append(await place.read(name))

    async with anyio.create_task_group() as group:
        for n in range(1, 40):
            group.start_soon(place.write, ("ws/a", "link/a")[n % 2], str(n))
            group.start_soon(look, ("link/a", "ws/../ws/a")[n % 2])
    assert seen == [str(n) for n in range(1, 40)]


async def test_a_question_holds_up_only_its_own_file(place: Place) -> None:
    (place.ws / "b").write_text("b")
    place.answer = None
    done: list[str] = []

    async def outside() -> None:
        done.append(await place.read("other.txt"))

    (place.base / "other.txt").write_text("o")
    async with anyio.create_task_group() as group:
        group.start_soon(outside)
        group.start_soon(outside)
        await place.room.until(lambda: place.asked)
        with anyio.fail_after(5):
            assert await place.read("ws/b") == "b"
        assert (len(place.asked), done) == (1, [])
        place.room.questions.answer("q1", 1)
        await place.room.until(lambda: len(place.asked) == 2)
        place.room.questions.answer("q2", 1)
    assert done == ["o", "o"]


async def test_a_cancelled_request_leaves_the_line(place: Place) -> None:
    place.answer = None
    (place.base / "other.txt").write_text("o")
    async with anyio.create_task_group() as outer:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(partial(place.read, "other.txt"))
            await place.room.until(lambda: place.asked)
            group.cancel_scope.cancel()
        assert place.room.hidden == [("q1", "withdrawn")]
        outer.start_soon(partial(place.read, "other.txt"))
        await place.room.until(lambda: len(place.asked) == 2)
        place.room.questions.answer("q2", 1)
    place.files.forget(place.session)


async def test_a_session_forgets(place: Place) -> None:
    path = str(place.ws / "a")
    place.editor.type(path, "mine")
    await place.read("ws/a")
    place.files.forget(place.session)
    assert await place.code(lambda: place.write("ws/a", "theirs")) == -32603
