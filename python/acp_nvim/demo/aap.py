"""The demo agent over HTTP: ``python -m acp_nvim.demo --aap PORT``. It speaks AAP v3, on this machine alone.

It works in the folder it was started in, and only reads there. Its tools want a permission unless they are
trusted; with tools of the user's editor it does the rest (editor.py). What it remembers is gone when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

from .aap_session import CLIENT_TOOLS, DEFAULTS, META, Json, Session, Turn
from .editor import script_of
from .project import DemoError, Project, read_disk
from .requests import List, Search, Show, parse
from .web import Request, Response, serve

MOST_LINES = 200  # of a result
HELP = """I am the demo agent over HTTP. I have no language model: I understand plain requests.

- `list` the files here
- `show README.md`, or lines of it: `show lines 1-5 of README.md`
- `search for TODO`

Each takes a **tool of the server's**: you are asked before it runs, `:AcpOptions` turns it off or trusts it.

With **tools of your editor** (`client_tools` in its settings) I work in your project:

- `tour`: I look around, change a file if you agree, run a command if you agree
- `replace old by new in README.md`
- `create notes.md with some text`
- `run ls -l`

`:AcpSessions` lists what you asked before, as long as this server runs."""


class Server:
    """Answers requests. ``speed``: words a second, 0 for no pauses."""

    def __init__(self, folder: Path, speed: float) -> None:
        self._project = Project(folder)
        self._speed = speed
        self._sessions: dict[str, Session] = {}
        self._run: dict[str, Callable[[Json], Awaitable[str]]] = {
            "list_files": self._list,
            "read_file": self._read,
            "search_files": self._search,
        }

    async def answer(self, request: Request, response: Response) -> None:
        """One request (spec section 2)."""
        host = request.headers.get("host", "").rpartition(":")[0]
        if host not in ("127.0.0.1", "localhost"):  # a page that calls this machine by a name of its own
            await _json(response, 403, {"error": "only by the name 127.0.0.1 or localhost"})
            return
        try:
            body = json.loads(request.body) if request.body else {}
            session = self._sessions.get(request.path[1]) if len(request.path) > 1 else None
            match (request.method, request.path[0], *request.path[2:]):
                case ("GET", "meta") if len(request.path) == 1:
                    await _json(response, 200, META)
                case ("GET", "sessions") if len(request.path) == 1:
                    await _json(response, 200, {"sessions": [each.info for each in self._sessions.values()]})
                case ("POST", "sessions") if len(request.path) == 1:
                    await _json(response, 201, {"sessionId": self._create(body).id})
                case (_, "sessions", *_) if session is None:
                    await _json(response, 404, {"error": "there is no such session"})
                case ("GET", "sessions") if session is not None:
                    await _json(response, 200, session.info)
                case ("DELETE", "sessions") if session is not None:
                    del self._sessions[session.id]
                    await response.answer(204)
                case ("GET", "sessions", "history") if session is not None:
                    await _json(response, 200, {"history": {"full": session.history}})
                case ("POST", "sessions", "turns") if session is not None:
                    await self._turn(session, body, response)
                case _:
                    await _json(response, 404, {"error": "there is nothing here"})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if not response.status:
                await _json(response, 400, {"error": f"this is not AAP: {error!r}"})

    def _create(self, body: Json) -> Session:
        session = Session(str(uuid.uuid4()), {}, dict(DEFAULTS))
        self._change(session, body["agent"])
        session.declared = list(body.get("tools") or [])
        session.history += body.get("messages", [])
        self._sessions[session.id] = session
        return session

    @staticmethod
    def _change(session: Session, agent: Json) -> None:
        if "tools" in agent:
            session.tools = {tool["name"]: tool.get("trust") is True for tool in agent["tools"]}
        session.options.update(agent.get("options", {}))

    async def _turn(self, session: Session, body: Json, response: Response) -> None:
        self._change(session, body.get("agent") or {})
        session.declared = list(body["tools"]) if "tools" in body else session.declared
        turn = Turn(session, response, body.get("stream", "none"), self._speed)
        prompt = next((each for each in body["messages"] if each["role"] == "user"), None)
        await turn.begin()
        if prompt is None:
            await self._go_on(session, turn, body["messages"])
            return
        session.history.append(prompt)
        content = prompt["content"]
        words = content if isinstance(content, str) else " ".join(b.get("text", "") for b in content)
        call, session.script = _call(words), script_of(parse(words), session.editor)
        if session.script is not None:
            await self._play(session, turn, next(session.script))
        elif call is None:
            await turn.say("text", _greeting(session) + HELP)
            await turn.end("end_turn")
        elif call["name"] not in session.tools:
            await turn.say("text", f"My tool `{call['name']}` is off; `:AcpOptions` turns it on.")
            await turn.end("end_turn")
        else:
            if session.options["answers"] == "friendly":
                await turn.say("thinking", f"That needs the tool {call['name']}.")
                await turn.say("text", _greeting(session) + "Let me look. ")
            await turn.call(call)
            if session.tools[call["name"]]:
                await self._finish(session, turn, call, told=True)
            else:
                session.asked[call["toolCallId"]] = call
                await turn.end("tool_use")

    async def _go_on(self, session: Session, turn: Turn, answers: list[Json]) -> None:
        """What was asked has its answers."""
        results = {each["toolCallId"]: each for each in answers if each["role"] == "tool"}
        session.history += results.values()
        if session.script is not None and session.waits_for in results:
            await self._result(session, turn, str(results[session.waits_for]["content"]))
            return
        for answer in answers:
            call = session.asked.pop(answer["toolCallId"], None)
            if call is None:
                continue
            if answer.get("granted"):
                await self._finish(session, turn, call, told=False)
                return
            reason = answer.get("reason")
            denied = "Tool use denied" + (f": {reason}" if reason else "")
            session.history.append({"role": "tool", "toolCallId": call["toolCallId"], "content": denied})
            why = f" because “{reason}”" if reason else ""
            await turn.say("text", f"Then I leave it{why}.")
        await turn.end("end_turn")

    async def _result(self, session: Session, turn: Turn, said: str) -> None:
        """A tool of the editor's has said this: the script goes on, unless the user wants no more."""
        script = session.script
        if script is None or "The user cancelled the turn" in said:
            session.script = None
            await turn.end("end_turn")
            return
        try:
            step = script.send(said)
        except StopIteration:
            await turn.end("end_turn")
        else:
            await self._play(session, turn, step)

    @staticmethod
    async def _play(session: Session, turn: Turn, step: str | Json) -> None:
        """Say what the script says, up to its next call."""
        while isinstance(step, str):
            await turn.say("text", step)
            following = next(session.script, None) if session.script is not None else None
            if following is None:
                session.script = None
                await turn.end("end_turn")
                return
            step = following
        session.waits_for = step["toolCallId"]
        await turn.call(step)
        await turn.end("tool_use")

    async def _finish(self, session: Session, turn: Turn, call: Json, *, told: bool) -> None:
        """Run the tool. After a permission only the history has its result, as with the SDK's server."""
        try:
            result = await self._run[call["name"]](call["input"])
        except DemoError as error:
            result = str(error)
        if told:
            await turn.result(call, result)
        else:
            stored = {"role": "tool", "toolCallId": call["toolCallId"], "content": result}
            session.history.append(stored)
        await turn.say("text", f"Here it is:\n\n```\n{result.rstrip()}\n```\n")
        await turn.end("end_turn")

    async def _list(self, _given: Json) -> str:
        names = [self._project.show(path) async for path in self._project.files()]
        return _cut(names or ["(no files)"])

    async def _read(self, given: Json) -> str:
        path = await self._project.find(given["path"])
        lines = read_disk(path).splitlines()
        first, last = given.get("first") or 1, given.get("last") or len(lines)
        return _cut(lines[first - 1 : last])

    async def _search(self, given: Json) -> str:
        found = await self._project.search(given["text"], None)
        lines = [f"{self._project.show(each.path)}:{each.line}: {each.text.strip()}" for each in found]
        return _cut(lines or ["(nothing)"])


