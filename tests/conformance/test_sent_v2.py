"""Every message of v2 that this client can send is valid: the types themselves, empty and full."""

from __future__ import annotations

import json

import pytest
from msgspec import Struct

from acp_nvim.wire.acp_v1.content import ContentBlock
from acp_nvim.wire.acp_v2 import connection as c
from acp_nvim.wire.acp_v2 import content, elicitation, session, tools
from acp_nvim.wire.base import Marker
from acp_nvim.wire.decode import encode

from .definitions import STABLE_V2, errors

META = {"traceparent": "00-1", "x": [1, None]}
CLIENT = c.Implementation("acp.nvim", "1", title="acp.nvim", meta=META)
FULL = c.ClientCapabilities(
    auth=c.ClientAuthCapabilities(terminal=Marker()),
    elicitation=c.ElicitationCapabilities(Marker(), Marker()),
    meta=META,
)
SERVERS: list[session.McpServer] = [
    session.McpServerStdio("m", "/bin/m"),
    session.McpServerStdio("m", "/bin/m", ["-x"], [session.EnvVariable("K", "v")]),
    session.McpServerHttp("m", "https://example.org/"),
    session.McpServerHttp("m", "https://example.org/", [session.HttpHeader("K", "v")]),
]
BLOCKS: list[ContentBlock] = [
    content.TextContent(""),
    content.TextContent("hi", meta=META),
    content.ImageContent("AA==", "image/png", uri="file:///a.png"),
    content.AudioContent("AA==", "audio/wav"),
    content.ResourceLink("file:///a", "a"),
    content.ResourceLink("file:///a", "a", "text/plain", "A", "the a", 3),
    content.EmbeddedResource(content.ResourceContents("file:///a", text="x", mime_type="text/plain")),
    content.EmbeddedResource(content.ResourceContents("file:///a", blob="AA==")),
]
SESSION = "s1"
ROOTS = ["/a", "/b"]

SENT: dict[str, list[Struct]] = {
    "CancelRequestNotification": [c.CancelRequestNotification(ident) for ident in (0, "a")],
    "CancelSessionNotification": [session.CancelSessionNotification(SESSION)],
    "CancelTerminalRequest": [session.CancelTerminalRequest(SESSION, "t")],
    "CancelToolCallRequest": [session.CancelToolCallRequest(SESSION, "c")],
    "CloseSessionRequest": [session.CloseSessionRequest(SESSION)],
    "CreateElicitationResponse": [
        elicitation.ElicitationAccept(),
        elicitation.ElicitationAccept({"a": "x", "b": 1, "c": 0.5, "d": True, "e": ["x"]}),
        elicitation.ElicitationDecline(),
        elicitation.ElicitationCancel(),
    ],
    "DeleteSessionRequest": [session.DeleteSessionRequest(SESSION)],
    "InitializeRequest": [
        c.InitializeRequest(protocol_version=2, info=CLIENT),
        c.InitializeRequest(protocol_version=2, info=CLIENT, capabilities=FULL),
    ],
    "ListSessionsRequest": [session.ListSessionsRequest(), session.ListSessionsRequest("/ws", "")],
    "LoginAuthRequest": [c.LoginAuthRequest("a")],
    "LogoutAuthRequest": [c.LogoutAuthRequest()],
    "NewSessionRequest": [
        session.NewSessionRequest("/ws"),
        session.NewSessionRequest("/ws", ROOTS, SERVERS),
    ],
    "PromptRequest": [session.PromptRequest(SESSION, BLOCKS)],
    "RequestPermissionResponse": [
        tools.RequestPermissionResponse(tools.SelectedOutcome("ok")),
        tools.RequestPermissionResponse(tools.CancelledOutcome()),
    ],
    "ResumeSessionRequest": [
        session.ResumeSessionRequest(SESSION, "/ws"),
        session.ResumeSessionRequest(SESSION, "/ws", ROOTS, SERVERS, session.ReplayFromStart()),
    ],
    "SetSessionConfigOptionRequest": [
        session.SetSelectOptionRequest(SESSION, "model", "m"),
        session.SetBooleanOptionRequest(SESSION, "web", False),
    ],
}


@pytest.mark.req("V2-19", "V2-131", "V2-148")
@pytest.mark.parametrize("name", SENT)
def test_what_we_send_is_valid(name: str) -> None:
    for value in SENT[name]:
        assert list(errors(STABLE_V2.closed(name), json.loads(encode(value)))) == [], value


def test_all_that_the_schema_wants_of_a_client_can_be_sent() -> None:
    ours = {
        *STABLE_V2.names("agent", "Request"),
        *STABLE_V2.names("agent", "Notification"),
        *STABLE_V2.names("client", "Response"),
        *STABLE_V2.names("protocol", "Notification"),
    }
    assert SENT.keys() == ours
