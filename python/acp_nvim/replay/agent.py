"""The agent of a replay: says over stdio what the recorded agent said, and answers as it did.

What we are asked is matched with what it was asked by the method, in the order of the recording; ids differ,
and so may paths and answers. Each process is one life of the recorded agent.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from .acts import Acts, prompt_text, typed
from .pace import Pace
from .recording import OPENINGS, Entry, Json, Recording, answer_to, read
from .room import Room

#: Seconds to wait for a request or an answer of the client that was recorded.
PATIENCE = 20.0
#: The same for an option: there may be none of this name any more.
SHORT_PATIENCE = 3.0
#: Settings that a user changes.
OPTIONS = ("session/set_mode", "session/set_config_option", "session/set_model")
#: The recorded user made the client ask for these.
WAITED = ("initialize", "session/prompt", *OPENINGS, *OPTIONS)
#: What only a person answers.
QUESTIONS = ("session/request_permission", "elicitation/create")


class Agent:
    """One life. ``auto``: the recorded answers are given; else a person gives theirs, in their time."""

    def __init__(
        self,
        entries: list[Entry],
        room: Room,
        acts: Acts,
        pace: Pace,
        writer: asyncio.StreamWriter,
        *,
        auto: bool,
    ) -> None:
        self._entries = entries
        self._room = room
        self._acts = acts
        self._pace = pace
        self._writer = writer
        self._auto = auto
        self._opened = False  # the first session is begun by whoever has started us
        self._ids: dict[str, Any] = {}  # recorded id of a request of the client: the one it has now
        self._answers: dict[str, asyncio.Future[Json]] = {}
        self._requests: dict[str, Entry] = {}  # of the agent, by id
        self._terminals: dict[str, str] = {}
        self._arrived: dict[str, deque[Json]] = {}
        self._news = asyncio.Condition()
        self._left = Counter(
            _kind(e.method) for e in entries if e.direction == "out" and e.ident and e.method
        )
        self._cancelled = False
        self._over = False

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Take what the client says, until it is gone."""
        async for line in _lines(reader):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                await self._take(message)

    async def _take(self, message: Json) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            waiting = self._answers.get(repr(message.get("id")))
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            return
        kind = _kind(method)
        if "id" in message and (self._over or not self._left[kind]):
            await self._refuse(message)
            return
        if "id" in message:
            self._left[kind] -= 1
        async with self._news:
            self._arrived.setdefault(kind, deque()).append(message)
            self._news.notify_all()

    async def _refuse(self, message: Json) -> None:
        """What the recorded client has not asked."""
        answer: Json = {"error": {"code": -32601, "message": "The recording has no more of this."}}
        if message["method"] == "session/list":
            answer = {"result": {"sessions": []}}
        elif message["method"] in ("session/close", "session/delete"):
            answer = {"result": {}}
        elif message["method"] == "session/prompt":
            answer["error"]["code"] = -32603
        await self._send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def play(self) -> None:
        """The whole life, from the first message to the last one."""
        for entry in self._entries:
            if entry.direction == "in":
                await self._pace.until(entry.at)
                await self._say(entry)
            elif entry.direction == "out" and entry.message is not None:
                await self._hear(entry)
        self._over = True
        for waiting in self._arrived.values():
            for message in waiting:
                if "id" in message:
                    await self._refuse(message)

    # -- the agent's side

    async def _say(self, entry: Entry) -> None:
        if entry.message is None:
            if entry.text is not None:
                await self._write(str(self._room.into(entry.text)))
            return
        if not entry.method:
            await self._answer(entry)
            return
        message = self._room.request(self._entries, entry)
        message = {**message, "params": self._with_terminals(message.get("params"))}
        if entry.ident is not None:
            self._requests[entry.ident] = entry
            self._answers[entry.ident] = asyncio.get_running_loop().create_future()
        if entry.params or "params" in entry.message:
            await self._send(message)
        else:
            message.pop("params", None)
            await self._send(message)

    async def _answer(self, entry: Entry) -> None:
        assert entry.message is not None
        recorded = next((e for e in self._entries if e.direction == "out" and e.ident == entry.ident), None)
        if recorded is not None and entry.ident not in self._ids:
            return  # this client has not asked
        message: Json = self._room.into(entry.message)
        if entry.ident in self._ids:
            message = {**message, "id": self._ids[entry.ident]}
        if recorded is not None and recorded.method == "initialize":
            message = self._able(message)
        if recorded is not None and recorded.method in OPENINGS and isinstance(message.get("result"), dict):
            session = recorded.params.get("sessionId")
            message = {**message, "result": {"sessionId": session, **message["result"]}}
        await self._send(message)

    def _able(self, message: Json) -> Json:
        """Where the recorded client loaded a session, this one is not to resume it: no history would come."""
        result = message.get("result")
        able = result.get("agentCapabilities") if isinstance(result, dict) else None
        sessions = able.get("sessionCapabilities") if isinstance(able, dict) else None
        loads = any(e.method == "session/load" for e in self._entries)
        if not loads or not isinstance(sessions, dict) or not isinstance(able, dict):
            return message
        sessions = {name: value for name, value in sessions.items() if name != "resume"}
        able = {**able, "sessionCapabilities": sessions}
        return {**message, "result": {**message["result"], "agentCapabilities": able}}

    def _with_terminals(self, value: Any) -> Any:
        """Terminals have other ids than the recorded ones."""
        if isinstance(value, list):
            return [self._with_terminals(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self._terminals.get(item, item)
            if name == "terminalId" and isinstance(item, str)
            else self._with_terminals(item)
            for name, item in value.items()
        }

    async def _send(self, message: Json) -> None:
        await self._write(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    async def _write(self, line: str) -> None:
        self._writer.write(line.replace("\n", " ").encode("utf-8", "replace") + b"\n")
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    # -- the client's side, and its user's

    async def _hear(self, entry: Entry) -> None:
        if not entry.method:
            await self._expect_answer(entry)
        elif entry.ident is None:
            if entry.method == "session/cancel":
                await self._pace.until(entry.at, thought=True)
                await self._cancel(entry)
        elif entry.method in WAITED:
            await self._pace.until(entry.at, thought=entry.method != "initialize")
            await self._act(entry)
            await self._expect(entry, SHORT_PATIENCE if entry.method in OPTIONS else PATIENCE)
        else:
            await self._expect(entry, 0)

    async def _act(self, entry: Entry) -> None:
        """What the recorded user did, so that this went out."""
        session = entry.params.get("sessionId")
        if entry.method == "session/prompt":
            self._cancelled = False
            text = self._room.into(prompt_text(entry.params.get("prompt"), self._room.recorded))
            await self._acts.do("prompt", session=session, text=text)
        elif entry.method in OPTIONS:
            option = entry.params.get("configId", "mode" if entry.method == "session/set_mode" else "model")
            value = entry.params.get("value", entry.params.get("modeId", entry.params.get("modelId")))
            await self._acts.do("option", session=session, id=option, value=value)
        elif entry.method in OPENINGS:
            if self._opened:
                load = session if entry.method != "session/new" else None
                if self._left[_kind(entry.method)]:
                    await self._acts.do("open", load=load)
            self._opened = True

    async def _cancel(self, entry: Entry | None) -> None:
        if not self._cancelled:
            self._cancelled = True
            await self._acts.do(
                "cancel", session=entry.params.get("sessionId") if entry is not None else None
            )
        if entry is not None:
            await self._expect(entry, PATIENCE)

    async def _expect(self, entry: Entry, seconds: float) -> None:
        """Wait for this request or notification; it does not come if the client has become another one."""
        kind = _kind(entry.method)

        def come() -> bool:
            return bool(self._arrived.get(kind))

        async with self._news:
            if not come() and seconds:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait_for(come), seconds)
            if come():
                message = self._arrived[kind].popleft()
                if entry.ident is not None:
                    self._ids[entry.ident] = message.get("id")
            elif entry.ident is not None and self._left[kind]:
                self._left[kind] -= 1

    async def _expect_answer(self, entry: Entry) -> None:
        request = self._requests.get(entry.ident or "")
        waiting = self._answers.get(entry.ident or "")
        if request is None or waiting is None:
            return
        question = request.method in QUESTIONS
        if question and not waiting.done():
            await self._pace.until(entry.at, thought=True)
            await self._answer_question(request, entry)
        try:
            patience = None if question and not self._auto else PATIENCE
            message = await asyncio.wait_for(asyncio.shield(waiting), patience)
        except TimeoutError:
            return
        if request.method == "terminal/create":
            recorded, now = (entry.result or {}).get("terminalId"), message.get("result")
            if isinstance(recorded, str) and isinstance(now, dict):
                self._terminals[recorded] = str(now.get("terminalId"))

    async def _answer_question(self, request: Entry, answer: Entry) -> None:
        result = answer.result or {}
        outcome = result.get("outcome")
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else result.get("action")
        options = request.params.get("options")
        named = [o for o in options if isinstance(o, dict)] if isinstance(options, list) else []
        name = next((o.get("name") for o in named if o.get("optionId") == chosen), chosen)
        if chosen is None or (chosen == "cancel" and not named):
            if self._auto:
                await self._cancel(None)
            else:
                await self._acts.do("hint", text="the recorded user cancelled here")
            return
        await self._acts.do("hint", text=f"the recorded answer: {name}")
        if self._auto:
            session, content = request.params.get("sessionId"), typed(request.params, result.get("content"))
            await self._acts.do("answer", session=session, option=chosen, content=content)


def _kind(method: str) -> str:
    """A session may be begun, an option set in another way than it was."""
    if method in OPENINGS:
        return "opening"
    return "option" if method in OPTIONS else method


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    while chunk := await reader.read(1 << 16):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


async def serve(recording: Recording, room: Room, socket: Path, speed: float, *, auto: bool) -> None:
    """Be the agent until the client is gone. One that never said a word ends by itself."""
    lives = recording.lives()
    count = room.folder / "lives"
    number = int(count.read_text(encoding="utf-8")) if count.exists() else 0
    count.write_text(str(number + 1), encoding="utf-8")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
    )
    acts = Acts(socket)
    life = lives[min(number, len(lives) - 1)]
    agent = Agent(
        life,
        room,
        acts,
        Pace(speed),
        asyncio.StreamWriter(transport, protocol, None, loop),
        auto=auto,
    )
    listening = asyncio.create_task(agent.listen(reader))
    playing = asyncio.create_task(agent.play())
    await asyncio.wait({listening, playing}, return_when=asyncio.FIRST_COMPLETED)
    if not playing.done():
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await playing
        return
    playing.result()
    await acts.do("restart" if number + 1 < len(lives) else "end")
    if any(entry.direction == "in" for entry in life):
        await listening


def first_session(recording: Recording) -> Json | None:
    """What the recorded client began with: an old session to load; None: a new one."""
    life = recording.lives()[0]
    for entry in life:
        if entry.direction == "out" and entry.method in OPENINGS:
            answer = answer_to(life, entry)
            if entry.method != "session/new" and answer is not None and answer.result is not None:
                return {"load": entry.params.get("sessionId")}
            return None
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m acp_nvim.replay.agent", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--connection", type=int)
    parser.add_argument("--auto", action="store_true")
    options = parser.parse_args()
    recording = read(options.file, options.connection)
    room = Room.named(options.folder, recording.cwd)
    asyncio.run(serve(recording, room, options.socket, options.speed, auto=options.auto))
    return 0


if __name__ == "__main__":
    sys.exit(main())
