"""Questions about tools of the server's that are not trusted, and what is answered (spec section 8)."""

from __future__ import annotations

from typing import Any

from acp_nvim.session.asked import Permission, PermissionOption, ToolSubject
from acp_nvim.session.events import OptionsSet
from acp_nvim.session.ports import Questions, Sink
from acp_nvim.session.rejection import CLOSED, REASON, REJECT, reason
from acp_nvim.wire.aap.messages import ToolPermissionMessage
from acp_nvim.wire.aap.meta import ToolSpec

from .links import TRUST, Call, Link
from .options import offered

ALLOW = PermissionOption("allow", "Allow once", "allow_once")
ALWAYS = PermissionOption("always", "Always allow this tool in this session", "allow_always")


async def ask(call: Call, link: Link, questions: Questions, sink: Sink) -> ToolPermissionMessage:
    """Ask the user about a call. A closed question is a rejection: the server knows no other way."""
    spec = link.spec(call.name)
    # A tool that the server does not expose cannot be switched.
    always = [ALWAYS] if spec is not None else []
    answer = await questions.ask(
        link.session,
        Permission(
            "",
            [ALLOW, *always, REJECT, REASON],
            description=described(spec) if spec is not None else None,
            subject=ToolSubject(call.row),
            tool_call_id=call.row,
        ),
    )
    if answer == ALWAYS.id:
        link.tools[call.name] = TRUST  # from the next post on, which is the one of this answer (AAP-23)
        sink.apply(link.session, OptionsSet(offered(link)))
    if answer in (ALLOW.id, ALWAYS.id):
        return ToolPermissionMessage(call.id, granted=True)
    if answer == REASON.id:
        why = await reason(link.session, questions, call.name)
        return ToolPermissionMessage(call.id, granted=False, reason=why)
    return ToolPermissionMessage(call.id, granted=False, reason=CLOSED if answer is None else None)


def described(spec: ToolSpec) -> str | None:
    """What the server says of a tool and its parameters (AAP-57)."""
    schema: Any = spec.parameters if spec.parameters is not None else spec.input_schema
    properties = schema.get("properties") if isinstance(schema, dict) else None
    lines = [spec.description] if spec.description else []
    for name, about in properties.items() if isinstance(properties, dict) else ():
        said = about.get("description") if isinstance(about, dict) else None
        if isinstance(said, str) and said:
            lines.append(f"{name}: {said}")
    return "\n".join(lines) or None
