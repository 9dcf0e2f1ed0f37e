"""session/update: every variant, and what is wrong with some."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from msgspec import UNSET
from tests.unit.protocol.acp_v1.bench import opened

from acp_nvim.protocol.acp_v1.updates import event
from acp_nvim.session.content import Block, Change, Diff, Location, TerminalRef, UnknownContent
from acp_nvim.session.entities import Cost, Message, Note, Plan, PlanEntry, Usage
from acp_nvim.session.events import (
    CommandsSet,
    CompactionAppend,
    CompactionPatch,
    Event,
    InfoPatch,
    MessageAppend,
    NoteShown,
    OptionsSet,
    OptionValue,
    PlanSet,
    ToolPatch,
    Unknown,
    UsageSet,
)
from acp_nvim.session.options import Command, Option
from acp_nvim.wire.acp_v1 import codecs


def translate(update: dict[str, Any]) -> Event:
    raw = json.dumps({"sessionId": "r1", "update": update}).encode()
    return event(codecs.SESSION_UPDATE.decode(raw).update, "/ws", "n1")


def show(value: Any) -> Any:
    """Compared by what it says: ``Text`` has no equality."""
    return repr(value)


TEXT = {"type": "text", "text": "hi"}


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({"sessionUpdate": "user_message_chunk", "content": TEXT},
         MessageAppend("user", None, Block.of_text("hi"))),
        ({"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "m1"},
         MessageAppend("agent", "m1", Block.of_text("hi"))),
        ({"sessionUpdate": "agent_thought_chunk", "content": TEXT, "messageId": None},
         MessageAppend("thought", None, Block.of_text("hi"))),
        ({"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": ""},
         MessageAppend("agent", None, Block.of_text("hi"))),
        ({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "T"}, ToolPatch("t1", title="T")),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"},
         ToolPatch("t1", status="completed")),
        ({"sessionUpdate": "plan", "entries": [
            {"content": "a", "priority": "high", "status": "completed"},
            {"content": "broken"},
            {"content": "b", "priority": "urgent", "status": "odd"},
        ]}, PlanSet(Plan("default", entries=[
            PlanEntry("a", "high", "completed"), PlanEntry("b", "urgent", "odd"),
        ]))),
        ({"sessionUpdate": "available_commands_update", "availableCommands": [
            {"name": "init", "description": "d", "input": {"hint": "h"}},
            {"name": "memory show", "description": ""},
            {"name": 3},
        ]}, CommandsSet([Command("init", "d", "h"), Command("memory show")])),
        ({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}, OptionValue("mode", "plan")),
        ({"sessionUpdate": "current_mode_update", "modeId": "plan"}, OptionValue("mode", "plan")),
        ({"sessionUpdate": "config_option_update", "configOptions": [
            {"type": "boolean", "id": "f", "name": "Flag", "currentValue": True, "category": "_own"},
        ]}, OptionsSet([Option("f", "Flag", "boolean", True, category="_own")])),
        ({"sessionUpdate": "session_info_update", "title": "T"}, InfoPatch("T", UNSET)),
        ({"sessionUpdate": "session_info_update", "title": None, "updatedAt": "2026-01-01T00:00:00Z"},
         InfoPatch(None, "2026-01-01T00:00:00Z")),
        ({"sessionUpdate": "session_info_update", "title": "done\x07\x1b]52;c;ZXZpbA==\x07"},
         InfoPatch("done\x07\x1b]52;c;ZXZpbA==\x07", UNSET)),
        ({"sessionUpdate": "usage_update", "used": 5, "size": 0,
          "cost": {"amount": 1, "currency": "credits"}},
         UsageSet(Usage(5, 0, Cost(1.0, "credits")))),
        ({"sessionUpdate": "usage_update", "used": 5, "size": 9}, UsageSet(Usage(5, 9))),
        ({"sessionUpdate": "notice", "severity": "warning", "title": "T", "description": "a\nb"},
         NoteShown(Note("n1", "warning", "T", ["a", "b"], by="agent"))),
        ({"sessionUpdate": "notice", "severity": "odd", "title": "T"},
         NoteShown(Note("n1", "info", "T", by="agent", severity_raw="odd"))),
        ({"sessionUpdate": "notice", "severity": "info", "title": "", "description": "a\nb"},
         NoteShown(Note("n1", "info", "a", ["b"], by="agent"))),
        ({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "failed", "error": "e"},
         CompactionPatch("c", "failed", UNSET, "e")),
        ({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "odd", "summary": None},
         CompactionPatch("c", "odd", None, UNSET)),
        ({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "x", "summary": [TEXT]},
         CompactionPatch("c", "x", [Block.of_text("hi")], UNSET)),
        ({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": TEXT},
         CompactionAppend("c", Block.of_text("hi"))),
        ({"sessionUpdate": "plan_removed", "planId": "p"},
         Unknown("plan_removed", {"sessionUpdate": "plan_removed", "planId": "p"})),
        ({"sessionUpdate": "plan_update", "plan": {"type": "items"}},
         Unknown("plan_update", {"sessionUpdate": "plan_update", "plan": {"type": "items"}})),
        ({"sessionUpdate": "hologram", "x": 1}, Unknown("hologram", {"sessionUpdate": "hologram", "x": 1})),
    ],
    ids=lambda value: str(value.get("sessionUpdate")) if isinstance(value, dict) else "",
)  # fmt: skip
@pytest.mark.req(
    "V1-88", "V1-89", "V1-90", "V1-139", "V1-140", "V1-144", "V1-147", "V1-153", "V1-154", "V1-156",
    "V1-157", "V1-159", "V1-160",
)  # fmt: skip
def test_each_variant_is_an_event(update: dict[str, Any], expected: Event) -> None:
    assert show(translate(update)) == show(expected)


FIELDS = ("title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta")


@pytest.mark.parametrize("kind", ["tool_call", "tool_call_update"])
@pytest.mark.req("V1-103", "V1-104", "V1-209")
def test_null_is_the_same_as_left_out(kind: str) -> None:
    nulls = {field: None for field in FIELDS if not (kind == "tool_call" and field == "title")}
    title = {"title": "T"} if kind == "tool_call" else {}
    made = translate({"sessionUpdate": kind, "toolCallId": "t1", **title, **nulls})
    assert made == ToolPatch("t1", title="T" if title else UNSET)


@pytest.mark.parametrize("value", [{"a": None}, [1], "s", 0, False])
@pytest.mark.req("V1-106")
def test_raw_values_may_be_anything(value: Any) -> None:
    made = translate(
        {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "rawInput": value, "rawOutput": value}
    )
    assert made == ToolPatch("t1", raw_input=value, raw_output=value)


@pytest.mark.req("V1-105", "V1-110")
def test_an_empty_list_empties_but_not_in_a_repeated_start() -> None:
    lists: dict[str, Any] = {"toolCallId": "t1", "title": "T", "content": [], "locations": []}
    assert translate({"sessionUpdate": "tool_call", **lists}) == ToolPatch("t1", title="T")
    assert translate({"sessionUpdate": "tool_call_update", **lists}) == ToolPatch(
        "t1", title="T", content=[], locations=[]
    )


@pytest.mark.req("V1-60", "V1-99", "V1-114", "V1-115", "V1-116", "V1-117", "V1-120", "V1-122", "V1-125")
def test_content_and_locations() -> None:
    made = translate(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "t1",
            "kind": 7,
            "content": [
                {"type": "content", "content": TEXT},
                {"type": "text", "text": "bare"},
                {"type": "diff", "path": "/ws/a", "newText": "b"},
                {"type": "diff", "path": "a", "oldText": "", "newText": "b"},
                {"type": "diff", "path": "/ws/a"},
                {"type": "terminal", "terminalId": "x"},
                {"type": "hologram", "z": 1},
                3,
            ],
            "locations": [{"path": "/ws/a", "line": 0}, {"path": "b", "line": 7}, {"line": 1}],
            "_meta": {"k": 1},
        }
    )
    assert isinstance(made, ToolPatch)
    assert made.kind is UNSET
    assert isinstance(made.content, list)
    assert show(made.content) == show(
        [
            Block.of_text("hi"),
            Block.of_text("bare"),
            Diff((Change("add", "/ws/a"),), None, "b"),
            Diff((Change("modify", "/ws/a"),), "", "b"),
            TerminalRef("x"),
            UnknownContent({"type": "hologram", "z": 1}),
        ]
    )
    assert made.locations == [Location("/ws/a"), Location("/ws/b", 7)]
    assert made.meta == {"k": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 1}},
         Block("text", text=Block.of_text("t").text, audience=("user",))),
        ({"type": "image", "data": "eA==", "mimeType": "image/png", "uri": "file:///x"},
         Block("image", data="eA==", mime="image/png", uri="file:///x")),
        ({"type": "audio", "data": "eA==", "mimeType": "audio/wav"},
         Block("audio", data="eA==", mime="audio/wav")),
        ({"type": "resource_link", "uri": "file:///x", "name": "x", "title": "X", "size": 3},
         Block("link", uri="file:///x", name="x", title="X", size=3)),
        ({"type": "resource", "resource": {"uri": "file:///x", "text": "t", "mimeType": "text/plain"}},
         Block("resource", uri="file:///x", text=Block.of_text("t").text, mime="text/plain")),
        ({"type": "resource", "resource": {"uri": "file:///x", "blob": "eA=="}},
         Block("resource", uri="file:///x", data="eA==")),
        ({"type": "hologram", "z": 1}, Block("unknown", raw={"type": "hologram", "z": 1})),
    ],
)  # fmt: skip
@pytest.mark.req("V1-93", "V1-95", "V1-97", "V1-99", "V1-101")
def test_content_blocks(content: dict[str, Any], expected: Block) -> None:
    made = translate({"sessionUpdate": "agent_message_chunk", "content": content})
    assert isinstance(made, MessageAppend)
    assert show(made.block) == show(expected)


def chunk(words: str, message_id: str | None = None, role: str = "agent_message") -> bytes:
    """A line as an agent writes it: ``words`` may hold halves of surrogate pairs, sent as escapes."""
    update = {
        "sessionUpdate": f"{role}_chunk",
        "content": {"type": "text", "text": words},
        "messageId": message_id,
    }
    params = {"sessionId": "r1", "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode("ascii")


TOOL = json.dumps(
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "r1",
            "update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": ""},
        },
    }
).encode()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([chunk("a\ud83d"), chunk("\ude80b")], ["agent|a🚀b"]),
        ([chunk("a\ud83d"), chunk("b")], ["agent|a\ufffdb"]),
        ([chunk("\ude80")], ["agent|\ufffd"]),
        ([chunk("a\ud83d"), chunk("b", role="agent_thought")], ["agent|a\ufffd", "thought|b"]),
        ([chunk("a\ud83d", "m1"), chunk("\ude80", "m2")], ["agent|a\ufffd", "agent|\ufffd"]),
        ([chunk("a\ud83d"), TOOL, chunk("\ude80")], ["agent|a\ufffd", "tool t|pending|", "agent|\ufffd"]),
    ],
)
@pytest.mark.anyio
@pytest.mark.req("V1-92")
async def test_characters_cut_between_chunks(lines: list[bytes], expected: list[str]) -> None:
    async with opened() as bench:
        bench.transport.push(*lines)
        await bench.settle()
        assert bench.timeline == expected


@pytest.mark.anyio
@pytest.mark.req("V1-92")
async def test_half_a_character_at_the_end_of_the_turn() -> None:
    async with opened() as bench:
        async with bench.turn("x"):
            request = await bench.asked("session/prompt")
            bench.transport.push(chunk("a\ud83d"))
            bench.ends(request)
        assert bench.timeline == ["user|x", "agent|a\ufffd", "end|end_turn"]


@pytest.mark.anyio
@pytest.mark.req("V1-89")
async def test_a_broken_update_is_dropped_alone() -> None:
    async with opened() as bench:
        bench.says(
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}},
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}},
            {"sessionUpdate": "tool_call", "title": "no id"},
            {"no": "tag"},
            {"sessionUpdate": "hologram"},
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "b"}},
        )
        await bench.settle()
        assert bench.timeline == ["agent|ab"]
        assert sum("was ignored" in note for note in bench.notes) == 3
        assert "unknown update hologram" in bench.notes


@pytest.mark.anyio
@pytest.mark.req("V1-110", "V1-112")
async def test_c16_a_repeated_start_frame() -> None:
    diff = {"type": "diff", "path": "/ws/a.py", "oldText": "a\n", "newText": "b\n"}
    start = {"sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "edit"}
    async with opened() as bench:
        bench.says(
            {**start, "title": "Edit", "content": [diff]},
            {**start, "title": "Edit a.py", "status": "in_progress", "content": []},
        )
        await bench.settle()
        assert bench.timeline == ["tool t1|in_progress|Edit a.py"]
        assert len(bench.session.tool_calls["t1"].content) == 1


@pytest.mark.anyio
async def test_the_reader_waits_for_the_view() -> None:
    async with opened() as bench:
        gate = anyio.Event()
        bench.store.gate(bench.session, gate.wait)
        bench.transport.push(chunk("a"))  # in one read
        bench.transport.push(chunk("b"))  # in another
        bench.asks("after", "_ping")
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        assert bench.timeline == ["agent|a"]
        assert bench.replies("after") == []
        gate.set()
        await bench.reply("after")
        (message,) = bench.session.items
        assert isinstance(message, Message)
        assert message.text == "ab"


@pytest.mark.anyio
@pytest.mark.req("V1-209")
async def test_what_chunks_say_in_meta_is_kept_with_their_message() -> None:
    async with opened() as bench:
        for meta in ({"k": 1, "traceparent": "00-x"}, None, {"k": {"deep": [2]}}):
            content = {"type": "text", "text": "a", "_meta": {"of": "the block"}}
            bench.says({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": meta})
        await bench.settle()
        (message,) = bench.session.items
        assert isinstance(message, Message)
        assert (message.text, message.meta) == ("aaa", {"k": {"deep": [2]}, "traceparent": "00-x"})


@pytest.mark.anyio
@pytest.mark.req("V1-211")
async def test_extensions_that_nobody_knows() -> None:
    """A request is answered, once; a notification is not; both do nothing else."""
    async with opened() as bench:
        before = len(bench.events)
        bench.transport.push({"jsonrpc": "2.0", "method": "_vendor/news", "params": {"sessionId": "r1"}})
        bench.transport.push({"jsonrpc": "2.0", "method": "_vendor/news"})
        bench.asks(7, "_vendor/do", anything=[1])
        bench.transport.push({"jsonrpc": "2.0", "id": "x", "method": "_vendor/do"})
        for ident in (7, "x"):
            assert (await bench.reply(ident))["error"]["code"] == -32601
        await bench.settle()
        assert len(bench.events) == before
        assert "_vendor/news is unknown: ignored" in bench.notes
