"""A rejection with a reason, which the agent is told: for agents that are answered in words."""

from __future__ import annotations

from .asked import Permission, PermissionOption
from .elicitation import ACCEPT, DECLINE, Elicitation, Form, FormField
from .entities import Session
from .ports import Questions

REJECT = PermissionOption("reject", "Reject", "reject_once")
#: Of no kind that a key stands for: there is one way to reject at once.
REASON = PermissionOption("reason", "Reject, and say why", "reject_why")

#: The answers of the form for that.
SEND = PermissionOption(ACCEPT, "Answer", "other")
PLAIN = PermissionOption(DECLINE, "Say nothing", "other")

#: What the agent is told of a question that was closed without an answer.
CLOSED = "The user closed the question."
#: The same of what was open when the turn was cancelled.
CANCELLED = "The user cancelled the turn."


async def reason(session: Session, questions: Questions, tool: str) -> str | None:
    """What the user types; without it, it is a rejection all the same."""
    field = FormField("reason", "text", "why not")
    title = f"why is {tool} rejected? The agent is told."
    # In a row of its own: the call's own row goes on saying that it was rejected.
    question = Permission(
        "", [SEND, PLAIN], title, subject=Elicitation(title, Form((field,))), asked_by="client"
    )
    reply = await questions.elicit(session, question)
    said = (reply.content or {}).get("reason")
    return said.strip() or None if isinstance(said, str) else None
