"""Agents that know sessions, and the list of sessions as its user sees it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.agents.fixtures import Json, ScriptedAgent
from tests.nvim.cases.kit import WATCH, Chat, update
from tests.plugin import Screen, StartScreen, eventually


def able(*capabilities: str, load: bool = False) -> list[Json]:
    """What an agent with these capabilities of sessions says to ``initialize``."""
    session: Json = {name: {} for name in capabilities}
    hello = {
        "protocolVersion": 1,
        "agentInfo": {"name": "scripted", "version": "1.0"},
        "agentCapabilities": {"loadSession": load, "sessionCapabilities": session},
    }
    return [{"reply": hello}]


ALL = able("list", "close", "delete", "fork", "resume", load=True)


def said(role: str, text: str) -> Json:
    """The action of a chunk of a message: role ``user``, ``agent``."""
    return update(f"{role}_message_chunk", content={"type": "text", "text": text})


def entry(ident: str, cwd: str, title: str | None = None, **fields: Any) -> Json:
    return {"sessionId": ident, "cwd": cwd, **({"title": title} if title else {}), **fields}


HISTORY: list[Json] = [
    said("user", "why is it red?"),
    update("agent_thought_chunk", content={"type": "text", "text": "hm"}),
    update("tool_call", toolCallId="t1", title="run tests", kind="execute", status="completed"),
    update("tool_call", toolCallId="t2", title="Read it", kind="read", locations=[{"path": "/etc/hosts"}]),
    said("agent", "It is **not**."),
]


def ago(**units: float) -> str:
    """This long ago, as agents send it."""
    return (datetime.now(UTC) - timedelta(**units)).isoformat()


def sessions(*entries: Any) -> list[Json]:
    """The actions of a listing of one page."""
    return [{"reply": {"sessions": list(entries)}}]


class Desk:
    """A Neovim whose sessions are looked at."""

    def __init__(self, start_screen: StartScreen, **options: Any) -> None:
        self.screen: Screen = start_screen(**{"size": (120, 36), "init": WATCH, **options})
        self.cwd = str(self.screen.cwd)

    def setup(self, agents: dict[str, ScriptedAgent], **settings: Any) -> None:
        configs = {name: each.settings for name, each in agents.items()}
        first = next(iter(agents))
        more = {"permission": {"open": "never"}, "default_agent": first, "agents": configs, **settings}
        self.screen.setup(more)

    def chat(self, agent: ScriptedAgent, name: str = "x", *, new: bool = True) -> Chat:
        """``:AcpChat! x``, and wait until it is ready."""
        self.screen.command(f"AcpChat{'!' if new else ''} {name}")
        self.screen.keys("<Esc>")
        chat = self.current(agent)
        chat.wait_state("idle")
        return Chat(self.screen, agent, chat.n, str(chat.status()["session"]))

    def current(self, agent: ScriptedAgent) -> Chat:
        n = int(self.screen.lua("return require('acp.chat').current().n"))
        return Chat(self.screen, agent, n, "")

    def numbers(self) -> list[int]:
        """The numbers of all chats."""
        code = "return vim.tbl_map(function(c) return c.n end, require('acp.chat').list())"
        return sorted(self.screen.lua(code))

    def listed(self, *wanted: str, agent: str = "") -> list[str]:
        """``:AcpSessions``; wait until these are in it."""
        self.screen.command(f"AcpSessions {agent}".strip())
        return self.shows(*wanted)

    def shows(self, *wanted: str, gone: Sequence[str] = ()) -> list[str]:
        """Wait until the list has these texts, and not those, and nobody is asked any more."""

        def right() -> bool:
            text = "\n".join(self.rows())
            return (
                all(each in text for each in wanted)
                and not any(each in text for each in gone)
                and "asking" not in text
            )

        eventually(right, message=lambda: f"{wanted} not {gone}\n{self.screen.text()}")
        return self.rows()

    def rows(self) -> list[str]:
        """The lines of the list."""
        buf = self.screen.funcs.bufnr("acp://sessions")
        return self.screen.lines(buf) if buf > 0 else []

    def go(self, text: str) -> None:
        """Put the cursor of the list on the entry with this text."""
        self.screen.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('acp://sessions'))")
        row = next(i for i, line in enumerate(self.rows(), 1) if text in line)
        self.screen.api.win_set_cursor(0, (row, 0))

    def press(self, key: str, text: str) -> None:
        """A key on the entry with this text."""
        self.go(text)
        self.screen.keys(key)

    def open(self, text: str, agent: ScriptedAgent) -> Chat:
        """``<CR>`` on the entry; the chat that is shown then."""
        self.press("<CR>", text)
        eventually(lambda: not self.rows(), message=self.screen.text)
        eventually(lambda: self.screen.lua("return require('acp.chat').of(0) ~= nil"))
        self.screen.keys("<Esc>")
        return self.current(agent)
