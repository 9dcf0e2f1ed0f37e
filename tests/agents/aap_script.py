"""What a server of AAP (aap_server.py) is told to do: steps of the model, tools, and what it offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """``pieces`` are the deltas it comes in."""

    pieces: tuple[str, ...]

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


class Thinking(Text):
    pass


def text(*pieces: str) -> Text:
    return Text(pieces)


def thinking(*pieces: str) -> Thinking:
    return Thinking(pieces)


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    input: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Fail:
    """The model fails."""


@dataclass(frozen=True)
class Hold:
    """Nothing comes until the test says ``go_on``."""


@dataclass(frozen=True)
class Raw:
    """Bytes, as they are, into the stream."""

    data: bytes


@dataclass(frozen=True)
class Cut:
    """The connection breaks off here, in the middle of a chunk."""


@dataclass(frozen=True)
class Stop:
    reason: str


Part: TypeAlias = Text | Call | Fail | Hold | Raw | Cut | Stop
Step: TypeAlias = Sequence[Part]
Tool: TypeAlias = Callable[[Json], Any]


@dataclass
class Quirks:
    """What the SDK's server really does; all of it unless a test wants the documents' way."""

    lose_stop: bool = False  # the last event is lost when the handler returns right after the turn
    double_stop: bool = True  # a model that fails in delta mode ends the turn twice
    tell_granted: bool = False  # the documents promise a result after a permission
    store_twice: bool = True  # the result of a trusted tool
    text_first: bool = True  # a stored message has its text before its thoughts


@dataclass
class Kept:
    """A session of the server's."""

    id: str
    agent: str
    tools: dict[str, bool]  # enabled -> trusted
    options: dict[str, str]
    declared: list[Json]
    history: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Seen:
    """A request that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def what(self) -> str:
        """As ``POST turns``: the method and the last word of the path that is no id."""
        return f"{self.method} {self.path.rsplit('/', 1)[-1]}"


SPEC: Json = {
    "name": "search",
    "title": "Search the web",
    "description": "Looks for pages.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "the words to look for"}},
    },
}
OPTIONS: list[Json] = [
    {"type": "select", "name": "model", "options": ["small", "large"], "default": "small"},
    {"type": "text", "name": "style", "title": "Style", "description": "how it writes", "default": "plain"},
    {"type": "secret", "name": "token", "title": "Token", "default": ""},
]
TOOLS: dict[str, Tool] = {
    "search": lambda given: f"found {given.get('query')}",
    "clock": lambda _: "noon",
}
AGENT: Json = {
    "name": "helper",
    "title": "Helper",
    "version": "1.2.3",
    "tools": [SPEC, {"name": "clock", "description": "Tells the time.", "parameters": {"type": "object"}}],
    "options": OPTIONS,
    "capabilities": {
        "history": {"full": {}, "compacted": {}},
        "stream": {"delta": {}, "message": {}, "none": {}},
        "application": {"tools": {}},
        "image": {"data": {}},
    },
}
