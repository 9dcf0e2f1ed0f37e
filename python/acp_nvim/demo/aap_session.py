"""Of the demo over HTTP: what it offers, its sessions, and how a turn of one is told (AAP v3)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any

from .agent import VERSION
from .editor import Script, Tools
from .web import Response

Json = dict[str, Any]


def _tool(name: str, title: str, about: str, **parameters: str) -> Json:
    properties = {key: {"type": "string", "description": words} for key, words in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "title": title, "description": about, "parameters": schema}


META: Json = {
    "version": 3,
    "agents": [
        {
            "name": "demo",
            "title": "Demo",
            "version": VERSION,
            "description": "Shows what acp.nvim does with an agent over HTTP. It has no language model.",
            "tools": [
                _tool("list_files", "List files", "Lists the files of the server's folder."),
                _tool("read_file", "Read a file", "Reads a text file.", path="its name, in the folder"),
                _tool("search_files", "Search", "Finds lines with a text.", text="the text to look for"),
            ],
            "options": [
                {
                    "type": "select",
                    "name": "answers",
                    "title": "Answers",
                    "options": ["friendly", "short"],
                    "default": "friendly",
                },
                {"type": "text", "name": "name", "title": "Your name", "default": ""},
                {
                    "type": "secret",
                    "name": "password",
                    "title": "A password",
                    "description": "for nothing at all: to see how secrets are asked for",
                    "default": "",
                },
            ],
            "capabilities": {
                "history": {"full": {}},
                "stream": {"delta": {}, "message": {}, "none": {}},
                "application": {"tools": {}},
            },
        }
    ],
}
#: Tools of the editor that the demo makes use of.
CLIENT_TOOLS = ("read_file", "write_file", "edit_file", "list_files", "run_command", "open_buffers")
DEFAULTS = {option["name"]: option["default"] for option in META["agents"][0]["options"]}
SECRETS = {option["name"] for option in META["agents"][0]["options"] if option["type"] == "secret"}


@dataclass(slots=True)
class Session:
    """``asked``: the calls that wait for the client's answer, by id. ``declared``: tools of the editor's.

    ``script`` goes on when the call ``waits_for`` has its result.
    """

    id: str
    tools: dict[str, bool]
    options: dict[str, str]
    history: list[Json] = field(default_factory=list)
    asked: dict[str, Json] = field(default_factory=dict)
    declared: list[Json] = field(default_factory=list)
    script: Script | None = None
    waits_for: str = ""

    @property
    def info(self) -> Json:
        options = {name: "***" if name in SECRETS else value for name, value in self.options.items()}
        tools = [{"name": name, "trust": trust} for name, trust in self.tools.items()]
        info = {"sessionId": self.id, "agent": {"name": "demo", "tools": tools, "options": options}}
        return {**info, "tools": self.declared} if self.declared else info

    @property
    def editor(self) -> Tools:
        served = [tool["name"] for tool in META["agents"][0]["tools"]]
        return Tools([tool["name"] for tool in self.declared], served)


class Turn:
    """Tells one turn in the mode that was asked for, and writes it down."""

    def __init__(self, session: Session, response: Response, mode: str, speed: float) -> None:
        self._session = session
        self._response = response
        self._mode = mode
        self._speed = speed
        self._messages: list[Json] = []

    async def begin(self) -> None:
        if self._mode != "none":
            await self._response.begin(200, {"Content-Type": "text/event-stream"})
        await self._event("turn_start", {})

    async def say(self, kind: str, words: str) -> None:
        """``kind`` is text or thinking."""
        if self._mode == "delta":
            for piece in re.findall(r"\S+\s*|\s+", words):
                await self._event(f"{kind}_delta", {"delta": piece})
                await asyncio.sleep(1 / self._speed if self._speed else 0)
        else:
            await self._event(kind, {kind: words})
        self._write({"role": "assistant", "content": [{"type": kind, kind: words}]})

    async def call(self, call: Json) -> None:
        await self._event("tool_call", call)
        self._write({"role": "assistant", "content": [{"type": "tool_use", **call}]})

    async def result(self, call: Json, content: str) -> None:
        await self._event("tool_result", {"toolCallId": call["toolCallId"], "content": content})
        self._write({"role": "tool", "toolCallId": call["toolCallId"], "content": content})

    async def end(self, reason: str) -> None:
        if self._mode == "none":
            answer = {"stopReason": reason, "messages": self._messages}
            await self._response.answer(200, json.dumps(answer).encode())
        else:
            await self._event("turn_stop", {"stopReason": reason})
            await self._response.end()

    def _write(self, message: Json) -> None:
        self._messages.append(message)
        self._session.history.append(message)

    async def _event(self, kind: str, data: Json) -> None:
        if self._mode != "none":
            await self._response.send(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
