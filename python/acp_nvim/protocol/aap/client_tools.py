"""Our tools as a server is told of them (spec section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acp_nvim.session.tools import ClientTool
from acp_nvim.wire.aap.meta import AgentInfo, Capabilities, ToolSpec

#: What a name of ours begins with when the server has a tool of that name.
PREFIX = "editor_"


def takes(capabilities: Capabilities) -> bool:
    """Whether an agent takes tools of the application (AAP-25)."""
    return capabilities.application is not None and capabilities.application.tools is not None


def named_apart(tools: Iterable[ClientTool], served: AgentInfo) -> dict[str, ClientTool]:
    """The tools by the names that the server is told: none is a name of one of its own (AAP-26).

    Also not of one that is switched off, which the user may switch on at any time.
    """
    taken = {tool.name for tool in served.tools}
    found: dict[str, ClientTool] = {}
    for tool in tools:
        name = tool.name
        while name in taken or name in found:
            name = PREFIX + name
        found[name] = tool
    return found


def specs(tools: Mapping[str, ClientTool]) -> tuple[ToolSpec, ...]:
    """As they go over the wire (AAP-25)."""
    return tuple(
        ToolSpec(name, tool.description, tool.title, dict(tool.parameters)) for name, tool in tools.items()
    )


def differ(declared: Sequence[ToolSpec], ours: Sequence[ToolSpec]) -> bool:
    """Whether the server has to be told of them again (AAP-69): it knows of others."""

    def plain(tool: ToolSpec) -> tuple[object, ...]:
        parameters = tool.parameters if tool.parameters is not None else tool.input_schema
        return tool.name, tool.title, tool.description, parameters

    return list(map(plain, declared)) != list(map(plain, ours))
