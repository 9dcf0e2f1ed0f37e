"""The whole chain for the cases from the field: a real Neovim, its host, and a scripted agent in chats.

``ways`` runs a case in the variants that any case should hold in: the agent's bytes cut at random places,
the chat's windows closed, two sessions of one agent at once.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.agents.fixtures import Actions, Json, MakeAgent, ScriptedAgent
from tests.plugin import Screen, StartScreen, eventually, marked

END = {"reply": {"stopReason": "end_turn"}}
OPTIONS = [
    {"optionId": "ok", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
PASSIVE = {"permission": {"open": "never"}}
"""Settings under which no question takes the focus, so that what is typed goes where the test says."""

WATCH = """
_G.seen = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'Acp*',
  callback = function(args) table.insert(_G.seen, { args.match, args.data or {} }) end,
})
"""

WAYS = ("whole", "cut", "hidden", "two")
ways = pytest.mark.parametrize("way", WAYS)
"""For tests that take ``way`` and hand it to ``Stage``."""


def update(kind: str, /, **fields: Any) -> Json:
    """The action of a session/update."""
    return {"update": {"sessionUpdate": kind, **fields}}


def ask(ident: str | int, tool_call: Mapping[str, Any], options: Sequence[Json] = OPTIONS) -> Json:
    """The action of a permission request; ``$session`` in the id tells apart those of two sessions."""
    params = {"sessionId": "$session", "toolCall": dict(tool_call), "options": list(options)}
    return {"send": {"jsonrpc": "2.0", "id": ident, "method": "session/request_permission", "params": params}}


def diff(path: str, old: str | None, new: str) -> Json:
    """A tool call's content."""
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def selected(option: str) -> Json:
    """The result of a permission request that was answered with an option."""
    return {"outcome": {"outcome": "selected", "optionId": option}}


CANCELLED = {"outcome": {"outcome": "cancelled"}}


def cut(actions: Actions, seed: int = 1) -> list[Json]:
    """The same bytes, in writes that begin and end anywhere: in a line, in a character, over several lines.

    Only for the first session (``$session`` is s1); what waits or answers stays an action of its own.
    """
    chance = random.Random(seed)
    made: list[Json] = []
    pending = b""

    def flush() -> None:
        nonlocal pending
        places = sorted(chance.randrange(len(pending) + 1) for _ in range(12)) if pending else []
        for first, last in zip([0, *places], [*places, len(pending)], strict=True):
            if last > first:
                made.extend([{"hex": pending[first:last].hex()}, {"sleep": chance.choice((0, 0, 1, 4))}])
        pending = b""

    for action in actions:
        message = _message(action)
        if message is None:
            flush()
            made.append(dict(action))
        else:
            text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False) + "\n"
            pending += text.replace("$session", "s1").encode()
    flush()
    return made


def _message(action: Mapping[str, Any]) -> Any:
    """What an action writes, if it is known beforehand; None for another action."""
    match next(iter(action)):
        case "send":
            return action["send"]
        case "raw" if "times" not in action:
            return action["raw"]
        case "update" | "say" as name:
            content = {"type": "text", "text": action[name]}
            said = {"sessionUpdate": "agent_message_chunk", "content": content}
            params = {"sessionId": "$session", "update": action[name] if name == "update" else said}
            return {"jsonrpc": "2.0", "method": "session/update", "params": params}
        case _:
            return None


