"""The types against the schema: which fields are required, which marks they carry, what is sent.

``marks_v1.json`` is taken from the schema: for each definition its fields with ``required`` and the marks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect as mi

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire.base import ON_ERROR, ON_NULL, SKIP_ITEMS
from acp_nvim.wire.decode import encode

SCHEMA: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "marks_v1.json").read_text())

# Our class -> the schema's definition, where the names differ.
RENAMED: dict[type[msgspec.Struct], str] = {
    w.AgentMessageChunk: "ContentChunk",
    w.AgentThoughtChunk: "ContentChunk",
    w.AuthMethod: "AuthMethodTerminal",
    w.BooleanProperty: "BooleanPropertySchema",
    w.CommandInput: "UnstructuredCommandInput",
    w.ContentItem: "Content",
    w.DiffItem: "Diff",
    w.ElicitationAccept: "ElicitationAcceptAction",
    w.IntegerProperty: "IntegerPropertySchema",
    w.MultiSelectProperty: "MultiSelectPropertySchema",
    w.NumberProperty: "NumberPropertySchema",
    w.PlanUpdate: "Plan",
    w.SelectOption: "SessionConfigSelectOption",
    w.SelectedOutcome: "SelectedPermissionOutcome",
    w.StringProperty: "StringPropertySchema",
    w.TerminalItem: "Terminal",
    w.TerminalRequest: "TerminalOutputRequest",
    w.ToolCallPatch: "ToolCallUpdate",
    w.ToolCallStart: "ToolCall",
    w.UserMessageChunk: "ContentChunk",
}
# Ours beyond the schema, or (current_mode_id) looser than it.
EXTRA = {
    (w.AuthMethod, "link"),
    (w.AuthMethod, "type"),
    (w.AuthMethod, "varName"),
    (w.AuthMethod, "vars"),
    (w.CurrentModeUpdate, "currentModeId"),
    (w.CurrentModeUpdate, "modeId"),
    (w.LoadSessionResponse, "models"),
    (w.NewSessionResponse, "models"),
    (w.ResumeSessionResponse, "models"),
    (w.SessionCapabilities, "fork"),
}


def structs() -> list[type[msgspec.Struct]]:
    found = [getattr(w, name) for name in w.__all__]
    return [
        cls
        for cls in found
        if isinstance(cls, type)
        and issubclass(cls, msgspec.Struct)
        and RENAMED.get(cls, cls.__name__) in SCHEMA
        and cls not in (w.NewSessionRequest, w.LoadSessionRequest, w.ResumeSessionRequest)  # only sent
    ]


def described(cls: type[msgspec.Struct]) -> dict[str, str]:
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    out = {}
    for entry in info.fields:
        marks = (entry.type.extra or {}) if isinstance(entry.type, mi.Metadata) else {}
        words = ["required"] if entry.required else []
        words += sorted(mark for mark in (ON_ERROR, ON_NULL, SKIP_ITEMS) if mark in marks)
        out[entry.encode_name] = " ".join(words)
    return out


@pytest.mark.req("V1-214")
@pytest.mark.parametrize("cls", structs(), ids=lambda cls: cls.__name__)
def test_fields_and_marks_are_those_of_the_schema(cls: type[msgspec.Struct]) -> None:
    ours = {name: words for name, words in described(cls).items() if (cls, name) not in EXTRA}
    theirs = {
        name: words
        for name, words in SCHEMA[RENAMED.get(cls, cls.__name__)].items()
        if (cls, name) not in EXTRA
    }
    ours.pop("_meta", None)
    assert ours == theirs


def test_enough_of_the_schema_is_compared() -> None:
    assert len(structs()) > 70


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (
            w.InitializeRequest(1, w.ClientCapabilities(fs=w.FileSystemCapabilities(True, True))),
            {
                "protocolVersion": 1,
                "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}},
            },
        ),
        (
            w.ClientCapabilities(
                terminal=True,
                session=w.ClientSessionCapabilities(
                    notices=w.Marker(),
                    config_options=w.SessionConfigOptionsCapabilities(boolean=w.Marker()),
                ),
                elicitation=w.ElicitationCapabilities(form=w.Marker()),
            ),
            {
                "terminal": True,
                "session": {"notices": {}, "configOptions": {"boolean": {}}},
                "elicitation": {"form": {}},
            },
        ),
        (w.NewSessionRequest("/ws", []), {"cwd": "/ws", "mcpServers": []}),
        (
            w.McpServerStdio("m", "/bin/m", [], [w.EnvVariable("K", "v")]),
            {"name": "m", "command": "/bin/m", "args": [], "env": [{"name": "K", "value": "v"}]},
        ),
        (
            w.McpServerHttp("m", "http://127.0.0.1/", []),
            {"type": "http", "name": "m", "url": "http://127.0.0.1/", "headers": []},
        ),
        (
            w.PromptRequest("s1", [w.TextContent("hi"), w.ResourceLink("file:///a", "a", size=3)]),
            {
                "sessionId": "s1",
                "prompt": [
                    {"type": "text", "text": "hi"},
                    {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
                ],
            },
        ),
        (
            w.EmbeddedResource(w.ResourceContents("file:///a", text="x", mime_type="text/plain")),
            {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/plain"}},
        ),
        (
            w.RequestPermissionResponse(w.SelectedOutcome("ok")),
            {"outcome": {"outcome": "selected", "optionId": "ok"}},
        ),
        (w.RequestPermissionResponse(w.CancelledOutcome()), {"outcome": {"outcome": "cancelled"}}),
        (
            w.SetBooleanOptionRequest("s1", "web", False),
            {"type": "boolean", "sessionId": "s1", "configId": "web", "value": False},
        ),
        (
            w.SetSelectOptionRequest("s1", "model", "m2"),
            {"sessionId": "s1", "configId": "model", "value": "m2"},
        ),
        (
            w.TerminalOutputResponse("out", False, w.TerminalExitStatus(exit_code=0)),
            {"output": "out", "truncated": False, "exitStatus": {"exitCode": 0}},
        ),
        (w.ElicitationAccept({"a": 1, "b": ["x"]}), {"action": "accept", "content": {"a": 1, "b": ["x"]}}),
        (w.ElicitationDecline(), {"action": "decline"}),
        (w.ReadTextFileResponse(""), {"content": ""}),
        (w.Empty(), {}),
        (w.CancelRequestNotification(None), {"requestId": None}),
    ],
)
def test_what_is_sent(value: msgspec.Struct, sent: Any) -> None:
    assert json.loads(encode(value)) == sent
