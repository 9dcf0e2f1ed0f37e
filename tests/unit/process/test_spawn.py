"""Agents are started apart, and ended with all they started."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.plugin import kill, marked
from tests.plugin.programs import AGENTS, STUBBORN, in_session

from acp_nvim.process import ending, spawn
from acp_nvim.process.reaper import Reaper
from acp_nvim.process.spawn import AgentProcess, LaunchError, Spawner
from acp_nvim.process.tree import family

STUBBORN_SESSION = in_session(STUBBORN)

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stubborn agents get 0.2 s, not 2 s; one test keeps to the real times."""
    monkeypatch.setattr(ending, "TERM_GRACE", 0.2)
    monkeypatch.setattr(spawn, "EOF_GRACE", 0.2)


def short_spawner() -> Spawner:
    made = Spawner()
    made.reaper = Reaper(grace=0.2)
    return made


@asynccontextmanager
async def spawner() -> AsyncIterator[Spawner]:
    made = short_spawner()
    try:
        yield made
    finally:
        await anyio.to_thread.run_sync(made.reaper.close)


async def sh(made: Spawner, program: str, cwd: str, **env: str) -> AgentProcess:
    return await made.start(["/bin/sh", "-c", program], cwd=cwd, env=env)


async def reads(process: AgentProcess, wanted: bytes) -> bytes:
    data = b""
    with anyio.fail_after(10):
        while wanted not in data:
            data += await process.stdout.receive()
    return data


def make_program(folder: str, text: str, mode: int) -> Path:
    program = Path(folder, "agent")
    program.write_text(text)
    program.chmod(mode)
    return program


def open_files(pid: int | None) -> dict[str, str]:
    return {fd.name: str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}


