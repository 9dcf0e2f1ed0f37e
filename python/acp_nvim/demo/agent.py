"""The methods of the demo agent: sessions and turns."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from datetime import UTC, datetime
from pathlib import Path

from . import modes, prompt
from .commands import COMMANDS
from .login import Login
from .memory import Memory
from .offered import Offered
from .peer import INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, Handler, Json, Listener, Peer, Reply, RpcError
from .project import Project, is_folder
from .session import Session
from .turn import Turn

VERSION = "1.0"
MEMORY = ("resume", "list", "delete", "fork")  # what it can do with sessions of earlier processes
PAGE = 20  # sessions of one answer to session/list


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
        login: Login | None = None,
    ) -> None:
        requests: dict[str, Handler] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/prompt": self._prompt,
            "_session/steering": self._steer,
            "session/set_config_option": self._set_option,
            "session/set_mode": self._set_mode,
            "session/close": self._close,
        }
        if memory is not None:
            requests["session/resume"] = self._resume
            requests["session/load"] = self._load
            requests["session/list"] = self._list
            requests["session/delete"] = self._delete
            requests["session/fork"] = self._fork
        self._login = login if login is not None else Login(False, None)
        if self._login.wanted:
            requests["logout"] = self._logout
        notifications: dict[str, Listener] = {"session/cancel": self._cancel}
        self._peer = Peer(reader, writer, requests, notifications)
        self._speed = speed
        self._memory = memory
        self._sessions: dict[str, Session] = {}
        self._ids = itertools.count(1)
        self._client: Offered | None = None  # None before initialize

    async def serve(self) -> None:
        await self._peer.serve()

    async def _initialize(self, params: Json) -> Reply:
        if not isinstance(params.get("protocolVersion"), int):
            raise RpcError(INVALID_PARAMS, "initialize needs protocolVersion, a number.")
        self._client = Offered.of(params)
        able = ("close", *(MEMORY if self._memory is not None else ()))
        return Reply(
            {
                "protocolVersion": 1,
                "agentInfo": {"name": "demo", "title": "Demo", "version": VERSION},
                "agentCapabilities": {
                    "loadSession": self._memory is not None,
                    "promptCapabilities": {"embeddedContext": True, "image": False, "audio": False},
                    "sessionCapabilities": {name: {} for name in able},
                    "auth": {"logout": {}} if self._login.wanted else {},
                },
                "authMethods": self._login.methods(self._client),
                "_meta": {"steering": {"supported": True}},
            }
        )

    async def _authenticate(self, params: Json) -> Reply:
        self._login.authenticate(params.get("methodId"))
        return Reply({})

    async def _logout(self, params: Json) -> Reply:
        """Sessions stay; whatever they are asked for next needs a log-in (V1-43)."""
        self._login.forget()
        return Reply({})

    async def _new(self, params: Json) -> Reply:
        project = self._project(params)
        ident = self._memory.new_id() if self._memory is not None else f"demo-{next(self._ids)}"
        session = self._added(Session(id=ident, project=project))
        return Reply(
            {"sessionId": session.id, **self._settings(session)}, after=lambda: self._introduce(session)
        )

    async def _fork(self, params: Json) -> Reply:
        """A session of its own that has gone the same way up to its last turn (V1-62)."""
        assert self._memory is not None, "offered only then"
        session = self._recalled(params, fork=True)
        return Reply(
            {"sessionId": session.id, **self._settings(session)}, after=lambda: self._introduce(session, True)
        )

    async def _resume(self, params: Json) -> Reply:
        """Take up a session of an earlier process: without replay (V1-52). Nothing is said of it again."""
        session = self._recalled(params)
        return Reply(self._settings(session), after=lambda: self._introduce(session))

    async def _load(self, params: Json) -> Reply:
        """The same with replay: all of it comes before the answer (V1-50)."""
        session = self._recalled(params)
        for update in session.history.updates:
            await self._peer.notify("session/update", {"sessionId": session.id, "update": update})
        return Reply(self._settings(session), after=lambda: self._introduce(session))

    async def _list(self, params: Json) -> Reply:
        """A page of the sessions of a folder, or of all (V1-53, V1-54)."""
        assert self._memory is not None, "offered only then"
        self._login.check()
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

    def _recalled(self, params: Json, fork: bool = False) -> Session:
        """A session of an earlier process, taken up again; with ``fork`` a new one that begins with it."""
        project, ident = self._project(params), params.get("sessionId")
        if not fork and isinstance(ident, str) and ident in self._sessions:
            raise RpcError(INVALID_REQUEST, "This session is open already.")
        session = None
        if self._memory is not None and isinstance(ident, str):
            session = self._memory.recall(ident, project)
        if session is None:
            raise RpcError(NOT_FOUND, f"There is no session {ident!r}.", {"sessionId": ident})
        if fork and self._memory is not None:
            session.id = self._memory.new_id()
            session.entitle(f"{session.title} (fork)" if session.title else "fork")
        return self._added(session)

    def _project(self, params: Json) -> Project:
        """The folder a session is to work in."""
        if self._client is None:
            raise RpcError(INVALID_REQUEST, "initialize comes first.")
        self._login.check()
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not Path(cwd).is_absolute():
            raise RpcError(INVALID_PARAMS, "cwd must be an absolute path.")
        if not is_folder(Path(cwd)):
            raise RpcError(INVALID_PARAMS, f"cwd is not a folder: {cwd}")
        return Project(Path(cwd))

    def _added(self, session: Session) -> Session:
        assert self._client is not None, "a session comes after initialize"
        session.client = self._client
        self._sessions[session.id] = session
        self._remember(session)
        return session

    def _remember(self, session: Session) -> None:
        if self._memory is not None and not session.forgotten:
            with contextlib.suppress(OSError):  # forgotten then: a resume says so
                self._memory.save(session)

    def _settings(self, session: Session) -> Json:
        """Config options, and the modes for clients that do not know them (V1-149)."""
        options = session.settings.options(self._speed, session.client.booleans)
        return {"modes": session.settings.modes(), "configOptions": options}

    async def _introduce(self, session: Session, titled: bool = False) -> None:
        turn = Turn(self._peer, session, self._speed)
        commands = [command.as_json() for command in COMMANDS]
        await turn.send({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        if titled:
            await turn.entitled()
        await turn.usage()

    async def _set_option(self, params: Json) -> Reply:
        """Answered with all of them, as V1-153 wants it."""
        session, ident = self._session(params), params.get("configId")
        if not session.settings.set(ident, params.get("value")):
            raise RpcError(INVALID_PARAMS, f"The option {ident!r} cannot be {params.get('value')!r}.")
        self._remember(session)
        turn, mode = Turn(self._peer, session, self._speed), session.settings.mode
        told = {"sessionUpdate": "current_mode_update", "currentModeId": mode}
        return Reply(
            {"configOptions": self._settings(session)["configOptions"]},
            after=(lambda: turn.send(told)) if ident == "mode" else None,
        )

    async def _set_mode(self, params: Json) -> Reply:
        session, mode = self._session(params), params.get("modeId")
        if not session.settings.set("mode", mode):
            raise RpcError(INVALID_PARAMS, f"There is no mode {mode!r}.")
        self._remember(session)
        turn = Turn(self._peer, session, self._speed)
        return Reply({}, after=lambda: modes.tell(turn))

    async def _prompt(self, params: Json) -> Reply:
        session = self._session(params)
        self._login.check()
        if session.turn is not None:
            raise RpcError(INVALID_REQUEST, "This session is still busy with the last prompt.")
        text, attached, size = prompt.read(params.get("prompt"))
        session.characters += size
        session.cancelled = False
        turn = Turn(self._peer, session, self._speed, attached)
        session.updated = datetime.now(UTC).isoformat(timespec="seconds")
        said = {"type": "text", "text": text}
        session.history.add(
            {"sessionUpdate": "user_message_chunk", "messageId": session.name("message"), "content": said}
        )
        session.turn = asyncio.create_task(prompt.play(turn, text))
        try:
            await session.turn
        except asyncio.CancelledError:
            if not session.cancelled:
                raise
        finally:
            session.turn = session.added = None
            self._remember(session)
        await turn.usage()
        return Reply({"stopReason": "cancelled" if session.cancelled else "end_turn"})

    async def _steer(self, params: Json) -> Reply:
        """What the user says during a turn is a part of it: done as soon as what is under way is done."""
        session = self._session(params)
        text, attached, size = prompt.read(params.get("prompt"))
        if session.turn is None or session.cancelled or session.added is None:
            return Reply({"outcome": "promptRequired", "reason": "noRunningTurn"})
        session.characters += size
        said = {"type": "text", "text": text}
        session.history.add(
            {"sessionUpdate": "user_message_chunk", "messageId": session.name("message"), "content": said}
        )
        session.added.append((text, attached))
        return Reply({"outcome": "injected"})

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
