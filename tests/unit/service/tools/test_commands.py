"""run_command: asked about each time, live, bounded in time and output, and gone with the turn."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.unit.service.tools.desk import ALLOW, ALWAYS, REASON, desk

from acp_nvim.session.asked import CommandSubject
from acp_nvim.session.content import TerminalRef
from acp_nvim.session.terminals import Exit

pytestmark = pytest.mark.anyio


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


@pytest.mark.req("AAP-28")
async def test_a_command_runs_after_the_users_word(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        running: list[int] = []
        made.on_ask = lambda: running.append(len(made.session.terminals))
        made.answer = ALLOW
        said = await made.use("run_command", command=sh("echo hi; echo no >&2; cat; exit 3"))
        assert said == "exit code 3\nhi\nno\n"
        shown = "/bin/sh -c 'echo hi; echo no >&2; cat; exit 3'"
        assert made.subject == CommandSubject(shown, str(made.ws), str(made.ws), "tool")
        assert (made.asked[0].tool_call_id, made.asked[0].host) == (made.row.id, "agents.example.org")
        (terminal,) = made.row.terminals
        assert (made.row.status, made.row.content) == ("completed", [TerminalRef(terminal.id)])
        assert (terminal.exit, terminal.released) == (Exit(3), True)
        assert await made.use("run_command", command=["true"]) == "exit code 0\n(it wrote nothing)"
        made.answer = REASON
        said = await made.use("run_command", command=["touch", "x"])
        assert said == "It failed: The user rejected this: not like this"
        assert not (made.ws / "x").exists()
        assert made.row.local == "rejected"
        assert running == [0, 1, 2]  # nothing had begun when the user was asked


@pytest.mark.req("AAP-28")
async def test_for_this_session_means_just_this_command_in_this_folder(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        (made.ws / "sub").mkdir()
        made.answer = ALWAYS
        for _ in range(2):
            assert await made.use("run_command", command=["pwd"]) == f"exit code 0\n{made.ws}\n"
        assert len(made.asked) == 1
        await made.use("run_command", command=["pwd", "-P"])
        await made.use("run_command", command=["pwd"], cwd="sub")
        await made.use("run_command", command=["pwd"], cwd="..")
        assert len(made.asked) == 4
        assert made.subject.why == "outside"
        assert [option.name for option in made.asked[0].options] == [
            "Allow once",
            "Always allow this command here in this session",
            "Reject",
            "Reject, and say why",
        ]


async def test_what_cannot_be_run(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW
        said = await made.use("run_command", command=["no-such-program"])
        assert said.startswith("It failed: ")
        assert "no-such-program" in said
        assert "It failed" in await made.use("run_command", command=["a\0b"])
        assert "It failed" in await made.use("run_command", command=["pwd"], cwd="nowhere")


async def test_the_limit_of_time_and_of_output(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW
        said = await made.use("run_command", command=sh("echo begun; sleep 60"), seconds=1)
        assert said.startswith("ended after 1 seconds, as it took longer\n")
        assert not made.left(marker)
        script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"
        said = await made.use("run_command", command=sh(script))
        assert said.startswith("exit code 0\n(only the last 64 KiB of what it wrote)\n")
        assert said.endswith("line 19999\n")
        assert len(said) < 66_000


async def test_what_a_command_leaves_behind_goes_too(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW
        assert await made.use("run_command", command=sh("sleep 60 & echo on")) == "exit code 0\non\n"
        assert not made.left(marker)


async def test_cancelling_ends_it(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW

        async def use() -> None:
            await made.use("run_command", command=sh("echo on; sleep 60"))

        async with anyio.create_task_group() as group:
            group.start_soon(use)
            await made.room.until(lambda: made.session.terminals and made.row.terminals[0].output.total)
            assert made.row.status == "in_progress"
            group.cancel_scope.cancel()
        await made.room.until(lambda: not made.left(marker))
        assert made.row.terminals[0].released


async def test_a_chat_that_is_closed_ends_it(marker: str, tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.answer = ALLOW
        said: list[str] = []

        async def use() -> None:
            said.append(await made.use("run_command", command=sh("echo on; sleep 60")))

        async with anyio.create_task_group() as group:
            group.start_soon(use)
            await made.room.until(lambda: made.session.terminals and made.row.terminals[0].output.total)
            made.terminals.close(made.session)
        await made.room.until(lambda: not made.left(marker))
        assert said[0].startswith("It failed: ")
