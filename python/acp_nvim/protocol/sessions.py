"""How sessions end, the same for every version of ACP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.ports import AgentError, Questions, Sink
from acp_nvim.wire.decode import Codec

from .adapter import Ask
from .failures import NOT_FOUND
from .links import L, Links
from .setup import Setup


class Sessions(Generic[L]):
    """Of one connection. ``info`` raises AgentError before ``initialize``; ``done`` reads an empty result."""

    def __init__(
        self,
        links: Links[L],
        sink: Sink,
        questions: Questions,
        *,
        ask: Ask,
        info: Callable[[], AgentInfo],
        setup: Setup,
        done: Codec[Any],
    ) -> None:
        self._links = links
        self._sink = sink
        self._questions = questions
        self._ask = ask
        self._info = info
        self._setup = setup
        self._done = done

    async def _close(self, session: Session, request: Callable[[L], object | None]) -> None:
        """End a session of ours. ``request`` makes the agent's part of it; None: the agent has none."""
        link = self._links.of(session)
        if link is None:
            return
        self._questions.cancel_all(session, "close")
        try:
            asked = request(link)
            if asked is not None:
                await self._end("session/close", asked)
        finally:
            self._links.remove(session)

    async def _end(self, method: str, request: object) -> None:
        """Close or delete; what the agent does not know is gone already (V1-58, V2-43)."""
        try:
            await self._ask(method, request, self._done)
        except AgentError as error:
            if error.failure.code != NOT_FOUND:
                raise

    def _cannot(self, what: str) -> AgentError:
        return AgentError(Failure(f"{self._setup.label} cannot {what}", kind="unsupported"))
