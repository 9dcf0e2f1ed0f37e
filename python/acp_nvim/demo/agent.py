"""The methods of the demo agent: sessions and turns."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from . import act, tour
from .memory import Memory
from .peer import INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, Handler, Json, Listener, Peer, Reply, RpcError
from .project import DemoError, Project, is_folder
from .requests import Plan, Tour, parse
from .turn import Session, Turn

VERSION = "1.0"
MEMORY = ("resume", "list", "delete")  # what it can do with sessions of earlier processes
PAGE = 20  # sessions of one answer to session/list
COMMANDS = (
    {"name": "help", "description": "what the demo understands"},
    {
        "name": "plan",
        "description": "do several things, one by one",
        "input": {"hint": "list files, then show FILE"},
    },
    {"name": "tour", "description": "show me everything"},
)


class Agent:
    """One process, any number of sessions. ``speed``: chunks a second, 0 for no pauses.

    Sessions can be resumed only with a ``memory`` that outlives the process.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        speed: float,
        memory: Memory | None = None,
    ) -> None:
        requests: dict[str, Handler] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/prompt": self._prompt,
            "session/close": self._close,
        }
        if memory is not None:
            requests["session/resume"] = self._resume
            requests["session/load"] = self._load
            requests["session/list"] = self._list
            requests["session/delete"] = self._delete
        notifications: dict[str, Listener] = {"session/cancel": self._cancel}
        self._peer = Peer(reader, writer, requests, notifications)
        self._speed = speed
        self._memory = memory
        self._sessions: dict[str, Session] = {}
        self._ids = itertools.count(1)
        self._files: Json | None = None  # what the client offers; None before initialize

    async def serve(self) -> None:
        await self._peer.serve()

    async def _initialize(self, params: Json) -> Reply:
        if not isinstance(params.get("protocolVersion"), int):
            raise RpcError(INVALID_PARAMS, "initialize needs protocolVersion, a number.")
        offered = params.get("clientCapabilities")
        files = offered.get("fs") if isinstance(offered, dict) else None
        self._files = files if isinstance(files, dict) else {}
        able = ("close", *(MEMORY if self._memory is not None else ()))
        return Reply(
            {
                "protocolVersion": 1,
                "agentInfo": {"name": "demo", "title": "Demo", "version": VERSION},
                "agentCapabilities": {
                    "loadSession": self._memory is not None,
                    "promptCapabilities": {"embeddedContext": True, "image": False, "audio": False},
                    "sessionCapabilities": {name: {} for name in able},
                },
                "authMethods": [],
            }
        )

    async def _new(self, params: Json) -> Reply:
        project = self._project(params)
        ident = self._memory.new_id() if self._memory is not None else f"demo-{next(self._ids)}"
        session = self._added(Session(id=ident, project=project))
        return Reply({"sessionId": session.id}, after=lambda: self._introduce(session))

    async def _resume(self, params: Json) -> Reply:
        """Take up a session of an earlier process: without replay (V1-52). Nothing is said of it again."""
        session = self._recalled(params)
        return Reply({}, after=lambda: self._introduce(session))

    async def _load(self, params: Json) -> Reply:
        """The same with replay: all of it comes before the answer (V1-50)."""
        session = self._recalled(params)
        for update in session.history.updates:
            await self._peer.notify("session/update", {"sessionId": session.id, "update": update})
        return Reply({}, after=lambda: self._introduce(session))

    async def _list(self, params: Json) -> Reply:
        """A page of the sessions of a folder, or of all (V1-53, V1-54)."""
        assert self._memory is not None, "offered only then"
        cwd, cursor = params.get("cwd"), params.get("cursor")
        first = int(cursor) if isinstance(cursor, str) and cursor.isdecimal() else 0
        found = [each for each in self._memory.sessions() if cwd in (None, each["cwd"])]
        more = {"nextCursor": str(first + PAGE)} if len(found) > first + PAGE else {}
        return Reply({"sessions": found[first : first + PAGE], **more})

    async def _delete(self, params: Json) -> Reply:
        """Forget a session, known or not (V1-57). One that is open ends."""
        assert self._memory is not None, "offered only then"
        ident = str(params.get("sessionId"))
        session = self._sessions.pop(ident, None)
        if session is not None:
            session.forgotten = True
            self._stop(session)
        self._memory.forget(ident)
        return Reply({})

    def _recalled(self, params: Json) -> Session:
        """A session of an earlier process, taken up again."""
        project, ident = self._project(params), params.get("sessionId")
        session = self._sessions.get(ident) if isinstance(ident, str) else None
        if session is not None:
            raise RpcError(INVALID_REQUEST, "This session is open already.")
        if self._memory is not None and isinstance(ident, str):
            session = self._memory.recall(ident, project)
        if session is None:
            raise RpcError(NOT_FOUND, f"There is no session {ident!r}.", {"sessionId": ident})
        return self._added(session)

    def _project(self, params: Json) -> Project:
        """The folder a session is to work in."""
        if self._files is None:
            raise RpcError(INVALID_REQUEST, "initialize comes first.")
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not Path(cwd).is_absolute():
            raise RpcError(INVALID_PARAMS, "cwd must be an absolute path.")
        if not is_folder(Path(cwd)):
            raise RpcError(INVALID_PARAMS, f"cwd is not a folder: {cwd}")
        return Project(Path(cwd))

    def _added(self, session: Session) -> Session:
        assert self._files is not None, "a session comes after initialize"
        session.client_reads = self._files.get("readTextFile") is True
        session.client_writes = self._files.get("writeTextFile") is True
        self._sessions[session.id] = session
        self._remember(session)
        return session

    def _remember(self, session: Session) -> None:
        if self._memory is not None and not session.forgotten:
            with contextlib.suppress(OSError):  # forgotten then: a resume says so
                self._memory.save(session)

    async def _introduce(self, session: Session) -> None:
        turn = Turn(self._peer, session, self._speed)
        await turn.send({"sessionUpdate": "available_commands_update", "availableCommands": list(COMMANDS)})
        await turn.usage()

    async def _prompt(self, params: Json) -> Reply:
        session = self._session(params)
        if session.turn is not None:
            raise RpcError(INVALID_REQUEST, "This session is still busy with the last prompt.")
        text, attached, size = _read_prompt(params.get("prompt"))
        session.characters += size
        session.cancelled = False
        turn = Turn(self._peer, session, self._speed, attached)
        session.updated = datetime.now(UTC).isoformat(timespec="seconds")
        said = {"type": "text", "text": text}
        session.history.add(
            {"sessionUpdate": "user_message_chunk", "messageId": session.name("message"), "content": said}
        )
        session.turn = asyncio.create_task(_play(turn, text))
        try:
            await session.turn
        except asyncio.CancelledError:
            if not session.cancelled:
                raise
        finally:
            session.turn = None
            self._remember(session)
        await turn.usage()
        return Reply({"stopReason": "cancelled" if session.cancelled else "end_turn"})

    async def _close(self, params: Json) -> Reply:
        session = self._session(params)
        self._stop(session)
        del self._sessions[session.id]
        return Reply({})

    def _cancel(self, params: Json) -> None:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is not None:
            self._stop(session)

    def _stop(self, session: Session) -> None:
        """End the running turn, if any: its prompt is then answered with ``cancelled`` (V1-83)."""
        if session.turn is not None:
            session.cancelled = True
            session.turn.cancel()

    def _session(self, params: Json) -> Session:
        ident = params.get("sessionId")
        session = self._sessions.get(ident) if isinstance(ident, str) else None
        if session is None:
            raise RpcError(NOT_FOUND, f"There is no session {ident!r}.", {"sessionId": ident})
        return session


