"""A stream of messages for the whole chain of a chat without its Neovim: peer, adapter, model, transcript.

What is valid goes to one session, what is broken to another one: so what comes of the first can be compared
with what comes of the valid messages alone.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel
from msgspec import structs
from tests.replay.compact import session_text
from tests.unit.protocol.acp_v1 import bench as bench_v1
from tests.unit.protocol.acp_v1.bench import BenchOf
from tests.unit.protocol.acp_v2 import bench as bench_v2
from tests.unit.view.buffer import Buffer

from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import Event, MessageAppend, NoteShown, PermissionClosed, PermissionOpened
from acp_nvim.session.store import Store
from acp_nvim.transport.lines import LineDecoder
from acp_nvim.view.details import details_of
from acp_nvim.view.icons import UNICODE
from acp_nvim.view.look import Look
from acp_nvim.view.questions import describe
from acp_nvim.view.status import Status
from acp_nvim.view.transcript import Transcript

from .definitions import STABLE, STABLE_V2, UNSTABLE, UNSTABLE_V2, Json, Schema, errors
from .mutate import MUTATIONS, dumps
from .sample import Maker

VALID, BROKEN = "valid", "other"  # remote ids of the two sessions
KEPT = "/kept/a.py"  # a file only valid requests read
TERMINAL = "t1"
STEPS = 1000  # of the event loop, for an answer
Bench = BenchOf[Any]

NOT_FOUND, NO_METHOD, BAD_PARAMS, BAD_JSON = -32002, -32601, -32602, -32700


@dataclass(frozen=True)
class Version:
    """What is particular to one version of the protocol. ``update`` names the message of updates."""

    schema: Schema
    unstable: Schema
    update: str
    hello: Json
    connected: Callable[[], AbstractAsyncContextManager[Bench]]

    def ends(self, bench: Bench, prompt: Json) -> None:
        """The agent takes the prompt, and ends the turn."""
        if isinstance(bench, bench_v2.Bench):
            bench.transport.push({"jsonrpc": "2.0", "id": prompt["id"], "result": {"messageId": "m1"}})
            bench.says(bench_v2.state("running"), bench_v2.idle(), to=VALID)
        else:
            bench.ends(prompt)


V1 = Version(
    STABLE,
    UNSTABLE,
    "SessionNotification",
    {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"image": True}}},
    bench_v1.connected,
)
V2 = Version(
    STABLE_V2,
    UNSTABLE_V2,
    "UpdateSessionNotification",
    {**bench_v2.HELLO, "capabilities": {"session": {"prompt": {"image": {}}}}},
    bench_v2.connected,
)


class Line(NamedTuple):
    """A line, and for a request its id and the codes it may be answered with (0: a result)."""

    data: bytes
    valid: bool
    id: str | int | None = None
    codes: frozenset[int] = frozenset()
    method: str = ""


def stream(version: Version, seed: str, count: int) -> list[Line]:
    """So many valid lines, and as many broken ones among them."""
    chance = random.Random(seed)
    lines = [valid(version, chance, number) for number in range(count)]
    lines += [broken(version, chance, number) for number in range(count)]
    # The valid ones stay in order: it matters to what comes of them.
    places = sorted(chance.sample(range(2 * count), count))
    mixed: list[Line] = [line for line in lines if not line.valid]
    for place, line in zip(places, lines[:count], strict=True):
        mixed.insert(place, line)
    return mixed


def message(version: Version, schema: Schema, chance: random.Random, session: str, ident: str | int) -> Json:
    """A valid message for a session, of a stable or unstable schema."""
    maker = Maker(schema, chance)
    if chance.randrange(3):
        params = maker.make(version.update)
        params["sessionId"] = session
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}
    if chance.randrange(10) == 0:
        name = chance.choice(("CompleteElicitationNotification", "CancelRequestNotification"))
        return {"jsonrpc": "2.0", "method": schema.method(name), "params": maker.make(name)}
    name = chance.choice(schema.names("client", "Request"))
    params = maker.make(name)
    if "sessionId" in params:
        params["sessionId"] = session
    if "requestId" in params and session == BROKEN:
        params["requestId"] = "nobody's"  # our prompt's would bring it into the other session
    if "terminalId" in params and chance.randrange(4):
        params["terminalId"] = TERMINAL
    if "path" in params and chance.randrange(4):
        params["path"] = KEPT if session == VALID and name == "ReadTextFileRequest" else "/ws/a.py"
    return {"jsonrpc": "2.0", "id": ident, "method": schema.method(name), "params": params}


def valid(version: Version, chance: random.Random, number: int) -> Line:
    made = message(version, version.schema, chance, VALID, chance.choice((f"v{number}", 5_000_000 + number)))
    if "id" not in made:
        return Line(dumps(made), True)
    return Line(dumps(made), True, made["id"], codes_of(version, made), made["method"])


def broken(version: Version, chance: random.Random, number: int) -> Line:
    own = f"b{number}b{number}"  # so that a flipped bit does not make it another one's
    made = message(version, chance.choice((version.schema, version.unstable)), chance, BROKEN, own)
    data = chance.choice(MUTATIONS)(made, chance).replace(b"\n", b" ")
    read = reading(data)
    if read is None or "method" not in read or "id" not in read:
        return Line(data, False)
    if read["id"] != own:
        return Line(data, False)  # perhaps no id any more
    return Line(data, False, own, codes_of(version, read), str(read["method"]))


def reading(data: bytes) -> Json | None:
    """The line as another reader of JSON understands it; None: not a message that must be answered."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        read = json.loads(text, strict=False, parse_constant=lambda _: None, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("method"), str):
        return None
    return read


