"""What the agent asks: permissions, files, and what we never offered."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v1.bench import OPTIONS, opened

from acp_nvim.protocol.acp_v1.permission import subject
from acp_nvim.session.asked import CommandSubject, PermissionOption, Subject, ToolSubject
from acp_nvim.session.entities import ToolCall

pytestmark = pytest.mark.anyio

CANCELLED = {"outcome": {"outcome": "cancelled"}}


def update(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t1", **fields}


@pytest.mark.req("V1-126", "V1-127", "V1-128", "V1-129")
async def test_a_question_is_put_and_answered() -> None:
    async with opened() as bench:
        bench.asks_permission("a7", "t1", title="npm test", kind="execute", rawInput={"command": "npm test"})
        await bench.settle()
        (question,) = bench.questions.asked
        assert question.options == [
            PermissionOption("ok", "Allow", "allow_once", "allow_once"),
            PermissionOption("no", "Reject", "reject_once", "reject_once"),
        ]
        assert question.subject == CommandSubject("npm test")
        assert question.title is None
        assert bench.timeline == ["tool t1|waiting|npm test"]  # a call that was never announced
        bench.questions.answer("q1", "ok")
        assert await bench.reply("a7") == {
            "jsonrpc": "2.0",
            "id": "a7",
            "result": {"outcome": {"outcome": "selected", "optionId": "ok"}},
        }


@pytest.mark.req("V1-127")
async def test_the_call_may_be_named_by_its_id_alone() -> None:
    async with opened() as bench:
        bench.says(update(title="write", kind="edit", rawInput={"a": 1}))
        bench.asks_permission(1, "t1")
        await bench.settle()
        call = bench.session.tool_calls["t1"]
        assert (call.title, call.kind, call.raw_input) == ("write", "edit", {"a": 1})
        assert bench.questions.asked[0].subject == ToolSubject("t1")


@pytest.mark.req("V1-127", "V1-136")
async def test_c05_updates_do_not_take_the_question_away() -> None:
    async with opened() as bench:
        bench.says({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "write", "kind": "edit"})
        bench.asks_permission(2, "t1", title="external_directory", kind="other", status="pending")
        bench.says(update(status="in_progress", title="write"))
        await bench.settle()
        assert bench.timeline == ["tool t1|waiting|write"]
        assert bench.replies(2) == []
        bench.questions.answer("q1", "ok")
        await bench.reply(2)
        assert bench.timeline == ["tool t1|in_progress|write"]


@pytest.mark.req("V1-15", "V1-136")
async def test_c06_each_question_is_answered_by_its_own_id() -> None:
    async with opened() as bench:
        bench.asks_permission(31, "t1", title="npm test", kind="execute")
        bench.asks_permission(32, "t2", title="edit x", kind="edit")
        await bench.settle()
        bench.questions.answer("q2", "ok")
        await bench.reply(32)
        await bench.settle()
        assert bench.replies(31) == []
        assert bench.questions.open() == ["q1"]
        bench.questions.answer("q1", "no")
        assert (await bench.reply(31))["result"]["outcome"]["optionId"] == "no"


@pytest.mark.req("V1-106", "V1-133")
async def test_c07_what_only_the_raw_input_says_is_kept() -> None:
    async with opened() as bench:
        plan = {"plan": "1. add test\n2. fix parser"}
        bench.asks_permission(51, "t5", title="Ready to code?", kind="switch_mode", content=[], rawInput=plan)
        await bench.settle()
        assert bench.session.tool_calls["t5"].raw_input == plan
        assert bench.questions.asked[0].subject == ToolSubject("t5")


@pytest.mark.req("V1-85")
async def test_the_agent_takes_a_question_back() -> None:
    async with opened() as bench:
        bench.asks_permission(5, "t1")
        await bench.settle()
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 5}}
        bench.transport.push(cancel, cancel)
        assert (await bench.reply(5))["error"]["code"] == -32800
        assert bench.session.permissions["q1"].state == "withdrawn"


@pytest.mark.req("V1-134")
async def test_a_refusal_is_a_cancelled_outcome() -> None:
    async with opened() as bench:
        bench.asks_permission(5, "t1")
        await bench.settle()
        bench.questions.answer("q1", None)
        assert (await bench.reply(5))["result"] == CANCELLED


@pytest.mark.req("V1-135", "V1-137")
async def test_odd_options_are_shown_as_they_are() -> None:
    async with opened() as bench:
        bench.asks_permission(5, "t1", options=[])
        odd = [{"optionId": "x", "name": "Maybe", "kind": "shrug"}]
        bench.asks_permission(6, "t1", options=[*reversed(OPTIONS), *odd])
        await bench.settle()
        first, second = bench.questions.asked
        assert first.options == []
        assert [(o.id, o.kind, o.kind_raw) for o in second.options] == [
            ("no", "reject_once", "reject_once"),
            ("ok", "allow_once", "allow_once"),
            ("x", "other", "shrug"),
        ]


@pytest.mark.req("V1-61")
async def test_questions_of_unknown_sessions_are_refused() -> None:
    async with opened() as bench:
        bench.asks(
            5, "session/request_permission", sessionId="r9", toolCall={"toolCallId": "t"}, options=OPTIONS
        )
        assert (await bench.reply(5))["error"] == {
            "code": -32002,
            "message": "unknown session",
            "data": {"sessionId": "r9"},
        }
        bench.asks(6, "session/request_permission", toolCall={}, options=OPTIONS)
        assert (await bench.reply(6))["error"]["code"] == -32602


def call(kind: str, raw: Any, title: str = "npm test") -> ToolCall:
    return ToolCall("t1", title, kind=kind, raw_input=raw)


@pytest.mark.parametrize(
    ("asked", "before", "expected"),
    [
        (call("execute", {"command": "ls -l", "cwd": "/w"}), None, CommandSubject("ls -l", "/w")),
        (call("execute", {"cmd": ["sh", "-c", "a 'b'"], "workdir": "/w"}), None,
         CommandSubject("sh -c 'a '\"'\"'b'\"'\"''", "/w")),
        (call("other", {"command": "ls"}), None, CommandSubject("ls")),
        (call("execute", {"command": "ls"}), {"command": "ls", "cwd": "/w"}, CommandSubject("ls", "/w")),
        (call("execute", {"command": "ls"}), {"command": "rm", "cwd": "/w"}, CommandSubject("ls")),
        (call("execute", {"command": "ls"}), "text", CommandSubject("ls")),
        (call("execute", None), {"command": "ls"}, ToolSubject("t1")),
        (call("execute", {"command": [1]}), None, ToolSubject("t1")),
        (call("execute", {"command": " "}), None, ToolSubject("t1")),
        (call("execute", "npm test"), None, ToolSubject("t1")),
        (call("edit", {"command": "str_replace"}), None, ToolSubject("t1")),
        (call("execute", {}, "rm -rf / in /tmp"), None, ToolSubject("t1")),
    ],
)  # fmt: skip
@pytest.mark.req("V1-132", "V1-133")
async def test_a_command_is_never_guessed(asked: ToolCall, before: Any, expected: Subject) -> None:
    assert subject(asked, before) == expected


@pytest.mark.req("V1-161", "V1-164")
async def test_files_are_read() -> None:
    async with opened() as bench:
        bench.files.texts["/ws/a"] = "one\n"
        bench.asks(1, "fs/read_text_file", path="/ws/a")
        bench.asks(2, "fs/read_text_file", path="/ws/a", line=0, limit=3)
        assert (await bench.reply(1))["result"] == {"content": "one\n"}
        assert (await bench.reply(2))["result"] == {"content": "one\n"}
        assert bench.files.calls == [("s", "/ws/a", None, None), ("s", "/ws/a", 0, 3)]


@pytest.mark.req("V1-167")
async def test_files_are_written() -> None:
    async with opened() as bench:
        bench.asks(1, "fs/write_text_file", path="/ws/a", content="one\n")
        assert (await bench.reply(1))["result"] == {}
        assert bench.files.texts == {"/ws/a": "one\n"}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("fs/read_text_file", {"path": "a"}, -32602),
        ("fs/write_text_file", {"path": "./a", "content": ""}, -32602),
        ("fs/read_text_file", {"path": "/ws/missing"}, -32002),
        ("fs/read_text_file", {"path": "/ws/a", "sessionId": "r9"}, -32002),
        ("fs/write_text_file", {"path": "/ws/a", "content": "", "sessionId": "r9"}, -32002),
        ("fs/read_text_file", {}, -32602),
        ("fs/write_text_file", {"path": "/ws/a"}, -32602),
        ("elicitation/create", {"mode": "form", "message": "m"}, -32602),
        ("_x.ai/anything", {}, -32601),
    ],
)
@pytest.mark.req("V1-12", "V1-61", "V1-165", "V1-172", "V1-174", "V1-211")
async def test_what_is_refused(method: str, params: dict[str, Any], code: int) -> None:
    async with opened() as bench:
        bench.asks(1, method, **params)
        assert (await bench.reply(1))["error"]["code"] == code
        assert bench.files.texts == {}


@pytest.mark.req("V1-15")
async def test_an_open_question_delays_nothing() -> None:
    async with opened() as bench:
        bench.files.texts["/ws/a"] = "x"
        bench.asks_permission(1, "t1")
        bench.asks(2, "fs/read_text_file", path="/ws/a")
        bench.says({"sessionUpdate": "usage_update", "used": 1, "size": 2})
        await bench.reply(2)
        await bench.settle()
        assert bench.session.usage is not None
        assert bench.replies(1) == []


@pytest.mark.req("V1-211")
async def test_c08_unknown_notifications_are_not_answered() -> None:
    async with opened() as bench:
        before = len(bench.sent)
        for method in ("_x.ai/announcements/update", "$/progress"):
            bench.transport.push({"jsonrpc": "2.0", "method": method, "params": {"n": 1}})
        await bench.settle()
        assert len(bench.sent) == before + 1  # the bench's own
        assert [note for note in bench.notes if "ignored" in note] == [
            "_x.ai/announcements/update is unknown: ignored",
            "$/progress is unknown: ignored",
        ]
