"""What the demo can do within one turn: speak, think, plan, show tool calls, ask, read and write files.

Everything the user sees goes through here as ``session/update``, so its characters are counted here too.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .peer import Json, Peer, RpcError
from .project import DemoError, Project, exists, read_disk, write_disk
from .session import Session

Status = Literal["pending", "in_progress", "completed", "failed", "cancelled"]
Answer = Literal["allowed", "rejected", "closed"]

WINDOW = 8192  # tokens the demo pretends to remember; 4 characters count as one
CROWDED = 0.75  # of it is worth a notice
ROOM = "/compact makes room"


@dataclass(slots=True)
class Call:
    """A tool call on the user's screen."""

    turn: Turn
    id: str
    ended: bool = False

    async def update(self, status: Status | None = None, **fields: Any) -> None:
        """Patch the row: only what is given changes (V1-103); content and locations are replaced (V1-105)."""
        if status is not None:
            fields["status"] = status
            self.ended = status in ("completed", "failed", "cancelled")
        await self.turn.send({"sessionUpdate": "tool_call_update", "toolCallId": self.id, **fields})


@dataclass(slots=True)
class Turn:
    """One prompt being answered. ``speed``: chunks a second the process was started for, 0 for no pauses."""

    peer: Peer
    session: Session
    speed: float
    attached: list[Path] = field(default_factory=list)
    _kind: str = ""  # of the last chunk, while nothing else has come in between
    _message: str = ""
    _plan: str = ""
    _shown: bool = False  # the last chunk was a picture or a link, which stands on a line of its own

    @property
    def project(self) -> Project:
        return self.session.project

    async def send(self, update: Json) -> None:
        if update["sessionUpdate"] != self._kind:
            self._kind = ""
        self.session.history.add(update)
        await self._tell(update)

    async def _tell(self, update: Json) -> None:
        told = self.session.speech.update(update)
        if told is not None:
            await self.peer.notify("session/update", {"sessionId": self.session.id, "update": told})

    async def replay(self) -> None:
        """Tell all that was said in the session."""
        for update in self.session.history.updates:
            await self._tell(update)

    async def state(self, state: str, **fields: Any) -> None:
        """Tell what the session does, and what goes on apart from that (V2-58, V2-66)."""
        self.session.state = state
        background = [{"type": "tool_call", "toolCallId": ident} for ident in self.session.jobs]
        told = {"sessionUpdate": "state_update", "state": state, "background": background}
        await self._tell({**told, **fields})

    async def request(self, method: str, params: Json) -> Any:
        """Ask the user something; the session waits for that (V2-61). Raises RpcError."""
        await self.state("requires_action")
        try:
            result = await self.peer.request(method, {"sessionId": self.session.id, **params})
        except RpcError:
            await self.state("running")
            raise
        await self.state("running")
        return result

    async def beat(self, chunks: float) -> None:
        """Wait as long as ``chunks`` chunks take: time to watch. Always a chance to be cancelled."""
        speed = self.session.settings.speed(self.speed)
        await asyncio.sleep(chunks / speed if speed else 0)

    async def say(self, text: str) -> None:
        """A paragraph of the answer, Markdown, streamed word by word."""
        await self._stream("agent_message_chunk", text)

    async def heard(self, text: str) -> None:
        """Begin with what the user has said during the turn: a message of its own."""
        self._kind = ""
        quoted = " ".join(text.split())
        await self.say(f"Now to what you added: “{quoted if len(quoted) <= 60 else quoted[:59] + '…'}”.")

    async def think(self, text: str) -> None:
        if self.session.settings.thoughts:
            await self._stream("agent_thought_chunk", text)

    async def show(self, block: Json) -> None:
        """A picture or a link as a part of the answer (V1-93)."""
        kind = "agent_message_chunk"
        self._goes_on(kind)
        await self.send({"sessionUpdate": kind, "messageId": self._message, "content": block})
        self._shown = True

    async def _stream(self, kind: str, text: str) -> None:
        """Chunks of one message; what directly follows the same kind is a new paragraph of that message."""
        if self._goes_on(kind) and not self._shown:
            text = "\n\n" + text
        self._shown = False
        self.session.characters += len(text)
        for piece in re.findall(r"\s*(?:\|[^\n]*|\S+)", text):  # a row of a table is one
            await self.beat(1)
            block = {"type": "text", "text": piece}
            await self.send({"sessionUpdate": kind, "messageId": self._message, "content": block})

    def _goes_on(self, kind: str) -> bool:
        """Whether the last message is of this kind and open; else a new one begins."""
        if self._kind == kind:
            return True
        self._kind, self._message = kind, self.session.name("message")
        return False

    async def plan(self, steps: Sequence[str], done: int, active: bool = True) -> None:
        """The whole plan (V1-139): the first ``done`` steps are completed, the next one is in progress."""
        entries = [
            {
                "content": step,
                "priority": "medium",
                "status": "completed" if at < done else "in_progress" if at == done and active else "pending",
            }
            for at, step in enumerate(steps)
        ]
        self._plan = self._plan or self.session.name("plan")
        await self.send({"sessionUpdate": "plan", "planId": self._plan, "entries": entries})

    @asynccontextmanager
    async def call(
        self, kind: str, title: str, status: Status = "in_progress", **fields: Any
    ) -> AsyncIterator[Call]:
        """A tool call: completed at the end of the block, failed by a DemoError.

        A cancel leaves it open in version 1, which has no word for that.
        """
        call = Call(self, self.session.name("call"))
        start = {
            "sessionUpdate": "tool_call",
            "toolCallId": call.id,
            "title": title,
            "kind": kind,
            "status": status,
        }
        await self.send({**start, **fields})
        try:
            yield call
        except DemoError as error:
            if not call.ended:
                await call.update("failed", content=[content(str(error))])
            raise
        except asyncio.CancelledError:
            if self.session.speech.states and not call.ended:
                with contextlib.suppress(ConnectionError):  # the client is gone, and nobody has to know
                    await call.update("cancelled")
            raise
        if not call.ended:
            await call.update("completed")

    async def ask(self, call: Call, key: str, always: str, **fields: Any) -> Answer:
        """Ask, unless the user has allowed ``key`` for the whole chat. ``always`` names that option."""
        if key in self.session.always or (key == "edit" and self.session.settings.mode == "edit"):
            return "allowed"
        options = [
            {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": always, "kind": "allow_always"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
        ]
        chosen = await self.choose(call, options, **fields)
        if chosen == "always":
            self.session.always.add(key)
        if chosen in ("allow", "always"):
            return "allowed"
        return "closed" if chosen is None else "rejected"

    async def choose(self, call: Call, options: list[Json], **fields: Any) -> Any:
        """Put a question about a tool call; returns the chosen option's id, None if it was closed."""
        request = {"toolCallId": call.id, "status": "pending", **fields}
        asked = self.session.speech.question(request, options)
        result = await self.request("session/request_permission", asked)
        outcome = result.get("outcome") if isinstance(result, dict) else None
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if chosen is None:
            # `cancelled` usually comes with a session/cancel, before or after it: let that one win (V1-80).
            await asyncio.sleep(0.05)
        return chosen

    async def read(self, path: Path) -> str:
        """The text of a file: from the editor if it offers that (with unsaved edits), else from the disk."""
        if not self.session.client.reads:
            return read_disk(path)
        try:
            result = await self.peer.request(
                "fs/read_text_file", {"sessionId": self.session.id, "path": str(path)}
            )
        except RpcError as error:
            raise DemoError(
                f"The editor did not give me `{self.project.show(path)}`: {error.message}"
            ) from None
        text = result.get("content") if isinstance(result, dict) else None
        if not isinstance(text, str):
            raise DemoError(f"The editor's answer for `{self.project.show(path)}` holds no text.")
        return text

    async def write(self, path: Path, text: str) -> None:
        """Write a file, through the editor when it offers that. Line ends stay as they are in ``text``."""
        shown = self.project.show(path)
        if self.session.client.writes:
            params = {"sessionId": self.session.id, "path": str(path), "content": text}
            try:
                await self.peer.request("fs/write_text_file", params)
            except RpcError as error:
                raise DemoError(f"The editor did not write `{shown}`: {error.message}") from None
            return
        write_disk(path, text)

    async def has_changed(self, path: Path, old: str | None) -> bool:
        """Whether a file is no longer what a change was made from (None: not there)."""
        if old is None:
            return exists(path)
        return await self.read(path) != old

    async def entitled(self) -> None:
        """Tell the title of the chat (V1-156)."""
        info = {"title": self.session.title, "updatedAt": self.session.updated}
        await self.send({"sessionUpdate": "session_info_update", **info})

    async def usage(self) -> None:
        """Four characters count as a token, as people reckon; what does not fit the window is forgotten."""
        used = min(self.session.characters // 4, WINDOW)
        await self.send({"sessionUpdate": "usage_update", "used": used, "size": WINDOW})
        crowded = used >= CROWDED * WINDOW
        if crowded and not self.session.warned and self.session.client.notices:
            notice = {"title": f"{used * 100 // WINDOW} % of my context are used", "description": ROOM}
            await self.send({"sessionUpdate": "notice", "severity": "warning", **notice})
        self.session.warned = crowded


def content(text: str) -> Json:
    """A text as content of a tool call (V1-115)."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def diff(path: Path, old: str | None, new: str) -> Json:
    """A whole file before and after; ``old`` None: it is new (V1-117)."""
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}


def location(path: Path, line: int | None = None) -> Json:
    return {"path": str(path)} if line is None else {"path": str(path), "line": line}