def _call(words: str) -> Json | None:
    """The tool call that a prompt takes; None: it takes none."""
    match parse(words):
        case List():
            name, given = "list_files", {}
        case Show(name=str(file), first=first, last=last):
            name, given = "read_file", {"path": file, "first": first, "last": last}
        case Search(text=wanted):
            name, given = "search_files", {"text": wanted}
        case _:
            return None
    given = {key: value for key, value in given.items() if value is not None}
    return {"toolCallId": uuid.uuid4().hex, "name": name, "input": given}


def _greeting(session: Session) -> str:
    name = session.options["name"].strip()
    return f"{name}: " if name else ""


def _cut(lines: list[str]) -> str:
    more = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"… {more} more"] if more > 0 else [])])


async def _json(response: Response, status: int, value: Json) -> None:
    await response.answer(status, json.dumps(value).encode())


async def run(port: int, speed: float) -> None:
    """Serve until a TERM or INT comes. Raises OSError when the port is taken."""
    server = await serve(Server(Path.cwd(), speed).answer, port)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    tools = ", ".join(f"'{name}'" for name in CLIENT_TOOLS)
    remote = f"protocol = 'aap', url = '{address}', client_tools = {{ {tools} }}"
    sys.stdout.write(
        f"The demo agent listens at {address} (AAP). In Neovim, in a project of yours:\n\n"
        f"  :lua require('acp').setup({{ agents = {{ remote = {{ {remote} }} }} }})\n"
        "  :AcpChat remote\n\n"
        "and say: tour. Without client_tools it has no tools of your editor. Ctrl-C ends it.\n"
    )
    sys.stdout.flush()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await stop.wait()
    server.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(server.wait_closed(), 0.5)
