"""Whose a terminal is, what is asked before a command starts, and what it may use up."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.plugin import marked
from tests.plugin.programs import STUBBORN
from tests.unit.service.shop import shop

from acp_nvim.service import terminals
from acp_nvim.session.asked import CommandSubject, Permission
from acp_nvim.session.entities import Session
from acp_nvim.session.events import StateSet, TerminalBytes
from acp_nvim.session.ports import RequestError
from acp_nvim.session.terminals import Exit

pytestmark = pytest.mark.anyio


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


async def test_the_variables_it_gets_are_asked_about_too(marker: str, tmp_path: Path) -> None:
    """They may make another command of it: ``PATH``, ``LD_PRELOAD``, ``SHELL``, ``GIT_SSH_COMMAND``."""
    async with shop(tmp_path) as made:
        made.always = True
        await made.run("env", env={"PATH": "/usr/bin:/bin", "A": "b"})
        assert made.asked[0].env == (("PATH", "/usr/bin:/bin"), ("A", "b"))


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
