"""The AAP server of a replay: answers requests as the recorded server did, on this machine alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from acp_nvim.demo.web import Request, Response, serve

from .acts import Acts, prompt_text
from .pace import Pace
from .recording import Entry, Json, Recording

#: Seconds to wait for a turn that was recorded.
PATIENCE = 20.0


@dataclass(slots=True, eq=False)
class Exchange:
    """A request and what was answered. ``events``: of a stream; each has its kind and its time."""

    kind: str
    at: float
    asked: Json
    status: int = 0
    type: str = ""
    body: bytes = b""
    events: list[Entry] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)


def exchanges(entries: list[Entry]) -> list[Exchange]:
    """Answers belong to the oldest request without one, what follows of a stream to the last stream."""
    made: list[Exchange] = []
    stream: Exchange | None = None
    for entry in entries:
        if entry.direction == "out" and entry.label:
            method, _, path = entry.label.partition(" ")
            parts = path.partition("?")[0].strip("/").split("/")
            made.append(Exchange(_kind(method, parts), entry.at, entry.message or {}))
        elif entry.direction == "in" and entry.label[:3].isdigit():
            waiting = next((each for each in made if not each.status), None)
            if waiting is None:
                continue
            waiting.status, waiting.type = int(entry.label[:3]), entry.label[4:]
            waiting.body = _body(entry)
            stream = waiting
        elif entry.direction == "in" and stream is not None:
            if entry.label == "body":
                stream.body = _body(entry)
            elif stream.type == "event-stream":
                stream.events.append(entry)
            else:
                stream.body = _body(entry)
    return made


def _body(entry: Entry) -> bytes:
    if entry.message is not None:
        return json.dumps(entry.message, ensure_ascii=False).encode("utf-8", "replace")
    return (entry.text or "").encode("utf-8", "replace")


def _kind(method: str, parts: Sequence[str]) -> str:
    """Without the ids, which the recording has shortened."""
    kept = ["*" if n == 1 else part for n, part in enumerate(parts)]
    return f"{method} {'/'.join(kept)}"


class Server:
    """One for a replay. ``auto``: the recorded answers to questions are given."""

    def __init__(self, recording: Recording, acts: Acts, speed: float, *, auto: bool) -> None:
        self._exchanges = exchanges(recording.entries)
        self._acts = acts
        self._pace = Pace(speed)
        self._auto = auto

    @property
    def agent(self) -> str | None:
        """Which of the server's agents the recorded client used."""
        for each in self._exchanges:
            agent = each.asked.get("agent")
            if each.kind == "POST sessions" and isinstance(agent, dict):
                return str(agent.get("name") or "") or None
        return None

    async def listen(self) -> tuple[asyncio.Server, str]:
        """Returns the server and its address."""
        server = await serve(self._answer, 0)
        return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def play(self) -> None:
        """Have the user do what the recorded one did, in order."""
        for each in self._exchanges:
            if each.kind != "POST sessions/*/turns":
                continue
            await self._pace.until(each.at, thought=True)
            waits = await self._act(each.asked)
            try:
                await asyncio.wait_for(each.begun.wait(), PATIENCE if waits else None)
            except TimeoutError:
                continue
            await each.done.wait()
        await self._acts.do("end")

    async def _act(self, asked: Json) -> bool:
        """Whether what comes of it comes at once: a person may think about a question."""
        messages = asked.get("messages")
        said = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
        for message in said:
            if message.get("role") == "user":
                await self._acts.do("prompt", session=None, text=prompt_text(message.get("content")))
                return True
        for message in said:
            if "granted" in message:
                granted = message["granted"] is True
                words = "allowed" if granted else "rejected"
                await self._acts.do("hint", text=f"the recorded user {words} this")
                if self._auto:
                    option = "allow_once" if granted else "reject_once"
                    await self._acts.do("answer", session=None, option=option, content=None)
        return self._auto

    async def _answer(self, request: Request, response: Response) -> None:
        kind = _kind(request.method, request.path)
        same = [each for each in self._exchanges if each.kind == kind and each.status]
        fresh = next((each for each in same if not each.begun.is_set()), None)
        found = fresh or (same[-1] if same and request.method == "GET" else None)
        if found is None:
            await response.answer(404, b'{"error": "the recording has no more of this"}')
            return
        found.begun.set()
        try:
            await self._tell(found, response)
        finally:
            found.done.set()

    async def _tell(self, exchange: Exchange, response: Response) -> None:
        if exchange.type != "event-stream":
            kind = exchange.type if "/" in exchange.type else f"application/{exchange.type or 'json'}"
            await response.answer(exchange.status, exchange.body, kind)
            return
        await response.begin(exchange.status, {"Content-Type": "text/event-stream"})
        for event in exchange.events:
            await self._pace.until(event.at)
            data = _body(event).replace(b"\r", b"").split(b"\n")
            lines = b"".join(b"data: " + line + b"\n" for line in data)
            await response.send(f"event: {event.label}\n".encode() + lines + b"\n")
        await response.end()
