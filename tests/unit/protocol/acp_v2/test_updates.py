"""session/update: messages, terminals, plans and the rest; tool calls are in test_calls.py."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v2.bench import (
    Bench,
    chunk,
    coded,
    idle,
    item,
    opened,
    state,
    terminal,
    text,
    tool,
    whole,
    wrote,
)

from acp_nvim.session.content import TerminalRef, UnknownContent
from acp_nvim.session.entities import Note, PlanEntry
from acp_nvim.session.terminals import Terminal

pytestmark = pytest.mark.anyio


async def said(bench: Bench, *updates: dict[str, Any]) -> None:
    bench.says(*updates)
    await bench.settle()


@pytest.mark.req("V2-77", "V2-78", "V2-79", "V2-80")
@pytest.mark.parametrize(
    ("updates", "shown"),
    [
        ([chunk("a"), chunk("b")], ["agent|ab"]),
        ([chunk("a", "x"), chunk("1", "y"), chunk("b", "x"), chunk("2", "y")], ["agent|ab", "agent|12"]),
        ([chunk("a", "x"), chunk("t", "x", "agent_thought"), chunk("b", "x")], ["agent|ab", "thought|t"]),
        ([chunk("a"), whole("new"), chunk("er")], ["agent|newer"]),
        ([whole("a", "b")], ["agent|ab"]),
        ([chunk("a"), {"sessionUpdate": "agent_message", "messageId": "a1"}], ["agent|a"]),
        ([chunk("a"), {"sessionUpdate": "agent_message", "messageId": "a1", "content": None}], ["agent|"]),
        ([chunk("a"), whole()], ["agent|"]),
        ([chunk("a"), {"sessionUpdate": "agent_message", "messageId": "a1", "content": 7}], ["agent|a"]),
        ([whole("a", role="agent_thought"), whole("u", role="user_message")], ["thought|a", "user|u"]),
        ([chunk("a", "x"), tool("c"), chunk("b", "x")], ["agent|ab", "tool c|pending|"]),
        ([{"sessionUpdate": "agent_message_chunk", "content": text("no id")}, chunk("b")], ["agent|b"]),
    ],
)
async def test_messages(updates: list[dict[str, Any]], shown: list[str]) -> None:
    async with opened() as bench:
        await said(bench, *updates)
        assert bench.timeline == shown


@pytest.mark.req("V2-82")
async def test_an_empty_message_waits_for_its_content() -> None:
    async with opened() as bench:
        await said(bench, {"sessionUpdate": "agent_message", "messageId": "m"}, tool("c"), chunk("hi", "m"))
        assert bench.timeline == ["agent|hi", "tool c|pending|"]


@pytest.mark.req("V2-81", "V2-84")
@pytest.mark.parametrize(
    ("metas", "kept"),
    [
        ([{"a": 1, "b": {"x": 1}}], {"a": 1, "b": {"x": 1}}),
        ([{"a": 1}, "omitted"], {"a": 1}),
        ([{"a": 1}, {}], {"a": 1}),
        ([{"a": 1}, None], {}),
        ([{"a": 1, "b": {"x": 1}}, {"b": {"y": 2}}], {"a": 1, "b": {"y": 2}}),
        ([{"a": 1, "b": 2}, {"a": None}], {"b": 2}),
        ([{"a": 1}, "wrong"], {"a": 1}),
    ],
)
async def test_meta_is_patched_by_key(metas: list[Any], kept: dict[str, Any]) -> None:
    def with_meta(meta: Any) -> dict[str, Any]:
        return {} if meta == "omitted" else {"_meta": meta}

    async with opened() as bench:
        for meta in metas:
            await said(
                bench,
                {"sessionUpdate": "agent_message", "messageId": "m", **with_meta(meta)},
                tool("c", **with_meta(meta)),
                terminal("t", **with_meta(meta)),
                {"sessionUpdate": "session_info_update", **with_meta(meta)},
                {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "x", **with_meta(meta)},
            )
        await said(bench, {**chunk("x", "m"), "_meta": {"chunk": 1}})
        session = bench.session
        assert session.messages["agent", "m"].meta == kept
        assert session.tool_calls["c"].meta == kept
        assert session.terminals["t"].meta == kept
        assert session.meta == kept
        assert session.compactions["k"].meta == kept


@pytest.mark.req("V2-150", "V2-152")
async def test_unknown_content_is_kept() -> None:
    async with opened() as bench:
        odd = {"type": "_hologram", "x": [1]}
        await said(bench, tool(content=[odd, {"type": "terminal", "terminalId": "t"}]), item(odd))
        assert bench.session.tool_calls["c1"].content == [
            UnknownContent(odd),
            TerminalRef("t"),
            UnknownContent(odd),
        ]


@pytest.mark.req("V2-97", "V2-104")
@pytest.mark.parametrize("first", ["terminal", "reference"])
async def test_a_terminal_and_its_place_come_in_any_order(first: str) -> None:
    async with opened() as bench:
        place = tool("same", content=[{"type": "terminal", "terminalId": "same"}])
        told = [terminal("same", command="ls", cwd="/ws"), wrote(b"out", "same")]
        await said(bench, *([*told, place] if first == "terminal" else [place, *told]))
        (shown,) = bench.session.tool_calls["same"].terminals
        assert (shown.owner, shown.command, shown.cwd, shown.output.tail(9)) == ("agent", "ls", "/ws", b"out")


@pytest.mark.req("V2-98", "V2-99", "V2-100", "V2-102")
async def test_output_of_a_terminal() -> None:
    async with opened() as bench:
        euro = "€".encode()
        await said(bench, wrote(euro[:1]), wrote(euro[1:]), {**wrote(b""), "data": "!broken"}, wrote(b"\xff"))
        shown = bench.session.terminals["t1"]
        assert shown.output.tail(99) == euro + b"\xff"
        assert any("output of a terminal was dropped" in note for note in bench.notes)
        await said(bench, terminal(output={"data": coded(b"all")}), wrote(b"+"))
        assert shown.output.tail(99) == b"all+"
        await said(bench, terminal(output={"data": "!broken"}), terminal(command="x"), terminal(output=7))
        assert shown.output.tail(99) == b"all+"
        await said(bench, terminal(output=None))
        assert shown.output.tail(99) == b""


def nothing_known(shown: Terminal) -> bool:
    return (shown.command, shown.can_cancel) == ("", False) and not (shown.cwd or shown.exit or shown.size)


@pytest.mark.req("V2-85", "V2-93", "V2-98", "V2-103")
async def test_fields_of_a_terminal() -> None:
    async with opened() as bench:
        await said(bench, terminal(), tool(content=[{"type": "terminal", "terminalId": "t1"}]))
        shown = bench.session.terminals["t1"]
        assert nothing_known(shown)
        full: dict[str, Any] = {
            "command": "make",
            "cwd": "/ws",
            "exitStatus": {"exitCode": -3, "signal": "SIGHUP"},
            "size": {"cols": 80, "rows": 24},
            "capabilities": {"cancel": {}},
        }
        await said(bench, terminal(**full), terminal(), terminal(size={"cols": 0, "rows": 1}))
        assert (shown.command, shown.cwd, shown.size, shown.can_cancel) == ("make", "/ws", (80, 24), True)
        assert shown.exit is not None
        assert (shown.exit.code, shown.exit.signal) == (-3, "SIGHUP")
        assert bench.session.tool_calls["c1"].status == "pending"
        await said(bench, {**terminal(), **dict.fromkeys(full)})
        assert nothing_known(shown)
        await said(bench, terminal(exitStatus={}))
        assert shown.exit is not None
        assert (shown.exit.code, shown.exit.signal) == (None, None)


def plan(name: str, *entries: Any, kind: str = "items", **more: Any) -> dict[str, Any]:
    body = {"entries": list(entries)} if kind == "items" else {}
    return {"sessionUpdate": "plan_update", "plan": {"type": kind, "planId": name, **body, **more}}


def step(content: str, status: str = "pending", priority: str = "high") -> dict[str, Any]:
    return {"content": content, "priority": priority, "status": status}


@pytest.mark.req("V2-125", "V2-126", "V2-127", "V2-128")
async def test_plans() -> None:
    async with opened() as bench:
        await said(
            bench, plan("a", step("one"), 7, step("two", "cancelled")), plan("b", step("x", "_odd", "_p"))
        )
        plans = bench.session.plans
        assert plans["a"].entries == [PlanEntry("one", "high"), PlanEntry("two", "high", "cancelled")]
        assert plans["b"].entries == [PlanEntry("x", "_p", "_odd")]
        await said(
            bench,
            plan("a", step("three")),
            plan("b", kind="_mural", art=1),
            plan("c", kind="markdown", content="# hi"),
        )
        assert bench.timeline == ["plan a|three", "plan b|", "plan c|"]
        assert (plans["b"].type, plans["b"].raw) == ("_mural", {"type": "_mural", "planId": "b", "art": 1})
        assert plans["c"].text == "# hi"
        await said(bench, {"sessionUpdate": "plan_removed", "planId": "a"})
        assert bench.timeline[0] == "plan a|"
        await said(bench, {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "d"}})
        assert "d" not in plans  # a known type that is broken is no other type


@pytest.mark.req("V2-134", "V2-135", "V2-136")
async def test_commands() -> None:
    listed = [
        {"type": "command", "name": "go", "description": "Go", "input": {"type": "text", "hint": "where"}},
        {"name": "older", "description": "Without a type"},
        {"type": "command", "name": "form", "description": "Form", "input": {"type": "_form", "x": 1}},
        {"type": "_macro", "name": "macro", "description": "Macro", "x": 1},
        {"type": "command", "name": "nameless"},
    ]
    async with opened() as bench:
        await said(bench, {"sessionUpdate": "available_commands_update", "availableCommands": listed})
        assert [(each.name, each.hint) for each in bench.session.commands] == [
            ("go", "where"),
            ("older", None),
            ("form", None),
            ("macro", None),
        ]
        await said(bench, {"sessionUpdate": "available_commands_update", "availableCommands": listed[:1]})
        assert [each.name for each in bench.session.commands] == ["go"]


@pytest.mark.req("V2-137", "V2-138")
async def test_info_and_usage() -> None:
    async with opened() as bench:
        session = bench.session
        info = {"sessionUpdate": "session_info_update"}
        usage = {"sessionUpdate": "usage_update", "used": 5, "size": 9}
        await said(bench, {**info, "title": "T", "updatedAt": "2026-11-20T00:00:00Z"}, info)
        assert (session.title, session.updated_at) == ("T", "2026-11-20T00:00:00Z")
        await said(bench, {**info, "title": None})
        assert (session.title, session.updated_at) == (None, "2026-11-20T00:00:00Z")
        await said(bench, {**usage, "cost": {"amount": 2.5, "currency": "credits"}}, {**usage, "used": 7})
        assert session.usage is not None
        assert session.usage.cost is not None
        assert (session.usage.used, session.usage.cost.currency) == (7, "credits")
        await said(bench, {**usage, "cost": None})
        assert session.usage.cost is None


@pytest.mark.req("V2-139", "V2-140", "V2-144")
async def test_notices_compaction_and_unknown_updates() -> None:
    async with opened() as bench:
        compaction = {"sessionUpdate": "compaction_update", "compactionId": "k"}
        await said(
            bench,
            {"sessionUpdate": "notice", "severity": "_dire", "title": "Rate limit", "description": "wait"},
            {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": text("so ")},
            {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": text("far")},
            {"sessionUpdate": "_future", "x": 1},
            {**whole(), "content": [{"type": "_smell", "of": "smoke"}]},
        )
        assert bench.timeline[:2] == ["note|Rate limit", "compaction k|in_progress"]
        known = bench.session.compactions["k"]
        assert [str(each.text) for each in known.summary] == ["so ", "far"]
        await said(bench, {**compaction, "status": "completed", "summary": None, "error": "x"})
        assert (known.status, known.summary, known.error) == ("completed", [], "x")
        await said(bench, {**compaction, "status": "completed", "error": None})
        assert known.error is None
        note = bench.session.items[0]
        assert isinstance(note, Note)
        assert (note.severity, note.severity_raw, note.by) == ("info", "_dire", "agent")
        (odd,) = bench.session.messages["agent", "a1"].blocks
        assert (odd.type, odd.raw) == ("unknown", {"type": "_smell", "of": "smoke"})
        assert "unknown update _future" in bench.notes


@pytest.mark.req("V2-129", "V2-130", "V2-133")
async def test_config_options() -> None:
    listed = [
        {"type": "select", "configId": "mode", "name": "Mode", "category": "mode", "currentValue": "ask",
         "options": [{"value": "ask", "name": "Ask"}]},
        {"type": "select", "configId": "model", "name": "Model", "category": "_other", "currentValue": "b",
         "options": [{"groupId": "g", "name": "Group", "options": [{"value": "b", "name": "B"}]}]},
        {"type": "boolean", "configId": "web", "name": "Web", "currentValue": True},
        {"type": "_slider", "configId": "s", "name": "Slide", "category": "mode", "value": 3},
        {"type": "_slider", "name": "no id"},
    ]  # fmt: skip
    async with opened() as bench:
        await said(bench, {"sessionUpdate": "config_option_update", "configOptions": listed})
        options = bench.session.options
        assert [(each.id, each.type, each.value, each.category) for each in options] == [
            ("mode", "select", "ask", "mode"),
            ("model", "select", "b", "_other"),
            ("web", "boolean", True, None),
            ("s", "unknown", None, None),
        ]
        assert [(each.value, each.group) for each in options[1].choices] == [("b", "Group")]
        assert options[3].raw == listed[3]
        await said(bench, {"sessionUpdate": "config_option_update", "configOptions": "x"})
        assert len(bench.session.options) == 4


@pytest.mark.req("V2-151")
@pytest.mark.parametrize(
    "broken",
    [
        {"sessionUpdate": "tool_call_update", "toolCallId": 7},
        {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text"}},
        {"sessionUpdate": "state_update"},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t"},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": 1}},
    ],
)
async def test_a_known_update_that_is_broken_is_dropped(broken: dict[str, Any]) -> None:
    async with opened() as bench:
        await said(bench, broken)
        assert bench.timeline == []
        assert bench.session.state == "idle"
        assert any("was ignored" in note for note in bench.notes)


async def test_a_character_that_was_cut_is_put_together() -> None:
    async with opened() as bench:
        half = (
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"r1","update":{"sessionUpdate":'
            '"agent_message_chunk","messageId":"%s","content":{"type":"text","text":"%s"}}}}'
        )
        parts = [("x", "a\\ud83d"), ("y", "b\\ud83d"), ("x", "\\ude80c"), ("y", "d")]
        bench.transport.push(*[(half % each).encode() for each in parts])
        await bench.settle()
        assert bench.timeline == ["agent|a🚀c", "agent|b\ufffdd"]
        bench.transport.push((half % ("x", "\\ud83d")).encode())
        await said(bench, state("running"), idle())
        assert bench.timeline[0] == "agent|a🚀c\ufffd"


@pytest.mark.req("V2-142")
async def test_icons_are_not_kept() -> None:
    """Nobody can fetch them, from wherever they are."""
    async with opened() as bench:
        icons = [{"src": "http://example.org/track.png", "theme": "dark"}, {"src": 7}]
        link = {"type": "resource_link", "uri": "file:///ws/a", "name": "a", "icons": icons}
        await said(bench, {**whole(), "content": [link]})
        (block,) = bench.session.messages["agent", "a1"].blocks
        assert (block.type, block.uri) == ("link", "file:///ws/a")
        assert "track.png" not in repr(block)
