"""Strict first, then lenient: the same for valid input, and only what is broken is lost (V1-214)."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec import UNSET, Raw, Struct
from tests.plugin import examples

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire import jsonrpc, lenient
from acp_nvim.wire.decode import Codec, encode
from acp_nvim.wire.tolerant import MAX_DEPTH, WireError

from .generate import anything, fitting

TYPES: list[Any] = [
    w.SessionNotification,
    w.InitializeResponse,
    w.NewSessionResponse,
    w.ListSessionsResponse,
    w.PromptResponse,
    w.RequestPermissionRequest,
    w.CreateTerminalRequest,
    w.ReadTextFileRequest,
    w.CreateElicitationRequest,
    w.SetSessionConfigOptionResponse,
    w.CancelRequestNotification,
    jsonrpc.ErrorBody,
]
CODECS = {type_: Codec[Any](type_) for type_ in TYPES}
CONVERTERS = {type_: lenient.converter(type_) for type_ in TYPES}
quick = examples(40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def dumps(value: Any) -> bytes:
    return json.dumps(value).encode()


def lone(value: Any) -> bool:
    """Whether a half of a surrogate pair is anywhere in a decoded value."""
    try:
        repr(value).encode()
    except UnicodeEncodeError:
        return True
    return r"\ud8" in repr(value)


@pytest.mark.parametrize("type_", TYPES, ids=lambda type_: getattr(type_, "__name__", "union"))
@quick
@given(data=st.data())
def test_strict_and_lenient_are_equal_for_valid_input(type_: Any, data: st.DataObject) -> None:
    tree = data.draw(fitting(type_))
    reports: list[str] = []
    strict = CODECS[type_].decode(dumps(tree), reports.append)
    assert reports == []
    notes: list[str] = []
    assert CONVERTERS[type_](tree, notes) == strict
    assert notes == []


@pytest.mark.parametrize("type_", TYPES, ids=lambda type_: getattr(type_, "__name__", "union"))
@quick
@given(data=st.data(), rubbish=anything | st.just("\ud83d"))
def test_broken_input_is_decoded_or_refused(type_: Any, data: st.DataObject, rubbish: Any) -> None:
    tree = data.draw(fitting(type_))
    place = tree
    while isinstance(place, (dict, list)) and place:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            place[key] = rubbish
            break
        place = place[key]
    try:
        value = CODECS[type_].decode(dumps(tree))
    except WireError as error:
        assert error.code in (-32602, -32700)
    else:
        assert not lone(value)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    with contextlib.suppress(WireError):
        CODECS[w.SessionNotification].decode(data)


def update(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s1", "update": fields}


TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Edit"}
CALL = w.ToolCallStart(tool_call_id="t1", title="Edit")


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        # A bad optional value: the default.
        ({**TOOL, "kind": 5, "status": None, "name": ["x"]}, CALL),
        ({**TOOL, "content": "none", "locations": {}}, CALL),
        ({**TOOL, "_meta": [1]}, CALL),
        # A bad item: dropped alone.
        (
            {**TOOL, "locations": [{"path": "/a", "line": -1}, {"line": 3}, 7, {"path": "/b", "line": 2}]},
            w.ToolCallStart(
                tool_call_id="t1",
                title="Edit",
                locations=[w.ToolCallLocation("/a"), w.ToolCallLocation("/b", 2)],
            ),
        ),
        (
            {
                **TOOL,
                "content": [{"type": "diff", "path": "/"}, {"type": "terminal", "terminalId": "x"}, []],
            },
            w.ToolCallStart(tool_call_id="t1", title="Edit", content=[w.TerminalItem("x")]),
        ),
        # An unknown variant: kept.
        (
            {**TOOL, "content": [{"type": "hologram", "n": 1}]},
            w.ToolCallStart(
                tool_call_id="t1",
                title="Edit",
                content=[w.UnknownType(kind="hologram", raw={"type": "hologram", "n": 1})],
            ),
        ),
        (
            {"sessionUpdate": "mood", "mood": "\ud83d good"},
            w.UnknownUpdate(kind="mood", raw={"sessionUpdate": "mood", "mood": "\ufffd good"}),
        ),
        (
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "smell"}},
            w.AgentMessageChunk(content=w.UnknownType(kind="smell", raw={"type": "smell"})),
        ),
        # A required list with a mark: empty; a broken entry of it: dropped.
        ({"sessionUpdate": "plan", "entries": None}, w.PlanUpdate([])),
        (
            {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "a"}, {"name": "b", "description": "", "input": "x"}],
            },
            w.AvailableCommandsUpdate([w.AvailableCommand("b", "")]),
        ),
        # Omitted and null differ, and an error counts as omitted.
        ({"sessionUpdate": "session_info_update", "title": 7}, w.SessionInfoUpdate()),
        # Integral floats are integers.
        ({"sessionUpdate": "usage_update", "used": 5.0, "size": 9, "cost": 1}, w.UsageUpdate(5, 9)),
        # Text of a field that is no chunk is clean at once.
        ({**TOOL, "title": "a\ud83d"}, w.ToolCallStart(tool_call_id="t1", title="a\ufffd")),
    ],
)
def test_lenient(wire: dict[str, Any], value: Struct) -> None:
    reports: list[str] = []
    decoded = w.SESSION_UPDATE.decode(dumps(update(**wire)), reports.append)
    assert decoded == w.SessionNotification("s1", value)  # type: ignore[arg-type]
    assert len(reports) == 1
    assert reports[0].startswith("lenient: ")


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        ({**TOOL, "kind": "levitate", "status": "paused"}, ("levitate", "paused")),
        ({**TOOL, "rawInput": [1, None], "later": True}, (None, None)),
        ({**TOOL, "content": [{"type": "text", "text": "bare"}]}, (None, None)),
    ],
)
def test_strict_takes_unknown_words_fields_and_bare_blocks(
    wire: dict[str, Any], value: tuple[str | None, str | None]
) -> None:
    reports: list[str] = []
    call = w.SESSION_UPDATE.decode(dumps(update(**wire)), reports.append).update
    assert isinstance(call, w.ToolCallStart)
    assert (call.kind, call.status) == value
    assert reports == []


@pytest.mark.parametrize(
    ("data", "then"),
    [(b"", b"{}"), (b"null", b"null"), (b'{"a":1}', b'{"a":1}'), (b'{"a":NaN}', b'{"a":null}')],
)
def test_what_is_decoded_later_may_be_missing(data: bytes, then: bytes) -> None:
    """As the answer to ``initialize`` of an agent that gives neither a result nor an error."""
    assert bytes(Codec[Raw](Raw).decode(data)) == then


def test_three_states() -> None:
    def info(**fields: Any) -> Any:
        return w.SESSION_UPDATE.decode(dumps(update(sessionUpdate="session_info_update", **fields))).update

    assert (info(title=None).title, info().title, info(title="x").title) == (None, UNSET, "x")


@pytest.mark.parametrize(
    "wire",
    [
        {"sessionUpdate": "tool_call", "title": "no id"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}},
        {"sessionUpdate": "agent_message_chunk", "content": {"text": "no type"}},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "resource", "resource": {"uri": "x"}}},
        {"sessionUpdate": "current_mode_update"},
        {"sessionUpdate": "plan"},
        {"sessionUpdate": 5},
        {},
        [],
    ],
)
def test_a_broken_required_field_is_an_error(wire: Any) -> None:
    with pytest.raises(WireError) as caught:
        w.SESSION_UPDATE.decode(dumps({"sessionId": "s1", "update": wire}))
    assert (caught.value.reason, caught.value.code) == ("shape", -32602)
    assert "update" in str(caught.value)


def test_the_error_names_the_place() -> None:
    with pytest.raises(WireError, match=r"expected str, got int at `update\.content\.text`"):
        w.SESSION_UPDATE.decode(
            dumps(update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": 1}))
        )


def test_the_error_of_a_value_that_may_be_null_says_what_is_wrong_with_it() -> None:
    read = {"sessionId": "s1", "path": "/a"}
    with pytest.raises(WireError, match=r"4294967296 is out of range at `line`"):
        w.READ_TEXT_FILE.decode(dumps({**read, "line": 2**32}))
    with pytest.raises(WireError, match=r"expected int, got str at `limit`"):
        w.READ_TEXT_FILE.decode(dumps({**read, "limit": "9"}))


@pytest.mark.parametrize("raw", [b"", b"null", b"{}"])
def test_nothing_is_an_empty_object(raw: bytes) -> None:
    assert w.DONE.decode(raw) == w.Empty()
    assert w.SESSION_LOADED.decode(raw) == w.LoadSessionResponse()
    with pytest.raises(WireError, match="missing field `stopReason`"):
        w.PROMPTED.decode(raw)


def test_null_lists_of_a_terminal_are_empty_but_wrong_ones_are_refused() -> None:
    wire = {"sessionId": "s1", "command": "ls", "args": None, "env": None}
    assert w.CREATE_TERMINAL.decode(dumps(wire)) == w.CreateTerminalRequest("s1", "ls")
    with pytest.raises(WireError):
        w.CREATE_TERMINAL.decode(dumps({**wire, "args": "-l"}))


def test_capabilities_and_auth_methods_survive_bad_leaves() -> None:
    wire = {
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": "yes",
            "promptCapabilities": {"image": True, "audio": 1},
            "sessionCapabilities": {"list": {}, "resume": True, "close": None},
            "mcpCapabilities": [],
        },
        "authMethods": [{"id": "a", "name": "A"}, {"id": "b"}, {"id": "t", "name": "T", "type": "terminal"}],
        "agentInfo": {"name": "x"},
    }
    got = w.INITIALIZED.decode(dumps(wire))
    caps = got.agent_capabilities
    assert (caps.load_session, caps.prompt_capabilities.image, caps.prompt_capabilities.audio) == (
        False,
        True,
        False,
    )
    sessions = caps.session_capabilities
    assert (sessions.list_, sessions.resume, sessions.close) == (w.Marker(), None, None)
    assert caps.mcp_capabilities == w.McpCapabilities()
    assert [(m.id, m.type) for m in got.auth_methods] == [("a", "agent"), ("t", "terminal")]
    assert got.agent_info is None


def test_config_options_with_groups_and_unknown_types() -> None:
    wire = {
        "configOptions": [
            {
                "type": "select",
                "id": "m",
                "name": "M",
                "currentValue": "a",
                "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}, {}]}],
            },
            {"type": "slider", "id": "s", "name": "S"},
            {"type": "boolean", "id": "b", "name": "B", "currentValue": "true"},
            {
                "type": "select",
                "id": "x",
                "name": "X",
                "currentValue": "a",
                "options": [{"name": "empty"}],
            },
        ]
    }
    options = w.OPTION_SET.decode(dumps(wire)).config_options
    group = w.SelectEntry("G", group="g", options=[w.SelectOption("a", "A")])
    assert options == [
        w.SelectConfigOption("m", "M", "a", [group]),
        w.UnknownType(kind="slider", raw={"type": "slider", "id": "s", "name": "S"}),
    ]


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("form", w.ElicitationForm), ("url", w.ElicitationUrl), ("dream", w.UnknownElicitation)],
)
def test_elicitation_modes(mode: str, kind: type) -> None:
    wire = {
        "mode": mode,
        "message": "?",
        "requestId": None,
        "elicitationId": "e",
        "url": "https://example.org/",
        "requestedSchema": {"properties": {"a": {"type": "string"}, "b": {"type": "color"}}},
    }
    got = w.CREATE_ELICITATION.decode(dumps(wire))
    assert isinstance(got, kind)
    if isinstance(got, w.ElicitationForm):
        assert got.requested_schema.properties == {
            "a": w.StringProperty(),
            "b": w.UnknownType(kind="color", raw={"type": "color"}),
        }


def test_an_elicitation_needs_a_scope() -> None:
    with pytest.raises(WireError, match="requestId"):
        w.CREATE_ELICITATION.decode(dumps({"mode": "url", "message": "", "elicitationId": "e", "url": "u"}))


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 5_000, 200_000])
@pytest.mark.parametrize("pair", [("[", "]"), ('{"a":', "}")], ids=["list", "object"])
def test_too_deep_is_an_error_value(depth: int, pair: tuple[str, str]) -> None:
    inner = (pair[0] * depth + "1" + pair[1] * depth).encode()
    head, tail = dumps(update(**TOOL, rawInput=0)).split(b'"rawInput": 0')
    with pytest.raises(WireError) as caught:
        w.SESSION_UPDATE.decode(head + b'"rawInput":' + inner + tail)
    assert (caught.value.reason, caught.value.code) == ("depth", -32700)


def test_broad_and_not_so_deep_is_fine() -> None:
    tree: Any = 1
    for _ in range(MAX_DEPTH - 10):
        tree = [tree]
    raw = {"deep": tree, "broad": [[] for _ in range(1000)]}
    call = w.SESSION_UPDATE.decode(dumps(update(**TOOL, rawInput=raw))).update
    assert isinstance(call, w.ToolCallStart)
    assert call.raw_input == raw


def test_what_is_sent_never_holds_halves() -> None:
    assert encode(w.PromptRequest("s1", [w.TextContent("a\ud83d\nb")])) == (
        '{"sessionId":"s1","prompt":[{"type":"text","text":"a\N{REPLACEMENT CHARACTER}\\nb"}]}'.encode()
    )