async def _play(turn: Turn, text: str) -> None:
    """One turn: understand the prompt and do it. Problems are part of the answer."""
    session = turn.session
    if not session.titled and text:
        session.titled = True
        title = " ".join(text.split())
        session.title = title if len(title) <= 60 else title[:59] + "…"
        info = {"title": session.title, "updatedAt": session.updated}
        await turn.send({"sessionUpdate": "session_info_update", **info})
    try:
        match parse(text):
            case Tour():
                await tour.tour(turn)
            case Plan() as plan:
                await tour.follow(turn, plan)
            case action:
                await act.do(turn, action)
    except DemoError as error:
        await turn.say(str(error))


def _read_prompt(blocks: Any) -> tuple[str, list[Path], int]:
    """Text, attached files and number of characters of a prompt. Unknown blocks are passed over."""
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks.")
    texts: list[str] = []
    attached: list[Path] = []
    size = 0
    for block in blocks:
        if not isinstance(block, dict):
            continue
        resource = block.get("resource") if block.get("type") == "resource" else block
        if block.get("type") == "text" and isinstance(text := block.get("text"), str):
            texts.append(text)
            size += len(text)
        elif isinstance(resource, dict) and isinstance(uri := resource.get("uri"), str):
            size += len(str(resource.get("text") or ""))
            parts = urlsplit(uri)
            path = Path(unquote(parts.path))
            if parts.scheme == "file" and path.is_absolute() and path not in attached:
                attached.append(path)
    return "\n".join(texts).strip(), attached, size
