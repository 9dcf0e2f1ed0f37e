"""The methods of version 2 of the protocol: prompts are taken or held, the session's state is told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from . import foreground, prompt, speech
from .commands import COMMANDS
from .desk import Desk, stop
from .offered import Offered
from .peer import INVALID_PARAMS, Handler, Json, Listener, Reply, RpcError
from .session import Session
from .turn import Turn

INFO = ("name", "version")  # of the client, which are required


class VersionTwo:
    """See Agent."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.requests: dict[str, Handler] = {
            "session/new": self._new,
            "session/list": self._list,
            "session/resume": self._resume,
            "session/close": self._close,
            "session/prompt": self._prompt,
            "session/set_config_option": self._set_option,
            "tool_call/cancel": self._cancel_call,
            "terminal/cancel": self._cancel_terminal,
        }
        if desk.memory is not None:
            self.requests["session/delete"] = self._delete
        if desk.login.wanted:
            self.requests["auth/login"] = self._login
            self.requests["auth/logout"] = self._logout
        self.notifications: dict[str, Listener] = {
            "session/cancel": self._cancel,
            "$/cancel_request": self._withdrawn,
        }

    def hello(self, params: Json, info: Json) -> Json:
        """Take what the client offers; returns the answer to ``initialize`` (V2-19..22). Raises RpcError."""
        theirs = params.get("info")
        if not isinstance(theirs, dict) or not all(isinstance(theirs.get(name), str) for name in INFO):
            raise RpcError(INVALID_PARAMS, "initialize needs info, with name and version.")
        client = self._desk.client = Offered.of_second(params)
        self._desk.speech = speech.Second()
        self._desk.peer.withdraws = True
        methods = [_method(method) for method in self._desk.login.methods(client)]
        lasting: Json = {"delete": {}} if self._desk.memory is not None else {}
        return {
            "protocolVersion": 2,
            "info": info,
            "capabilities": {
                "session": {"prompt": {"embeddedContext": {}, "image": {}, "audio": {}}, **lasting}
            },
            **({"authMethods": methods} if methods else {}),
        }

    async def _login(self, params: Json) -> Reply:
        self._desk.login.authenticate(params.get("methodId"))
        return Reply({})

    async def _logout(self, params: Json) -> Reply:
        """Sessions stay; whatever they are asked for next needs a log-in (V2-31)."""
        self._desk.login.forget()
        return Reply({})

    async def _new(self, params: Json) -> Reply:
        session = self._desk.new(params)
        settings = {"sessionId": session.id, **self._settings(session)}
        return Reply(settings, after=self._desk.turn(session).usage)

    async def _resume(self, params: Json) -> Reply:
        """With what was said, if that is wanted; in any case with the state (V2-35, V2-36)."""
        session = self._desk.recalled(params)
        turn, origin = self._desk.turn(session), params.get("replayFrom")
        if isinstance(origin, dict) and origin.get("type") == "start":
            await turn.replay()
        await turn.state("idle")
        return Reply(self._settings(session), after=turn.usage)

    async def _list(self, params: Json) -> Reply:
        return Reply(self._desk.listed(params))

    async def _delete(self, params: Json) -> Reply:
        session = self._desk.forget(params)
        if session is not None:
            _end(session)
        return Reply({})

    async def _close(self, params: Json) -> Reply:
        """All work of the session is over before this is answered (V2-42)."""
        session = self._desk.known(params)
        del self._desk.sessions[session.id]
        _end(session)
        await asyncio.gather(*session.jobs.values(), return_exceptions=True)
        async with foreground.taken(session):
            return Reply({})

    def _settings(self, session: Session) -> Json:
        """V2-33."""
        commands = speech.commands([command.as_json() for command in COMMANDS])
        return {"configOptions": self._desk.options(session), "availableCommands": commands}

    async def _set_option(self, params: Json) -> Reply:
        """V2-131, V2-132."""
        session, ident, value = self._desk.known(params), params.get("configId"), params.get("value")
        kind = "boolean" if isinstance(value, bool) else "id"
        if params.get("type") != kind or not session.settings.set(ident, value):
            raise RpcError(INVALID_PARAMS, f"The option {ident!r} cannot be {value!r}.")
        self._desk.remember(session)
        return Reply({"configOptions": self._desk.options(session)})

    async def _prompt(self, params: Json) -> Reply:
        """Answered when the message is taken into the conversation; until then it is held (V2-50, V2-54)."""
        session = self._desk.known(params)
        self._desk.login.check()
        if not params.get("prompt"):
            raise RpcError(INVALID_PARAMS, "prompt must have a content block.")
        text, attached, size = prompt.read(params["prompt"])
        held = asyncio.current_task()
        assert held is not None, "a handler is a task"
        session.held.add(held)
        try:
            await foreground.take(session)
        finally:
            session.held.discard(held)
        ident = session.name("message")
        turn = self._desk.turn(session, attached)
        session.characters += size
        session.parts = prompt.parts(params["prompt"])
        self._desk.peer.spawn(self._turn(turn, text, ident))
        return Reply({"messageId": ident})

    async def _turn(self, turn: Turn, text: str, ident: str) -> None:
        """What a message leads to, the message first (V2-51)."""
        session = turn.session
        session.updated = datetime.now(UTC).isoformat(timespec="seconds")

        try:
            await turn.state("running")
            await turn.send(prompt.said(ident, text))
            await foreground.work(turn, prompt.play(turn, text))
        finally:
            session.line.release()
            self._desk.remember(session)

    def _cancel(self, params: Json) -> None:
        """The turn, and what is held; work in the background goes on (V2-68)."""
        session = self._desk.sessions.get(str(params.get("sessionId")))
        if session is not None:
            stop(session)
            _let_go(session)

    def _withdrawn(self, params: Json) -> None:
        """A prompt that is held can be taken back (V2-55); nothing else takes long enough."""
        task = self._desk.peer.answering(params.get("requestId"))
        if task is not None and any(task in session.held for session in self._desk.sessions.values()):
            task.cancel()

    async def _cancel_call(self, params: Json) -> Reply:
        """V2-73."""
        return self._stopped(params, params.get("toolCallId"))

    async def _cancel_terminal(self, params: Json) -> Reply:
        return self._stopped(params, params.get("terminalId"))

    def _stopped(self, params: Json, ident: object) -> Reply:
        stops = self._desk.known(params).stops
        if not isinstance(ident, str) or ident not in stops:
            raise RpcError(INVALID_PARAMS, f"{ident!r} cannot be cancelled: it is over, or never was.")
        stops[ident].set()
        return Reply({})


def _end(session: Session) -> None:
    """All that goes on in a session."""
    session.closed = True
    stop(session)
    _let_go(session)
    for each in session.stops.values():
        each.set()


def _let_go(session: Session) -> None:
    """Prompts that are held are answered as cancelled (V2-42, V2-56)."""
    for task in list(session.held):
        task.cancel()


def _method(method: Json) -> Json:
    """A way to log in (V2-26, V2-28)."""
    told = {"type": "agent", **method, "methodId": method["id"]}
    del told["id"]
    if "env" in told:
        told["env"] = [{"name": name, "value": value} for name, value in told["env"].items()]
    return told
