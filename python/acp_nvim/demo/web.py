"""As much of an HTTP server as the demo needs: one request a connection, answers that may come in pieces."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

#: Bytes of a request's head and of its body.
MOST_HEAD = 64 * 1024
MOST_BODY = 64 * 1024 * 1024


@dataclass(slots=True)
class Request:
    """``path`` is decoded and in parts; ``headers`` are by lower-case name."""

    method: str
    path: tuple[str, ...]
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""
    target: str = ""


@dataclass(slots=True)
class Response:
    """Written to in order: ``begin``, then ``send`` as often as there is something, then ``end``."""

    writer: asyncio.StreamWriter
    chunked: bool = False
    status: int = 0

    async def answer(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        """A whole answer."""
        await self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body))} if body else {})
        await self.raw(body)

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The head. Without a length the body comes in chunks."""
        self.status = status
        lines = [f"HTTP/1.1 {status} {_phrase(status)}", "Connection: close"]
        names = {name.lower() for name in headers}
        if "content-length" not in names:
            if status == 204 or "transfer-encoding" in names:
                self.chunked = False
            else:
                self.chunked = True
                lines.append("Transfer-Encoding: chunked")
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def send(self, data: bytes) -> None:
        """A piece of the body, at once."""
        if data:
            await self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    async def end(self) -> None:
        """The body is complete."""
        if self.chunked:
            await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


#: What a client does that is no client of HTTP, or goes away.
_BROKEN = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)

Handler = Callable[[Request, Response], Awaitable[None]]


async def serve(
    handler: Handler, port: int, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> asyncio.Server:
    """Listen on this machine alone. A handler is cancelled when its client goes away."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks: list[asyncio.Task[object]] = []
        try:
            request = await _read(reader)
            tasks.append(asyncio.create_task(_done(handler(request, Response(writer)))))
            tasks.append(asyncio.create_task(reader.read(1)))  # nothing comes: the client went away
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except (*_BROKEN, asyncio.CancelledError):
            pass  # no request, or the server ends: there is nobody to tell
        finally:
            writer.close()  # at once: what follows may be cancelled
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(*_BROKEN, ssl.SSLError):
                await writer.wait_closed()

    return await asyncio.start_server(connected, host, port, limit=MOST_HEAD, ssl=tls)


async def _done(work: Awaitable[None]) -> None:
    """What goes wrong with an answer is the server's fault, and told there."""
    try:
        await work
    except ConnectionError:
        pass
    except Exception:
        traceback.print_exc()


async def _read(reader: asyncio.StreamReader) -> Request:
    """Raises ValueError for what is no request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= MOST_BODY:
        raise ValueError("too much")
    body = await reader.readexactly(length)
    url = urlsplit(target)
    path = tuple(unquote(part) for part in url.path.strip("/").split("/"))
    return Request(method, path, dict(parse_qsl(url.query)), headers, body, target)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