@dataclass(frozen=True)
class Chat:
    """A chat as its user and its agent see it. ``session``: the agent's id of it."""

    screen: Screen
    agent: ScriptedAgent
    n: int
    session: str

    def _get(self, field: str) -> int:
        return int(self.screen.lua("local n, f = ... return require('acp.chat').get(n)[f]", self.n, field))

    @property
    def buf(self) -> int:
        return self._get("buf")

    def text(self) -> str:
        """The transcript."""
        return "\n".join(self.screen.lines(self.buf))

    def prompt(self) -> str:
        return "\n".join(self.screen.lines(self._get("prompt")))

    def status(self) -> Json:
        return dict(self.screen.lua("return require('acp').status(...)", self.buf))

    def winbar(self) -> str:
        """The winbar's text for a window of 200 cells, without colours."""
        raw = self.screen.lua("return require('acp.chat.winbar').render(..., 200)", self.n)
        return re.sub(r"%#\w+#|%\*|%<|%=", "", str(raw)).strip()

    def wait(self, wanted: str) -> str:
        """Wait until the transcript has this text; return the transcript."""
        eventually(lambda: wanted in self.text(), message=lambda: f"no {wanted!r} in\n{self.text()}")
        return self.text()

    def wait_state(self, state: str) -> Json:
        eventually(
            lambda: self.status()["state"] == state,
            message=lambda: f"not {state}: {self.status()}\n{self.text()}",
        )
        return self.status()

    def wait_pending(self, count: int) -> None:
        """Wait until so many questions of this chat are open."""
        eventually(lambda: self.status()["pending"] == count, message=lambda: str(self.status()))

    def wait_winbar(self, wanted: str) -> None:
        eventually(lambda: wanted in self.winbar(), message=lambda: f"no {wanted!r}: {self.winbar()}")

    def wait_turn(self, count: int = 1) -> Json:
        """Wait until the ``count``-th turn is over and in the buffer; return the event's data."""
        eventually(
            lambda: len(self.events("AcpTurnEnd")) >= count,
            message=lambda: f"no end of turn {count}: {self.status()}\n{self.text()}",
        )
        assert "acp: error" not in self.screen.messages()  # a normal turn writes nothing there
        return self.events("AcpTurnEnd")[count - 1]

    def events(self, name: str) -> list[Json]:
        """The data of this chat's User events of one name so far."""
        seen = self.screen.lua("return _G.seen")
        return [data for event, data in seen if event == name and data["bufnr"] == self.buf]

    def send(self, text: str = "go") -> None:
        self.screen.lua("local n, text = ... require('acp').send(text, { chat = n })", self.n, text)

    def focus(self) -> None:
        """Show the chat and go to its prompt."""
        self.screen.lua(
            "require('acp.chat.windows').open(require('acp.chat').get(...), true)",
            self.n,
        )

    def hide(self) -> None:
        self.screen.lua("require('acp.chat.windows').close(require('acp.chat').get(...))", self.n)

    def permit(self, choice: str) -> None:
        """Answer the question of this chat that is shown, or its oldest, as a user of the interface does."""
        self.go()
        eventually(
            lambda: self.screen.lua(
                "local card = require('acp.question.card').get()"
                " return not card or card.question.chat == ...",
                self.n,
            ),
            message=lambda: f"another chat's question is shown\n{self.screen.text()}",
        )
        self.screen.lua("assert(require('acp').permit(...))", choice)

    def go(self) -> None:
        """Make this the current chat: go to its prompt, if one is on the screen."""
        self.screen.lua(
            "local chat = require('acp.chat').get(...)"
            " local here = require('acp.chat').of(vim.api.nvim_get_current_buf())"
            " local shown = here or #vim.fn.win_findbuf(chat.prompt) > 0"
            " if shown then require('acp.chat.windows').open(chat, true)"
            " else require('acp.chat').focused(chat) end",
            self.n,
        )

    def cancel(self) -> None:
        self.go()
        self.screen.lua("assert(require('acp').cancel())")

    def trace(self) -> str:
        """The trace as ``:AcpTrace`` shows it, read without going there."""
        self.screen.command(f"AcpTrace {self.status()['agent']}")
        eventually(lambda: self.screen.lines() != [""])
        text = "\n".join(self.screen.lines())
        self.screen.command("bwipeout")
        return text


class Stage:
    """A Neovim with the plugin set up, and the chats of a case."""

    def __init__(self, screen: Screen, settings: Mapping[str, Any] = PASSIVE) -> None:
        self.screen = screen
        self.settings = settings

    def setup(self, **agents: ScriptedAgent) -> None:
        self.screen.setup({**self.settings, "agents": {name: a.settings for name, a in agents.items()}})

    def open(self, agent: ScriptedAgent, name: str = "x", *, new: bool = False) -> Chat:
        """``:AcpChat x``."""
        self.screen.command(f"AcpChat{'!' if new else ''} {name}")
        self.screen.leave_insert()
        n = int(self.screen.lua("return require('acp.chat').current().n"))
        return Chat(self.screen, agent, n, f"s{n}")


def play(
    way: str,
    start_screen: StartScreen,
    agent: MakeAgent,
    actions: Actions,
    *,
    settings: Mapping[str, Any] = PASSIVE,
    **scripts: Any,
) -> list[Chat]:
    """Open the chats of a way, whose agent plays ``actions`` when it is prompted. All are ready."""
    on = scripts.pop("on", {})
    played = agent(on={"session/prompt": cut(actions) if way == "cut" else actions, **on}, **scripts)
    stage = Stage(start_screen(size=(150, 40), init=WATCH), settings)
    stage.setup(x=played)
    chats = [stage.open(played)]
    chats[0].wait_state("idle")
    if way == "two":
        chats.append(stage.open(played, new=True))
        chats[1].wait_state("idle")
    if way == "hidden":
        chats[0].hide()
    return chats


def assert_gone(screen: Screen, pid: int) -> None:
    """Wait until a process of an agent has ended."""
    eventually(lambda: pid not in marked(screen.marker), message=f"process {pid} lives")
