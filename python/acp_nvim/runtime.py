"""One task group for the life of the host: the owner of every task."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

Task = Callable[..., Awaitable[object]]


class Runtime:
    """Runs coroutines on a loop that somebody else runs (pynvim's)."""

    def __init__(self, loop: asyncio.AbstractEventLoop, failed: Callable[[str, str], object]) -> None:
        """``failed(where, traceback)`` is called when a task ends with an error; the others go on."""
        self._failed = failed
        self._group: TaskGroup | None = None
        self._early: list[tuple[Task, tuple[Any, ...]]] = []
        self._main = loop.create_task(self._serve())

    def spawn(self, function: Task, *args: Any) -> None:
        """Start a task; before the group is there (the loop's first turn) it is kept until then."""
        if self._group is None:
            self._early.append((function, args))
        else:
            self._group.start_soon(self._guard, function, *args)

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        self._main.cancel()
        await asyncio.wait([self._main])

    async def _serve(self) -> None:
        async with anyio.create_task_group() as group:
            self._group = group
            for function, args in self._early:
                group.start_soon(self._guard, function, *args)
            self._early.clear()
            await anyio.sleep_forever()

    async def _guard(self, function: Task, *args: Any) -> None:
        try:
            await function(*args)
        except Exception:
            self._failed(getattr(function, "__qualname__", repr(function)), traceback.format_exc())
