"""The whole host without Neovim: ``App`` on an editor of dictionaries, and a user who acts from a seed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
from tests.faults.check import Outcome, Rows, problems
from tests.plugin.processes import marked
from tests.unit.service.helpers import FakeEditor
from tests.unit.view.buffer import Buffer

from acp_nvim.client.app import App
from acp_nvim.client.payloads import Hello
from acp_nvim.editor import Editor
from acp_nvim.runtime import Runtime

AGENT = Path(__file__).with_name("agent.py")
PATIENCE = 40.0
"""Seconds within which everything must have come to an end."""
SOON = 10.0
"""Seconds within which the host must have answered what it can answer."""

LOSS = re.compile("connection lost|ended (with|by)|cannot be used|could not")

BEFORE = {"plain.txt": "plain\n", "open.txt": "open\n", "unsaved.txt": "on disk\n", ".envrc": "export A=1\n"}


class Lua(Editor):
    """What the Lua side would know: status, transcript, questions, queue, prompt, loaded buffers."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.files = FakeEditor()
        self.transcript = Buffer()
        self.status: dict[str, Any] = {}
        self.ends: list[str] = []
        self.queue: list[dict[str, Any]] = []
        self.back: list[str] = []
        self.questions: dict[str, dict[str, Any]] = {}
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.faults: list[str] = []
        self.warned: list[str] = []

    def notify(self, module: str, function: str, *args: Any) -> None:
        json.dumps(args)  # what cannot cross would fail in Neovim
        match module, function:
            case "acp.host", "failed":
                self.faults.append("\n".join(map(str, args)))
            case "acp.message", _:
                self.warned.append(str(args[0]))
            case "acp.question", "open":
                self.questions[args[0]["id"]] = args[0]
                self.opened.append(args[0]["id"])
            case "acp.question", "close":
                if self.questions.pop(args[0], None) is not None:
                    self.closed.append(args[0])
            case "acp.status", "update":
                self.status.update(args[1])
            case "acp.events", "fire" if args[1] == "AcpTurnEnd":
                self.ends.append(args[2]["stop_reason"])
            case "acp.chat.prompt", "queue":
                self.queue = args[1]
            case "acp.chat.prompt", "restore":
                self.back.append(args[1])

    async def call(self, module: str, function: str, *args: Any) -> Any:
        json.dumps(args)
        await anyio.lowlevel.checkpoint()
        match module, function:
            case "acp.chat.transcript", "frame":
                for _chat, ops in args[0]:
                    self.transcript.apply(ops)
                return {}
            case "acp.buffers", "read" | "write":
                return await self._file(function, *args)
            case "acp.buffers", "check" | "deleted":
                return []
        return False

    async def _file(self, function: str, path: str, *args: Any) -> Any:
        answer = await self.files.call("acp.buffers", function, path, *args)
        if function == "write" and answer.get("wrote") and "merged" not in args[1]:
            await anyio.Path(path).write_text(args[0], encoding="utf-8")
        return answer

    @property
    def text(self) -> str:
        """The whole transcript."""
        return "\n".join(self.transcript.lines)


