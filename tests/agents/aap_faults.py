"""Faults of a server of AAP (aap_server.py): what comes in place of the answer to a request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from acp_nvim.demo.web import Request, Response

Fault: TypeAlias = Callable[[Request, Response], Awaitable[None]]


def answers(status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> Fault:
    """A fault: this answer instead. ``retry_after`` becomes Retry-After."""

    async def fault(_request: Request, response: Response) -> None:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        length = {"Content-Type": kind, "Content-Length": str(len(body))}
        await response.begin(status, {**length, **given})
        await response.raw(body)

    return fault


def breaks(after: bytes = b"") -> Fault:
    """A fault: the connection breaks off, after some bytes."""

    async def fault(_request: Request, response: Response) -> None:
        if after:
            await response.raw(after)
        response.writer.transport.abort()

    return fault


def hangs() -> Fault:
    """A fault: nothing comes, ever."""

    async def fault(_request: Request, _response: Response) -> None:
        await asyncio.Event().wait()

    return fault
