"""Commands run for agents: real processes, small ones."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.plugin import marked, none_left
from tests.plugin.programs import STUBBORN, in_session
from tests.unit.service.helpers import Room

from acp_nvim.process import ending
from acp_nvim.process.reaper import Reaper
from acp_nvim.process.spawn import Spawner
from acp_nvim.service import terminals
from acp_nvim.service.terminals import TerminalService
from acp_nvim.session.asked import CommandSubject, Permission
from acp_nvim.session.entities import Session
from acp_nvim.session.events import StateSet, TerminalBytes
from acp_nvim.session.ports import CommandLine, RequestError
from acp_nvim.session.terminals import Exit, Terminal

pytestmark = pytest.mark.anyio


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Mark all processes of this test; at its end none may be alive."""
    monkeypatch.setenv("ACP_TEST_ID", f"terminals-{os.getpid()}")
    yield f"ACP_TEST_ID=terminals-{os.getpid()}"
    none_left(f"ACP_TEST_ID=terminals-{os.getpid()}")


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "TERM_GRACE", 0.3)


class Shop:
    """A project on disk, the service, and a user who answers every question with ``answer``."""

    def __init__(self, base: Path, group: anyio.abc.TaskGroup) -> None:
        self.base = base.resolve()
        self.ws = self.base / "ws"
        self.ws.mkdir()
        self.room = Room(on_show=self._on_show)
        self.spawner = Spawner()
        self.spawner.reaper = Reaper(grace=0.2)
        self.always = False
        self.answer: int | None = 1
        self.asked: list[CommandSubject] = []
        self.service = TerminalService(
            self.spawner,
            self.room.store,
            self.room.questions,
            group.start_soon,  # type: ignore[arg-type]
            ask=lambda: self.always,
        )
        self.room.store.subscribe(self.service.on_event)
        self.session = self.room.session(cwd=str(self.ws))

    def _on_show(self, _session: Session, permission: Permission) -> None:
        assert isinstance(permission.subject, CommandSubject)
        assert permission.asked_by == "client"
        self.asked.append(permission.subject)
        if self.answer is not None:
            self.room.questions.answer(permission.id, self.answer)

    async def create(self, command: str, *args: str, **fields: Any) -> str:
        session = fields.pop("session", self.session)
        return await self.service.create(session, CommandLine(command, args, **fields))

    async def sh(self, program: str, **fields: Any) -> str:
        return await self.create("/bin/sh", "-c", program, **fields)

    async def run(self, command: str, *args: str, **fields: Any) -> tuple[str, Exit]:
        """Run a command to its end; its output, and how it ended."""
        terminal = await self.create(command, *args, **fields)
        with anyio.fail_after(10):
            ended = await self.service.wait(self.session, terminal)
        text, _, told = self.service.output(self.session, terminal)
        assert told == ended
        await self.service.release(self.session, terminal)
        return text, ended

    async def writes(self, terminal: str, wanted: str) -> None:
        await self.room.until(lambda: wanted in self.service.output(self.session, terminal)[0])

    def shown(self, terminal: str) -> Terminal:
        return self.session.terminals[terminal]

    async def refused(self, job: Callable[[], Any]) -> RequestError:
        with pytest.raises(RequestError) as caught:
            await job()
        return caught.value


@asynccontextmanager
async def shop(base: Path) -> AsyncIterator[Shop]:
    made: Shop | None = None
    try:
        with anyio.fail_after(40):
            async with anyio.create_task_group() as group:
                made = Shop(base, group)
                try:
                    yield made
                finally:
                    made.service.close(made.session)
    finally:
        if made is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(made.spawner.reaper.close)


