"""Words of an agent in places that few agents use: safe in the buffer, in a document, and for Lua."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.view.helpers import HOME, OPTIONS, Chat, at, edit
from tests.unit.view.test_markdown import document

from acp_nvim.session.agent import SessionInfo
from acp_nvim.session.asked import CommandSubject, Permission, UnknownSubject
from acp_nvim.session.content import Block, Change, Diff, TerminalRef
from acp_nvim.session.elicitation import Elicitation, Form, FormField
from acp_nvim.session.entities import Cost, Failure, Plan, PlanEntry, Session, Usage
from acp_nvim.session.events import InfoPatch, PermissionClosed, PlanSet, TerminalPatch, TurnStarted
from acp_nvim.session.options import Choice, Option
from acp_nvim.session.terminals import Exit
from acp_nvim.text.sanitise import clean
from acp_nvim.view.case import Case
from acp_nvim.view.elicitation import for_lua
from acp_nvim.view.ends import failure_lines, failure_title
from acp_nvim.view.facts import LINE_CHARS
from acp_nvim.view.look import Look
from acp_nvim.view.markdown import Markdown
from acp_nvim.view.options import rows
from acp_nvim.view.outcome import Now
from acp_nvim.view.proposal import propose
from acp_nvim.view.questions import describe, words
from acp_nvim.view.sessions import listed
from acp_nvim.view.sides import MAX_LINE
from acp_nvim.view.status import status_of, topic_of
from acp_nvim.view.terminals import caption, ending_of

BAD = "a\x1b]52;c;x\x07\u202e\u200b\r\nb"


LINE = BAD.replace("\r\n", "")


def texts(value: Any) -> Iterator[str]:
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)


def safe(*values: Any, mention: bool = True) -> None:
    """All of it is safe; ``mention``: and something of BAD is in it."""
    found = list(texts(list(values)))
    assert [each for each in found if clean(each) != each or "\n" in each] == []
    assert not mention or "52;c;x" in "".join(found)


@pytest.mark.parametrize(
    "failure",
    [
        Failure(BAD),
        Failure(BAD, kind="cancelled"),
        Failure(BAD, kind="auth", remedy=":AcpRestart"),
        Failure(BAD, kind="transport", data=[BAD, BAD], remedy=":AcpRestart"),
        Failure("x", unsent=True, data={"details": BAD}),
    ],
)
@pytest.mark.parametrize("stop", ["error", "lost"])
def test_how_a_turn_failed(failure: Failure, stop: str) -> None:
    chat = Chat()
    chat.prompt("x")
    chat.end(stop, error=failure)
    safe(chat.lines(), document(chat).split("\n"), failure_title(failure), failure_lines(failure, "x"))


@pytest.mark.parametrize(
    "block",
    [
        Block("resource", uri="file:///ws/x", name=f"@{BAD}", data="eA=="),
        Block("link", uri=f"file:///ws/{BAD}", name=BAD),
        Block("resource", uri=f"file:///ws/{BAD}#L7-13", data="eA=="),
        Block("image", uri=f"file:///{BAD}", name=BAD, mime=BAD),
    ],
)
def test_what_was_sent_along(block: Block) -> None:
    chat = Chat()
    chat.apply(TurnStarted((block,)))
    chat.end()
    safe(chat.lines(), document(chat).split("\n"))


def test_a_tool_call() -> None:
    chat = Chat()
    long = f"{LINE}{'x' * LINE_CHARS}\n"
    content = [
        edit(f"/ws/{BAD}", "a\n", long),
        Diff((Change(BAD, f"/ws/{BAD}", f"/ws/{BAD}", BAD, BAD),), patch_format=BAD, patch=BAD),
        TerminalRef(f"no{BAD}"),
    ]
    chat.tool("t", BAD, "execute", status=BAD, locations=at(BAD), content=content, raw_input={"command": BAD})
    chat.frames()
    safe(chat.lines(), document(chat).split("\n"), chat.transcript.details(1, 0))


def test_a_plan_and_the_session() -> None:
    chat = Chat()
    chat.apply(
        InfoPatch(title=BAD), PlanSet(Plan("p", entries=[PlanEntry(BAD, BAD, BAD)], text=BAD, uri=BAD))
    )
    chat.frames()
    safe(chat.lines(), document(chat).split("\n"), chat.transcript.details(1, 0))


def test_a_form() -> None:
    fields = (
        FormField(BAD, "text", BAD, BAD, format=BAD, pattern=BAD, default=BAD),
        FormField(f"{BAD}2", "unknown", BAD, raw={BAD: BAD}),
    )
    asked = Elicitation(BAD, form=Form(fields, BAD, BAD))
    safe(_without_keys(for_lua(asked)))
    chat = Chat()
    chat.ask(None, subject=asked, options=OPTIONS, title=BAD)
    safe(
        chat.lines(),
        describe(Permission("p", list(OPTIONS), subject=asked), None, _session(), home=HOME).lines,
    )
    chat.apply(PermissionClosed("q1", "selected", "accept", "user", {BAD: BAD}))
    safe(chat.lines(), document(chat).split("\n"))


def _without_keys(form: Any) -> Any:
    """Keys go back to the agent as they are."""
    return {**form, "fields": [{**field, "key": "", "value": ""} for field in form["fields"]]}


def _session() -> Session:
    return Session("s", "claude", "/ws", roots=("/ws",))


def test_the_status_the_options_and_the_list() -> None:
    session = _session()
    choice = Choice("v", BAD, BAD, BAD)
    session.title, session.remote_id = BAD, None
    session.options = [
        Option("m", BAD, "select", "v", [choice], BAD, "mode"),
        Option("x", BAD, "text", category=BAD),
    ]
    session.usage = Usage(1, 2, Cost(3.0, BAD))
    safe(status_of(session, failure=Failure(BAD), logging_in=BAD, label=BAD), rows(session.options))
    safe(listed(SessionInfo("id", "/ws", BAD)))
    chat = Chat()
    chat.prompt(BAD)
    chat.say("x")
    safe(topic_of(chat.session), document(chat).split("\n"))
    chat.session.remote_id = BAD
    safe(Markdown(Look(chat.session, label="x", home=HOME)).head(0.0).split("\n"))


@pytest.mark.parametrize(
    ("kind", "subject", "raw"),
    [
        ("execute", CommandSubject(BAD, f"/{BAD}", f"/{BAD}", BAD, ((BAD, BAD),)), None),
        ("execute", None, None),
        ("switch_mode", None, {"plan": BAD, BAD: BAD}),
        ("other", UnknownSubject(BAD, {BAD: BAD}), {BAD: [BAD]}),
        ("edit", None, {BAD: BAD}),
    ],
)
def test_a_question(kind: str, subject: Any, raw: Any) -> None:
    chat = Chat()
    content = [Diff((Change("modify", "/ws/a"), Change(BAD, f"/{BAD}", f"/{BAD}")), None, BAD)]
    chat.tool("t", BAD, kind, content=content if kind == "edit" else [], raw_input=raw, locations=at(BAD))
    asked = chat.ask("t", subject=subject, title=BAD, description=BAD, host=BAD)
    shown = describe(asked, chat.session.tool_calls["t"], chat.session, home=HOME)
    payload = {**shown.payload(1), "options": [{**each, "id": ""} for each in shown.options]}
    safe(payload, words(asked, chat.session), chat.lines())


def test_the_windows_of_a_change() -> None:
    look = Look(_session(), label="x", home=HOME)
    long = f"{LINE}{'x' * (MAX_LINE + 9)}\n{LINE}\n"
    cases = [
        Case(
            "/ws/a", [Diff((Change(BAD, "/ws/a", f"/{BAD}", BAD, BAD),), "a", long)], Now("a", True, size=1)
        ),
        Case("/ws/a", [Diff((Change("move", "/ws/a", f"/{BAD}"),))], Now("a", True, size=1)),
        Case(f"/ws/{BAD}", [Diff((Change("add", f"/ws/{BAD}", None, BAD, f"image/{BAD}"),))], Now(None)),
    ]
    for case in cases:
        made = propose(case, look).payload()
        for side in made["sides"]:
            side["path"] = ""
        safe(
            {**made, "path": ""},
            [side.lines for side in propose(case, look).sides],
            mention=case is not cases[1],
        )


def test_how_a_command_ended() -> None:
    chat = Chat()
    chat.apply(TerminalPatch("t", command=BAD, cwd=f"/{BAD}", exit=Exit(None, BAD)))
    chat.tool("c", BAD, "execute", status="completed", content=[TerminalRef("t")])
    chat.frames()
    safe(chat.lines(), document(chat).split("\n"), chat.transcript.details(1, 0))
    (terminal,) = chat.session.terminals.values()
    safe(caption(terminal, chat.session), ending_of(terminal))
