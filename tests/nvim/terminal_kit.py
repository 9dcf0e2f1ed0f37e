"""A chat whose agent runs commands: what it asks, as actions of a scripted agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, update
from tests.plugin import StartScreen


def create(ident: str, command: str, *args: str, **fields: Any) -> list[Json]:
    """Create a terminal and wait for its id, which is ``$<ident>`` from then on."""
    params = {"sessionId": "$session", "command": command, "args": list(args), **fields}
    return [
        {"request": "terminal/create", "params": params, "id": ident},
        {"await": ident, "keep": {ident: "terminalId"}},
    ]


def gate(name: str) -> str:
    """Shell text that waits until the test makes the file ``name``."""
    return f"while [ ! -e {name} ]; do sleep 0.02; done"


def sh(ident: str, program: str, **fields: Any) -> list[Json]:
    return create(ident, "/bin/sh", "-c", program, **fields)


def ask(method: str, terminal: str, ident: str, *, wait: bool = True) -> list[Json]:
    """Ask something about a terminal."""
    params = {"sessionId": "$session", "terminalId": f"${terminal}"}
    asked = {"request": f"terminal/{method}", "params": params, "id": ident}
    return [asked, {"await": ident}] if wait else [asked]


def show(*terminals: str, call: str = "c1", title: str = "npm test", **fields: Any) -> Json:
    """A tool call that embeds terminals."""
    content = [{"type": "terminal", "terminalId": f"${each}"} for each in terminals]
    call_fields = {"kind": "execute", "status": "in_progress", "content": content, **fields}
    return update("tool_call", toolCallId=call, title=title, **call_fields)


def done(call: str = "c1", status: str = "completed", **fields: Any) -> Json:
    return update("tool_call_update", toolCallId=call, status=status, **fields)


def play(
    start_screen: StartScreen,
    agent: MakeAgent,
    *plays: Sequence[Json],
    settings: Json | None = None,
    **options: Any,
) -> Chat:
    """Open a chat whose agent plays the n-th list for the n-th prompt; each ends its turn itself or here."""
    prompts = [[*actions, END] for actions in plays]
    played = agent(on={"session/prompt": prompts}, **options)
    stage = Stage(start_screen(size=(150, 40), init=WATCH), {**PASSIVE, **(settings or {})})
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    return chat
