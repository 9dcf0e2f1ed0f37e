"""What the demo tells and asks, in the words of each version of the protocol.

Inside the demo an update has the shape of version 1, with a ``planId`` for each plan; so it is remembered,
and a session of one version can be shown in the other. What only version 2 has is left out for version 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from . import patch
from .peer import Json


class Speech(Protocol):
    """``own_terminals``: commands are ours and tell their output; ``states``: the session tells its state."""

    own_terminals: bool
    states: bool

    def update(self, update: Json) -> Json | None:
        """An update as it is sent; None: this version has none of the kind."""

    def question(self, call: Json, options: list[Json]) -> Json:
        """The parameters of a request for permission, but for the session. ``call``: with what is shown."""

    def options(self, listed: list[Json]) -> list[Json]:
        """Config options."""


class First:
    """Version 1."""

    own_terminals = False
    states = False

    def update(self, update: Json) -> Json | None:
        kind = update["sessionUpdate"]
        if kind in ("terminal_update", "terminal_output_chunk", "state_update"):
            return None
        told = {name: value for name, value in update.items() if name not in ("planId", "capabilities")}
        if kind == "tool_call_update" and told.get("status") == "cancelled":
            told["status"] = "failed"
        return told

    def question(self, call: Json, options: list[Json]) -> Json:
        return {"toolCall": call, "options": options}

    def options(self, listed: list[Json]) -> list[Json]:
        return listed


class Second:
    """Version 2."""

    own_terminals = True
    states = True

    def update(self, update: Json) -> Json | None:
        change = _CHANGES.get(update["sessionUpdate"])
        return dict(update) if change is None else change(update)

    def question(self, call: Json, options: list[Json]) -> Json:
        """About a command (V2-119) or about a tool call (V2-118)."""
        given = call.get("rawInput")
        subject: Json = {"type": "tool_call", "toolCall": _call(call)}
        if call.get("kind") == "execute" and isinstance(given, dict):
            place = {"cwd": given["cwd"], "toolCallId": call["toolCallId"]}
            subject = {"type": "command", "command": given["command"], **place}
        return {"title": call["title"], "subject": subject, "options": options}

    def options(self, listed: list[Json]) -> list[Json]:
        """V2-130."""
        return [
            {
                **_renamed(option, id="configId"),
                **({"options": [_renamed(each, group="groupId") for each in option["options"]]}
                   if "options" in option else {}),
            }
            for option in listed
        ]  # fmt: skip


def _renamed(entry: Json, **names: str) -> Json:
    return {names.get(name, name): value for name, value in entry.items()}


def _call(update: Json) -> Json:
    """A tool call's patch, without the name of the update; its diffs are lists of changes (V2-108)."""
    told = {name: value for name, value in update.items() if name != "sessionUpdate"}
    if isinstance(items := told.get("content"), list):
        told["content"] = [patch.diff(item) if item["type"] == "diff" else item for item in items]
    return told


def _tool_call(update: Json) -> Json:
    return {"sessionUpdate": "tool_call_update", **_call(update)}  # V2-87


def _plan(update: Json) -> Json:
    items = {"type": "items", "planId": update.get("planId", "plan"), "entries": update["entries"]}
    return {"sessionUpdate": "plan_update", "plan": items}  # V2-125


def _commands(update: Json) -> Json:
    return {**update, "availableCommands": commands(update["availableCommands"])}


def _options(update: Json) -> Json:
    return {**update, "configOptions": Second().options(update["configOptions"])}


def _user(update: Json) -> Json:
    whole = {"messageId": update["messageId"], "content": [update["content"]]}
    return {"sessionUpdate": "user_message", **whole}  # V2-51


_CHANGES: Mapping[str, Callable[[Json], Json | None]] = {
    "user_message_chunk": _user,
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "plan": _plan,
    "available_commands_update": _commands,
    "config_option_update": _options,
    "current_mode_update": lambda _: None,  # V2-129: a mode is an option
}


def commands(listed: list[Json]) -> list[Json]:
    """Slash commands of version 2 (V2-134, V2-135)."""

    def made(command: Json) -> Json:
        found: dict[str, Any] = {"type": "command", **command}
        return {**found, "input": {"type": "text", **command["input"]}} if "input" in command else found

    return [made(each) for each in listed]