def _finite(digits: str) -> float | None:
    return value if math.isfinite(value := float(digits)) else None


def codes_of(version: Version, read: Json) -> frozenset[int]:
    """What a request may be answered with, by the schema and the little that is known of its world."""
    method, params = read["method"], read.get("params")
    name = version.schema.name("client", method, "Request")
    if name is None:
        return frozenset((NO_METHOD,))
    params = {} if params is None else params
    if _depth(params) > 250:  # read at all only where it is looked at
        return frozenset((0, BAD_JSON, BAD_PARAMS, NOT_FOUND, NO_METHOD))
    mode = params.get("mode") if isinstance(params, dict) else None
    if isinstance(mode, str) and mode not in ("form", "url"):
        return frozenset((BAD_PARAMS,))  # whatever else it says (V1-198)
    if not version.schema.lenient(name).is_valid(params):
        return frozenset((BAD_PARAMS,))
    if params.get("sessionId") is None:  # an elicitation for a request of ours: is there such a one?
        return frozenset((0, BAD_PARAMS))
    if params["sessionId"] not in (VALID, BROKEN):
        return frozenset((NOT_FOUND,))
    if "mode" in params:
        return frozenset((0,)) if params["mode"] == "form" else frozenset((0, BAD_PARAMS))
    if "path" in params:
        if not str(params["path"]).startswith("/"):
            return frozenset((BAD_PARAMS,))
        if "content" in params or params["path"] == KEPT:
            return frozenset((0,))
        return frozenset((0, NOT_FOUND))  # perhaps written before
    if "terminalId" in params:
        return frozenset((0 if params["terminalId"] == TERMINAL else NOT_FOUND,))
    if (params.get("outputByteLimit") or 0) >= 2**64:
        return frozenset((BAD_PARAMS,))
    return frozenset((0,))


def _depth(tree: Any) -> int:
    depth, level = 0, [tree]
    while level:
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        depth += 1
    return depth


