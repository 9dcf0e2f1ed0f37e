"""The task group of the host: one failing task does not end the others."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from acp_nvim.runtime import Runtime

pytestmark = pytest.mark.anyio


async def test_early_tasks_run_failing_ones_report_and_the_others_go_on() -> None:
    failures: list[tuple[str, str]] = []
    runtime = Runtime(asyncio.get_running_loop(), lambda where, trace: failures.append((where, trace)))
    ran: list[str] = []
    done = anyio.Event()

    async def fails() -> None:
        raise ValueError("broken")

    async def works(name: str) -> None:
        ran.append(name)
        if len(ran) == 2:
            done.set()

    runtime.spawn(fails)
    runtime.spawn(works, "early")
    await anyio.lowlevel.checkpoint()
    runtime.spawn(works, "late")
    with anyio.fail_after(5):
        await done.wait()
    assert ran == ["early", "late"]
    [(where, trace)] = failures
    assert where.endswith("fails")
    assert "ValueError: broken" in trace
    await runtime.stop()


async def test_a_nested_group_that_fails_is_one_report() -> None:
    failures: list[str] = []
    reported = anyio.Event()

    def report(_where: str, trace: str) -> None:
        failures.append(trace)
        reported.set()

    runtime = Runtime(asyncio.get_running_loop(), report)

    async def group() -> None:
        async with anyio.create_task_group() as inner:
            inner.start_soon(anyio.sleep_forever)
            raise KeyError("x")

    runtime.spawn(group)
    with anyio.fail_after(5):
        await reported.wait()
    assert len(failures) == 1
    await runtime.stop()


async def test_stop_cancels_every_task() -> None:
    runtime = Runtime(asyncio.get_running_loop(), lambda *_: None)
    ended = anyio.Event()

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    runtime.spawn(waits)
    await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()
    await runtime.stop()
    assert ended.is_set()
