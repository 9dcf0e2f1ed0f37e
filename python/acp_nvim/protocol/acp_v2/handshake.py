"""``initialize``: what we offer, and what the agent said of itself (spec sections 1, 3 and 4)."""

from __future__ import annotations

from acp_nvim import __version__
from acp_nvim.protocol.acp_v1 import handshake as v1
from acp_nvim.session.agent import AgentInfo, AuthMethod, each_once
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.wire.acp_v2 import connection as wire
from acp_nvim.wire.base import Marker

VERSION = 2
OURS = wire.Implementation(name="acp.nvim", title="acp.nvim", version=__version__)
OFFERED = wire.ClientCapabilities(
    auth=wire.ClientAuthCapabilities(terminal=Marker()),
    elicitation=wire.ElicitationCapabilities(form=Marker(), url=Marker()),
)


def request() -> wire.InitializeRequest:
    """Exactly what is implemented (V2-19, V2-21)."""
    return wire.InitializeRequest(protocol_version=VERSION, info=OURS, capabilities=OFFERED)


def either_request() -> wire.InitializeEitherRequest:
    """The same, with what an agent that knows only v1 reads (V2-07)."""
    older = v1.request()
    return wire.InitializeEitherRequest(
        protocol_version=VERSION,
        info=OURS,
        capabilities=OFFERED,
        client_info=OURS,
        client_capabilities=older.client_capabilities,
    )


def check_version(theirs: int) -> None:
    """Raises AgentError (V2-02)."""
    if theirs == VERSION:
        return
    if theirs < VERSION:
        remedy = "set protocol = 'auto' for this agent: then it may answer with the version it speaks"
    else:
        remedy = "update acp.nvim"
    raise AgentError(
        Failure(
            f"it speaks ACP version {theirs}, and was to speak version {VERSION}",
            kind="unsupported",
            remedy=remedy,
        )
    )


def info(response: wire.InitializeResponse) -> AgentInfo:
    """What is there is supported; with ``session`` come all the methods of sessions (V2-21, V2-22, V2-25)."""
    session = response.capabilities.session
    prompt = (session.prompt if session else None) or wire.PromptCapabilities()
    mcp = (session.mcp if session else None) or wire.McpCapabilities()
    return AgentInfo(
        protocol="acp-v2",
        speaks="ACP v2",
        states=True,
        buffers=False,
        name=response.info.name,
        title=response.info.title,
        version=response.info.version,
        auth_methods=each_once(_auth_method(method) for method in response.auth_methods),
        can_load=session is not None,
        can_resume=session is not None,
        can_list=session is not None,
        can_close=session is not None,
        can_delete=session is not None and session.delete is not None,
        can_logout=bool(response.auth_methods),
        image=prompt.image is not None,
        audio=prompt.audio is not None,
        embedded_context=prompt.embedded_context is not None,
        additional_directories=session is not None and session.additional_directories is not None,
        mcp_stdio=mcp.stdio is not None,
        mcp_http=mcp.http is not None,
        raw=response,
    )


def _auth_method(method: wire.AuthMethod) -> AuthMethod:
    """V2-26, V2-28. A type of its own stays what it is: only its name is shown."""
    known = method.type in ("agent", "terminal")
    return AuthMethod(
        method.method_id,
        method.name,
        method.type if known else "other",
        method.description,
        tuple(method.args),
        tuple((each.name, each.value) for each in method.env),
    )
