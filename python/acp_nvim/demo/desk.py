"""The sessions of one process of the demo, whatever version of the protocol it speaks."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Any

from .login import Login
from .memory import Memory
from .offered import Offered
from .peer import INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, Json, Peer, RpcError
from .project import Project, is_folder
from .session import Session
from .speech import First, Speech
from .turn import Turn

PAGE = 20  # sessions of one answer to session/list


class Desk:
    """``speed``: chunks a second, 0 for no pauses. Sessions outlive the process only with a ``memory``."""

    def __init__(self, peer: Peer, speed: float, memory: Memory | None, login: Login) -> None:
        self.peer = peer
        self.speed = speed
        self.memory = memory
        self.login = login
        self.client: Offered | None = None  # None before initialize
        self.speech: Speech = First()
        self.sessions: dict[str, Session] = {}
        self._ids = itertools.count(1)

    def turn(self, session: Session, attached: list[Path] | None = None) -> Turn:
        return Turn(self.peer, session, self.speed, attached or [])

    def new(self, params: Json) -> Session:
        """Raises RpcError."""
        project = self.project(params)
        ident = self.memory.new_id() if self.memory is not None else f"demo-{next(self._ids)}"
        return self._added(Session(id=ident, project=project))

    def recalled(self, params: Json, fork: bool = False) -> Session:
        """A session of an earlier process, taken up again; with ``fork`` a new one that begins with it."""
        project, ident = self.project(params), params.get("sessionId")
        if not fork and isinstance(ident, str) and ident in self.sessions:
            raise RpcError(INVALID_REQUEST, "This session is open already.")
        session = None
        if self.memory is not None and isinstance(ident, str):
            session = self.memory.recall(ident, project)
        if session is None:
            raise missing(ident)
        if fork and self.memory is not None:
            session.id = self.memory.new_id()
            session.entitle(f"{session.title} (fork)" if session.title else "fork")
        return self._added(session)

    def project(self, params: Json) -> Project:
        """The folder a session is to work in."""
        if self.client is None:
            raise RpcError(INVALID_REQUEST, "initialize comes first.")
        self.login.check()
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not Path(cwd).is_absolute():
            raise RpcError(INVALID_PARAMS, "cwd must be an absolute path.")
        if not is_folder(Path(cwd)):
            raise RpcError(INVALID_PARAMS, f"cwd is not a folder: {cwd}")
        return Project(Path(cwd))

    def known(self, params: Json) -> Session:
        """The open session of a request. Raises RpcError."""
        ident = params.get("sessionId")
        session = self.sessions.get(ident) if isinstance(ident, str) else None
        if session is None:
            raise missing(ident)
        return session

    def listed(self, params: Json) -> Json:
        """A page of the sessions of a folder, or of all (V1-53, V1-54, V2-41)."""
        self.login.check()
        cwd, cursor = params.get("cwd"), params.get("cursor")
        first = int(cursor) if isinstance(cursor, str) and cursor.isdecimal() else 0
        every = self.memory.sessions() if self.memory is not None else []
        found = [each for each in every if cwd in (None, each["cwd"])]
        more = {"nextCursor": str(first + PAGE)} if len(found) > first + PAGE else {}
        return {"sessions": found[first : first + PAGE], **more}

    def forget(self, params: Json) -> Session | None:
        """Delete a session, known or not (V1-57). Returns it when it is open: its work has to be ended."""
        ident = str(params.get("sessionId"))
        session = self.sessions.pop(ident, None)
        if session is not None:
            session.forgotten = True
        if self.memory is not None:
            self.memory.forget(ident)
        return session

    def remember(self, session: Session) -> None:
        if self.memory is not None and not session.forgotten:
            with contextlib.suppress(OSError):  # forgotten then: a resume says so
                self.memory.save(session)

    def options(self, session: Session) -> list[Json]:
        return session.speech.options(session.settings.options(self.speed, session.client.booleans))

    def _added(self, session: Session) -> Session:
        assert self.client is not None, "a session comes after initialize"
        session.client, session.speech = self.client, self.speech
        self.sessions[session.id] = session
        self.remember(session)
        return session


def stop(session: Session) -> None:
    """End the running turn, if any, once: it then ends as cancelled (V1-83, V2-70)."""
    if session.turn is not None and not session.cancelled:
        session.turn.cancel()
    session.cancelled = True


def missing(ident: Any) -> RpcError:
    return RpcError(NOT_FOUND, f"There is no session {ident!r}.", {"sessionId": ident})
