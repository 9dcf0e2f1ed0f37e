"""The whole host without Neovim: ``App`` on an editor of dictionaries, and a user who acts from a seed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
from tests.faults.agent import command
from tests.faults.check import Outcome, Rows, problems
from tests.faults.lua import Lua, Side
from tests.plugin.processes import marked

from acp_nvim.client.app import App
from acp_nvim.client.payloads import Hello
from acp_nvim.runtime import Runtime

PATIENCE = 40.0
"""Seconds within which everything must have come to an end."""
SOON = 10.0
"""Seconds within which the host must have answered what it can answer."""

REMEDY = re.compile(":Acp(Restart|Login)")
LOSS = re.compile("connection lost|ended (with|by)|cannot be used|could not")

BEFORE = {"plain.txt": "plain\n", "open.txt": "open\n", "unsaved.txt": "on disk\n", ".envrc": "export A=1\n"}


class World:
    """Chats with the faulty agent, on one connection; their user, and all that is left afterwards.

    ``more``: of the plan (agent.py); ``settings``: more settings of the agent.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        version: int,
        *,
        rate: float | None = None,
        chats: int = 1,
        settings: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.workspace = folder / "home" / "ws"
        self.workspace.mkdir(parents=True)
        for name, text in BEFORE.items():
            (self.workspace / name).write_text(text)
        self.rows = Rows(folder / "agent.log")
        self._plan = folder / "plan.json"
        self._facts = {"seed": seed, "version": version, "log": str(folder / "agent.log"), **more}
        self._settings = settings or {}
        self.chats = range(1, chats + 1)
        self.lasting = self.rng.random() < 0.5 or version == 2
        self.version = version
        self.plan(rate=self.rng.choice([0.03, 0.1, 0.3]) if rate is None else rate, calm=False)
        self.sent: list[str] = []
        self.sent_in: dict[int, list[str]] = {}
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
        started = {"command": command(self._plan), "protocol": f"acp-v{self.version}", "env": {name: value}}
        return {**started, **self._settings}

    def tell(self, name: str, **payload: Any) -> None:
        """One message of Lua."""
        self.app.handle(name, payload)

    def open(self) -> None:
        for chat in self.chats:
            self.tell("open", chat=chat, agent="x", buf=chat, cwd=str(self.workspace), config=self.config)

    def send(self, *, now: bool = False, chat: int = 0) -> str:
        """``chat`` 0: any."""
        self._seq += 1
        text = f"prompt-{self._seq}-{self.rng.getrandbits(32):08x}"
        self.sent.append(text)
        chat = chat or self.rng.choice(self.chats)
        self.sent_in.setdefault(chat, []).append(text)
        self.tell("send", chat=chat, text=text, seq=self._seq, now=now)
        return text

    def answer(self, *, wild: bool = True) -> None:
        """Answer a question: perhaps twice, perhaps with what is no answer."""
        if not self.lua.questions:
            return
        ident = self.rng.choice(list(self.lua.questions))
        if wild and "form" in self.lua.questions[ident] and self.rng.random() < 0.7:
            self._fill(ident)
            return
        for _ in range(self.rng.choice([1, 1, 2]) if wild else 1):
            index = self.rng.choice([0, 1, 2, 2, 3, 9]) if wild else 0
            self.allowed |= index in (1, 3)
            self.tell("answer", id=ident, index=index)
        if wild and self.rng.random() < 0.2:
            self.tell("answer", id="q999", index=1)

    def _fill(self, ident: str) -> None:
        """Fill a form in, well or not."""
        values = {
            "name": "Ada",
            "port": "81",
            "on": True,
            "colour": "red",
            "sizes": ["s"],
            "secret": "sk-hush",
        }
        given: Any = self.rng.choice([values, values, {}, {"name": "", "port": "x", "sizes": []}, [7]])
        for send in self.rng.choice([(True,), (False, True), (True, True), (False,)]):
            self.tell("form", id=ident, seq=self._seq, values=given, send=send)

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
        seen = "\n".join(f"{side.status}\n{side.text[-2000:]}" for side in self.lua.sides.values())
        last = f"open: {list(self.lua.questions)}\n{seen}"
        self.extra.append(f"not within {seconds} s: {message}: {last}")
        return False

    async def act(self) -> None:
        """What the user does, in an order of its own."""
        self.open()
        kinds: list[Callable[[], object]] = [
            self.send, self.send, partial(self.send, now=True), self.answer, self.answer, self.answer,
            lambda: self.tell("cancel", chat=self.rng.choice(self.chats)),
            lambda: self.tell("answer", id="", index=1), self.kill, self.restart, lambda: None, lambda: None,
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
        return all(
            not side.is_in("failed") or re.search(":Acp(Restart|Login)", side.text) for side in self._sides()
        )

    def _sides(self) -> list[Side]:
        return [self.lua.side(chat) for chat in self.chats]

    def _due(self) -> list[str]:
        return [] if self._gone() else self.rows.due()

    def _gone(self) -> bool:
        return all(side.is_in("failed", "starting") for side in self._sides())

    async def recover(self) -> None:
        """``:AcpRestart`` with an agent that is well: then everything works."""
        self.plan(rate=0, calm=True)
        had = [chat for chat in self.chats if self.lasting and self._has_past(chat)]
        ended = {chat: len(self.lua.side(chat).ends) for chat in self.chats}
        self.restart()
        if not await self.until(self._restarted, "ready again"):
            return
        texts = {chat: self.send(chat=chat) for chat in self.chats}
        for chat, text in texts.items():
            side = self.lua.side(chat)
            await self.until(lambda: f"calm: {text}" in side.text, f"an answer to {text}")  # noqa: B023
            await self.until(lambda: len(side.ends) > ended[chat] and side.is_in("idle"), "its end")  # noqa: B023
        for chat in had:
            if not any(
                "resume" in line or "remember" in line for line in self.lua.side(chat).text.splitlines()
            ):
                self.extra.append(f"the session of chat {chat} was not resumed, and nothing says why")
        if self.lua.questions:
            self.extra.append(f"still asked: {list(self.lua.questions)}")

    def _has_past(self, chat: int) -> bool:
        """Whether something was said in the session of a chat."""
        return any(text in each for each in self.rows.prompts() for text in self.sent_in.get(chat, ()))

    def _restarted(self) -> bool:
        return self._began() and all(side.is_in("idle") and not side.queue for side in self._sides())

    def _began(self) -> bool:
        """Whether the agent that is well has been started."""
        return any(row.get("calm") for row in self.rows())

    async def close(self) -> None:
        for chat in self.chats:
            self.tell("close", chat=chat)
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
        self._stay_apart()
        return Outcome(
            rows=self.rows,
            workspace=self.workspace,
            before=BEFORE,
            sent=self.sent,
            places={
                "transcript": "\n".join(side.text for side in self._sides()),
                "prompt": "\n".join(each for side in self._sides() for each in side.back),
                "queue": "\n".join(each["text"] for side in self._sides() for each in side.queue),
            },
            unsaved=[] if self.allowed or read else [("mine, not saved\n", mine[0])],
            opened=self.lua.opened,
            closed=self.lua.closed,
            faults=self.lua.faults,
            marker=self.marker,
            extra=self.extra,
        )

    def _count_losses(self) -> None:
        starts = sum(row.get("event") == "start" for row in self.rows())
        for side in self._sides():
            losses = [line for line in side.troubles if LOSS.search(line)]
            if len(losses) > starts:
                self.extra.append(f"{len(losses)} losses of {starts} processes are told: {losses}")

    def _stay_apart(self) -> None:
        """Nothing of one session is told in the chat of another."""
        for chat, side in self.lua.sides.items():
            seen = "\n".join([side.text, *side.asked, *side.back, str(side.queue)])
            for other, theirs in self.lua.sides.items():
                words = [] if other == chat else [*(theirs.ids - side.ids), *self.sent_in.get(other, ())]
                found = [each for each in words if each in seen]
                self.extra.extend(f"chat {chat} tells {each!r} of chat {other}" for each in found)


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
