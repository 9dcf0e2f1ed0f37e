"""Which step of which scenario answers a request: told from its own history, the server keeps no state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from .tools import Json, ScenarioError, resolve

Resolve: TypeAlias = Callable[[Json, Mapping[str, Json], str], tuple[str, Json] | None]

MARKER = re.compile(r"\[\[([A-Za-z0-9_-]+)\]\]")

__all__ = ("Plan", "ScenarioError", "Scenarios", "Turn", "gemini_history", "openai_history", "pieces")


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a request's history: role ``user``, ``model`` or ``tool``."""

    role: str
    text: str


@dataclass(slots=True)
class Plan:
    """What to answer to one request. Times are in seconds.

    ``delay`` after each piece and ``hang`` before the end are the pace of the model: no test waits by them.
    """

    thinking: Sequence[str] = ()
    text: Sequence[str] = ()
    tools: Sequence[tuple[str, Json]] = ()
    delay: float = 0.0
    hang: float = 0.0
    error: int | None = None


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Scenario files by name, read anew at each use. ``workspace``: what relative paths in them refer to."""

    folder: Path
    workspace: str
    extra: dict[str, Json] = field(default_factory=dict)

    def load(self, name: str) -> Json:
        if name in self.extra:
            return self.extra[name]
        path = self.folder / f"{name}.json"
        if not path.is_file():
            raise ScenarioError(f"no scenario {name!r}")
        loaded: Json = json.loads(path.read_text("utf-8"))
        return loaded

    def plan(self, turns: Sequence[Turn], offered: Mapping[str, Json], spelled: Resolve = resolve) -> Plan:
        """The plan for a request of the agent's main loop; ``spelled`` finds the tool of a call."""
        name, number = locate(turns)
        if name is None:
            raise ScenarioError("the prompt names no scenario")
        steps = self.load(name)["steps"]
        if number >= len(steps):
            return Plan(text=[f"(scenario over after {len(steps)} steps)"])
        step = steps[number]
        calls = [(call, spelled(call, offered, self.workspace)) for call in step.get("tools", [])]
        tools = [found for _, found in calls if found is not None]
        text = pieces(step.get("text"))
        if missing := [call["tool"] for call, found in calls if found is None]:
            text.append(f"(this agent offers no tool for: {', '.join(missing)})")
        if not text and not tools and not step.get("http_error"):
            text = ["(empty step)"]
        return Plan(
            thinking=pieces(step.get("thinking")),
            text=text,
            tools=tools,
            delay=step.get("delay_ms", 0) / 1000,
            hang=step.get("hang_ms", 0) / 1000,
            error=step.get("http_error"),
        )


def locate(turns: Sequence[Turn]) -> tuple[str | None, int]:
    """Name of the last scenario asked for, and how many steps of it the model has played."""
    name, start = None, 0
    for at, turn in enumerate(turns):
        if turn.role == "user" and (found := MARKER.findall(turn.text)):
            name, start = found[-1], at
    played, before = 0, "user"
    for turn in turns[start + 1 :]:
        if turn.role == "model" and before != "model":
            played += 1
        before = turn.role
    return name, played


def pieces(value: Any) -> list[str]:
    """The chunks of a text in a scenario."""
    match value:
        case None:
            return []
        case str():
            return [value]
        case {"repeat": str(text), "count": int(count)}:
            return [text.replace("{i}", str(number)) for number in range(1, count + 1)]
        case _:
            return [piece for item in value for piece in pieces(item)]


def openai_history(body: Json) -> list[Turn]:
    roles = {"assistant": "model", "tool": "tool", "user": "user"}
    turns = []
    for message in body.get("messages", []):
        content = message.get("content")
        if isinstance(content, list):
            content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
        if role := roles.get(message.get("role")):
            turns.append(Turn(role, content or ""))
    return turns


def gemini_history(body: Json) -> list[Turn]:
    turns = []
    for content in body.get("contents", []):
        parts = content.get("parts") or []
        text = "\n".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
        if content.get("role") == "model":
            turns.append(Turn("model", text))
        else:
            is_result = any("functionResponse" in part for part in parts)
            turns.append(Turn("tool" if is_result else "user", text))
    return turns
