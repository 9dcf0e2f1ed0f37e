"""The methods of version 1 of the protocol."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from . import modes, prompt
from .commands import COMMANDS
from .desk import Desk, stop
from .offered import Offered
from .peer import INVALID_PARAMS, INVALID_REQUEST, Handler, Json, Listener, Reply, RpcError
from .session import Session

MEMORY = ("resume", "list", "delete", "fork")  # what it can do with sessions of earlier processes


class VersionOne:
    """See Agent."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.requests: dict[str, Handler] = {
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/prompt": self._prompt,
            "_session/steering": self._steer,
            "session/set_config_option": self._set_option,
            "session/set_mode": self._set_mode,
            "session/close": self._close,
        }
        if desk.memory is not None:
            self.requests["session/resume"] = self._resume
            self.requests["session/load"] = self._load
            self.requests["session/list"] = self._list
            self.requests["session/delete"] = self._delete
            self.requests["session/fork"] = self._fork
        if desk.login.wanted:
            self.requests["logout"] = self._logout
        self.notifications: dict[str, Listener] = {"session/cancel": self._cancel}

    def hello(self, params: Json, info: Json) -> Json:
        """Take what the client offers; returns the answer to ``initialize``."""
        client = self._desk.client = Offered.of(params)
        lasting, login = self._desk.memory is not None, self._desk.login
        return {
            "protocolVersion": 1,
            "agentInfo": info,
            "agentCapabilities": {
                "loadSession": lasting,
                "promptCapabilities": {"embeddedContext": True, "image": True, "audio": True},
                "sessionCapabilities": {name: {} for name in ("close", *(MEMORY if lasting else ()))},
                "auth": {"logout": {}} if login.wanted else {},
            },
            "authMethods": login.methods(client),
            "_meta": {"steering": {"supported": True}},
        }

    async def _authenticate(self, params: Json) -> Reply:
        self._desk.login.authenticate(params.get("methodId"))
        return Reply({})

    async def _logout(self, params: Json) -> Reply:
        """Sessions stay; whatever they are asked for next needs a log-in (V1-43)."""
        self._desk.login.forget()
        return Reply({})

    async def _new(self, params: Json) -> Reply:
        session = self._desk.new(params)
        settings = {"sessionId": session.id, **self._settings(session)}
        return Reply(settings, after=lambda: self._introduce(session))

    async def _fork(self, params: Json) -> Reply:
        """A session of its own that has gone the same way up to its last turn (V1-62)."""
        session = self._desk.recalled(params, fork=True)
        settings = {"sessionId": session.id, **self._settings(session)}
        return Reply(settings, after=lambda: self._introduce(session, True))

    async def _resume(self, params: Json) -> Reply:
        """Take up a session of an earlier process: without replay (V1-52). Nothing is said of it again."""
        session = self._desk.recalled(params)
        return Reply(self._settings(session), after=lambda: self._introduce(session))

    async def _load(self, params: Json) -> Reply:
        """The same with replay: all of it comes before the answer (V1-50)."""
        session = self._desk.recalled(params)
        await self._desk.turn(session).replay()
        return Reply(self._settings(session), after=lambda: self._introduce(session))

    async def _list(self, params: Json) -> Reply:
        return Reply(self._desk.listed(params))

    async def _delete(self, params: Json) -> Reply:
        """One that is open ends."""
        session = self._desk.forget(params)
        if session is not None:
            stop(session)
        return Reply({})

    def _settings(self, session: Session) -> Json:
        """Config options, and the modes for clients that do not know them (V1-149)."""
        return {"modes": session.settings.modes(), "configOptions": self._desk.options(session)}

    async def _introduce(self, session: Session, titled: bool = False) -> None:
        turn = self._desk.turn(session)
        commands = [command.as_json() for command in COMMANDS]
        await turn.send({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        if titled:
            await turn.entitled()
        await turn.usage()

    async def _set_option(self, params: Json) -> Reply:
        """Answered with all of them, as V1-153 wants it."""
        session, ident = self._desk.known(params), params.get("configId")
        if not session.settings.set(ident, params.get("value")):
            raise RpcError(INVALID_PARAMS, f"The option {ident!r} cannot be {params.get('value')!r}.")
        self._desk.remember(session)
        turn = self._desk.turn(session)
        told = {"sessionUpdate": "current_mode_update", "currentModeId": session.settings.mode}
        return Reply(
            {"configOptions": self._desk.options(session)},
            after=(lambda: turn.send(told)) if ident == "mode" else None,
        )

    async def _set_mode(self, params: Json) -> Reply:
        session, mode = self._desk.known(params), params.get("modeId")
        if not session.settings.set("mode", mode):
            raise RpcError(INVALID_PARAMS, f"There is no mode {mode!r}.")
        self._desk.remember(session)
        turn = self._desk.turn(session)
        return Reply({}, after=lambda: modes.tell(turn))

    async def _prompt(self, params: Json) -> Reply:
        session = self._desk.known(params)
        self._desk.login.check()
        if session.turn is not None:
            raise RpcError(INVALID_REQUEST, "This session is still busy with the last prompt.")
        text, attached, size = prompt.read(params.get("prompt"))
        session.characters += size
        session.parts = prompt.parts(params.get("prompt"))
        session.cancelled = False
        turn = self._desk.turn(session, attached)
        session.updated = datetime.now(UTC).isoformat(timespec="seconds")
        session.history.add(prompt.said(session.name("message"), text))
        session.turn = asyncio.create_task(prompt.play(turn, text))
        try:
            await session.turn
        except asyncio.CancelledError:
            if not session.cancelled:
                raise
        finally:
            session.turn = session.added = None
            self._desk.remember(session)
        await turn.usage()
        return Reply({"stopReason": "cancelled" if session.cancelled else "end_turn"})

    async def _steer(self, params: Json) -> Reply:
        """What the user says during a turn is a part of it: done as soon as what is under way is done."""
        session = self._desk.known(params)
        text, attached, size = prompt.read(params.get("prompt"))
        if session.turn is None or session.cancelled or session.added is None:
            return Reply({"outcome": "promptRequired", "reason": "noRunningTurn"})
        session.characters += size
        session.history.add(prompt.said(session.name("message"), text))
        session.added.append((text, attached))
        return Reply({"outcome": "injected"})

    async def _close(self, params: Json) -> Reply:
        session = self._desk.known(params)
        stop(session)
        del self._desk.sessions[session.id]
        return Reply({})

    def _cancel(self, params: Json) -> None:
        session = self._desk.sessions.get(str(params.get("sessionId")))
        if session is not None:
            stop(session)
