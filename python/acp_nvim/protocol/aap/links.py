"""Our sessions and what we know of them on the server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Session
from acp_nvim.session.tools import ClientTool
from acp_nvim.wire.aap.messages import Content
from acp_nvim.wire.aap.meta import AgentInfo as ServedAgent
from acp_nvim.wire.aap.meta import ServerToolRef, ToolSpec
from acp_nvim.wire.aap.requests import TurnMessage

#: How the user wants a tool of the server's: not at all, with a question each time, or without.
OFF, ASK, TRUST = "off", "ask", "trust"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. ``id`` is the server's; ``row`` is ours, as some servers use an id again."""

    id: str
    row: str
    name: str
    input: Any = None


@dataclass(slots=True, eq=False)
class Link:
    """``served`` is the agent of the session. ``wanted``: values of options that the server has not got."""

    session: Session
    remote_id: str
    served: ServedAgent
    info: AgentInfo
    tools: dict[str, str] = field(default_factory=dict)  # name -> OFF, ASK or TRUST
    sent_tools: dict[str, str] = field(default_factory=dict)  # what the server has
    values: dict[str, str] = field(default_factory=dict)  # of options, without secrets
    wanted: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)  # when it was created, with secrets
    declared: tuple[ToolSpec, ...] = ()  # the application's tools that the server knows of
    own: dict[str, ClientTool] = field(default_factory=dict)  # those we have, by the names it is told
    owed: list[Call] = field(default_factory=list)  # calls for whose answer the server waits
    answers: dict[str, TurnMessage] = field(default_factory=dict)  # to these, when they did not get there
    cancelled: bool = False  # the user does not want to be asked about these any more
    stale: bool = False  # the server's history may be other than we think
    said: Content | None = None  # what the user said last, as far as is known
    fresh: bool = False  # we have created it, and nothing was said in it
    rows: dict[str, str] = field(default_factory=dict)  # the newest row of a call's id
    done: set[str] = field(default_factory=set)  # rows that have a result
    one_prompt: anyio.Lock = field(default_factory=anyio.Lock)
    scope: anyio.CancelScope | None = None  # of the running turn
    cancelling: bool = False

    def refs(self) -> list[ServerToolRef]:
        """The enabled tools, as the server wants them (AAP-20)."""
        return [ServerToolRef(name, how == TRUST) for name, how in self.tools.items() if how != OFF]

    def call(self, call_id: str, name: str, given: Any) -> Call:
        """A call that is announced. An id whose call has a result already is another call's now."""
        row = self.rows.get(call_id, call_id)
        calls, number = self.session.tool_calls, 2
        if row in self.done or (call_id not in self.rows and row in calls):
            while (row := f"{call_id}#{number}") in calls:
                number += 1
        self.rows[call_id] = row
        return Call(call_id, row, name, given)

    def waits(self, name: str) -> bool:
        """Whether a call of this tool waits for us: it is ours, or needs a permission (AAP-27)."""
        return self.ours(name) or self.tools.get(name) == ASK

    def ours(self, name: str) -> bool:
        """Whether a tool is the application's, as declared to the server (AAP-27)."""
        return any(tool.name == name for tool in self.declared)

    def spec(self, name: str) -> ToolSpec | None:
        """What the server says of one of its tools; None: it does not expose it (AAP-22)."""
        return next((tool for tool in self.served.tools if tool.name == name), None)


class Links:
    def __init__(self) -> None:
        self._links: dict[str, Link] = {}

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._links.values()))

    def add(self, link: Link) -> None:
        self._links[link.session.id] = link

    def of(self, session: Session) -> Link | None:
        return self._links.get(session.id)

    def remove(self, session: Session) -> None:
        self._links.pop(session.id, None)
