"""Requests over HTTP, with bounded answers and answers that are read as they come.

The only module that imports httpx2; it is imported when an agent is reached over HTTP, and by nobody else.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from .errors import HttpFailedError

#: Seconds for a connection to be made; between two pieces of an answer that is no stream.
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 60.0
#: Bytes of an answer that is no stream: a whole history with its images.
LIMIT = 64 * 1024 * 1024
#: Bytes of an answer that only says what went wrong.
ERROR_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """``headers`` by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def content_type(self) -> str:
        """The media type without its parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Streamed:
    """An answer whose head has come. ``pieces`` or ``rest`` reads its body, once."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        headers = {name.lower(): value for name, value in response.headers.items()}
        self.answer = Answer(response.status_code, headers)

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Raises HttpFailedError when it breaks off."""
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise _failed(error) from error

    async def rest(self, limit: int = LIMIT) -> Answer:
        """The whole answer. Raises HttpFailedError; of an error's body only the beginning is kept."""
        error = self.answer.status >= 400
        most = min(limit, ERROR_LIMIT) if error else limit
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) > most:
                if not error:
                    raise HttpFailedError("other", f"the answer is longer than {most:,} bytes")
                del body[most:]
                break
        return Answer(self.answer.status, self.answer.headers, bytes(body))


class Http:
    """Requests to one server. ``base`` has no slash at its end; ``headers`` go with each request.

    No redirect is followed: the key must not get to another server (AAP-04). Every request has a connection
    of its own: none lies idle, and none is found dead by a prompt that must not be sent twice (AAP-51).
    """

    def __init__(self, base: str, headers: Mapping[str, str], *, loopback: bool) -> None:
        self._base = base
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx2.AsyncClient(
            headers=dict(headers),
            timeout=httpx2.Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT, pool=None),
            limits=limits,
            # With a transport of its own a client uses no proxy: between us and this machine there is none.
            transport=httpx2.AsyncHTTPTransport(limits=limits) if loopback else None,
        )

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request and read its answer, whatever its status. Raises HttpFailedError."""
        async with self.stream(method, path, query=query, body=body, patient=False) as streamed:
            return await streamed.rest()

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        accept: str = "application/json",
        patient: bool = True,
    ) -> AsyncGenerator[Streamed, None]:
        """Send a request and give its answer when its head has come. Raises HttpFailedError.

        ``patient``: it may be silent for any time (AAP-37). Leaving closes the connection (AAP-38).
        """
        if self._client.is_closed:
            raise HttpFailedError("other", "the connection was ended")
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if patient:
            headers["Accept-Encoding"] = "identity"  # what is packed comes late
        try:
            request = self._client.build_request(
                method,
                self._base + path,
                params=dict(query) if query else None,
                content=body,
                headers=headers,
                timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT) if patient else self._client.timeout,
            )
            response = await self._client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _failed(error) from error
        try:
            yield Streamed(response)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """End what is under way."""
        await self._client.aclose()


def _failed(error: Exception) -> HttpFailedError:
    """What went wrong, in words that say what to look at."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message or cause.reason or "it cannot be checked"
            return HttpFailedError("tls", f"its certificate is not accepted: {why}")
        if isinstance(cause, ssl.SSLError):
            return HttpFailedError("tls", f"no secure connection: {cause.reason or cause}")
    if isinstance(error, httpx2.ConnectTimeout):
        return HttpFailedError("timeout", f"no connection within {CONNECT_TIMEOUT:g} s")
    if isinstance(error, httpx2.TimeoutException):
        return HttpFailedError("timeout", f"nothing came for {READ_TIMEOUT:g} s")
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return HttpFailedError("refused", "nothing listens there")
        if isinstance(cause, socket.gaierror):
            return HttpFailedError("name", "there is no such host")
    if isinstance(error, httpx2.ConnectError):
        said = next(
            (str(each.strerror) for each in causes if isinstance(each, OSError) and each.strerror), ""
        )
        return HttpFailedError("connect", said or str(error) or "no connection")
    if isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError | httpx2.StreamError):
        return HttpFailedError("cut", "the connection broke off")
    return HttpFailedError("other", str(error) or type(error).__name__)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it."""
    todo, seen = [error], set()
    while todo:
        each = todo.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            todo += each.exceptions
        todo += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
