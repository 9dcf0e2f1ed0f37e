"""Every message this client can send is valid: the types themselves, empty and full.

What it really sends is checked wherever it speaks with an agent (outgoing.py).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Struct

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire import jsonrpc
from acp_nvim.wire.decode import encode

from .definitions import STABLE, errors

META = {"traceparent": "00-1", "x": [1, None]}
CLIENT = w.Implementation("acp.nvim", "1", title="acp.nvim", meta=META)
MARK = w.Marker(meta=META)
FULL = w.ClientCapabilities(
    fs=w.FileSystemCapabilities(True, True),
    terminal=True,
    session=w.ClientSessionCapabilities(w.Marker(), w.SessionConfigOptionsCapabilities(MARK), w.Marker()),
    auth=w.AuthCapabilities(True),
    elicitation=w.ElicitationCapabilities(MARK, MARK),
    meta=META,
)
SERVERS: list[w.McpServer] = [
    w.McpServerStdio("m", "/bin/m", [], []),
    w.McpServerStdio("m", "/bin/m", ["-x"], [w.EnvVariable("K", "v")]),
    w.McpServerHttp("m", "https://example.org/", []),
    w.McpServerHttp("m", "https://example.org/", [w.HttpHeader("K", "v")]),
    w.McpServerSse("m", "https://example.org/", [w.HttpHeader("K", "v")]),
]
NOTES = w.Annotations(audience=["user", "assistant"], last_modified="2026-01-01T00:00:00Z", priority=0.5)
BLOCKS: list[w.ContentBlock] = [
    w.TextContent(""),
    w.TextContent("hi", annotations=NOTES, meta=META),
    w.ImageContent("", "image/png"),
    w.ImageContent("AA==", "image/png", uri="file:///a.png", annotations=NOTES),
    w.AudioContent("AA==", "audio/wav", annotations=NOTES),
    w.ResourceLink("file:///a", "a"),
    w.ResourceLink("file:///a", "a", "text/plain", "A", "the a", 3, NOTES),
    w.EmbeddedResource(w.ResourceContents("file:///a", text="x", mime_type="text/plain")),
    w.EmbeddedResource(w.ResourceContents("file:///a", blob="AA=="), annotations=NOTES),
]
SESSION = "s1"
ROOTS = ["/a", "/b"]

SENT: dict[str, list[Struct]] = {
    "AuthenticateRequest": [w.AuthenticateRequest("a")],
    "CancelNotification": [w.CancelNotification(SESSION)],
    "CancelRequestNotification": [w.CancelRequestNotification(ident) for ident in (0, "a", None)],
    "CloseSessionRequest": [w.CloseSessionRequest(SESSION)],
    "CreateElicitationResponse": [
        w.ElicitationAccept(),
        w.ElicitationAccept({"a": "x", "b": 1, "c": 0.5, "d": True, "e": ["x"]}),
        w.ElicitationDecline(),
        w.ElicitationCancel(),
    ],
    "CreateTerminalResponse": [w.CreateTerminalResponse("t1")],
    "DeleteSessionRequest": [w.DeleteSessionRequest(SESSION)],
    "InitializeRequest": [w.InitializeRequest(1), w.InitializeRequest(1, FULL, CLIENT)],
    "KillTerminalResponse": [w.Empty()],
    "ListSessionsRequest": [w.ListSessionsRequest(), w.ListSessionsRequest("/ws", "next")],
    "LoadSessionRequest": [
        w.LoadSessionRequest(SESSION, "/ws", []),
        w.LoadSessionRequest(SESSION, "/ws", SERVERS, ROOTS),
    ],
    "LogoutRequest": [w.LogoutRequest()],
    "NewSessionRequest": [w.NewSessionRequest("/ws", []), w.NewSessionRequest("/ws", SERVERS, ROOTS)],
    "PromptRequest": [w.PromptRequest(SESSION, []), w.PromptRequest(SESSION, BLOCKS)],
    "ReadTextFileResponse": [w.ReadTextFileResponse("")],
    "ReleaseTerminalResponse": [w.Empty()],
    "RequestPermissionResponse": [
        w.RequestPermissionResponse(w.SelectedOutcome("ok")),
        w.RequestPermissionResponse(w.CancelledOutcome()),
    ],
    "ResumeSessionRequest": [
        w.ResumeSessionRequest(SESSION, "/ws"),
        w.ResumeSessionRequest(SESSION, "/ws", SERVERS, ROOTS),
    ],
    "SetSessionConfigOptionRequest": [
        w.SetSelectOptionRequest(SESSION, "model", "m"),
        w.SetBooleanOptionRequest(SESSION, "web", False),
    ],
    "SetSessionModeRequest": [w.SetSessionModeRequest(SESSION, "plan")],
    "TerminalOutputResponse": [
        w.TerminalOutputResponse("", False),
        w.TerminalOutputResponse("x", True, w.TerminalExitStatus(exit_code=0)),
        w.TerminalOutputResponse("x", True, w.TerminalExitStatus(signal="SIGKILL")),
    ],
    "WaitForTerminalExitResponse": [
        w.TerminalExitStatus(exit_code=2**32 - 1),
        w.TerminalExitStatus(signal="SIGTERM"),
    ],
    "WriteTextFileResponse": [w.Empty()],
}


@pytest.mark.req("V1-22", "V1-210")
@pytest.mark.parametrize("name", SENT)
def test_what_we_send_is_valid(name: str) -> None:
    for value in SENT[name]:
        assert list(errors(STABLE.closed(name), json.loads(encode(value)))) == [], value


@pytest.mark.req("V1-22")
def test_all_that_the_schema_wants_of_a_client_can_be_sent() -> None:
    ours = {
        *STABLE.names("agent", "Request"),
        *STABLE.names("agent", "Notification"),
        *STABLE.names("client", "Response"),
        *STABLE.names("protocol", "Notification"),
    }
    assert SENT.keys() == ours


@pytest.mark.req("V1-02", "V1-10", "V1-22")
@pytest.mark.parametrize(
    ("frame", "name", "member"),
    [
        (jsonrpc.Request(1, "session/prompt", SENT["PromptRequest"][1]), "PromptRequest", "params"),
        (
            jsonrpc.Notification("session/cancel", SENT["CancelNotification"][0]),
            "CancelNotification",
            "params",
        ),
        (jsonrpc.Answer("a", SENT["RequestPermissionResponse"][0]), "RequestPermissionResponse", "result"),
        (jsonrpc.Failure(None, jsonrpc.ErrorBody(-32602, "no", {"a": "b\nc"})), "Error", "error"),
    ],
    ids=["request", "notification", "answer", "failure"],
)
def test_the_frames(frame: Struct, name: str, member: str) -> None:
    line = encode(frame)
    message: dict[str, Any] = json.loads(line)
    assert b"\n" not in line
    assert b": " not in line
    assert message["jsonrpc"] == "2.0"
    assert list(errors(STABLE.closed(name), message[member])) == []
