"""read_file, write_file, edit_file: what they tell, what they ask, and what they leave alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.unit.service.tools.desk import ALLOW, ALWAYS, REASON, REJECT, desk

from acp_nvim.session.content import Change, Diff, Location

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("a\nb\nc\n", {}, "a\nb\nc\n"),
        ("a\nb\nc", {"first": 2}, "b\nc\n(lines 2 to 3 of 3)"),
        ("a\nb\nc\n", {"first": 2, "lines": 1}, "b\n(lines 2 to 2 of 3)"),
        ("a\nb\n", {"first": 5}, "(the file has only 2 lines)"),
        ("", {}, "(the file is empty)"),
        ("a\r\nb\r\n", {"lines": 2, "first": None}, "a\r\nb\r\n"),
    ],
)
async def test_reading(tmp_path: Path, text: str, given: dict[str, Any], said: str) -> None:
    async with desk(tmp_path) as made:
        made.file("src/a.txt", text)
        assert await made.use("read_file", path="src/a.txt", **given) == said
        assert made.row.status == "completed"
        assert made.row.locations[0].path == f"{made.ws}/src/a.txt"
        assert made.asked == []


async def test_reading_is_bounded_and_says_where_it_was(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.file("long", "x" * 300_000)
        said = await made.use("read_file", path="long")
        assert said.endswith("x\n(lines 1 to 1 of 1, the last one cut)")
        assert len(said) < 201_000
        made.file("many", "line\n" * 5000)
        assert (await made.use("read_file", path="many")).endswith("(lines 1 to 2000 of 5000)")
        await made.use("read_file", path="many", first=10, lines=5)
        assert made.row.locations == [Location(f"{made.ws}/many", 10, 14)]


async def test_reading_gives_what_the_user_has_in_the_buffer(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        path = made.file("a.txt", "disk\n")
        made.editor.type(str(path), "unsaved\n")
        assert await made.use("read_file", path=str(path)) == "unsaved\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".env", "secret"),
        (".ENV.local", "secret"),
        ("conf/prod.pem", "secret"),
        ("id_ed25519", "secret"),
        (".npmrc", "secret"),
        ("config/secrets.yml", "secret"),
        (".git/config", "protected"),
        ("build/out.txt", "ignored"),
        ("innocent.txt", "secret"),  # a link to .env
        ("../other/x.txt", "outside"),
        ("out/x.txt", "outside"),  # through a link
        ("/etc/hostname", "outside"),
    ],
)
async def test_what_is_not_read_without_a_word(tmp_path: Path, name: str, why: str) -> None:
    async with desk(tmp_path) as made:
        made.git("init", "-q")
        made.file(".gitignore", "build/\n")
        for each in (".env", ".ENV.local", "conf/prod.pem", "id_ed25519", ".npmrc", "build/out.txt"):
            made.file(each, "hush\n")
        made.file("config/secrets.yml", "hush\n")
        (made.base / "other").mkdir()
        (made.base / "other/x.txt").write_text("hush\n")
        (made.ws / "out").symlink_to(made.base / "other")
        (made.ws / "innocent.txt").symlink_to(made.ws / ".env")
        made.answer = REJECT
        assert await made.use("read_file", path=name) == "It failed: The user rejected this."
        assert (made.subject.op, made.subject.why) == ("read", why)
        assert made.asked[-1].host == "agents.example.org"
        assert made.asked[-1].tool_call_id == made.row.id
        assert made.row.local == "rejected"
        assert "hush" not in made.shown
        made.answer = ALWAYS
        told = await made.use("read_file", path=name)
        assert "It failed" not in told
        assert told == await made.use("read_file", path=name)
        assert len(made.asked) == 2


async def test_a_tracked_file_in_an_ignored_folder_is_read(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.git("init", "-q")
        made.file(".gitignore", "build/\n")
        made.file("build/kept.txt", "kept\n")
        made.git("add", "-f", "build/kept.txt")
        assert await made.use("read_file", path="build/kept.txt") == "kept\n"


async def test_repositories_in_repositories(tmp_path: Path) -> None:
    """What an outer one ignores is ignored, unless it is outside of the project, as one for a home folder."""
    async with desk(tmp_path) as made:
        made.git("init", "-q", where=made.base)
        (made.base / ".gitignore").write_text("*\n")
        made.git("init", "-q")
        made.file(".gitignore", "vendor/\n")
        made.file("vendor/lib/a.txt", "a\n")
        made.git("init", "-q", where=made.ws / "vendor/lib")
        made.file("a.txt", "a\n")
        made.answer = REJECT
        assert await made.use("read_file", path="a.txt") == "a\n"
        assert "rejected" in await made.use("read_file", path="vendor/lib/a.txt")
        assert made.subject.why == "ignored"
        made.file("not-git/.git/x", "")
        made.file("not-git/a.txt", "a\n")
        assert await made.use("read_file", path="not-git/a.txt") == "a\n"
        broken = made.file("broken/.git", "gitdir: /nowhere\n").parent
        made.file("broken/a.txt", "a\n")
        assert "rejected" in await made.use("read_file", path=f"{broken}/a.txt")  # nobody can tell


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
async def test_even_what_is_wrong_with_a_file_is_not_told(tmp_path: Path, tool: str) -> None:
    async with desk(tmp_path) as made:
        made.file(".env", b"\0\xff")
        made.file("key.pem/x")
        made.answer = REJECT
        given = {"text": "x"} if tool == "write_file" else {"old_text": "a", "new_text": "b"}
        for name in (".env", "key.pem", "../other", "/etc"):
            said = await made.use(tool, path=name, **given)
            assert said == "It failed: The user rejected this."
        made.answer, asked = ALLOW, len(made.asked)
        assert "not a text file" in await made.use(tool, path=".env", **given)
        assert len(made.asked) == asked + 1


async def test_a_fault_of_ours_is_an_answer_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.editor.said["buffers"] = [{"no": "path"}]
        assert await made.use("open_buffers") == "It failed: the tool is broken"
        assert [type(each) for each in made.faults] == [KeyError]
        assert made.row.status == "failed"


@pytest.mark.req("AAP-28", "AAP-29")
async def test_writing_is_asked_with_the_change(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW
        assert await made.use("write_file", path="new/a.txt", text="one\n") == "created"
        path = made.ws / "new/a.txt"
        assert path.read_text() == "one\n"
        change = Diff((Change("add", str(path)),), None, "one\n")
        assert (made.diffs, made.subject.diff) == ([change], change)
        assert [(o.name, o.kind) for o in made.asked[0].options] == [
            ("Allow once", "allow_once"),
            ("Always allow changes of this file in this session", "allow_always"),
            ("Reject", "reject_once"),
            ("Reject, and say why", "reject_why"),
        ]
        made.answer = REASON
        said = await made.use("write_file", path="new/a.txt", text="two\n")
        assert said == "It failed: The user rejected this: not like this"
        assert path.read_text() == "one\n"
        assert made.row.local == "rejected"
        made.answer = None
        made.on_ask = lambda: made.room.questions.cancel_all(made.session, "cancel")
        said = await made.use("write_file", path="new/a.txt", text="two\n")
        assert said == "It failed: The user cancelled the turn."
        made.on_ask = lambda: made.room.questions.answer(made.asked[-1].id, 0)
        said = await made.use("write_file", path="new/a.txt", text="two\n")
        assert said == "It failed: The user closed the question."
        assert path.read_text() == "one\n"


@pytest.mark.parametrize(
    ("given", "text", "said"),
    [
        ({"old_text": "b", "new_text": "B"}, "a\nB\nc c\n", "replaced"),
        ({"old_text": "c", "new_text": "C", "replace_all": True}, "a\nb\nC C\n", "replaced 2 times"),
        ({"old_text": "c", "new_text": "C"}, None, "It failed: old_text is in the file 2 times: give more"),
        ({"old_text": "x", "new_text": "C"}, None, "It failed: old_text is not in the file: read it again"),
        ({"old_text": "a", "new_text": "a"}, None, "It failed: old_text and new_text are the same"),
        ({"old_text": "", "new_text": "a"}, None, "It failed: the input does not fit: Expected `str` of len"),
        ({"old_text": "b", "new_text": "B", "path": "no"}, None, "It failed: no such file"),
        (
            {"old_text": "b"},
            None,
            "It failed: the input does not fit: Object missing required field `new_text`",
        ),
    ],
)
async def test_editing(tmp_path: Path, given: dict[str, Any], text: str | None, said: str) -> None:
    async with desk(tmp_path) as made:
        path = made.file("a.txt", "a\nb\nc c\n")
        made.answer = ALLOW
        assert (await made.use("edit_file", **{"path": "a.txt", **given})).startswith(said)
        assert path.read_text() == (text or "a\nb\nc c\n")
        assert len(made.asked) == (1 if text else 0)
        assert made.row.status == ("completed" if text else "failed")


@pytest.mark.req("AAP-28")
async def test_for_this_session_means_this_file_alone(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        one, two = made.file("a.txt", "1\n"), made.file("b.txt", "1\n")
        made.answer = ALWAYS
        await made.use("edit_file", path="a.txt", old_text="1", new_text="2")
        await made.use("write_file", path=str(one), text="3\n")
        assert one.read_text() == "3\n"
        assert len(made.asked) == 1
        made.answer = REJECT
        await made.use("write_file", path="b.txt", text="2\n")
        assert (len(made.asked), two.read_text()) == (2, "1\n")
        # Edits of the user's that are not saved are more than was agreed to.
        made.editor.type(str(one), "mine\n")
        await made.use("write_file", path="a.txt", text="4\n")
        assert (len(made.asked), made.subject.why) == (3, "modified")
        assert [option.id for option in made.asked[-1].options] == ["allow", "reject", "reason"]
        assert made.editor.buffers[str(one)] == ["mine\n", True]
        made.answer = ALLOW
        await made.use("edit_file", path="a.txt", old_text="mine", new_text="ours")
        assert made.editor.buffers[str(one)] == ["ours\n", False]
        assert len(made.asked) == 4  # and no second one about the unsaved edits: they were shown


async def test_a_session_that_was_closed_allows_nothing_any_more(tmp_path: Path) -> None:
    from acp_nvim.session.events import StateSet

    async with desk(tmp_path) as made:
        made.file("a.txt", "1\n")
        made.answer = ALWAYS
        await made.use("write_file", path="a.txt", text="2\n")
        other = made.room.session("s2", str(made.ws))
        made.session, mine = other, made.session
        await made.use("write_file", path="a.txt", text="3\n")
        assert len(made.asked) == 2
        made.session = mine
        made.room.store.apply(mine, StateSet("lost"))
        await made.use("write_file", path="a.txt", text="4\n")
        assert len(made.asked) == 3


async def test_what_changed_while_the_user_was_asked_is_kept(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        path = made.file("a.txt", "1\n")
        made.answer = ALLOW
        made.on_ask = lambda: path.write_text("theirs\n")
        said = await made.use("write_file", path="a.txt", text="2\n")
        assert said.startswith("It failed: it has changed while the user was asked; nothing was done")
        assert path.read_text() == "theirs\n"
        elsewhere = made.file("b.txt", "theirs\n")

        def swap() -> None:
            path.unlink()
            path.symlink_to(elsewhere)

        made.on_ask = swap
        said = await made.use("write_file", path="a.txt", text="2\n")
        assert "leads elsewhere now" in said
        assert elsewhere.read_text() == "theirs\n"


async def test_others_do_not_wait_for_the_users_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        path = made.file("a.txt", "1\n")
        other = made.room.session("s2", str(made.ws))

        async def use() -> None:
            await made.use("write_file", path="a.txt", text="2\n")

        async with anyio.create_task_group() as group:
            group.start_soon(use)
            await made.room.until(lambda: made.asked)
            assert await made.files.read(other, str(path), None, None) == "1\n"
            made.say(ALLOW)
        assert path.read_text() == "2\n"


async def test_an_edit_tells_nothing_of_a_secret(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.file(".env", "KEY=1\n")
        made.answer = REJECT
        for guess in ("KEY=1", "KEY=2"):
            said = await made.use("edit_file", path=".env", old_text=guess, new_text="x")
            assert said == "It failed: The user rejected this."
        assert [permission.subject.op for permission in made.asked] == ["read", "read"]  # type: ignore[union-attr]
        made.answer = ALLOW
        assert await made.use("edit_file", path=".env", old_text="KEY=1", new_text="x") == "replaced"
        assert [permission.subject.op for permission in made.asked[2:]] == ["read", "write"]  # type: ignore[union-attr]
        assert made.subject.why == "secret"
        assert "always" not in [option.id for option in made.asked[-1].options]
        made.answer = REJECT
        assert await made.use("write_file", path=".env", text="x\n") == "It failed: The user rejected this."


@pytest.mark.req("AAP-28")
@pytest.mark.parametrize("name", ["../other/x.txt", "out/x.txt", ".git/hooks/x", ".nvim.lua"])
async def test_writing_where_it_matters_is_asked_once_and_for_once(tmp_path: Path, name: str) -> None:
    async with desk(tmp_path) as made:
        (made.base / "other").mkdir()
        (made.ws / "out").symlink_to(made.base / "other")
        made.answer = ALLOW
        assert await made.use("write_file", path=name, text="x\n") == "created"
        (question,) = made.asked
        assert [option.id for option in question.options] == ["allow", "reject", "reason"]
        assert made.subject.why in ("outside", "protected")
        assert made.subject.real_path == str((made.ws / name).resolve())


async def test_cancelling_while_the_user_is_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.file("a.txt", "1\n")

        async def use() -> None:
            await made.use("write_file", path="a.txt", text="2\n")

        async with anyio.create_task_group() as group:
            group.start_soon(use)
            await made.room.until(lambda: made.asked)
            group.cancel_scope.cancel()
        assert (made.ws / "a.txt").read_text() == "1\n"
        assert made.session.open_permissions == []
        made.answer = ALLOW  # and the file is free again
        assert await made.use("write_file", path="a.txt", text="3\n") == "written"


@pytest.mark.req("AAP-29")
@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("read_file", {}, "Object missing required field `path`"),
        ("read_file", {"path": 1}, "Expected `str`, got `int` - at `$.path`"),
        ("read_file", {"path": "a", "file": "b"}, "Object contains unknown field `file`"),
        ("read_file", {"path": "a", "first": 0}, "Expected `int` >= 1"),
        ("read_file", ["a"], "Expected `object`, got `array`"),
        ("read_file", "a", "Expected `object`, got `str`"),
        ("read_file", {"path": "a\0b"}, "the path is not valid"),
        ("read_file", {"path": "."}, "a folder"),
        ("read_file", {"path": "binary"}, "not a text file"),
        ("run_command", {"command": []}, "Expected `array` of length >= 1"),
        ("run_command", {"command": "ls"}, "Expected `array`, got `str`"),
    ],
)
async def test_what_does_not_fit_is_told(tmp_path: Path, tool: str, given: Any, said: str) -> None:
    async with desk(tmp_path) as made:
        made.file("binary", b"\0\xff")
        told = await made.use(tool, given)
        assert told.startswith("It failed: ")
        assert said in told
        assert (made.row.status, made.asked) == ("failed", [])