@pytest.mark.req("V1-176", "V1-177", "V1-192")
async def test_a_program_its_arguments_folder_and_environment(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        text, ended = await made.run("printf", "%s|", "a b", "$HOME", "*")
        assert (text, ended) == ("a b|$HOME|*|", Exit(0))
        (made.ws / "sub").mkdir()
        text, ended = await made.run("pwd", cwd=str(made.ws / "sub"))
        assert text == f"{made.ws}/sub\n"
        script = 'pwd; echo "$FOO ${NVIM-none}"; cat; echo end; exit 3'
        text, ended = await made.run("/bin/sh", "-c", script, env={"FOO": "bar baz"})
        assert text == f"{made.ws}\nbar baz none\nend\n"  # cat has met the end of its input at once
        assert ended == Exit(3)
        assert made.asked == []


@pytest.mark.req("V1-176")
async def test_create_does_not_wait(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh("echo on; sleep 60")
        await made.writes(terminal, "on\n")
        assert made.service.output(made.session, terminal) == ("on\n", False, None)
        assert made.shown(terminal).command == "/bin/sh -c 'echo on; sleep 60'"
        assert made.shown(terminal).cwd == str(made.ws)


@pytest.mark.req("V1-180")
async def test_a_line_of_a_shell(marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")  # does not take what agents write
    async with shop(tmp_path) as made:
        terminal = await made.create("echo a && echo b | tr b c")
        assert await made.service.wait(made.session, terminal) == Exit(0)
        assert made.service.output(made.session, terminal)[0] == "a\nc\n"
        assert made.shown(terminal).command == "echo a && echo b | tr b c"
        spaced = made.ws / "my prog"
        spaced.write_text("#!/bin/sh\necho direct $#\n")
        spaced.chmod(0o755)
        assert (await made.run(str(spaced)))[0] == "direct 0\n"
        assert (await made.run("./my prog"))[0] == "direct 0\n"


@pytest.mark.req("V1-179")
@pytest.mark.parametrize(
    ("command", "args", "said"),
    [
        ("no-such-program", (), "no 'no-such-program' in $PATH"),
        ("no-such program", ("x",), "no 'no-such program' in $PATH"),
        ("./missing", (), "missing does not exist"),
        ("/", (), "/ is a directory"),
    ],
)
async def test_a_program_that_cannot_be_started(
    marker: str, tmp_path: Path, command: str, args: tuple[str, ...], said: str
) -> None:
    async with shop(tmp_path) as made:
        error = await made.refused(lambda: made.create(command, *args))
        assert error.code == -32603
        assert said in error.message
        assert command in error.message
        assert made.session.terminals == {}


@pytest.mark.req("V1-177")
@pytest.mark.parametrize(
    "line",
    [
        CommandLine(""),
        CommandLine("  "),
        CommandLine("ls", cwd="sub"),
        CommandLine("ls", cwd=""),
        CommandLine("ls", cwd="/a\0b"),
        CommandLine("a\0b"),
        CommandLine("ls", ("a\0b",)),
        CommandLine("ls", ("\ud800",)),
        CommandLine("ls", env={"": "x"}),
        CommandLine("ls", env={"A=B": "x"}),
        CommandLine("ls", env={"A": "\0"}),
    ],
)
async def test_what_no_command_can_be(marker: str, tmp_path: Path, line: CommandLine) -> None:
    async with shop(tmp_path) as made:
        error = await made.refused(lambda: made.service.create(made.session, line))
        assert error.code == -32602
        assert made.session.terminals == {}
        assert made.asked == []


async def test_a_folder_that_is_not_there(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        error = await made.refused(lambda: made.create("ls", cwd=str(made.ws / "no")))
        assert error.code == -32603
        assert "working directory" in error.message


@pytest.mark.req("V1-183")
async def test_output_and_errors_in_the_order_of_arrival(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        text, _ = await made.run("/bin/sh", "-c", "for i in 1 2 3; do echo o$i; echo e$i >&2; done")
        assert text == "o1\ne1\no2\ne2\no3\ne3\n"


@pytest.mark.req("V1-181", "V1-183", "V1-196")
async def test_c17_the_agents_copy_is_limited_and_ours_is_not(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.create("printf", "%s", "aaééé", limit=5)
        await made.service.wait(made.session, terminal)
        assert made.service.output(made.session, terminal) == ("éé", True, Exit(0))
        assert made.shown(terminal).output.tail(99) == "aaééé".encode()


@pytest.mark.req("V1-183")
async def test_binary_output(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        text, _ = await made.run("printf", r"a\377\000b\303")
        assert text == "a\ufffd\0b\ufffd"


@pytest.mark.req("V1-184", "V1-185")
@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("exit 0", Exit(0)),
        ("exit 255", Exit(255)),
        ("kill -9 $$", Exit(None, "SIGKILL")),
        ("kill -TERM $$", Exit(None, "SIGTERM")),
    ],
)
async def test_how_a_command_ends(marker: str, tmp_path: Path, program: str, ended: Exit) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh(program)
        found: list[Exit] = []

        async def wait() -> None:
            found.append(await made.service.wait(made.session, terminal))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(wait)
        await wait()  # after the end: at once
        assert found == [ended] * 4
        assert made.shown(terminal).exit == ended


@pytest.mark.req("V1-184")
async def test_all_output_is_there_when_the_end_is_told(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        for _ in range(5):
            text, _ = await made.run("/bin/sh", "-c", "head -c 60000 /dev/zero | tr '\\0' x; echo end")
            assert text == "x" * 60000 + "end\n"


@pytest.mark.req("V1-184")
async def test_a_child_that_holds_the_pipe_does_not_keep_the_end_back(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh("(sleep 0.3; echo late; sleep 60) & echo early")
        assert await made.service.wait(made.session, terminal) == Exit(0)
        assert made.service.output(made.session, terminal)[0] == "early\n"
        await made.writes(terminal, "late\n")  # it is the command's output all the same
        await made.service.kill(made.session, terminal)  # ends what the command left behind
        assert marked(marker).keys() == {made.spawner.reaper.pid}
        assert made.service.output(made.session, terminal) == ("early\nlate\n", False, Exit(0))


@pytest.mark.req("V1-185", "V1-186", "V1-191")
@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("echo on; sleep 60", "SIGTERM"),
        (f"echo on; {STUBBORN}", "SIGKILL"),
        (f"({STUBBORN}) & ({STUBBORN}) & echo on; sleep 60", "SIGTERM"),
        (f"{in_session(STUBBORN)} echo on; sleep 60", "SIGTERM"),
    ],
    ids=["polite", "stubborn", "stubborn children", "a session of its own"],
)
async def test_kill_ends_all_of_it_and_keeps_the_id(
    marker: str, tmp_path: Path, program: str, name: str
) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh(program)
        await made.writes(terminal, "on\n")
        await made.service.kill(made.session, terminal)
        assert marked(marker).keys() == {made.spawner.reaper.pid}
        assert await made.service.wait(made.session, terminal) == Exit(None, name)
        assert made.service.output(made.session, terminal)[0] == "on\n"
        await made.service.kill(made.session, terminal)  # of an ended command: succeeds
        assert made.shown(terminal).stopped


@pytest.mark.req("V1-187", "V1-189", "V1-190")
@pytest.mark.parametrize("method", ["kill", "release"])
async def test_who_waits_is_answered_when_it_is_ended(marker: str, tmp_path: Path, method: str) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh("echo on; sleep 60")
        await made.writes(terminal, "on\n")
        found: list[Exit] = []

        async def wait() -> None:
            found.append(await made.service.wait(made.session, terminal))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await getattr(made.service, method)(made.session, terminal)
        assert found == [Exit(None, "SIGTERM")] * 2
        if method == "release":
            for name in ("wait", "kill", "release"):
                error = await made.refused(partial(getattr(made.service, name), made.session, terminal))
                assert error.code == -32002
            with pytest.raises(RequestError):
                made.service.output(made.session, terminal)
            assert made.shown(terminal).released
            assert made.shown(terminal).output.tail(9) == b"on\n"


@pytest.mark.req("V1-194")
async def test_a_terminal_belongs_to_its_session(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        other = made.room.session("s2", cwd=str(made.ws))
        terminal = await made.sh("sleep 60")
        for name in ("wait", "kill", "release"):
            job = partial(getattr(made.service, name), other, terminal)
            assert (await made.refused(job)).code == -32002
        assert made.service.output(made.session, terminal)[2] is None


@pytest.mark.req("V1-193")
@pytest.mark.parametrize("state", ["closed", "lost"])
async def test_the_end_of_a_session_ends_its_commands(marker: str, tmp_path: Path, state: Any) -> None:
    async with shop(tmp_path) as made:
        other = made.room.session("s2", cwd=str(made.ws))
        await made.create("sleep", "61", session=other)
        for _ in range(3):
            await made.sh(f"({STUBBORN}) & sleep 60")
        terminal = await made.sh("sleep 60")
        made.room.store.apply(made.session, StateSet(state))
        await made.room.until(lambda: len(marked(marker)) == 2)
        assert [line for line in marked(marker).values() if line.endswith("sleep 61")]
        assert (await made.refused(lambda: made.service.kill(made.session, terminal))).code == -32002
        assert (await made.run("echo", "again"))[0] == "again\n"  # it may be taken up again
        made.service.close(other)


async def test_a_folder_outside_asks_with_the_command_in_full(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        outside = made.base / "outside"
        outside.mkdir()
        (made.ws / "link").symlink_to(outside)
        made.answer = 2
        error = await made.refused(lambda: made.create("pwd", "-P", cwd=str(made.ws / "link")))
        assert "did not allow" in error.message
        assert made.session.terminals == {}
        made.answer = 1
        text, _ = await made.run("pwd", "-P", cwd=str(made.ws / "link"))
        assert text == f"{outside}\n"
        subject = CommandSubject("pwd -P", f"{made.ws}/link", str(outside), "outside")
        assert made.asked == [subject, subject]


async def test_the_folder_must_be_the_one_that_was_asked_about(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        for name in ("one", "two"):
            (made.base / name).mkdir()
        link = made.ws / "link"
        link.symlink_to(made.base / "one")

        def turn(_session: Session, permission: Permission) -> None:
            link.unlink()
            link.symlink_to(made.base / "two")
            made.room.questions.answer(permission.id, 1)

        made.room.on_show = turn
        error = await made.refused(lambda: made.create("pwd", cwd=str(link)))
        assert "elsewhere" in error.message
        assert made.session.terminals == {}


async def test_a_user_who_wants_to_be_asked_is(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        made.always = True
        assert (await made.run("echo", "a"))[0] == "a\n"
        made.answer = 2
        await made.refused(lambda: made.create("echo", "b"))
        assert [each.command for each in made.asked] == ["echo a", "echo b"]
        assert made.asked[0].why == "asked"


async def test_nothing_is_started_for_a_session_that_was_closed_meanwhile(
    marker: str, tmp_path: Path
) -> None:
    async with shop(tmp_path) as made:
        made.always, made.answer = True, None
        refused: list[RequestError] = []

        async def create() -> None:
            refused.append(await made.refused(lambda: made.create("sleep", "60")))

        async with anyio.create_task_group() as group:
            group.start_soon(create)
            await made.room.until(lambda: made.asked)
            made.service.close(made.session)
            made.room.questions.answer(made.room.questions.open()[0].id, 1)
        assert "closed" in refused[0].message
        assert marked(marker).keys() <= {made.spawner.reaper.pid}


async def test_terminals_that_are_never_released_have_an_end(
    marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "MOST", 2)
    async with shop(tmp_path) as made:
        first = await made.create("true")
        await made.create("true")
        assert "release" in (await made.refused(lambda: made.create("true"))).message
        await made.service.release(made.session, first)
        await made.create("true")


@pytest.mark.req("V1-181", "V1-196")
async def test_c18_much_output_is_few_events_and_bounded(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.create("yes", "a line of some length, again and again")
        began = anyio.current_time()
        await made.room.until(lambda: made.shown(terminal).output.total > 30_000_000)
        took = anyio.current_time() - began
        events = [each for each in made.room.events if isinstance(each, TerminalBytes)]
        assert len(events) <= took / 0.016 + 2
        text, truncated, ended = made.service.output(made.session, terminal)
        assert (len(text) <= 1024 * 1024, truncated, ended) == (True, True, None)
        assert made.shown(terminal).output.size <= 1024 * 1024
        await made.service.kill(made.session, terminal)
        assert made.service.output(made.session, terminal)[2] == Exit(None, "SIGTERM")


async def test_the_first_bytes_are_told_at_once(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        terminal = await made.sh("echo a; sleep 60")
        await made.room.until(lambda: made.shown(terminal).output.tail(9) == b"a\n")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_descriptor_is_left(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        await made.run("true")
        before = open_files()
        for _ in range(5):
            await made.run("echo", "x")
            await made.refused(lambda: made.create("no-such-program"))
        assert open_files() <= before


async def test_the_reaper_is_told_when_a_number_is_no_longer_ours(marker: str, tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        watched = made.spawner.reaper._watched
        terminal = await made.create("true")
        await made.service.wait(made.session, terminal)
        await anyio.wait_all_tasks_blocked()
        assert list(watched.values()) == [0]  # another program may have the number of the group by now
        await made.service.release(made.session, terminal)
        assert watched == {}
        await made.sh("sleep 60 & true")
        await made.room.until(lambda: 0 not in watched.values())
