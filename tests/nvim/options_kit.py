"""Agents with options, and what is typed and asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.trouble import Chat

MODE: Json = {
    "type": "select",
    "id": "m",
    "name": "Mode",
    "category": "mode",
    "currentValue": "ask",
    "options": [
        {"value": "ask", "name": "Ask", "description": "asks before each change"},
        {"value": "code", "name": "Code"},
    ],
}
MODEL: Json = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "big one",
    "options": [
        {
            "group": "a",
            "name": "Acme",
            "options": [{"value": "big one", "name": "Big"}, {"value": "big two", "name": "Bigger"}],
        },
        {"group": "b", "name": "Other", "options": [{"value": "small", "name": "Small"}]},
    ],
}
WEB: Json = {"type": "boolean", "id": "web", "name": "Web search", "currentValue": False}
CONFIG: Json = {"type": "select", "id": "tier", "name": "Tier", "category": "model_config",
                "currentValue": "x", "options": [{"value": "x", "name": "X"}]}  # fmt: skip
STRANGE: Json = {"type": "hologram", "id": "h", "name": "Holo", "category": "mode", "currentValue": 3}
ALL = [MODE, MODEL, WEB]

MODES: Json = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODELS: Json = {
    "currentModelId": "big",
    "availableModels": [{"modelId": "big", "name": "Big"}, {"modelId": "small", "name": "Small"}],
}


def having(options: Sequence[Json], **values: Any) -> Json:
    """The agent's complete list, with other values."""
    return {"configOptions": [{**o, "currentValue": values.get(o["id"], o["currentValue"])} for o in options]}


def with_options(agent: MakeAgent, *options: Json, on: Any = None, **setup: Any) -> ScriptedAgent:
    reply = {"sessionId": "s1", **({"configOptions": list(options)} if options else {}), **setup}
    return agent({"session/new": [{"reply": reply}], **(on or {})})


def run(chat: Chat, command: str) -> None:
    """Type a command in Normal mode."""
    chat.screen.keys(f"<Esc>:{command}<CR>")


def words(chat: Chat, line: str) -> list[str]:
    """What <Tab> offers for a command line."""
    return list(chat.screen.lua("return vim.fn.getcompletion(..., 'cmdline')", line))


def set_requests(agent: ScriptedAgent) -> list[Json]:
    return [message["params"] for message in agent.log("session/set_config_option")]
