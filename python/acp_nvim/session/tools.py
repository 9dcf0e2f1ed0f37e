"""Tools of ours that an agent on a server may call, as it does not come to the user's files by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class ClientTool(Struct, frozen=True):
    """What the agent is told of a tool. ``parameters``: a JSON Schema. ``kind``: of its tool calls."""

    name: str
    title: str
    description: str
    kind: str
    parameters: Mapping[str, Any]


class ClientCall(Struct, frozen=True):
    """A call of one. ``row``: the id of its tool call; ``host``: of the server that asks, for people."""

    row: str
    tool: str
    input: Any
    host: str = ""
