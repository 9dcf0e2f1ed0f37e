"""``initialize``: what we offer, and what the agent said of itself (spec sections 2 and 3)."""

from __future__ import annotations

import re

from acp_nvim import __version__
from acp_nvim.session.agent import AgentInfo, AuthMethod, AuthVariable, each_once
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.wire.acp_v1 import connection as wire
from acp_nvim.wire.base import JsonObject, Marker

VERSION = 1

# What the adapters of Claude Code and Codex look for: they run commands themselves, and tell in ``_meta``
# what these write (display.py).
META = {"terminal_output": True, "terminal_output_delta": True}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def request() -> wire.InitializeRequest:
    """Exactly what is implemented, and nothing else (V1-24, V1-25, V1-26, V1-40)."""
    return wire.InitializeRequest(
        protocol_version=VERSION,
        client_capabilities=wire.ClientCapabilities(
            fs=wire.FileSystemCapabilities(read_text_file=True, write_text_file=True),
            terminal=True,
            elicitation=wire.ElicitationCapabilities(form=Marker(), url=Marker()),
            meta=META,
            session=wire.ClientSessionCapabilities(
                compaction=Marker(),
                config_options=wire.SessionConfigOptionsCapabilities(boolean=Marker()),  # V1-147
                notices=Marker(),
            ),
            auth=wire.AuthCapabilities(terminal=True),
        ),
        client_info=wire.Implementation(name="acp.nvim", title="acp.nvim", version=__version__),
    )


def check_version(response: wire.InitializeResponse) -> None:
    """The agent answers with our version, or with its own newest (V1-27). Raises AgentError (V1-28)."""
    theirs = response.protocol_version
    if theirs == VERSION:
        return
    raise AgentError(
        Failure(
            f"it speaks ACP version {theirs}, acp.nvim speaks version {VERSION}",
            kind="unsupported",
            remedy="update acp.nvim" if theirs > VERSION else "update the agent",
        )
    )


def info(response: wire.InitializeResponse) -> AgentInfo:
    """Every combination is taken; what was left out is unsupported (V1-29, V1-30, V1-32)."""
    said, caps = response.agent_info, response.agent_capabilities
    session, prompt, mcp = caps.session_capabilities, caps.prompt_capabilities, caps.mcp_capabilities
    return AgentInfo(
        protocol="acp-v1",
        speaks="ACP v1",
        name=said.name if said else None,
        title=said.title if said else None,
        version=said.version if said else None,
        auth_methods=each_once(_auth_method(method) for method in response.auth_methods),
        can_load=caps.load_session,
        can_resume=session.resume is not None,
        can_list=session.list_ is not None,
        can_close=session.close is not None,
        can_delete=session.delete is not None,
        can_logout=caps.auth.logout is not None,
        can_fork=session.fork is not None,
        can_steer=_steers(response.meta),
        image=prompt.image,
        audio=prompt.audio,
        embedded_context=prompt.embedded_context,
        additional_directories=session.additional_directories is not None,
        mcp_http=mcp.http,
        mcp_sse=mcp.sse,
        raw=response,
    )


def _steers(meta: JsonObject | None) -> bool:
    """Whether the agent has the method ``_session/steering``: it says so at the root of its answer."""
    steering = (meta or {}).get("steering")
    return isinstance(steering, dict) and steering.get("supported") is True


def _auth_method(method: wire.AuthMethod) -> AuthMethod:
    """V1-34: without a type it is of type agent."""
    return AuthMethod(
        method.id,
        method.name,
        method.type,
        method.description,
        tuple(method.args),
        tuple(method.env.items()),
        _variables(method),
        method.link,
    )


def _variables(method: wire.AuthMethod) -> tuple[AuthVariable, ...]:
    """What can be read: objects with a name, or names. What is no name of a variable is left out."""
    entries = method.vars if isinstance(method.vars, list) else [method.vars or method.var_name]
    found: dict[str, AuthVariable] = {}
    for entry in entries:
        said = entry if isinstance(entry, dict) else {"name": entry}
        name, label = said.get("name"), said.get("label")
        if isinstance(name, str) and _VARIABLE.fullmatch(name):
            shown = label if isinstance(label, str) else None
            found.setdefault(name, AuthVariable(name, shown, said.get("optional") is True))
    return tuple(found.values())
