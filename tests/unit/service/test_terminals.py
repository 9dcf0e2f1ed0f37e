"""Commands run for agents: real processes, small ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest
from tests.plugin import marked
from tests.plugin.programs import STUBBORN, in_session
from tests.unit.service.shop import shop

from acp_nvim.session.ports import CommandLine, RequestError
from acp_nvim.session.terminals import Exit

pytestmark = pytest.mark.anyio


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
