"""Tools of ours that an agent on a server may call, as it does not come to the user's files by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClientTool:
    """What the agent is told of a tool. ``parameters``: a JSON Schema. ``kind``: of its tool calls."""

    name: str
    title: str
    description: str
    kind: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call of one. ``row``: the id of its tool call; ``host``: of the server that asks, for people."""

    row: str
    tool: str
    input: Any
    host: str = ""
