"""Plays recorded traffic of a real agent to the adapter: the agent's lines as they were, ours as they come.

What the recording client sent tells what the user did and when. Our requests may differ in detail (a
newer client asks for other things); they are matched by their kind. Our answers must be the recorded ones.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from tests.replay.compact import session_text
from tests.unit.protocol.acp_v1.bench import FakeQuestions, FakeTerminals, MemoryLines

from acp_nvim.protocol.acp_v1 import AcpV1
from acp_nvim.protocol.adapter import Parts
from acp_nvim.protocol.channel import Channel
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.events import TurnStarted
from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError, RequestError
from acp_nvim.session.store import Store

WORKSPACE = "/ws"
PATIENCE = 30.0


class RecordedFiles:
    """ports.Files: gives the recorded answers, in the order of the requests."""

    def __init__(self) -> None:
        self.answers: deque[dict[str, Any]] = deque()

    async def read(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        return str(self._next()["content"])

    async def write(self, session: Session, path: str, text: str) -> None:
        self._next()

    def _next(self) -> dict[str, Any]:
        answer = self.answers.popleft()
        if "error" in answer:
            raise RequestError(answer["error"]["code"], answer["error"]["message"])
        result: dict[str, Any] = answer["result"] or {}
        return result


class Player:
    """Plays one transcript.

    ``texts`` are the sessions that came of it (compact.py), ``errors`` what was said to the user, and
    ``unused`` notes on lines that could not be used.
    """

    def __init__(self, path: Path, watch: Callable[[Store, Session], None] | None = None) -> None:
        """``watch`` is called for each session, before anything happens to it."""
        self.watch = watch
        text = path.read_text(encoding="utf-8").replace("$WS", WORKSPACE)
        entries = [json.loads(line) for line in text.splitlines()]
        self._entries = [entry for entry in entries if entry["dir"] in ("send", "recv")]
        self._loads = any(entry["msg"].get("method") == "session/load" for entry in self._entries)
        self.texts: list[list[str]] = []
        self.errors: list[str] = []
        self.unused: list[str] = []

    async def play(self) -> None:
        """Each ``initialize`` begins a connection of its own."""
        starts = [i for i, entry in enumerate(self._entries) if entry["msg"].get("method") == "initialize"]
        for first, end in zip(starts, [*starts[1:], len(self._entries)], strict=True):
            with anyio.fail_after(PATIENCE):
                await _Connection(self, self._entries[first:end], self._loads).play()


class _Connection:
    def __init__(self, player: Player, entries: list[dict[str, Any]], loads: bool) -> None:
        self._player = player
        self._entries = entries
        self._loads = loads
        self._transport = MemoryLines()
        self._store = Store(lambda: 0.0, self._failed)
        self._questions = FakeQuestions(self._store)
        self._files = RecordedFiles()
        self._adapter = AcpV1(
            Channel(self._transport, lambda direction, data, text: self._observed(text)),
            Parts(
                sink=self._store,
                files=self._files,
                questions=self._questions,
                terminals=FakeTerminals(),
            ),
        )
        self._ids: dict[int, int] = {}  # recorded id of the client -> ours
        self._waiting: dict[int, anyio.Event] = {}  # recorded id -> its task has ended
        self._asked: dict[Any, str] = {}  # id of the agent's permission request -> our question
        self._sessions: list[Session] = []
        self._pings = 0

    async def play(self) -> None:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._adapter.run)
                for number, entry in enumerate(self._entries):
                    if entry["dir"] == "recv":
                        await self._receive(entry["msg"], number)
                    else:
                        await self._settle()
                        await self._send(entry["msg"], group)
                await self._settle()
                self._player.texts += [list(session_text(session)) for session in self._sessions]
                await self._adapter.close()
        finally:
            self._transport.close()

    # The agent's side.

    async def _receive(self, message: dict[str, Any], number: int) -> None:
        recorded = message.get("id")
        if "method" not in message and isinstance(recorded, int):
            if self._loads and "agentCapabilities" in (message.get("result") or {}):
                message["result"]["agentCapabilities"].get("sessionCapabilities", {}).pop("resume", None)
            self._transport.push({**message, "id": self._ids[recorded]})
            await self._waiting.pop(recorded).wait()
            return
        if "id" in message:
            if message["method"].startswith("fs/"):
                self._files.answers.append(self._answer_to(message["id"], number))
            else:
                self._asked[message["id"]] = f"q{len(self._questions.asked) + 1}"
                self._transport.push(message)
                await self._settle()
                return
        self._transport.push(message)

    def _answer_to(self, request_id: Any, after: int) -> dict[str, Any]:
        for entry in self._entries[after:]:
            message = entry["msg"]
            if entry["dir"] == "send" and message.get("id") == request_id and "method" not in message:
                answer: dict[str, Any] = message
                return answer
        raise AssertionError(f"no recorded answer to {request_id}")

    async def _settle(self) -> None:
        self._pings += 1
        ping = f"ping{self._pings}"
        self._transport.push({"jsonrpc": "2.0", "id": ping, "method": "_ping"})
        await self._reply(ping)

    async def _reply(self, request_id: Any) -> dict[str, Any]:
        while not (found := self._replies(request_id)):
            await anyio.lowlevel.checkpoint()
        return found[0]

    def _replies(self, request_id: Any) -> list[dict[str, Any]]:
        return [m for m in self._transport.sent if m.get("id") == request_id and "method" not in m]

    # The user's side.

    async def _send(self, message: dict[str, Any], group: TaskGroup) -> None:
        if "method" not in message:
            await self._answered(message)
            return
        method, params = message["method"], message.get("params") or {}
        if method == "session/cancel":
            await self._adapter.cancel(self._session)
            return
        before = len(self._transport.sent)
        done = anyio.Event()
        self._waiting[message["id"]] = done
        group.start_soon(self._do, self._act(method, params), done)
        while not (mine := [m for m in self._transport.sent[before:] if m.get("method") == method]):
            assert not done.is_set(), f"{method} was not sent"
            await anyio.lowlevel.checkpoint()
        self._ids[message["id"]] = mine[0]["id"]

    def _act(self, method: str, params: dict[str, Any]) -> Callable[[], Awaitable[object]]:
        """What the user, or the client for them, did to make this request go out."""
        adapter = self._adapter
        match method:
            case "initialize":
                return adapter.connect
            case "authenticate":
                return lambda: adapter.authenticate(params["methodId"])
            case "session/new":
                session = self._new_session()
                return lambda: adapter.new_session(session)
            case "session/load":
                session = self._new_session()
                return lambda: adapter.resume_session(session, params["sessionId"])
            case "session/prompt":
                blocks = [Block.of_text(part["text"]) for part in params["prompt"]]
                session = self._session
                self._store.apply(session, TurnStarted(tuple(blocks)))
                return lambda: adapter.prompt(session, blocks)
            case "session/set_mode":
                mode = Option("mode", "Mode", "select", category="mode", source="mode")
                return lambda: adapter.set_option(self._session, mode, params["modeId"])
            case "session/set_config_option":
                option = Option(params["configId"], "", "select")
                return lambda: adapter.set_option(self._session, option, params["value"])
            case _:
                raise AssertionError(f"the client sends no {method}")

    async def _do(self, act: Callable[[], Awaitable[object]], done: anyio.Event) -> None:
        try:
            await act()
        except AgentError as error:
            self._player.errors.append(f"{error.failure.kind}: {error.failure.message}")
        done.set()

    async def _answered(self, recorded: dict[str, Any]) -> None:
        """The recorded client answered here: so do we, and with the same."""
        question = self._asked.pop(recorded["id"], None)
        if question is not None:
            outcome = recorded["result"]["outcome"]
            if question in self._questions.open():
                self._questions.answer(question, outcome.get("optionId"))
        assert await self._reply(recorded["id"]) == recorded

    @property
    def _session(self) -> Session:
        return self._sessions[-1]

    def _new_session(self) -> Session:
        session = Session(f"s{len(self._sessions)}", "agent", WORKSPACE)
        self._store.add(session)
        self._sessions.append(session)
        if self._player.watch is not None:
            self._player.watch(self._store, session)
        return session

    def _observed(self, note: str) -> None:
        if note:
            self._player.unused.append(note)

    @staticmethod
    def _failed(session: object, event: object, error: Exception) -> None:
        raise error
