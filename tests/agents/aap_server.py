"""An AAP server for tests, on loopback, in a thread of its own.

It does what the protocol's own SDK does where that differs from the documents (spec/aap-v3.md, section 12):
see ``Quirks``. What the agent says comes from a script: one step for each time the model is asked.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from acp_nvim.demo.web import Request, Response, serve

from .aap_faults import Fault
from .aap_script import (
    AGENT,
    TOOLS,
    Call,
    Cut,
    Fail,
    Hold,
    Json,
    Kept,
    Part,
    Quirks,
    Raw,
    Seen,
    Step,
    Stop,
    Text,
    Thinking,
    Tool,
    text,
)


class AapServer:
    """``with AapServer([[text("hi")]]) as server``: ``server.url`` is where it listens."""

    def __init__(
        self,
        script: Sequence[Step] = (),
        *,
        agents: Sequence[Json] = (AGENT,),
        key: str | None = None,
        quirks: Quirks | None = None,
        tools: dict[str, Tool] | None = None,
        version: Any = 3,
        page: int = 100,
        port: int = 0,
        tls: Any = None,
    ) -> None:
        self.script = [list(step) for step in script]
        self.agents = list(agents)
        self.key = key
        self.quirks = quirks or Quirks()
        self.tools = {**TOOLS, **(tools or {})}
        self.version = version
        self.page = page
        self.requests: list[Seen] = []
        self.sessions: dict[str, Kept] = {}
        self.faults: dict[str, list[Fault]] = {}  # for the next requests of this kind (Seen.what)
        self.dropped = 0  # requests whose client went away before the answer was complete
        self.url = ""
        self._port = port
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._held = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="aap-server", daemon=True)
        self._listening = threading.Event()
        self._stopping: asyncio.Event | None = None
        self._listener: asyncio.Server | None = None

    # -- for tests

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._listening.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stopping = self._stopping
        assert stopping is not None
        self._loop.call_soon_threadsafe(stopping.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def go_on(self) -> None:
        """Let what is held go on, once."""
        self._loop.call_soon_threadsafe(self._held.set)

    def seen(self, what: str) -> list[Seen]:
        return [each for each in list(self.requests) if each.what == what]

    @property
    def turns(self) -> list[Json]:
        """The bodies of the turns that came."""
        return [each.body for each in self.seen("POST turns")]

    @property
    def kept(self) -> Kept:
        """The only session."""
        (session,) = self.sessions.values()
        return session

    def fail(self, what: str, *faults: Fault) -> None:
        self.faults.setdefault(what, []).extend(faults)

    # -- inside

    def _run(self) -> None:
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        self._stopping = asyncio.Event()
        self._listener = await serve(self._handle, self._port, tls=self._tls)
        port = self._listener.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}/v1"
        self._listening.set()
        await self._stopping.wait()
        self._listener.close()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        for _ in range(3):  # transports that were closed need the loop once more
            await asyncio.sleep(0)

    async def _handle(self, request: Request, response: Response) -> None:
        body = json.loads(request.body) if request.body else None
        path = "/" + "/".join(request.path)
        seen = Seen(request.method, path, request.query, request.headers, body)
        known = ("meta", "sessions", "turns", "history")
        what = seen.what if request.path[-1] in known else f"{request.method} session"
        if what != seen.what:
            seen = Seen(request.method, path + "/session", request.query, request.headers, body)
        self.requests.append(seen)
        faults = self.faults.get(what)
        try:
            if faults:
                await faults.pop(0)(request, response)
            else:
                await self._answer(request, response, body)
        except asyncio.CancelledError:
            self.dropped += 1
            raise

    async def _answer(self, request: Request, response: Response, body: Any) -> None:
        if request.target.partition("?")[0].endswith("/") or request.path[0] != "v1":
            return await response.answer(404, b"404 Not Found", "text/plain")
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return await _json(response, 401, {"error": "invalid key"})
        match (request.method, *request.path[1:]):
            case ("GET", "meta"):
                await _json(response, 200, {"version": self.version, "agents": self.agents})
            case ("GET", "sessions"):
                await self._list(request, response)
            case ("POST", "sessions"):
                await self._create(response, body)
            case (_, "sessions", ident, *_) if ident not in self.sessions:
                await _json(response, 404, {"error": "Session not found"})
            case ("GET", "sessions", ident):
                await _json(response, 200, self._info(self.sessions[ident]))
            case ("DELETE", "sessions", ident):
                del self.sessions[ident]
                await response.answer(204)
            case ("GET", "sessions", ident, "history"):
                kind = request.query.get("type", "")
                await _json(response, 200, {"history": {kind: self.sessions[ident].history}})
            case ("POST", "sessions", ident, "turns"):
                await self._turn(self.sessions[ident], response, body)
            case _:
                await response.answer(404, b"404 Not Found", "text/plain")
        return None

    async def _list(self, request: Request, response: Response) -> None:
        first = int(request.query.get("after", "0"))
        entries = [self._info(each) for each in self.sessions.values()]
        page: Json = {"sessions": entries[first : first + self.page]}
        if first + self.page < len(entries):
            page["next"] = str(first + self.page)
        await _json(response, 200, page)

    async def _create(self, response: Response, body: Json) -> None:
        session = Kept(
            f"s/{len(self.sessions) + 1} é",  # an id that has to be encoded in a path
            body["agent"]["name"],
            {tool["name"]: bool(tool.get("trust")) for tool in body["agent"].get("tools", [])},
            dict(body["agent"].get("options", {})),
            list(body.get("tools", [])),
        )
        self.sessions[session.id] = session
        await _json(response, 201, {"sessionId": session.id})

    def _info(self, session: Kept) -> Json:
        all_options = [option for agent in self.agents for option in agent.get("options", [])]
        secret = {option["name"] for option in all_options if option["type"] == "secret"}
        options = {name: "***" if name in secret else value for name, value in session.options.items()}
        tools = [{"name": name, "trust": trust} for name, trust in session.tools.items()]
        info: Json = {
            "sessionId": session.id,
            "agent": {"name": session.agent, "tools": tools, "options": options},
        }
        return {**info, "tools": session.declared} if session.declared else info

    async def _turn(self, session: Kept, response: Response, body: Json) -> None:
        self._override(session, body)
        stream = _Stream(response, body.get("stream", "none"))
        for message in body["messages"]:
            self._take(session, message, stream)
        await stream.begin()
        try:
            await self._steps(session, stream)
        except _CutError:
            response.writer.transport.abort()
            return
        except _FailedError:
            if stream.mode == "none":
                await response.answer(500, b"Internal Server Error", "text/plain")
                return
            if stream.mode == "delta":
                await stream.stop("error")
                if self.quirks.double_stop:
                    await stream.stop("error")
            await response.end()
            return
        await stream.finish()

    def _override(self, session: Kept, body: Json) -> None:
        agent = body.get("agent") or {}
        if "tools" in agent:
            session.tools = {tool["name"]: bool(tool.get("trust")) for tool in agent["tools"]}
        session.options.update(agent.get("options", {}))
        if "tools" in body:
            session.declared = body["tools"]

    def _take(self, session: Kept, message: Json, stream: _Stream) -> None:
        if message["role"] != "tool_permission":
            session.history.append(message)
            return
        call = self._find(session, message["toolCallId"])
        if message["granted"]:
            content = self.tools[call["name"]](call["input"])
            if self.quirks.tell_granted:
                stream.early.append({"toolCallId": call["toolCallId"], "content": content})
        else:
            content = "Tool use denied" + (f": {message['reason']}" if message.get("reason") else "")
        session.history.append({"role": "tool", "toolCallId": call["toolCallId"], "content": content})

    @staticmethod
    def _find(session: Kept, ident: str) -> Json:
        for message in reversed(session.history):
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block.get("type") == "tool_use" and block["toolCallId"] == ident:
                    return dict(block)
        raise KeyError(ident)

    def step_of(self, _session: Kept) -> list[Part]:
        """What the model says next."""
        return self.script.pop(0) if self.script else [text("that is all")]

    async def _steps(self, session: Kept, stream: _Stream) -> None:
        while True:
            step = self.step_of(session)
            calls = await self._step(session, stream, step)
            stops = [part.reason for part in step if isinstance(part, Stop)]
            if stops or not calls:
                await stream.stop((stops or ["end_turn"])[0], lost=self.quirks.lose_stop)
                return
            results = self._run_tools(session, calls)
            for result in results:
                await stream.event("tool_result", result)
                stream.messages.append({"role": "tool", **result})
            if len(results) < len(calls):
                await stream.stop("tool_use", lost=self.quirks.lose_stop)
                return

    def _run_tools(self, session: Kept, calls: list[Call]) -> list[Json]:
        """Run what may run: trusted tools, and hidden ones; returns their results."""
        declared = {tool["name"] for tool in session.declared}
        exposed = {tool["name"] for agent in self.agents for tool in agent.get("tools", [])}
        results: list[Json] = []
        for call in calls:
            hidden = call.name in self.tools and call.name not in exposed and call.name not in declared
            if not (session.tools.get(call.name) or hidden):
                continue
            result = {"toolCallId": call.id, "content": self.tools[call.name](call.input)}
            results.append(result)
            session.history += [{"role": "tool", **result}] * (2 if self.quirks.store_twice else 1)
        return results

    async def _step(self, session: Kept, stream: _Stream, step: Step) -> list[Call]:
        blocks: list[Json] = []
        calls: list[Call] = []
        for part in step:
            match part:
                case Thinking():
                    await stream.words("thinking", part)
                    blocks.append({"type": "thinking", "thinking": part.whole})
                case Text():
                    await stream.words("text", part)
                    blocks.append({"type": "text", "text": part.whole})
                case Call():
                    use = {"toolCallId": part.id, "name": part.name, "input": part.input}
                    await stream.event("tool_call", use)
                    blocks.append({"type": "tool_use", **use})
                    calls.append(part)
                case Hold():
                    await self._held.wait()
                    self._held.clear()
                case Raw():
                    await stream.response.send(part.data)
                case Cut():
                    await stream.response.raw(b"400\r\ndata: {")
                    raise _CutError
                case Fail():
                    raise _FailedError
                case Stop():
                    continue
        if self.quirks.text_first:
            blocks.sort(key=lambda block: ("text", "thinking", "tool_use").index(block["type"]))
        if blocks:
            message = {"role": "assistant", "content": blocks}
            session.history.append(message)
            stream.messages.append(message)
        return calls


class _CutError(Exception):
    pass


class _FailedError(Exception):
    pass


class _Stream:
    """Tells a turn in the mode that was asked for."""

    def __init__(self, response: Response, mode: str) -> None:
        self.response = response
        self.mode = mode
        self.early: list[Json] = []
        self.messages: list[Json] = []
        self._reason = "end_turn"

    async def begin(self) -> None:
        if self.mode == "none":
            return
        await self.response.begin(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await self.event("turn_start", {})
        for result in self.early:
            await self.event("tool_result", result)

    async def words(self, kind: str, part: Text) -> None:
        if self.mode == "delta":
            for piece in part.pieces:
                await self.event(f"{kind}_delta", {"delta": piece})
        else:
            await self.event(kind, {kind: part.whole})

    async def event(self, kind: str, data: Json) -> None:
        if self.mode != "none":
            await self.response.send(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())

    async def stop(self, reason: str, *, lost: bool = False) -> None:
        self._reason = reason
        if not lost:
            await self.event("turn_stop", {"stopReason": reason})

    async def finish(self) -> None:
        if self.mode == "none":
            await _json(self.response, 200, {"stopReason": self._reason, "messages": self.messages})
        else:
            await self.response.end()


async def _json(response: Response, status: int, value: Json) -> None:
    await response.answer(status, json.dumps(value).encode())


def takes_and_breaks(server: AapServer) -> Fault:
    """A fault: the turn's message is taken, but the connection breaks off before an answer begins."""

    async def fault(request: Request, response: Response) -> None:
        server.kept.history.extend(json.loads(request.body)["messages"])
        response.writer.transport.abort()

    return fault
