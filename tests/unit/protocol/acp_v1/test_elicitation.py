"""Forms and pages the agent asks the user for: what reaches the queue, and what is answered."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import HELLO, Bench, connected, opened

from acp_nvim.session.elicitation import Content, Elicitation, FormChoice, FormField
from acp_nvim.session.entities import Note
from acp_nvim.session.events import ElicitationFinished, Event

pytestmark = pytest.mark.anyio

ACCEPT, DECLINE, CANCEL = {"action": "accept"}, {"action": "decline"}, {"action": "cancel"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
URL = "https://example.com/login?state=1"


def asks_form(bench: Bench, ident: str = "f", schema: Any = SCHEMA, **scope: Any) -> None:
    params = {"mode": "form", "message": "Who are you?", "requestedSchema": schema, **scope}
    if not scope:
        params["sessionId"] = "r1"
    send(bench, ident, params)


def asks_page(bench: Bench, ident: str = "u", url: str = URL, **more: Any) -> None:
    params = {"mode": "url", "message": "Sign in", "elicitationId": "e1", "url": url, "sessionId": "r1"}
    send(bench, ident, {**params, **more})


def send(bench: Bench, ident: str, params: dict[str, Any]) -> None:
    bench.transport.push({"jsonrpc": "2.0", "id": ident, "method": "elicitation/create", "params": params})


def completes(bench: Bench, ident: str = "e1") -> None:
    params = {"elicitationId": ident}
    bench.transport.push({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})


def subject(bench: Bench, at: int = -1) -> Elicitation:
    found = bench.questions.asked[at].subject
    assert isinstance(found, Elicitation)
    return found


async def error(bench: Bench, ident: str) -> Any:
    return (await bench.reply(ident))["error"]["code"]


@pytest.mark.req("V1-197", "V1-200", "V1-202")
async def test_a_form_is_put_and_answered() -> None:
    async with opened() as bench:
        asks_form(bench)
        await bench.settle()
        (question,) = bench.questions.asked
        assert [(o.id, o.name, o.kind) for o in question.options] == [
            ("accept", "Answer", "other"),
            ("decline", "Decline", "other"),
        ]
        assert question.title == subject(bench).message == "Who are you?"
        assert bench.timeline == ["tool question:q1|waiting|Who are you?"]
        content: Content = {"name": "Ann", "n": 3, "x": 0.5, "yes": True, "all": ["a", "b"]}
        bench.questions.answer("q1", "accept", content)
        reply = await bench.reply("f")
        assert reply == {"jsonrpc": "2.0", "id": "f", "result": {**ACCEPT, "content": content}}
        assert subject(bench).state == "accepted"


@pytest.mark.parametrize(("option", "result"), [("decline", DECLINE), (None, CANCEL)])
@pytest.mark.req("V1-202")
async def test_a_form_is_not_answered(option: str | None, result: Any) -> None:
    async with opened() as bench:
        asks_form(bench)
        await bench.settle()
        bench.questions.answer("q1", option)
        assert (await bench.reply("f"))["result"] == result
        call = bench.session.tool_calls["question:q1"]
        assert (call.status, call.local) == ("cancelled", "none")


EVERY: dict[str, Any] = {
    "title": "Settings",
    "description": "All of them",
    "required": ["name", "gone"],
    "properties": {
        "name": {
            "type": "string",
            "title": "Name",
            "description": "d",
            "minLength": 1,
            "maxLength": 9,
            "pattern": "^a",
            "format": "email",
            "default": "a",
        },
        "n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "x": {"type": "number", "minimum": 0.5, "default": "bad"},
        "yes": {"type": "boolean", "default": True},
        "one": {"type": "string", "enum": ["a", "b"], "default": "b"},
        "two": {"type": "string", "oneOf": [{"const": "c", "title": "C", "description": "d"}]},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2},
        "more": {"type": "array", "items": {"anyOf": [{"const": "c", "title": "C"}]}, "default": ["c", 3]},
        "odd": {"type": "_colour", "title": "Odd", "default": "red"},
        "list": {"type": "array", "items": {"type": "number"}},
    },
}


@pytest.mark.req("V1-200", "V1-201", "V1-203")
async def test_every_kind_of_field() -> None:
    async with opened() as bench:
        asks_form(bench, schema=EVERY)
        await bench.settle()
        form = subject(bench).form
        assert form is not None
        assert (form.title, form.description) == ("Settings", "All of them")
        kinds = {field.key: field for field in form.fields}
        assert kinds["name"] == FormField(
            "name", "text", "Name", "d", True, "a", 1, 9, "^a", "email"
        )  # in the agent's order:
        assert list(kinds) == [*EVERY["properties"], "gone"]
        assert kinds["n"] == FormField("n", "integer", least=1, most=9, default=3)
        assert kinds["x"] == FormField("x", "number", least=0.5)
        assert kinds["yes"] == FormField("yes", "boolean", default=True)
        assert kinds["one"].choices == (FormChoice("a", "a"), FormChoice("b", "b"))
        assert kinds["two"] == FormField("two", "choice", choices=(FormChoice("c", "C", "d"),))
        assert (kinds["many"].type, kinds["many"].least, kinds["many"].most) == ("choices", 1, 2)
        assert kinds["more"].default == ["c"]
        assert kinds["odd"] == FormField("odd", "unknown", "Odd", raw=EVERY["properties"]["odd"])
        assert (kinds["list"].type, kinds["list"].fillable) == ("unknown", False)
        assert [field.key for field in form.impossible] == ["gone"]
        # It can only be declined.
        assert [o.name for o in bench.questions.asked[0].options] == ["Decline"]


@pytest.mark.req("V1-202")
async def test_a_form_without_fields_takes_a_word() -> None:
    async with opened() as bench:
        asks_form(bench, schema={"type": "object"})
        await bench.settle()
        assert [o.name for o in bench.questions.asked[0].options] == ["Accept", "Decline"]
        bench.questions.answer("q1", "accept")
        assert (await bench.reply("f"))["result"] == {**ACCEPT, "content": {}}


@pytest.mark.req("V1-197", "V1-198", "V1-203")
@pytest.mark.parametrize(
    "params",
    [
        {"mode": "dream", "message": "m", "sessionId": "r1"},
        {"mode": "_form", "message": "m", "sessionId": "r1", "requestedSchema": SCHEMA},
        {"message": "m", "sessionId": "r1", "requestedSchema": SCHEMA},
        {"mode": "form", "sessionId": "r1", "requestedSchema": SCHEMA},
        {"mode": "form", "message": "m", "requestedSchema": SCHEMA},
        {"mode": "form", "message": "m", "requestedSchema": SCHEMA, "requestId": 99},
        {"mode": "form", "message": "m", "requestedSchema": SCHEMA, "requestId": None},
        {"mode": "form", "message": "m", "requestedSchema": SCHEMA, "requestId": "x"},
        {"mode": "form", "message": "m", "sessionId": "r1"},
        {"mode": "url", "message": "m", "sessionId": "r1", "url": URL},
        {"mode": "url", "message": "m", "sessionId": "r1", "elicitationId": "e"},
        {"mode": "url", "message": "m", "sessionId": "r1", "elicitationId": "e", "url": "file:///etc/passwd"},
        {"mode": "url", "message": "m", "sessionId": "r1", "elicitationId": "e", "url": "javascript:x"},
    ],
)
async def test_what_is_refused(params: dict[str, Any]) -> None:
    async with opened() as bench:
        send(bench, "f", params)
        assert await error(bench, "f") == -32602
        assert bench.questions.asked == []


@pytest.mark.req("V1-61")
async def test_an_unknown_session_is_refused() -> None:
    async with opened() as bench:
        asks_form(bench, sessionId="r9")
        assert await error(bench, "f") == -32002


@pytest.mark.req("V1-204", "V1-206")
async def test_a_refused_address_is_told() -> None:
    async with opened() as bench:
        asks_page(bench, url="file:///etc/\u202epasswd")
        await bench.reply("u")
        (note,) = bench.notices()
        assert note.startswith("robo wanted to send you to an address that was refused:")
        shown = [item.lines for item in bench.session.items if isinstance(item, Note)]
        assert shown == [["file:///etc/<U+202E>passwd"]]


@pytest.mark.req("V1-197")
async def test_it_stands_in_the_row_of_its_tool_call() -> None:
    async with opened() as bench:
        bench.says({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Deploy", "kind": "other"})
        asks_form(bench, sessionId="r1", toolCallId="t1")
        await bench.settle()
        assert bench.timeline == ["tool t1|waiting|Deploy"]
        bench.questions.answer("q1", "decline")
        await bench.reply("f")
        assert bench.timeline == ["tool t1|pending|Deploy"]  # declining rejects nothing


@pytest.mark.req("V1-197", "V1-208")
async def test_it_belongs_to_a_request_of_ours() -> None:
    """Before there is a session: it stands in the chat that waits, and goes with the request."""
    async with connected() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", HELLO)
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.new_session, bench.session)
            ident = (await bench.asked("session/new"))["id"]
            asks_form(bench, "f", requestId=ident)
            asks_form(bench, "g", requestId=str(ident))  # an agent that writes ids as text
            await bench.settle()
            assert len(bench.questions.asked) == 2
            assert bench.session.open_permissions == bench.questions.asked
            bench.questions.answer("q1", "accept", {"name": "x"})
            assert (await bench.reply("f"))["result"] == {**ACCEPT, "content": {"name": "x"}}
            assert bench.replies("g") == []
            bench.transport.push({"jsonrpc": "2.0", "id": ident, "result": {"sessionId": "r1"}})
            assert (await bench.reply("g"))["result"] == CANCEL
        assert bench.session.permissions["q2"].state == "withdrawn"
        asks_form(bench, "h", requestId=ident)
        assert await error(bench, "h") == -32602


@pytest.mark.req("V1-208")
async def test_it_goes_with_a_request_the_user_takes_back() -> None:
    async with connected() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", HELLO)
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.new_session, bench.session)
            ident = (await bench.asked("session/new"))["id"]
            asks_form(bench, "f", requestId=ident)
            await bench.settle()
            await bench.adapter.withdraw(bench.session, shared=False)
            assert (await bench.reply("f"))["result"] == CANCEL  # session/new itself may still succeed
            bench.transport.push({"jsonrpc": "2.0", "id": ident, "result": {"sessionId": "r1"}})


@pytest.mark.req("V1-197")
async def test_it_belongs_to_a_prompt() -> None:
    async with opened() as bench, bench.turn():
        prompt = await bench.asked("session/prompt")
        asks_form(bench, requestId=prompt["id"])
        await bench.settle()
        assert bench.session.open_permissions == bench.questions.asked
        bench.ends(prompt)
        assert (await bench.reply("f"))["result"] == CANCEL


@pytest.mark.req("V1-197")
async def test_a_request_of_no_session_is_of_the_chat_that_waits() -> None:
    waiting: list[Any] = []
    asker = lambda: waiting[0] if waiting else None  # noqa: E731
    async with connected(asker=asker) as bench, anyio.create_task_group() as group:
        group.start_soon(bench.adapter.connect)
        ident = (await bench.asked("initialize"))["id"]
        asks_form(bench, "f", requestId=ident)
        assert await error(bench, "f") == -32602  # nobody is there
        waiting.append(bench.session)
        asks_form(bench, "g", requestId=ident)
        await bench.settle()
        bench.questions.answer("q1", "decline")
        assert (await bench.reply("g"))["result"] == DECLINE
        bench.transport.push({"jsonrpc": "2.0", "id": ident, "result": HELLO})


@pytest.mark.req("V1-208")
async def test_cancelling_the_turn_cancels_it() -> None:
    async with opened() as bench, bench.turn():
        prompt = await bench.asked("session/prompt")
        asks_form(bench)
        await bench.settle()
        await bench.adapter.cancel(bench.session)
        assert (await bench.reply("f"))["result"] == CANCEL
        asks_form(bench, "late")  # sent before the agent has heard of it
        assert (await bench.reply("late"))["result"] == CANCEL
        assert len(bench.questions.asked) == 1
        bench.ends(prompt, "cancelled")


@pytest.mark.req("V1-208")
async def test_closing_the_session_cancels_it() -> None:
    async with opened() as bench:
        asks_form(bench)
        await bench.settle()
        await bench.adapter.close_session(bench.session)
        assert (await bench.reply("f"))["result"] == CANCEL


@pytest.mark.req("V1-85")
async def test_the_agent_takes_it_back() -> None:
    async with opened() as bench:
        asks_form(bench)
        await bench.settle()
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "f"}}
        bench.transport.push(cancel, cancel)
        assert await error(bench, "f") == -32800
        assert subject(bench).state == "withdrawn"


@pytest.mark.req("V1-204")
async def test_a_page_is_consented_to() -> None:
    async with opened() as bench:
        asks_page(bench)
        await bench.settle()
        assert [o.name for o in bench.questions.asked[0].options] == ["Open example.com", "Decline"]
        assert subject(bench).url == URL
        bench.questions.answer("q1", "accept")
        assert (await bench.reply("u"))["result"] == ACCEPT  # consent, nothing else
        assert subject(bench).state == "opened"


def finished(bench: Bench) -> list[Event]:
    return [event for event in bench.events if isinstance(event, ElicitationFinished)]


@pytest.mark.req("V1-207")
async def test_a_page_is_finished_once() -> None:
    async with opened() as bench:
        completes(bench, "unknown")
        asks_page(bench)
        await bench.settle()
        bench.questions.answer("q1", "accept")
        await bench.reply("u")
        completes(bench)
        completes(bench)
        completes(bench, "E1")
        await bench.settle()
        assert subject(bench).state == "finished"
        assert len(finished(bench)) == 1
        assert len([note for note in bench.notes if "no page of this elicitationId" in note]) == 3


@pytest.mark.req("V1-207")
async def test_a_page_that_is_finished_elsewhere_is_asked_no_more() -> None:
    async with opened() as bench:
        asks_page(bench)
        await bench.settle()
        completes(bench)
        assert (await bench.reply("u"))["result"] == CANCEL
        assert subject(bench).state == "finished"
        assert bench.questions.open() == []


@pytest.mark.req("V1-207")
async def test_a_page_that_was_declined_is_not_finished() -> None:
    async with opened() as bench:
        asks_page(bench)
        await bench.settle()
        bench.questions.answer("q1", "decline")
        await bench.reply("u")
        completes(bench)
        await bench.settle()
        assert (subject(bench).state, finished(bench)) == ("declined", [])


async def test_one_id_asked_about_twice_means_the_newer_one() -> None:
    async with opened() as bench:
        asks_page(bench, "u1")
        asks_page(bench, "u2")
        await bench.settle()
        bench.questions.answer("q1", "decline")
        await bench.reply("u1")
        bench.questions.answer("q2", "accept")
        await bench.reply("u2")
        completes(bench)
        await bench.settle()
        assert [subject(bench, n).state for n in (0, 1)] == ["declined", "finished"]


@pytest.mark.req("V1-33")
async def test_both_modes_are_offered_by_name() -> None:
    async with opened() as bench:
        hello = next(m for m in bench.sent if m.get("method") == "initialize")
        assert hello["params"]["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}
        json.dumps(hello)
