"""session/request_permission and elicitation/create."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v2.bench import idle, opened, state, terminal, tool

from acp_nvim.session.asked import CommandSubject, ToolSubject, UnknownSubject

pytestmark = pytest.mark.anyio

COMMAND = {"type": "command", "command": "rm -r x", "cwd": "/ws/sub"}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.mark.req("V2-116", "V2-117", "V2-118", "V2-122")
async def test_a_call_is_patched_before_it_is_asked_about() -> None:
    async with opened() as bench:
        bench.says(tool("c1", title="Edit", status="in_progress"))
        patch = {"toolCallId": "c1", "rawInput": {"a": 1}, "status": None}
        bench.asks_for(
            "p", "Really?", description="It is big.", subject={"type": "tool_call", "toolCall": patch}
        )
        await bench.settle()
        call = bench.session.tool_calls["c1"]
        assert (call.title, call.raw_input, call.status) == ("Edit", {"a": 1}, "pending")
        (asked,) = call.open_permissions
        assert (asked.title, asked.description, asked.subject) == ("Really?", "It is big.", ToolSubject("c1"))
        bench.questions.answer(asked.id, "ok")
        assert (await bench.reply("p"))["result"] == {"outcome": {"outcome": "selected", "optionId": "ok"}}


@pytest.mark.req("V2-117", "V2-118")
async def test_an_unknown_call_is_created_and_keeps_its_own_title() -> None:
    async with opened() as bench:
        bench.asks_for("p", "Really?", subject={"type": "tool_call", "toolCall": {"toolCallId": "new"}})
        await bench.settle()
        assert bench.session.tool_calls["new"].title == ""
        bench.questions.answer("q1", None)
        assert (await bench.reply("p"))["result"] == CANCELLED


@pytest.mark.req("V2-119")
@pytest.mark.parametrize(
    ("links", "row"),
    [
        ({}, None),
        ({"toolCallId": "c1"}, "c1"),
        ({"toolCallId": "unknown"}, None),
        ({"terminalId": "t1"}, "c1"),
        ({"toolCallId": None, "terminalId": "unknown"}, None),
        ({"toolCallId": 7}, None),
    ],
)
async def test_a_command_is_shown_in_full_and_changes_nothing(links: dict[str, Any], row: str | None) -> None:
    async with opened() as bench:
        bench.says(
            tool("c1", title="Run", content=[{"type": "terminal", "terminalId": "t1"}]), terminal("t1")
        )
        bench.asks_for("p", "Run it?", subject={**COMMAND, **links})
        await bench.settle()
        (asked,) = bench.session.open_permissions
        assert asked.subject == CommandSubject("rm -r x", "/ws/sub")
        assert asked.tool_call_id == (row or f"question:{asked.id}")
        assert "unknown" not in bench.session.tool_calls
        assert bench.session.terminals["t1"].command == ""
        assert bench.session.tool_calls["c1"].title == "Run"
        bench.questions.answer(asked.id, "no")
        await bench.reply("p")
        assert bench.terminals.calls == []


@pytest.mark.req("V2-120", "V2-121")
@pytest.mark.parametrize("subject", ["none", None, {"type": "_purchase", "price": 3}])
async def test_other_subjects(subject: Any) -> None:
    async with opened() as bench:
        said = {} if subject == "none" else {"subject": subject}
        options = [{"optionId": "a", "name": "Maybe", "kind": "_maybe"}]
        bench.asks_for("p", "Buy it?", options=options, **said)
        await bench.settle()
        (asked,) = bench.session.open_permissions
        assert asked.subject == (UnknownSubject("_purchase", subject) if isinstance(subject, dict) else None)
        assert [(each.kind, each.kind_raw) for each in asked.options] == [("other", "_maybe")]
        assert bench.timeline == [f"tool question:{asked.id}|waiting|Buy it?"]
        bench.questions.answer(asked.id, "a")
        assert (await bench.reply("p"))["result"]["outcome"]["optionId"] == "a"


@pytest.mark.req("V2-116", "V2-151")
@pytest.mark.parametrize(
    "broken",
    [
        {"subject": {"type": "command", "command": "x"}},
        {"subject": {"type": "tool_call"}},
        {"subject": 7},
        {"title": None},
        {"options": "x"},
    ],
)
async def test_what_is_broken_is_refused(broken: dict[str, Any]) -> None:
    async with opened() as bench:
        bench.asks_for("p", **broken)
        assert (await bench.reply("p"))["error"]["code"] == -32602
        assert bench.questions.asked == []


@pytest.mark.req("V2-46")
async def test_a_question_of_an_unknown_session() -> None:
    async with opened() as bench:
        bench.asks_for("p", sessionId="who")
        error = (await bench.reply("p"))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "who"})


@pytest.mark.req("V2-71", "V2-75")
async def test_a_question_that_is_withdrawn_is_answered_as_cancelled() -> None:
    async with opened() as bench:
        bench.asks_for("p")
        await bench.settle()
        notice = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "p"}}
        bench.transport.push(notice, notice, {**notice, "params": {"requestId": "other"}})
        assert (await bench.reply("p"))["result"] == CANCELLED
        await bench.settle()
        assert len(bench.replies("p")) == 1
        assert bench.questions.open() == []


@pytest.mark.req("V2-68", "V2-71", "V2-123")
async def test_cancel_answers_what_is_asked_for_the_turn_alone() -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.works()
            bench.says(
                tool("fore"),
                tool("back"),
                terminal("tb"),
                state(
                    "requires_action",
                    background=[
                        {"type": "tool_call", "toolCallId": "back"},
                        {"type": "terminal", "terminalId": "tb"},
                    ],
                ),
            )
            bench.asks_for("p1", subject={"type": "tool_call", "toolCall": {"toolCallId": "fore"}})
            bench.asks_for("p2", subject={"type": "tool_call", "toolCall": {"toolCallId": "back"}})
            bench.asks_for("p3", subject={**COMMAND, "terminalId": "tb"})
            bench.asks_for("p4")
            await bench.settle()
            await bench.adapter.cancel(bench.session)
            for ident in ("p1", "p4"):
                assert (await bench.reply(ident))["result"] == CANCELLED
            bench.asks_for("p5", "late")
            assert (await bench.reply("p5"))["result"] == CANCELLED
            assert [bench.replies(ident) for ident in ("p2", "p3")] == [[], []]
            bench.says(idle("cancelled"))
        assert len(bench.questions.open()) == 2
        for question, ident in zip(bench.questions.open(), ("p2", "p3"), strict=True):
            bench.questions.answer(question, "ok")
            assert (await bench.reply(ident))["result"]["outcome"]["outcome"] == "selected"


@pytest.mark.req("V2-61")
async def test_an_answer_does_not_change_the_state_by_itself() -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.works()
            bench.says(state("requires_action"))
            bench.asks_for("p")
            await bench.settle()
            bench.questions.answer("q1", "ok")
            await bench.reply("p")
            assert bench.session.state == "requires_action"
            bench.says(state("running"))
            await bench.settle()
            states = [bench.session.state]
            bench.says(idle())
        assert states == ["running"]


FORM = {
    "mode": "form",
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


@pytest.mark.req("V2-145", "V2-146", "V2-147")
async def test_forms() -> None:
    async with opened() as bench:
        odd = {
            "type": "object",
            "properties": {"x": {"type": "_color"}, "when": {"type": "string", "format": "_moon"}},
        }
        bench.asks("f", "elicitation/create", **{**FORM, "requestedSchema": odd})
        await bench.settle()
        assert bench.session.state == "idle"
        (asked,) = bench.session.open_permissions
        form = getattr(asked.subject, "form", None)
        assert form is not None
        assert [(each.key, each.type, each.format) for each in form.fields] == [
            ("x", "unknown", None),
            ("when", "text", "_moon"),
        ]


@pytest.mark.req("V2-145", "V2-146")
@pytest.mark.parametrize(
    "broken",
    [
        {"requestedSchema": {"properties": {}}},
        {"requestedSchema": {"type": "array", "properties": {}}},
        {"requestedSchema": {"type": "object"}},
        {"requestId": 7},
        {"sessionId": None},
        {"mode": "_video"},
        {"mode": "url", "elicitationId": "e"},
    ],
)
async def test_forms_that_are_refused(broken: dict[str, Any]) -> None:
    async with opened() as bench:
        bench.asks("f", "elicitation/create", **{**FORM, **broken})
        assert (await bench.reply("f"))["error"]["code"] == -32602
        assert bench.questions.asked == []