@pytest.mark.req("V1-01", "V1-07")
async def test_streams_and_exit(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(made, 'read -r x; echo "got $x"; echo oops >&2; exit 3', here)
        await process.stdin.send(b"hello\n")
        assert await reads(process, b"\n") == b"got hello\n"
        assert await process.wait() == 3
        await process.stop()
        assert process.describe_exit() == "ended with exit code 3"
        assert process.stderr.lines() == ["oops"]
        with pytest.raises(anyio.EndOfStream):
            await process.stdout.receive()
        with pytest.raises((anyio.BrokenResourceError, anyio.ClosedResourceError)):
            await process.stdin.send(b"x")


async def test_group_directory_and_environment(
    marker: str, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVIM", "/sock")
    monkeypatch.setenv("PYTHONPATH", "/x")
    async with spawner() as made:
        process = await sh(made, "pwd; env; echo end; read -r x", here, EXTRA="a b")
        assert os.getpgid(process.pid) == process.pid == os.getsid(process.pid)
        lines = (await reads(process, b"\nend\n")).decode().splitlines()
        assert lines[0] == here
        assert "EXTRA=a b" in lines
        assert f"ACP_NVIM_AGENT={process.marker}" in lines
        assert not [line for line in lines if line.startswith(("NVIM", "PYTHON", "VIRTUAL_ENV="))]
        await process.stop()


@pytest.mark.req("V1-07", "V1-08")
async def test_much_stderr_blocks_nothing_and_is_bounded(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(
            made, "yes 'a line of noise' | head -c 3000000 >&2; echo last >&2; echo done", here
        )
        await reads(process, b"done\n")
        await process.wait()
        await process.stop()
        assert process.stderr.total == 3_000_005
        assert process.stderr.lines()[-1] == "last"
        assert len(process.stderr.text()) <= 64 * 1024


async def test_a_child_that_is_not_read_waits(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(made, "yes | head -c 3000000; echo; echo written >&2", here)
        await reads(process, b"y")
        with anyio.move_on_after(0.3):
            await process.wait()
        assert process.returncode is None
        assert process.stderr.lines() == []
        await process.stop()


@pytest.mark.req("V1-18")
@pytest.mark.parametrize("kind", AGENTS)
async def test_stop_leaves_nothing(marker: str, here: str, kind: str) -> None:
    async with spawner() as made:
        process = await sh(made, f"echo up; {AGENTS[kind]}", here)
        await reads(process, b"up")
        started = time.monotonic()
        await process.stop()
        assert process.returncode is not None
        assert not await anyio.to_thread.run_sync(family, process.pid, f"ACP_NVIM_AGENT={process.marker}")
        if kind == "normal":
            assert time.monotonic() - started < 2  # neither grace was waited for
        await process.stop()


async def test_the_leftovers_of_an_agent_that_ended_by_itself(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(made, f"({STUBBORN}) & {STUBBORN_SESSION} exit 1", here)
        with anyio.fail_after(5):
            assert await process.wait() == 1
            with pytest.raises(anyio.EndOfStream):  # although children hold the pipe open
                await process.stdout.receive()
        assert len(marked(marker)) > 1
        await process.stop()
        assert set(marked(marker)) == {made.reaper.pid}


@pytest.mark.req("V1-18")
async def test_the_real_times_of_a_stop(marker: str, here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "TERM_GRACE", 2.0)
    monkeypatch.setattr(spawn, "EOF_GRACE", 0.5)
    async with spawner() as made:
        process = await sh(made, f"echo up; {STUBBORN}", here)
        await reads(process, b"up")
        started = time.monotonic()
        await process.stop()
        assert 2.4 < time.monotonic() - started < 8  # 0.5 s for the end of input, 2 s for SIGTERM


async def test_cancelling_a_stop_does_not_cut_it_short(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(made, f"echo up; {STUBBORN}", here)
        await reads(process, b"up")
        async with anyio.create_task_group() as group:
            group.start_soon(process.stop)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        (
            "#!/no/such/interpreter\n",
            0o755,
            "the interpreter named in the first line of {path} does not exist",
        ),
        ("\x7fELFbroken", 0o755, "{path}: Exec format error"),
        ("#!/bin/sh\n", 0o644, "{path} is not executable"),
    ],
)
async def test_what_cannot_be_run(marker: str, here: str, text: str, mode: int, reason: str) -> None:
    program = make_program(here, text, mode)
    async with spawner() as made:
        with pytest.raises(LaunchError) as caught:
            await made.start([str(program), "--acp"], cwd=here)
        assert str(caught.value) == f"cannot run `{program} --acp`: {reason.format(path=program)}"


async def test_odd_starts(marker: str, here: str) -> None:
    async with spawner() as made:
        with pytest.raises(LaunchError, match="its working directory /no/such does not exist"):
            await made.start(["/bin/sh"], cwd="/no/such")
        with pytest.raises(LaunchError, match="null byte"):
            await made.start(["/bin/sh", "-c", "a\0b"], cwd=here)


@pytest.mark.parametrize("kind", AGENTS)
async def test_the_reaper_ends_what_the_host_left(marker: str, here: str, kind: str) -> None:
    made = short_spawner()
    process = await sh(made, f"echo up; {AGENTS[kind]}", here)
    await reads(process, b"up")
    await anyio.to_thread.run_sync(made.reaper.close)
    left = await anyio.to_thread.run_sync(family, process.pid, f"ACP_NVIM_AGENT={process.marker}")
    assert not left
    await process.stop()


async def test_the_reaper_survives_signals_and_leaves_what_ended_alone(marker: str, here: str) -> None:
    async with spawner() as made:
        first = await sh(made, "read -r x", here)
        await first.stop()
        second = await sh(made, f"echo up; {STUBBORN}", here)
        await reads(second, b"up")
        reaper = made.reaper.pid
        assert reaper is not None
        assert os.getsid(reaper) == reaper
        for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            kill(reaper, signum)
        third = await sh(made, "read -r x", here)
        assert made.reaper.pid == reaper
        await anyio.to_thread.run_sync(made.reaper.close)
        await second.wait()
        for process in (second, third):
            await process.stop()


async def test_a_reaper_that_was_killed_is_replaced(marker: str, here: str) -> None:
    async with spawner() as made:
        process = await sh(made, f"echo up; {STUBBORN}", here)
        await reads(process, b"up")
        old = made.reaper.pid
        assert old is not None
        kill(old)
        other = await sh(made, "read -r x", here)
        assert made.reaper.pid != old
        await anyio.to_thread.run_sync(made.reaper.close)
        assert await process.wait() == -signal.SIGKILL
        for each in (process, other):
            await each.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_the_reaper_holds_no_file_of_ours(marker: str, here: str) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        async with spawner() as made:
            process = await sh(made, "read -r x", here)
            opened = open_files(made.reaper.pid)
            assert opened.pop("0").startswith("pipe:")
            assert opened.pop("1") == opened.pop("2") == os.devnull
            assert not [target for target in opened.values() if target.startswith(("pipe:", "socket:"))]
            await process.stop()
    finally:
        os.close(read_end)
        os.close(write_end)
