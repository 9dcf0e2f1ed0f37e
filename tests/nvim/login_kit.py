"""Agents that want a login, and what their user does about it."""

from __future__ import annotations

from typing import Any

from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.trouble import Chat
from tests.plugin import eventually

METHODS: list[Json] = [
    {"id": "oauth-1", "name": "Browser", "description": "opens a page"},
    {"id": "dev", "name": "Device", "type": "device_code", "description": "enter a code"},
    {"id": "key", "name": "API key", "type": "agent"},
]
WANTED: Json = {"error": {"code": -32000, "message": "Authentication required"}}
SESSION: Json = {"reply": {"sessionId": "$session"}}
END: Json = {"reply": {"stopReason": "end_turn"}}
ASKS = "x wants you to log in"


def hello(*methods: Json, **capabilities: Any) -> Json:
    return {"reply": {"protocolVersion": 1, "authMethods": list(methods), "agentCapabilities": capabilities}}


def locked(agent: MakeAgent, *methods: Json, **on: Any) -> ScriptedAgent:
    """An agent whose first session/new is refused; the others are not."""
    plays = {"initialize": [hello(*methods)], "session/new": [[WANTED], [SESSION]]}
    return agent({**plays, **{name.replace("_", "/"): play for name, play in on.items()}})


def asked(chat: Chat) -> None:
    """Wait until the question has the focus, and listens to keys."""
    chat.sees(ASKS)
    chat.until("? login  x  waiting for you")
    listening(chat)


def listening(chat: Chat) -> None:
    eventually(
        lambda: chat.screen.funcs.maparg("?", "n", False, True).get("desc"),
        message=lambda: f"no chooser listens\n{chat.show()}",
    )


def prompts(agent: ScriptedAgent) -> list[str]:
    """The texts of all prompts the agent has got."""
    return [m["params"]["prompt"][-1]["text"] for m in agent.log("session/prompt")]


def used(agent: ScriptedAgent) -> list[str]:
    """The ids of the methods the agent was asked to use."""
    return [m["params"]["methodId"] for m in agent.log("authenticate")]
