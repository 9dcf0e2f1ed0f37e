"""What the Lua side would know of the host's chats, without Neovim."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import anyio
from tests.unit.service.helpers import FakeEditor
from tests.unit.view.buffer import Buffer

from acp_nvim.editor import Editor


@dataclass
class Side:
    """What it knows of one chat. ``ids``: the sessions it has had; ``asked``: the texts of its questions."""

    transcript: Buffer = field(default_factory=Buffer)
    status: dict[str, Any] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    queue: list[dict[str, Any]] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole transcript."""
        return "\n".join(self.transcript.lines)

    @property
    def troubles(self) -> list[str]:
        """The lines of the transcript that say that something failed."""
        return [line for line in self.transcript.lines if line.startswith("✗")]

    def is_in(self, *states: str) -> bool:
        return self.status.get("state") in states


class Lua(Editor):
    """What the Lua side would know: of each chat its Side, and questions and loaded buffers."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.files = FakeEditor()
        self.sides: dict[int, Side] = {}
        self.questions: dict[str, dict[str, Any]] = {}
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.faults: list[str] = []
        self.warned: list[str] = []

    def side(self, chat: int) -> Side:
        return self.sides.setdefault(chat, Side())

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
                self.side(args[0]["chat"]).asked.append(json.dumps(args[0]))
            case "acp.question", "close":
                if self.questions.pop(args[0], None) is not None:
                    self.closed.append(args[0])
            case "acp.status", "update":
                self.side(args[0]).status.update(args[1])
                if session := args[1].get("session"):
                    self.side(args[0]).ids.add(session)
            case "acp.events", "fire" if args[1] == "AcpTurnEnd":
                self.side(args[0]).ends.append(args[2]["stop_reason"])
            case "acp.chat.prompt", "queue":
                self.side(args[0]).queue = args[1]
            case "acp.chat.prompt", "restore":
                self.side(args[0]).back.append(args[1])

    async def call(self, module: str, function: str, *args: Any) -> Any:
        json.dumps(args)
        await anyio.lowlevel.checkpoint()
        match module, function:
            case "acp.chat.transcript", "frame":
                for chat, ops in args[0]:
                    self.side(chat).transcript.apply(ops)
                return {}
            case "acp.buffers", "read" | "write":
                return await self._file(function, *args)
            case "acp.buffers", "check" | "deleted" | "again":
                return []
        return False

    async def _file(self, function: str, path: str, *args: Any) -> Any:
        answer = await self.files.call("acp.buffers", function, path, *args)
        if function == "write" and answer.get("wrote") and "merged" not in args[1]:
            await anyio.Path(path).write_text(args[0], encoding="utf-8")
        return answer

    # -- the first chat, which most runs have alone

    @property
    def status(self) -> dict[str, Any]:
        return self.side(1).status

    @property
    def text(self) -> str:
        """The whole transcript."""
        return self.side(1).text
