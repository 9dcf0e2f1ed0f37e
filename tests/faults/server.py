"""An AAP server that does everything wrong, from a seed: the tests' own server (agents/aap_server.py), and
between it and its client what goes wrong with a request (``HEADS``) and in an answer (broken.py).

``posts`` are the turns that came; ``tokens`` what was to be written, as in the log of agent.py.
"""

from __future__ import annotations

import asyncio
import random
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.agents.aap_script import AGENT, Call, Fail, Json, Kept, Part, Quirks, Stop, text, thinking
from tests.agents.aap_server import AapServer
from tests.faults.broken import Broken, Nowhere
from tests.faults.wire import token_text

from acp_nvim.demo.web import Request, Response, serve

CLIENT_TOOLS = ("read_file", "write_file", "edit_file", "list_files", "run_command")
SHELL = ("echo hi", "sleep 30", "exit 3", "yes | head -c 300000", "sleep 30 & sleep 30")
PIECES = ("word ", "\n\n# Head\n", "caf\u00e9 \U0001f680 ", "```lua\nx = 1\n", "\x1b[2J", "")
STATUS = (400, 401, 409, 413, 429, 500, 502, 503, 504, 599)


@dataclass
class Post:
    """A turn that came. ``waits``: calls whose answer is due, as this post's came to its end in peace."""

    session: str
    messages: list[Json]
    response: Broken
    waits: list[str] = field(default_factory=list)

    @property
    def taken(self) -> bool:
        """Whether the head of a success went out."""
        return self.response.status == 200

    @property
    def words(self) -> str:
        """What the user said."""
        return "".join(_words(each["content"]) for each in self.messages if each["role"] == "user")

    @property
    def answers(self) -> list[str]:
        return [each["toolCallId"] for each in self.messages if each["role"] != "user"]


