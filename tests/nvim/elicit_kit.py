"""The whole chain for forms and pages: a real Neovim, its host, and an agent that asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage
from tests.plugin import StartScreen, eventually

BROWSER = """
_G.opened = {}
vim.ui.open = function(url) table.insert(_G.opened, url) end
"""

FIELDS: Json = {
    "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 20},
    "port": {"type": "integer", "title": "Port", "minimum": 1, "maximum": 65535, "default": 8080},
    "ratio": {"type": "number", "description": "How much of it"},
    "public": {"type": "boolean", "title": "Public?", "default": False},
    "colour": {
        "type": "string",
        "title": "Colour",
        "oneOf": [
            {"const": "r", "title": "Red", "description": "like blood"},
            {"const": "b", "title": "Blue"},
        ],
    },
    "sizes": {"type": "array", "items": {"type": "string", "enum": ["s", "m", "l"]}, "minItems": 1},
}


def elicit(ident: str, message: str = "Please tell me", **fields: Any) -> Json:
    """The action of an elicitation of the session."""
    params = {"message": message, "sessionId": "$session", **fields}
    return {"send": {"jsonrpc": "2.0", "id": ident, "method": "elicitation/create", "params": params}}


def form(
    ident: str = "f1", properties: Mapping[str, Any] = FIELDS, required: list[str] | None = None, **more: Any
) -> Json:
    schema = {"type": "object", "properties": dict(properties), "required": required or []}
    return elicit(ident, mode="form", requestedSchema=schema, **more)


def page(ident: str = "u1", url: str = "https://example.com/login?state=1", **more: Any) -> Json:
    return elicit(ident, "Sign in", mode="url", elicitationId=f"e-{ident}", url=url, **more)


class Asked:
    """A chat whose agent asks something when it is prompted, and then waits for the answer."""

    def __init__(self, chat: Chat, agent: ScriptedAgent) -> None:
        self.chat = chat
        self.agent = agent
        self.screen = chat.screen

    def answer(self, ident: str = "f1") -> Json:
        reply: Json = self.agent.response(ident)["result"]
        return reply

    def ready(self, count: int = 1) -> None:
        """Wait until Neovim has so many questions; what is told of the status may come before."""
        eventually(lambda: self.screen.lua("return require('acp.question').count()") == count)

    def begin(self, choice: str = "1") -> None:
        """Start filling in, as ``:AcpPermit 1`` does."""
        self.ready()
        self.screen.wait("AcpPermit answers")
        self.chat.permit(choice)
        eventually(lambda: self.focused(), message=self.screen.text)

    def focused(self) -> bool:
        return bool(self.screen.lua("return require('acp.question.page').focused()"))

    def shown(self) -> bool:
        """Whether the form is on a screen."""
        return bool(self.screen.lua("return require('acp.question.page').get() ~= nil"))

    def mode(self) -> str:
        return str(self.screen.api.get_mode()["mode"])

    def rest(self) -> None:
        """Let the keyboard rest for as long as a key that sends needs."""
        self.screen.lua("vim.wait(300)")

    def opened(self) -> list[str]:
        return list(self.screen.lua("return _G.opened"))


def asked(
    start_screen: StartScreen,
    agent: MakeAgent,
    *actions: Json,
    settings: Mapping[str, Any] = PASSIVE,
    ident: str = "f1",
    init: str = "",
    size: tuple[int, int] = (120, 36),
    **more: Any,
) -> Asked:
    on = {"session/prompt": [*actions, {"await": ident}, END], **more.pop("on", {})}
    played = agent(on=on, **more)
    stage = Stage(start_screen(size=size, init=WATCH + BROWSER + init), settings)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    return Asked(chat, played)


def type_in(made: Asked, *keys: str) -> None:
    """Type, and give Neovim and the host the time to react, as people do."""
    for each in keys:
        made.screen.keys(each)
        made.screen.lua("vim.wait(60)")


def send(made: Asked) -> None:
    made.screen.wait("1 sends")
    made.rest()
    made.screen.keys("1")
