"""A question in full: what will happen if the user says yes. For the row's body and for the card (C34)."""

from __future__ import annotations

from acp_nvim.session.asked import LoginSubject, Permission
from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.text.sanitise import one_line

from . import elicitation, login
from .icons import UNICODE, Icons
from .look import Look
from .proposal import files
from .question import Question, shown_option
from .question_content import put_content
from .question_words import about, action

#: Cells of the one-line form.
PROMPT_CELLS = 300


def describe(
    permission: Permission,
    call: ToolCall | None,
    session: Session,
    icons: Icons = UNICODE,
    label: str = "",
    home: str | None = None,
) -> Question:
    """Say everything about a question. ``call`` is the tool call it stands in; ``label`` names the agent."""
    look = Look(session, icons, label, home)
    call = call or ToolCall("")
    kind = about(permission, call)
    question = Question(
        id=permission.id,
        options=[shown_option(each) for each in permission.options],
        n_open=max(len(session.open_permissions), 1),
    )
    if isinstance(permission.subject, LoginSubject):
        question.title, question.prompt, question.what = login.words(permission.subject, look)
        login.put(question, permission.subject, look)
        login.about(permission.subject, question.options)
        return question
    if isinstance(permission.subject, Elicitation):
        does, short = elicitation.action(permission.subject)
        if permission.asked_by == "client":
            does = "needs an answer"  # the agent has asked nothing
        question.form = elicitation.for_lua(permission.subject)
    else:
        does, short = action(kind, permission, call, look)
    asks = f"{look.agent} ({one_line(permission.host)})" if permission.host else look.agent
    question.title = f"{asks} {does}"
    question.change = kind != "elicitation" and bool(files(call))
    put_content(question, kind, permission, call, look)
    question.prompt = one_line(f"{asks} {short}", PROMPT_CELLS, icons.cut)
    verb, _, target = short.removeprefix("wants to ").partition(": ")
    question.what = one_line(f"{verb} {target}", PROMPT_CELLS, icons.cut)
    return question


def words(permission: Permission, session: Session, label: str = "") -> str:
    """A question in one line, as a picker shows it; without its content, which may be long."""
    call = session.tool_calls.get(permission.tool_call_id or "") or ToolCall("")
    look = Look(session, UNICODE, label)
    short = action(about(permission, call), permission, call, look)[1]
    return one_line(f"{look.agent} {short}", PROMPT_CELLS)
