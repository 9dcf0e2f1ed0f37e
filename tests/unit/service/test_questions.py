"""Each question is answered exactly once, whoever answers, cancels or withdraws it."""

from __future__ import annotations

import anyio
import pytest
from tests.unit.service.helpers import OPTIONS, Room

from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.elicitation import Elicitation, Form, FormField, Reply
from acp_nvim.session.entities import Session

pytestmark = pytest.mark.anyio


def question(name: str = "", call: str | None = "t1") -> Permission:
    return Permission(name, list(OPTIONS), tool_call_id=call)


class Asking:
    """Questions that are being asked, and the answers that came back."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.answers: list[tuple[str, str | None]] = []

    async def ask(self, session: Session, permission: Permission) -> None:
        answer = await self.room.questions.ask(session, permission)
        self.answers.append((permission.id, answer))


@pytest.mark.parametrize(("index", "answer"), [(1, "ok"), (2, "no"), (0, None)])
async def test_an_answer_comes_back_once(index: int, answer: str | None) -> None:
    room = Room()
    asking, session = Asking(room), room.session()
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, session, question())
        await room.until(lambda: room.shown)
        assert room.questions.answer("q1", index)
        assert not room.questions.answer("q1", 1), "a second answer does no harm"
    assert asking.answers == [("q1", answer)]
    outcome = "cancelled" if index == 0 else "selected"
    assert room.closings() == [("q1", outcome, answer, "user")]
    assert room.hidden == [("q1", outcome)]
    assert not room.questions.answer("q1", 2)
    assert session.open_permissions == []


async def test_wrong_answers_do_no_harm() -> None:
    room = Room()
    asking = Asking(room)
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, room.session(), question())
        await room.until(lambda: room.shown)
        for name, index in (("q1", 3), ("q1", -1), ("q9", 1), ("", 0)):
            assert not room.questions.answer(name, index)
        assert asking.answers == []
        room.questions.answer("q1", 1)
    assert asking.answers == [("q1", "ok")]


@pytest.mark.req("V1-136")
async def test_two_for_one_call_are_two_in_any_order() -> None:
    room = Room()
    asking, session = Asking(room), room.session()
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, session, question())
        await room.until(lambda: len(room.shown) == 1)
        group.start_soon(asking.ask, session, question())
        await room.until(lambda: len(room.shown) == 2)
        assert len(session.tool_calls["t1"].open_permissions) == 2
        room.questions.answer("q2", 2)
        await room.until(lambda: asking.answers)
        assert [p.id for p in session.open_permissions] == ["q1"]
        room.questions.answer("q1", 1)
    assert asking.answers == [("q2", "no"), ("q1", "ok")]


@pytest.mark.req("V1-80")
async def test_cancelling_a_session_leaves_others_alone() -> None:
    room = Room()
    asking, first, second = Asking(room), room.session("a"), room.session("b")
    async with anyio.create_task_group() as group:
        for session in (first, first, second):
            group.start_soon(asking.ask, session, question(call=None))
        await room.until(lambda: len(room.shown) == 3)
        room.questions.cancel_all(first, "cancel")
        room.questions.cancel_all(first, "cancel")
        await room.until(lambda: len(asking.answers) == 2)
        assert [p.id for p in room.questions.open()] == ["q3"]
        assert room.questions.open(first) == []
        room.questions.answer("q3", 1)
    assert sorted(asking.answers) == [("q1", None), ("q2", None), ("q3", "ok")]
    assert [closing[3] for closing in room.closings()] == ["cancel", "cancel", "user"]


async def test_a_question_of_ours_outlives_the_turn() -> None:
    """opencode ends its turn without waiting for its write to be answered."""
    room = Room()
    asking, session = Asking(room), room.session()
    ours = question(call=None)
    ours.asked_by = "client"
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, session, ours)
        group.start_soon(asking.ask, session, question())
        await room.until(lambda: len(room.shown) == 2)
        room.questions.cancel_all(session, "agent")
        await room.until(lambda: asking.answers)
        assert asking.answers == [("q2", None)]
        assert room.questions.answer("q1", 1)
    assert asking.answers[-1] == ("q1", "ok")


async def test_the_agent_takes_it_back() -> None:
    room = Room()
    asking = Asking(room)
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, room.session(), question())
        await room.until(lambda: room.shown)
        group.cancel_scope.cancel()
    assert asking.answers == []
    assert room.closings() == [("q1", "withdrawn", None, "agent")]
    assert room.hidden == [("q1", "withdrawn")]
    assert not room.questions.answer("q1", 1)


async def test_answered_and_taken_back_at_once_is_answered() -> None:
    room = Room()
    asking = Asking(room)
    async with anyio.create_task_group() as group:
        group.start_soon(asking.ask, room.session(), question())
        await room.until(lambda: room.shown)
        room.questions.answer("q1", 1)
        group.cancel_scope.cancel()
    assert room.closings() == [("q1", "selected", "ok", "user")]
    assert room.hidden == [("q1", "selected")]


async def test_ids_are_unique() -> None:
    room = Room()
    asking, session = Asking(room), room.session()
    permissions = [question(name, None) for name in ("", "mine", "mine", "q2", "", "")]
    async with anyio.create_task_group() as group:
        for permission in permissions:
            group.start_soon(asking.ask, session, permission)
        await room.until(lambda: len(room.shown) == 6)
        assert len({permission.id for permission in permissions}) == 6
        room.questions.cancel_all(session, "close")
    assert {closing[3] for closing in room.closings()} == {"close"}


async def test_an_answer_while_it_is_being_shown() -> None:
    room = Room()
    room.on_show = lambda _session, permission: (room.questions.answer(permission.id, 2), None)[1]
    with anyio.fail_after(5):
        assert await room.questions.ask(room.session(), question()) == "no"


async def test_what_cannot_be_shown_is_withdrawn() -> None:
    def fail(_session: Session, _permission: Permission) -> None:
        raise ValueError("no lines")

    room = Room(on_show=fail)
    session = room.session()
    with pytest.raises(ValueError, match="no lines"):
        await room.questions.ask(session, question())
    assert session.open_permissions == []
    assert room.closings() == [("q1", "withdrawn", None, "agent")]


async def test_thirty_sessions_with_thirty_questions_each() -> None:
    room = Room()
    asking = Asking(room)
    sessions = [room.session(f"s{n}") for n in range(30)]
    async with anyio.create_task_group() as group:
        for session in sessions:
            for n in range(30):
                group.start_soon(asking.ask, session, question(call=f"t{n}"))
        await room.until(lambda: len(room.shown) == 900)
        for name in reversed(room.shown):
            room.questions.answer(name, 1 + int(name[1:]) % 2)
    assert len(asking.answers) == 900
    assert all(answer == OPTIONS[int(name[1:]) % 2].id for name, answer in asking.answers)
    assert len(room.closings()) == 900


FORM = Form((FormField("name", "text"), FormField("password", "text")))


def form(call: str | None = None, fields: Form = FORM) -> Permission:
    options = [PermissionOption("accept", "Answer", "other"), PermissionOption("decline", "Decline", "other")]
    return Permission("", options, subject=Elicitation("m", fields, tool_call_id=call), tool_call_id=call)


async def elicit(room: Room, session: Session, permission: Permission, replies: list[Reply]) -> None:
    replies.append(await room.questions.elicit(session, permission))


@pytest.mark.req("V1-202")
async def test_a_form_is_answered_with_its_content_only() -> None:
    room, replies = Room(), list[Reply]()
    session = room.session()
    async with anyio.create_task_group() as group:
        group.start_soon(elicit, room, session, asked := form(), replies)
        await room.until(lambda: room.shown)
        assert not room.questions.answer("q1", 1), "there is something to fill in"
        assert not room.questions.fill("q9", {})
        assert room.questions.find("q1") is asked
        assert room.questions.fill("q1", {"name": "Ann", "password": "hunter2"})
        assert not room.questions.fill("q1", {"name": "Bob"})
    assert replies == [Reply("accept", {"name": "Ann", "password": "hunter2"})]
    assert room.questions.find("q1") is None
    assert isinstance(asked.subject, Elicitation)
    assert asked.subject.content == {"name": "Ann"}  # the model does not keep what looks secret


@pytest.mark.parametrize(("index", "action"), [(2, "decline"), (0, "cancel")])
@pytest.mark.req("V1-202")
async def test_a_form_is_declined_or_cancelled(index: int, action: str) -> None:
    room, replies = Room(), list[Reply]()
    async with anyio.create_task_group() as group:
        group.start_soon(elicit, room, room.session(), form(), replies)
        await room.until(lambda: room.shown)
        assert room.questions.answer("q1", index)
    assert [(reply.action, reply.content) for reply in replies] == [(action, None)]


@pytest.mark.req("V1-202")
async def test_a_form_without_fields_is_accepted_by_a_word() -> None:
    room, replies = Room(), list[Reply]()
    async with anyio.create_task_group() as group:
        group.start_soon(elicit, room, room.session(), form(fields=Form()), replies)
        await room.until(lambda: room.shown)
        assert room.questions.answer("q1", 1)
    assert replies == [Reply("accept", {})]


@pytest.mark.req("V1-208")
async def test_a_form_of_the_session_outlives_the_turn_but_no_cancel() -> None:
    room, replies = Room(), list[Reply]()
    session = room.session()
    async with anyio.create_task_group() as group:
        group.start_soon(elicit, room, session, form(), replies)
        group.start_soon(elicit, room, session, form("t1"), replies)
        await room.until(lambda: len(room.shown) == 2)
        room.questions.cancel_all(session, "agent")
        await room.until(lambda: len(replies) == 1)
        assert [each.id for each in room.questions.open()] == ["q1"]
        room.questions.cancel_all(session, "cancel")
    assert [reply.action for reply in replies] == ["cancel", "cancel"]