class FaultyServer(AapServer):
    """``rate``: how often something goes wrong; ``calm``: nothing does, and it says "calm: WORDS"."""

    HEADS: ClassVar = {
        "reset": 3, "taken": 3, "status": 8, "page": 1, "slow": 4, "half": 3, "rubbish": 3, "hang": 2,
        "away": 1,
    }  # fmt: skip

    def __init__(self, seed: int, workspace: Path, *, rate: float) -> None:
        self.rng = random.Random(f"aap {seed}")
        mode = self.rng.choice(["delta", "delta", "message", "none"])
        kind = self.rng.choice(["full", "full", "compacted", None])
        capabilities: Json = {
            "stream": {mode: {}},
            "application": {"tools": {}},
            **({"history": {kind: {}}} if kind else {}),
        }
        quirks = Quirks(*(self.rng.random() < 0.5 for _ in range(5)))
        hidden: dict[str, Any] = {"hidden": lambda _given: "the result of a tool that nobody knows of"}
        super().__init__(agents=[{**AGENT, "capabilities": capabilities}], quirks=quirks, tools=hidden)
        self.lasting = kind is not None
        self.rate = rate
        self.calm = False
        self.posts: list[Post] = []
        self.tokens: list[Json] = []
        self.given: dict[str, int] = {}  # how often a call was told, by its id
        self.open = 0  # requests that have a connection
        self.hanging = 0  # of these: nothing comes any more
        self.starts = 0  # how often somebody began with it
        self.away = False
        self._workspace = workspace
        self._count = 0
        self._old: list[str] = []
        self._last: dict[str, list[Part]] = {}  # what the model has said last, by session
        self._writers: set[asyncio.StreamWriter] = set()
        self._reserved = socket.socket()
        if sys.platform == "linux":  # elsewhere the port cannot stay ours while nobody listens
            self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._reserved.bind(("127.0.0.1", 0))
            self._port = self._reserved.getsockname()[1]

    def __exit__(self, *what: Any) -> None:
        super().__exit__(*what)
        self._reserved.close()

    def goes_wrong(self) -> bool:
        return not self.calm and self.rng.random() < self.rate

    def token(self, path: str, content: str) -> None:
        """This may be written there."""
        where = Path(path) if path.startswith("/") else self._workspace / path
        self.tokens.append({"pid": 0, "token": "text", "path": str(where), "text": content})

    def due(self) -> list[str]:
        """Calls that wait for an answer, and nobody has tried to give one."""
        last = {post.session: post for post in list(self.posts)}
        return [name for post in last.values() for name in post.waits]

    def forgive(self) -> None:
        """The user does not want what is due now."""
        for post in list(self.posts):
            post.waits = []

    def leave(self, seconds: float, *, forgets: bool = False) -> None:
        """Go away, with all connections, and come back; ``forgets``: without the sessions."""
        if not (self.away or self.calm):
            self.away = True
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._leave(seconds, forgets)))

    # -- inside

    async def _leave(self, seconds: float, forgets: bool) -> None:
        assert self._listener is not None
        for listening in self._listener.sockets:  # asyncio forgets one that is accepted at this very moment
            self._loop.remove_reader(listening.fileno())
        await asyncio.sleep(0.01)
        self._listener.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(seconds)
        if forgets:
            self.sessions.clear()
        self.forgive()  # what the client tried meanwhile has not come here
        self._listener = await serve(self._handle, int(self.url.rsplit(":", 1)[1].split("/")[0]))
        self.away = False

    async def _handle(self, request: Request, response: Response) -> None:
        self.open += 1
        self._writers.add(response.writer)
        try:
            await super()._handle(request, response)
        finally:
            self.open -= 1
            self._writers.discard(response.writer)

    async def _answer(self, request: Request, response: Response, body: Any) -> None:
        self.starts += request.path[-1] == "meta" and self.calm
        broken = Broken(response.writer, self.rng, 0 if self.calm else self.rate, self.token)
        turn = request.path[-1] == "turns"
        if turn:
            self.posts.append(Post(request.path[2], body["messages"], broken))
        fault = ""
        if self.goes_wrong():
            fault = self.rng.choices(list(self.HEADS), list(self.HEADS.values()))[0]
        match fault:
            case "reset":
                broken.abort()
            case "taken":
                await super()._answer(request, Nowhere(response.writer), body)
                broken.abort()
            case "status":
                await self._refuse(response)
            case "page":
                await response.answer(200, b"<html>", "text/html")
            case "half" | "rubbish":
                head = (
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/ev"
                    if fault == "half"
                    else b"\x16\x03\x01 SSH-2.0\r\n"
                )
                await response.raw(head[: self.rng.randrange(len(head) + 1)])
                broken.abort()
            case "hang" if turn:
                self.hanging += 1
                try:
                    await asyncio.Event().wait()
                finally:
                    self.hanging -= 1
            case "away":
                self.leave(self.rng.random() * 0.3, forgets=self.rng.random() < 0.3)
                await asyncio.sleep(1)
            case _:
                if fault:  # slow
                    await asyncio.sleep(self.rng.random() * 0.1)
                await super()._answer(request, broken, body)

    async def _refuse(self, response: Response) -> None:
        status = self.rng.choice(STATUS)
        wait = self.rng.choice([None, "0", "1", "3600", "soon", "-5"])
        body = self.rng.choice([b"", b'{"error": "on purpose"}', b"<html>", b"\xff\x00", b'{"error": {}}'])
        more = {"Retry-After": wait} if wait is not None and status in (429, 503) else {}
        await response.begin(status, {"Content-Length": str(len(body)), **more})
        await response.raw(body)

    async def _turn(self, session: Kept, response: Response, body: Json) -> None:
        await super()._turn(session, response, body)
        if not isinstance(response, Broken) or response.dirty:
            return
        if not any(isinstance(part, Fail | Stop) for part in self._last.get(session.id, ())):
            post = next(each for each in self.posts if each.response is response)
            post.waits = waiting(session.history)  # the client has been told all of it

    def _take(self, session: Kept, message: Json, stream: Any) -> None:
        try:
            super()._take(session, message, stream)
        except KeyError:  # it answers what has arrived there damaged, or a tool that is none
            answer = {"role": "tool", "toolCallId": message["toolCallId"], "content": "there is no such tool"}
            session.history.append(answer)

    def step_of(self, session: Kept) -> list[Part]:
        parts = self._last[session.id] = self._calm(session) if self.calm else self._wild()
        return parts

    @staticmethod
    def _calm(session: Kept) -> list[Part]:
        said = [each for each in session.history if each["role"] == "user"]
        return [text(f"calm: {_words(said[-1]['content'])}" if said else "calm")]

    def _wild(self) -> list[Part]:
        parts: list[Part] = []
        for _ in range(self.rng.randint(1, 4)):
            kinds: list[Callable[[], Part]] = [
                lambda: text(*self.rng.choices(PIECES, k=self.rng.randint(1, 12))),
                lambda: thinking(*self.rng.choices(PIECES, k=self.rng.randint(1, 6))),
                self._call, self._call,
            ]  # fmt: skip
            make: Callable[[], Part] = self.rng.choice(kinds)
            parts.append(make())
        if self.rng.random() < 0.1:
            ends: list[Part] = [Fail(), Stop("max_tokens"), Stop("refusal"), Stop("no such")]
            parts.append(self.rng.choice(ends))
        return parts

    def _call(self) -> Call:
        self._count += 1
        name = f"c{self._count}"
        if self._old and self.rng.random() < 0.15:
            name = self.rng.choice(self._old[-4:])  # an id that was there before
        self._old.append(name)
        self.given[name] = self.given.get(name, 0) + 1
        given: Json = {}
        match tool := self.rng.choice(["search", "clock", "hidden", "none", *CLIENT_TOOLS, "write_file"]):
            case "search":
                given = {"query": "cats"}
            case "read_file":
                given = {"path": self._path()}
            case "write_file":
                path, content = self._path(), token_text(f"w{self._count}", self.rng.choice([1, 40, 20_000]))
                self.token(path, content)
                given = {"path": path, "text": content}
            case "edit_file":
                path, content = "plain.txt", token_text(f"e{self._count}", 3)
                self.token(path, content)
                given = {"path": path, "old_text": "plain\n", "new_text": content}
            case "run_command":
                given = {"command": ["/bin/sh", "-c", self.rng.choice(SHELL)]}
        return Call(name, tool, given)

    def _path(self) -> str:
        return self.rng.choice(
            ["plain.txt", "open.txt", "unsaved.txt", "new.txt", "sub/new.txt", ".envrc", "../out.txt"]
        )


def waiting(history: Sequence[Json]) -> list[str]:
    """The calls of the last answer that have no result."""
    left: list[str] = []
    for message in history:
        content = message["content"]
        if message["role"] == "user":
            left = []
        elif message["role"] == "tool":
            left = [each for each in left if each != message["toolCallId"]]
        elif not isinstance(content, str):
            left += [each["toolCallId"] for each in content if each["type"] == "tool_use"]
    return left


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "".join(str(each.get("text", "")) for each in content)
