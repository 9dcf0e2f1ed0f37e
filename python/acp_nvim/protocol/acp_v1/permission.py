"""``session/request_permission``: what is asked, in the model's words (spec section 12)."""

from __future__ import annotations

import shlex
from typing import Any

from acp_nvim.session.asked import CommandSubject, Permission, PermissionOption, Subject, ToolSubject
from acp_nvim.session.entities import ToolCall
from acp_nvim.wire.acp_v1 import tools as wire

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


def permission(options: list[wire.PermissionOption], call: ToolCall, before: Any) -> Permission:
    """The question about a call, to which its ``toolCall`` patch was applied already (V1-127).

    ``before`` is the call's raw input before that. Every option in the given order (V1-128), also none
    (V1-135); an unknown kind is neutral (V1-137).
    """
    return Permission(
        id="",  # given by the queue of questions
        options=[
            PermissionOption(o.option_id, o.name, o.kind if o.kind in KINDS else "other", o.kind)
            for o in options
        ],
        subject=subject(call, before),
        tool_call_id=call.id,
    )


def subject(call: ToolCall, before: Any) -> Subject:
    """A command when the call's raw input names one, never guessed from the title (V1-132, V1-133).

    Only calls that may run commands: an editing tool's input may have a ``command`` of its own. Agents
    repeat a part of the input when they ask; the working directory of the same command still holds.
    """
    if call.kind not in ("execute", "other"):
        return ToolSubject(call.id)
    command = _command(call.raw_input)
    if command is None:
        return ToolSubject(call.id)
    cwd = _cwd(call.raw_input)
    if cwd is None and _command(before) == command:
        cwd = _cwd(before)
    return CommandSubject(command, cwd)


def _command(raw: Any) -> str | None:
    if not isinstance(raw, dict):
        return None
    for key in ("command", "cmd"):
        value = raw.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return shlex.join(value)
    return None


def _cwd(raw: Any) -> str | None:
    if not isinstance(raw, dict):
        return None
    for key in ("cwd", "workdir"):
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
    return None