class World:
    """One chat with the faulty agent, its user, and all that is left afterwards."""

    def __init__(self, folder: Path, seed: int, version: int, *, rate: float | None = None) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.workspace = folder / "home" / "ws"
        self.workspace.mkdir(parents=True)
        for name, text in BEFORE.items():
            (self.workspace / name).write_text(text)
        self.rows = Rows(folder / "agent.log")
        self._plan = folder / "plan.json"
        self._facts = {"seed": seed, "version": version, "log": str(folder / "agent.log")}
        self.lasting = self.rng.random() < 0.5 or version == 2
        self.version = version
        self.plan(rate=self.rng.choice([0.03, 0.1, 0.3]) if rate is None else rate, calm=False)
        self.sent: list[str] = []
        self.extra: list[str] = []
        self.allowed = False  # the user has said yes to a question about a file of theirs
        self._seq = 0
        self.marker = f"ACP_FAULT_ID={uuid4()}"
        self.lua = Lua()
        path = str(self.workspace)
        self.lua.files.buffers = {
            f"{path}/open.txt": [BEFORE["open.txt"], False],
            f"{path}/unsaved.txt": ["mine, not saved\n", True],
        }
        self.runtime = Runtime(self.lua.loop, lambda where, text: self.lua.faults.append(f"{where}\n{text}"))
        self.app = App(
            self.lua, self.runtime.spawn, Hello(cache=str(folder / "cache"), state=str(folder / "state"))
        )

    def plan(self, **plan: Any) -> None:
        """What the agent does from its next start on (agent.py)."""
        self._plan.write_text(json.dumps({**self._facts, "lasting": self.lasting, **plan}))

    @property
    def config(self) -> dict[str, Any]:
        name, value = self.marker.split("=")
        command = [sys.executable, "-I", "-S", str(AGENT), str(self._plan)]
        return {"command": command, "protocol": f"acp-v{self.version}", "env": {name: value}}

    def tell(self, name: str, **payload: Any) -> None:
        """One message of Lua."""
        self.app.handle(name, payload)

    def open(self) -> None:
        self.tell("open", chat=1, agent="x", buf=1, cwd=str(self.workspace), config=self.config)

    def send(self, *, now: bool = False) -> str:
        self._seq += 1
        text = f"prompt-{self._seq}-{self.rng.getrandbits(32):08x}"
        self.sent.append(text)
        self.tell("send", chat=1, text=text, seq=self._seq, now=now)
        return text

    def answer(self, *, wild: bool = True) -> None:
        """Answer a question: perhaps twice, perhaps with what is no answer."""
        if not self.lua.questions:
            return
        ident = self.rng.choice(list(self.lua.questions))
        for _ in range(self.rng.choice([1, 1, 2]) if wild else 1):
            index = self.rng.choice([0, 1, 2, 2, 3, 9]) if wild else 0
            self.allowed |= index in (1, 3)
            self.tell("answer", id=ident, index=index)
        if wild and self.rng.random() < 0.2:
            self.tell("answer", id="q999", index=1)

    def kill(self) -> None:
        """End the agent's process as the system does when there is no memory left."""
        for row in self.rows()[::-1]:
            if row.get("event") == "start":
                with suppress(ProcessLookupError):
                    os.kill(row["pid"], signal.SIGKILL)
                return

    def restart(self) -> None:
        self.tell("restart", chat=1, config=self.config)

    async def until(self, what: Callable[[], object], message: str, seconds: float = SOON) -> bool:
        """Wait; what does not happen in time is a problem of its own."""
        with anyio.move_on_after(seconds):
            while not what():  # noqa: ASYNC110 (the condition is anybody's)
                await anyio.sleep(0.005)
            return True
        last = f"{self.lua.status}, open: {list(self.lua.questions)}\n{self.lua.text[-2000:]}"
        self.extra.append(f"not within {seconds} s: {message}: {last}")
        return False

    async def act(self) -> None:
        """What the user does, in an order of its own."""
        self.open()
        kinds: list[Callable[[], object]] = [
            self.send, self.send, partial(self.send, now=True), self.answer, self.answer, self.answer,
            lambda: self.tell("cancel", chat=1), lambda: self.tell("answer", id="", index=1), self.kill,
            self.restart, lambda: None, lambda: None,
        ]  # fmt: skip
        weights = [6, 6, 1, 6, 6, 6, 3, 1, 1, 1, 3, 3]
        for _ in range(self.rng.randint(4, 14)):
            await anyio.sleep(self.rng.random() * 0.08)
            self.rng.choices(kinds, weights)[0]()

    async def come_to_rest(self) -> None:
        """The user answers all that is asked: then nothing may be due to the agent any more."""

        def done() -> bool:
            self.answer(wild=False)
            return not self.lua.questions and (self._gone() or not self._due())

        await self.until(done, f"every request answered, due: {self._due()}")
        await self.until(self._remedy, "a remedy is named")

    def _remedy(self) -> bool:
        return not self._is("failed") or ":AcpRestart" in self.lua.text

    def _due(self) -> list[str]:
        return [] if self._gone() else self.rows.due()

    def _is(self, *states: str) -> bool:
        return self.lua.status.get("state") in states

    def _gone(self) -> bool:
        return self._is("failed", "starting")

    async def recover(self) -> None:
        """``:AcpRestart`` with an agent that is well: then everything works."""
        self.plan(rate=0, calm=True)
        had = self._has_past()
        ended = len(self.lua.ends)
        self.restart()
        if not await self.until(self._restarted, "ready again"):
            return
        if self.lasting and had and self._began_anew():
            known = any("resume" in line or "remember" in line for line in self.lua.transcript.lines)
            if not known:
                self.extra.append("the session was not resumed, and nothing says why")
        text = self.send()
        await self.until(lambda: f"calm: {text}" in self.lua.text, f"an answer to {text}")
        await self.until(
            lambda: len(self.lua.ends) > ended and self.lua.status.get("state") == "idle", "its end"
        )

    def _has_past(self) -> bool:
        """Whether something was said in the session."""
        return "session/prompt" in {row.get("in", {}).get("method") for row in self.rows()}

    def _began_anew(self) -> bool:
        """Whether the agent that is well was asked for a new session."""
        return "session/new" in self.rows.methods()

    def _restarted(self) -> bool:
        return self._began() and self._is("idle") and not self.lua.queue

    def _began(self) -> bool:
        """Whether the agent that is well has been started."""
        return any(row.get("calm") for row in self.rows())

    async def close(self) -> None:
        self.tell("close", chat=1)
        chats = self.app._registry
        await self.until(lambda: not chats.chats and not self._alive(), "no process is left")

    def _alive(self) -> bool:
        return bool(marked(self.marker))

    def outcome(self) -> Outcome:
        path = f"{self.workspace}/unsaved.txt"
        mine = self.lua.files.buffers[path]
        # A text that the agent has read from us it may replace.
        read = any(
            row.get("path") == path and row["method"].startswith("fs/read")
            for row in self.rows()
            if "asked" in row
        )
        self._count_losses()
        return Outcome(
            rows=self.rows,
            workspace=self.workspace,
            before=BEFORE,
            sent=self.sent,
            places={
                "transcript": self.lua.text,
                "prompt": "\n".join(self.lua.back),
                "queue": "\n".join(each["text"] for each in self.lua.queue),
            },
            unsaved=[] if self.allowed or read else [("mine, not saved\n", mine[0])],
            opened=self.lua.opened,
            closed=self.lua.closed,
            faults=self.lua.faults,
            marker=self.marker,
            extra=self.extra,
        )

    def _count_losses(self) -> None:
        losses = [line for line in self.troubles if LOSS.search(line)]
        starts = sum(row.get("event") == "start" for row in self.rows())
        if len(losses) > starts:
            self.extra.append(f"{len(losses)} losses of {starts} processes are told: {losses}")

    @property
    def troubles(self) -> list[str]:
        """The lines of the transcript that say that something failed."""
        return [line for line in self.lua.transcript.lines if line.startswith("✗")]


@asynccontextmanager
async def world(folder: Path, seed: int, version: int, **options: Any) -> AsyncIterator[World]:
    """A world that is ended at the end of the block, whatever has happened."""
    made = World(folder, seed, version, **options)
    try:
        yield made
    finally:
        await made.runtime.stop()
        made.app._spawner.reaper.close()


async def life(made: World) -> None:
    """One life from beginning to end."""
    started = time.monotonic()
    with anyio.move_on_after(PATIENCE) as scope:
        await made.act()
        if made.rng.random() < 0.8:
            await made.come_to_rest()
            await made.recover()
        else:  # the user closes the chat in the middle of it, and with it the transcript
            made.sent.clear()
        await made.close()
    if scope.cancelled_caught:
        made.extra.append(f"hangs after {time.monotonic() - started:.0f} s")


async def live(folder: Path, seed: int, version: int, **options: Any) -> list[str]:
    """The life of a chat with an agent of ours; returns what is wrong."""
    async with world(folder, seed, version, **options) as made:
        await life(made)
    return problems(made.outcome())