class View:
    """What a user would see of a session."""

    def __init__(self, store: Store, session: Session) -> None:
        self.session = session
        self.transcript = Transcript(1, session, label="robo", home="/home/me")
        self.buffer = Buffer()
        self.status = Status()
        self.events: list[str] = []
        self._about = ""  # the message that the last event went on with
        store.subscribe(self._saw)

    def _saw(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        if session is not self.session:
            return
        self._note(event)
        self.transcript.touch(touched)
        self.status.patch(session)
        if len(self.events) % 7 == 0:
            self.frame()

    def _note(self, event: Event) -> None:
        if isinstance(event, MessageAppend) and event.block.text is not None:
            # What one read brings of a message is one event, and other lines make other reads.
            block = structs.replace(event.block, text=None)
            about = repr(structs.replace(event, block=block, meta=event.meta or None))
            if about == self._about:
                self.events[-1] += str(event.block.text)
            else:
                self.events.append(f"{about} {event.block.text}")
            self._about = about
            return
        self._about = ""
        # The numbers of questions and notes run through all sessions.
        named = not isinstance(event, PermissionOpened | PermissionClosed)
        shown = repr(event) if named else type(event).__name__
        self.events.append(re.sub(r"id='acp-[0-9]+'", "", shown) if isinstance(event, NoteShown) else shown)

    def frame(self) -> None:
        ops, _ = self.transcript.take()
        self.buffer.apply(ops)

    def everything(self) -> tuple[list[str], list[str], str]:
        while self.transcript.dirty:
            self.frame()
        look = Look(self.session, UNICODE, "robo", "/home/me")
        for item in self.session.items:
            assert all("\n" not in line for line in details_of(item, look))
        return self.events, list(session_text(self.session)), self.buffer.text


class Stage:
    """A bench with a turn running in each of the two sessions; questions are answered at once."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.valid = View(bench.store, bench.session)
        self.other = View(bench.store, bench.new_session("o", "/ws"))
        bench.files.texts[KEPT] = "text"
        bench.terminals.ends.set()
        bench.store.subscribe(self._saw)

    def _saw(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        if isinstance(event, PermissionOpened):
            permission = event.permission
            call = session.tool_calls.get(permission.tool_call_id or "")
            assert dumps(describe(permission, call, session).payload(1))
            self.bench.questions.answer(permission.id, next((o.id for o in permission.options), None))

    def feed(self, lines: Sequence[Line], chance: random.Random) -> None:
        """Write the lines as a pipe may deliver them."""
        data = b"".join(line.data + b"\n" for line in lines)
        decoder = LineDecoder()
        while data:
            size = chance.choice((1, 100, 5_000, 65_536))
            read, data = data[:size], data[size:]
            if complete := decoder.decode(read):
                self.bench.transport.push(*complete)


@asynccontextmanager
async def staged(version: Version) -> AsyncIterator[Stage]:
    async with version.connected() as bench:
        await bench.open(version.hello, {"sessionId": VALID})
        stage = Stage(bench)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/new", {"sessionId": BROKEN})
            await bench.adapter.new_session(stage.other.session)
        yield stage


async def play(version: Version, lines: Sequence[Line], chance: random.Random) -> tuple[Stage, list[str]]:
    """Feed lines while a turn runs; the stage, and what went wrong with it and with the answers."""
    async with staged(version) as stage:
        bench = stage.bench
        async with bench.turn():
            prompt = await bench.asked("session/prompt")
            before = len(bench.sent)
            stage.feed(lines, chance)
            await bench.settle()
            await _answered(lines, bench)
            problems = [*_answers(version, lines, bench.sent[before:]), *_faults(bench)]
            version.ends(bench, prompt)
    stage.valid.everything()
    stage.other.everything()
    return stage, problems


async def _answered(lines: Sequence[Line], bench: Bench) -> None:
    """Wait a while for the answers that take some steps more than the last one of ``settle``."""
    due = {line.id for line in lines if line.id is not None}
    for _ in range(STEPS):
        if due <= {each.get("id") for each in bench.sent}:
            return
        await anyio.lowlevel.checkpoint()


def _answers(version: Version, lines: Sequence[Line], sent: Sequence[Json]) -> Iterator[str]:
    """Each request was answered once, and rightly."""
    answers: dict[Any, list[Json]] = {}
    for each in sent:
        answers.setdefault(each.get("id"), []).append(each)
    for line in lines:
        if line.id is None:
            continue
        got = answers.pop(line.id, [])
        codes = [each.get("error", {}).get("code", 0) for each in got]
        if len(codes) != 1 or codes[0] not in line.codes:
            yield f"answered {codes}, not once {set(line.codes)}: {line.data[:3000]!r}"
        elif "result" in got[0]:
            name = version.schema.name("client", line.method, "Response") or ""
            yield from errors(version.schema.closed(name), got[0]["result"])
    answers.pop("ping1", None)
    unasked = sum(len(each) for each in answers.values())
    if unasked > sum(1 for line in lines if not line.valid and line.id is None):
        yield f"answers to nobody: {answers}"


def _faults(bench: Bench) -> Iterator[str]:
    """Exceptions outside the error path, and an end of the connection."""
    yield from (note for note in bench.notes if "Traceback" in note)
    if bench.reason is not None:
        yield f"the connection ended: {bench.reason}"
