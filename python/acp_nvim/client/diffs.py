"""Answers Lua's wish to see a change: finds it, reads what the user has now, and sends what is shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from msgspec import structs

from acp_nvim.editor import Editor
from acp_nvim.service.roots import real_path
from acp_nvim.session.asked import PathSubject, Permission
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.view import facts
from acp_nvim.view.case import Case, Proposal
from acp_nvim.view.look import Look
from acp_nvim.view.outcome import Hints
from acp_nvim.view.proposal import files, propose
from acp_nvim.view.transcript import Transcript

from .now import look as look_at
from .payloads import ShowDiff

#: Lines of one call into Neovim: what comes with it is decoded between two keys.
PIECE_LINES = 2000

_EVERY = ("replace_all", "replaceAll", "allow_multiple", "allowMultiple")
_STATES = {"rejected": "rejected", "cancelled": "cancelled", "failed": "failed"}


@dataclass(frozen=True, slots=True)
class _Target:
    call: ToolCall
    path: str
    question: str | None = None


class Diffs:
    """One for the host. ``show`` answers each request exactly once, with ``acp.diff.request.answer``."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def show(self, request: ShowDiff, session: Session, transcript: Transcript, look: Look) -> None:
        """Answer a request of Lua: a proposal, or why there is none."""
        targets = list(_targets(request, session, transcript))
        target = await anyio.to_thread.run_sync(_select, request, targets, session.cwd)
        if target is None:
            reason = _nothing(request, targets, look)
            self._editor.notify("acp.diff.request", "answer", request.id, None, reason)
            return
        case = await self._case(target)
        # Comparing may take a second for very large texts: never on the loop.
        proposal = await anyio.to_thread.run_sync(propose, case, look, abandon_on_cancel=True)
        await self._send(request, target, proposal, case.files)

    async def _send(
        self, request: ShowDiff, target: _Target, proposal: Proposal, paths: Sequence[str]
    ) -> None:
        for number, side in enumerate(proposal.sides, 1):
            for first in range(0, len(side.lines), PIECE_LINES):
                piece = side.lines[first : first + PIECE_LINES]
                if not await self._editor.call("acp.diff.request", "piece", request.id, number, piece):
                    return  # nobody waits any more
        payload = {**proposal.payload(), "chat": request.chat}
        if target.question is not None:
            payload["question"] = target.question
        if len(changed := tuple(files(target.call))) > 1:
            payload |= {
                "call": target.call.id,
                "next": changed[(changed.index(target.path) + 1) % len(changed)],
            }
        self._editor.notify("acp.diff.request", "answer", request.id, payload)

    async def _case(self, target: _Target) -> Case:
        call, path = target.call, target.path
        changed = files(call)
        diffs = [_of_file(each, path, call) for each in changed.get(path, ())]
        seen = [each for each in call.proposed if any(change.path == path for change in each.changes)]
        lines = [place.line for place in call.locations if place.path == path and place.line is not None]
        raw = call.raw_input if isinstance(call.raw_input, dict) else {}
        state = facts.state(call)
        case = Case(
            path,
            diffs,
            await look_at(self._editor, path),
            seen=seen,
            hints=Hints(lines[0] if lines else None, any(raw.get(key) is True for key in _EVERY)),
            done=state == "done",
            state=facts.unanswered(call) if state == "unanswered" else _STATES.get(state, ""),
            files=tuple(changed),
            conflict=_conflict(call),
        )
        old = case.change.old_path
        if old is None or old == path:
            return case
        return structs.replace(case, before=await look_at(self._editor, old))


def _of_file(each: Diff, path: str, call: ToolCall) -> Diff:
    """The part of a diff that is about this file. v1 has no word for deleting: the call's kind says it."""
    changes = tuple(change for change in each.changes if change.path == path)
    if call.kind == "delete" and not each.new_text and not each.patch:
        changes = (Change("delete", path),)
    return structs.replace(each, changes=changes)


def _conflict(call: ToolCall) -> PathSubject | None:
    """Our open question about unsaved edits, if that is what stands in this row."""
    subjects = [permission.subject for permission in call.open_permissions]
    return next((s for s in subjects if isinstance(s, PathSubject) and s.why == "modified"), None)


# -- which change is meant


def _targets(request: ShowDiff, session: Session, transcript: Transcript) -> Iterable[_Target]:
    """The changes that may be meant, the best first."""
    if request.question is not None:
        permission = session.permissions.get(request.question)
        call = session.tool_calls.get((permission.tool_call_id if permission else None) or "")
        yield from _all_of(call, request.question) if call is not None else ()
        return
    if request.call is not None:
        call = session.tool_calls.get(request.call)
        yield from _all_of(call, _open(call)) if call is not None else ()
        return
    if request.block is not None:
        call = transcript.call_at(request.block, request.row)
        found = list(_all_of(call, _open(call))) if call is not None else []
        yield from found
        if found:
            return
    calls = [item for item in session.items if isinstance(item, ToolCall)]
    for permission in session.open_permissions:
        call = session.tool_calls.get(permission.tool_call_id or "")
        yield from _all_of(call, permission.id) if call is not None else ()
    for call in reversed(calls):
        yield from _all_of(call, _open(call))


def _open(call: ToolCall) -> str | None:
    waiting: list[Permission] = call.open_permissions
    return waiting[0].id if waiting else None


def _all_of(call: ToolCall, question: str | None) -> Iterable[_Target]:
    for path in files(call):
        yield _Target(call, path, question)


def _select(request: ShowDiff, targets: list[_Target], cwd: str) -> _Target | None:
    """The first of the targets that is of the path. Touches the disk: links count as what they lead to."""
    if request.path is None:
        return targets[0] if targets else None
    wanted = str(Path(cwd, request.path))
    for target in targets:
        if os.path.normpath(target.path) == os.path.normpath(wanted):
            return target
    real = real_path(wanted)
    return next((target for target in targets if real is not None and real_path(target.path) == real), None)


def _nothing(request: ShowDiff, targets: list[_Target], look: Look) -> str:
    if request.path is not None and targets:
        return f"{look.agent} has changed nothing in {look.path(str(Path(look.session.cwd, request.path)))}"
    if request.question is not None:
        return "this question is about no change of a file"
    return f"{look.agent} has changed no file in this chat"
