"""An answer of a server as an event stream, with broken events among the valid ones: bytes to transcript.

The chain of a chat without its Neovim and its network: event parser, events, model, transcript.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from acp_nvim.protocol.aap.failures import Place
from acp_nvim.protocol.aap.links import ASK, OFF, TRUST, Link
from acp_nvim.protocol.aap.reading import Reading
from acp_nvim.protocol.aap.server import Server
from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, TurnStarted
from acp_nvim.session.store import Store
from acp_nvim.transport.http import Http
from acp_nvim.transport.sse import SseDecoder
from acp_nvim.wire.aap.meta import AgentInfo as Served

from .definitions import Json
from .sample import RUBBISH, TEXTS
from .stream import View

TOOLS = {"search": ASK, "clock": TRUST, "drop": OFF}
CALLS = ("c1", "c2", "c3", "c4")
WORDS = (*TEXTS, "half \ud83d", "\ude80 half", "data: x", ": no comment", "\ufeff", "\n\n")
ENDS = ("\n", "\r\n", "\r")
#: The fields of each event that it cannot do without, which are text.
NEEDED = {
    "text_delta": "delta",
    "thinking_delta": "delta",
    "text": "text",
    "thinking": "thinking",
    "tool_call": "toolCallId",
    "tool_result": "toolCallId",
}


class Piece(NamedTuple):
    """A piece of the stream: an event, or what looks like one."""

    data: bytes
    valid: bool


def stream(seed: str, count: int) -> list[Piece]:
    """So many valid events, and as many broken ones among them; the last one ends the turn."""
    chance = random.Random(seed)
    events = [Piece(_written(*_event(chance), chance), True) for _ in range(count)]
    for _ in range(count):
        events.insert(chance.randrange(len(events) + 1), Piece(_broken(chance), False))
    stop = _written("turn_stop", {"stopReason": "end_turn"}, chance)
    return [*events, Piece(stop, True)]


def _event(chance: random.Random) -> tuple[str, Json]:
    words = "".join(chance.choice(WORDS) for _ in range(chance.randrange(3)))
    match chance.choice((*NEEDED, "text_delta", "thinking_delta", "text_delta", "turn_start")):
        case "turn_start":
            return "turn_start", {}
        case "tool_call":
            name = chance.choice((*TOOLS, "hidden"))
            return "tool_call", {"toolCallId": chance.choice(CALLS), "name": name, "input": {"q": words}}
        case "tool_result":
            blocks = [{"type": "text", "text": words}, {"type": "image", "url": "data:image/png;base64,AA=="}]
            content: Any = chance.choice((words, blocks, []))
            return "tool_result", {"toolCallId": chance.choice(CALLS), "content": content}
        case kind:
            return kind, {NEEDED[kind]: words}


def _written(kind: str, data: Any, chance: random.Random) -> bytes:
    """An event in one of the many ways in which it may be written."""
    readable = json.dumps(data, ensure_ascii=chance.randrange(2) == 0, indent=chance.choice((None, 0, 2)))
    # Half a character has no bytes of its own.
    text = readable if readable.isascii() or not _halves(readable) else json.dumps(data)
    lines = [f"data:{chance.choice(('', ' '))}{line}" for line in text.split("\n")]
    lines.insert(chance.choice((0, len(lines))), f"event:{chance.choice(('', ' '))}{kind}")
    for extra in (":", ": ping", "id: 7", "retry: 10", "mood: good", "\u2028"):
        if chance.randrange(12) == 0:
            lines.insert(chance.randrange(len(lines) + 1), extra)
    end = chance.choice(ENDS)
    return (end.join([*lines, "", ""]) + (end if chance.randrange(5) == 0 else "")).encode()


def _halves(text: str) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in text)


def _broken(chance: random.Random) -> bytes:
    """What must have no effect at all."""
    kind, data = _event(chance)
    line = json.dumps(data).encode()
    end = chance.choice((b"\n", b"\r\n", b"\r"))

    def raw(*lines: bytes) -> bytes:
        return end.join((*lines, b"", b""))

    event = b"event: " + kind.encode()
    match chance.randrange(9):
        case 0:
            return _written(chance.choice(("mood", "", "text_deltas", "\x1b[2J")), data, chance)
        case 1:  # no JSON
            return raw(event, b"data: " + line[: chance.randrange(1, len(line))])
        case 2:
            return raw(event, b"data: " + chance.choice((b"oops", b"\xff\xfe", b"[]", b"7", b"null", b"'x'")))
        case 3:  # nothing in it
            return raw(chance.choice((event, b"data", b"event", b": only a comment", b"id: 1")))
        case 4:  # too deep
            return raw(event, b'data: {"delta":' + b"[" * 20_000 + b"]" * 20_000 + b"}")
        case 5 if kind in NEEDED:  # the field it is about is missing
            return _written(kind, {name: each for name, each in data.items() if name != NEEDED[kind]}, chance)
        case 6 if kind in NEEDED:  # or is something else
            rubbish = chance.choice([each for each in RUBBISH if not isinstance(each, str)])
            return _written(kind, {**data, NEEDED[kind]: rubbish}, chance)
        case 7:  # an error handler's words, which are no event of the protocol
            return raw(
                b"event: error", b"data: " + chance.choice((b"Internal Server Error", b'{"message":1}'))
            )
        case _:
            return raw(b"DATA: " + line, b" data: " + line, b"data : " + line, b"dat")


class Answer:
    """What comes of a stream. ``notes`` are what the trace has of events that could not be used."""

    def __init__(self, pieces: Sequence[Piece], chance: random.Random) -> None:
        self.notes: list[str] = []
        store = Store(lambda: 0.0, _failed)
        session = Session("s", "remote", "/ws")
        store.add(session)
        self.view = View(store, session)
        store.apply(session, TurnStarted(()))
        served = Served(name="helper", version="1", tools=[])
        link = Link(session, "r1", served, AgentInfo("aap"), tools=dict(TOOLS))
        # Nothing is asked of the server: its answer is there.
        server = Server(cast("Http", None), Place("remote", "http://127.0.0.1:1"), self._observe)
        self.reading = Reading(link, store, server)
        decoder = SseDecoder()
        data = b"".join(piece.data for piece in pieces)
        while data:
            size = chance.choice((1, 2, 7, 100, 5_000))
            read, data = data[:size], data[size:]
            for event in decoder.decode(read):
                self.reading.event(event)
        self.reading.end()
        self.pending = decoder.pending

    def _observe(self, direction: str, what: str, _body: bytes) -> None:
        if direction == "note":
            self.notes.append(what)

    def everything(self) -> Any:
        calls = [(call.id, call.row, call.name, call.input) for call in self.reading.open]
        reading = self.reading
        return reading.over, reading.stop, reading.anything, calls, self.view.everything()


def _failed(_session: Session, _event: Event, error: Exception) -> None:
    raise error
