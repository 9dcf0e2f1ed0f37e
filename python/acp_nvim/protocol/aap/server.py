"""The endpoints of a server (spec section 2): requests with their answers, decoded."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import quote

import anyio

from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.transport.errors import HttpFailedError
from acp_nvim.transport.http import Answer, Http, Streamed
from acp_nvim.wire.aap import codecs
from acp_nvim.wire.aap.messages import HistoryMessage
from acp_nvim.wire.aap.meta import Meta, SessionInfo, SessionPage
from acp_nvim.wire.aap.requests import NewSession, NewTurn
from acp_nvim.wire.decode import Codec, encode
from acp_nvim.wire.tolerant import WireError

from .failures import Place, http_failure, retry_after, transport_failure

T = TypeVar("T")

#: (direction in, out or note; what it is, in a few words; its body), for the trace.
Observer: TypeAlias = Callable[[Literal["in", "out", "note"], str, bytes], None]

#: A GET is tried so often, and waits so many seconds between at most, when the server asks for it (AAP-77).
MOST_TRIES = 3
LONGEST_WAIT = 20.0


class Server:
    """Of one connection. Methods raise AgentError. ``mask`` takes secrets out of what is shown."""

    def __init__(
        self,
        http: Http,
        place: Place,
        observe: Observer,
        mask: Callable[[str], str] = lambda text: text,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.place = place
        self._http = http
        self._observe = observe
        self._mask = mask
        self._sleep = sleep

    async def meta(self) -> Meta:
        return await self._get("/meta", codecs.META, again=":AcpRestart")

    async def create(self, request: NewSession) -> str:
        """Returns the session's id."""
        answer = await self._ask("POST", "/sessions", body=encode(request), again=":AcpRestart")
        return self._decode(answer, codecs.SESSION_CREATED, "/sessions").session_id

    async def sessions(self, after: str | None) -> SessionPage:
        query = {"after": after} if after is not None else None
        return await self._get("/sessions", codecs.SESSIONS, query)

    async def session(self, session_id: str) -> SessionInfo:
        """What a session is taken up with."""
        return await self._get(_path(session_id), codecs.SESSION, about="session", again=":AcpRestart")

    async def history(self, session_id: str, kind: str, again: str = "try again") -> list[HistoryMessage]:
        """``kind`` is full or compacted."""
        path = _path(session_id, "/history")
        found = (await self._get(path, codecs.HISTORY, {"type": kind}, about="session", again=again)).history
        return (found.full if kind == "full" else found.compacted) or []

    async def delete(self, session_id: str) -> None:
        """One the server does not know is gone already (AAP-17)."""
        try:
            await self._ask("DELETE", _path(session_id), about="session")
        except AgentError as error:
            if error.failure.code != 404:
                raise

    @asynccontextmanager
    async def turn(self, session_id: str, request: NewTurn) -> AsyncGenerator[Streamed, None]:
        """Post a turn, once and no more (AAP-51, AAP-77); gives the answer to be read if it is a success."""
        path, body = _path(session_id, "/turns"), encode(request)
        accept = "application/json" if request.stream in (None, "none") else "text/event-stream"
        self._observe("out", f"POST {_short(path)}", body)
        try:
            async with self._http.stream("POST", path, body=body, accept=accept) as streamed:
                self._observe("in", _status(streamed.answer), b"")
                if not 200 <= streamed.answer.status < 300:
                    answer = await streamed.rest()
                    self._observe("in", "body", answer.body)
                    raise AgentError(self._failure(answer, "send again", "turn"))
                yield streamed
        except HttpFailedError as error:
            raise AgentError(self.broken(error)) from error

    def decode(self, raw: bytes, codec: Codec[T]) -> T:
        """Raises WireError."""
        return codec.decode(raw, lambda text: self._observe("note", text, b""))

    def seen(self, label: str, raw: bytes) -> None:
        """Something came that is to stand in the trace."""
        self._observe("in", label, raw)

    def note(self, text: str, raw: bytes = b"") -> None:
        """Something could not be used."""
        self._observe("note", text, raw)

    def complaint(self, words: str) -> Failure | None:
        """The failure of an answer that ends with an error in words; None: there are none."""
        return Failure(self._mask(f"the server failed: {words}"), remedy="send again") if words else None

    def no_aap(self, what: str) -> Failure:
        """The failure of a request whose answer was something else; ``what``: words after "the answer to"."""
        remedy = f"is {self.place.setting}.url right? :AcpTrace has the answer"
        return Failure(self._mask(f"the answer to {what}"), remedy=remedy)

    def broken(self, error: HttpFailedError, again: str = "send again") -> Failure:
        """The failure of a request that got no answer, or not all of it."""
        self._observe("note", str(error), b"")
        return transport_failure(error, self.place, again)

    async def _get(
        self,
        path: str,
        codec: Codec[T],
        query: dict[str, str] | None = None,
        *,
        about: str = "",
        again: str = "try again",
    ) -> T:
        """A GET changes nothing, so it is sent again when the server asks for that, or when it broke off."""
        for tries in range(MOST_TRIES):
            last = tries == MOST_TRIES - 1
            try:
                answer = await self._once("GET", path, query=query)
            except HttpFailedError as error:
                if error.cause == "cut" and not last:
                    continue
                raise AgentError(self.broken(error, again)) from error
            wait = retry_after(answer) if answer.status in (429, 503) else None
            if wait is None or wait > LONGEST_WAIT or last:
                break
            await self._sleep(wait)
        if not 200 <= answer.status < 300:
            raise AgentError(self._failure(answer, again, about))
        return self._decode(answer, codec, path)

    async def _ask(
        self, method: str, path: str, *, body: bytes | None = None, about: str = "", again: str = "try again"
    ) -> Answer:
        try:
            answer = await self._once(method, path, body=body)
        except HttpFailedError as error:
            raise AgentError(self.broken(error, again)) from error
        if not 200 <= answer.status < 300:
            raise AgentError(self._failure(answer, again, about))
        return answer

    async def _once(
        self, method: str, path: str, *, query: dict[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        asked = "?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else ""
        self._observe("out", f"{method} {_short(path)}{asked}", body or b"")
        answer = await self._http.request(method, path, query=query, body=body)
        self._observe("in", _status(answer), answer.body)
        return answer

    def _decode(self, answer: Answer, codec: Codec[T], path: str) -> T:
        try:
            return self.decode(answer.body, codec)
        except WireError as error:
            what = answer.content_type or "no type"
            raise AgentError(self.no_aap(f"{_short(path)} is not AAP ({what}): {error}")) from error

    def _failure(self, answer: Answer, again: str, about: str) -> Failure:
        failure = http_failure(answer, self.place, again, about=about)
        return Failure(self._mask(failure.message), failure.code, None, failure.kind, failure.remedy)


def _path(session_id: str, rest: str = "") -> str:
    """AAP-10."""
    return f"/sessions/{quote(session_id, safe='')}{rest}"


def _short(path: str) -> str:
    """For people: ids are long."""
    parts = [part if len(part) <= 12 else part[:11] + "…" for part in path.split("/")]
    return "/".join(parts)


def _status(answer: Answer) -> str:
    kind = answer.content_type.removeprefix("application/").removeprefix("text/")
    return f"{answer.status} {kind}".strip()
