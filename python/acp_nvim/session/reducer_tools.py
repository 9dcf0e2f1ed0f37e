"""Tool calls and the questions that stand in their rows."""

from __future__ import annotations

from msgspec import UNSET

from .asked import Permission
from .content import Block, Diff, ToolContent
from .elicitation import ACCEPT, DECLINE, Elicitation
from .entities import ToolCall
from .events import ElicitationFinished, PermissionClosed, PermissionOpened, ToolAppend, ToolPatch
from .reducer_messages import patched
from .reducer_overwrites import said_before
from .reducer_terminals import link
from .step import FINAL_STATUS, Step, own

KINDS = frozenset(
    ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
)
STATUSES = frozenset(("pending", "in_progress", "paused", *FINAL_STATUS))


def patch(step: Step, event: ToolPatch) -> None:
    """Create or patch a call; it stays where it was first named (V1-102..105, V1-110..112, V2-83..91)."""
    call = _call(step, event.id)
    if event.title is not UNSET:
        call.title = event.title or ""
    if event.name is not UNSET:
        call.name = event.name
    if event.kind is not UNSET:
        known = event.kind is None or event.kind in KINDS
        call.kind = event.kind if event.kind is not None and known else "other"
        call.kind_raw = None if known else event.kind
    if event.content is not UNSET:
        call.content = [_own(said_before(call, item)) for item in event.content or ()]
        link(step.session, call)
    if event.locations is not UNSET:
        call.locations = list(event.locations or ())
    if event.raw_input is not UNSET:
        call.raw_input = event.raw_input
    if event.raw_output is not UNSET:
        call.raw_output = event.raw_output
    if event.can_cancel is not UNSET:
        call.can_cancel = bool(event.can_cancel)
    call.meta = patched(call.meta, event.meta)
    if event.status is not UNSET:
        _status(call, event.status)
    _settle(call, step.now)
    step.touch(call)


def append(step: Step, event: ToolAppend) -> None:
    """Append one content item; an unknown id creates the call (V2-87, V2-89)."""
    call = _call(step, event.id)
    call.content.append(_own(said_before(call, event.content)))
    link(step.session, call)
    step.touch(call)


def opened(step: Step, event: PermissionOpened) -> None:
    """A question stands in its row; without a tool call it gets a row of its own (V1-110, V1-136)."""
    session, permission = step.session, event.permission
    if permission.id in session.permissions:
        return
    session.permissions[permission.id] = permission
    if permission.tool_call_id is None:
        permission.tool_call_id = f"question:{permission.id}"
        call = _call(step, permission.tool_call_id)
        call.side = "client"
    else:
        call = _call(step, permission.tool_call_id)
    if call.side == "client" and not call.title and permission.title:
        call.title = permission.title  # what is asked never changes a call of the agent's (V2-117)
    call.permissions.append(permission)
    call.proposed = [item for item in call.content if isinstance(item, Diff)] or call.proposed
    permission.shown = tuple(call.proposed)
    if call.local in ("rejected", "cancelled") and call.status not in FINAL_STATUS:
        call.local = "none"  # it is asked again
    call.unanswered = False
    _settle(call, step.now)
    permission.opened = permission.opened or step.now
    step.touch(call)
    refresh(step)


def closed(step: Step, event: PermissionClosed) -> None:
    """A question has its answer. The first one counts."""
    session = step.session
    permission = session.permissions.get(event.id)
    if permission is None or permission.state != "open":
        return
    permission.state = "withdrawn" if event.outcome == "withdrawn" else "answered"
    permission.answer = event.option if event.outcome == "selected" else None
    permission.by = event.by
    permission.closed = step.now
    call = session.tool_calls[permission.tool_call_id or ""]
    if isinstance(permission.subject, Elicitation):
        _answered(permission.subject, event, call)
        _settle(call, step.now)
        step.touch(call)
        refresh(step)
        return
    kind = _answer(permission)
    if kind is not None and kind.startswith("reject") and session.turn is not None:
        session.turn.rejected = True
    _mark(call, permission, kind)
    _settle(call, step.now)
    step.touch(call)
    refresh(step)


def finished(step: Step, event: ElicitationFinished) -> None:
    """The user is done with a page (V1-207)."""
    event.elicitation.state = "finished"
    for call in step.session.tool_calls.values():
        if any(each.subject is event.elicitation for each in call.permissions):
            step.touch(call)


def refresh(step: Step) -> None:
    """Open questions make the session and its turn wait (derived, except where v2 agents say it)."""
    session = step.session
    waiting = bool(session.open_permissions)
    turn = session.turn
    if turn is not None:
        turn.state = "waiting" if waiting else "running"
    if step.derived and session.state not in ("starting", "closed", "lost"):
        session.state = "requires_action" if waiting else "running" if turn is not None else "idle"


def cancelling(step: Step) -> None:
    """Mark unfinished rows at once, before the agent has said anything (V1-79, V2-69)."""
    background = _background(step)
    for call in step.session.tool_calls.values():
        if not call.final and call.id not in background:
            call.local = "cancelled"
            _settle(call, step.now)
            step.touch(call)


def finish(step: Step, stop: str | None, *, cancelled: bool) -> None:
    """Give every unfinished row its final mark; no result is invented (V1-113).

    A row that was rejected stays rejected; the others are cancelled with the turn, or got no answer.
    """
    background = _background(step)
    for call in step.session.tool_calls.values():
        if call.final or call.id in background or call.open_permissions:
            continue
        if _rejected(call):
            call.local = "rejected"
        elif cancelled and stop not in ("error", "lost"):
            call.local = "cancelled"
        else:
            call.unanswered = True
        _settle(call, step.now)
        step.touch(call)


def _call(step: Step, call_id: str) -> ToolCall:
    call = step.session.tool_calls.get(call_id)
    if call is None:
        call = ToolCall(call_id, started=step.now)
        step.session.tool_calls[call_id] = call
        step.place(call)
    return call


def _status(call: ToolCall, status: str | None) -> None:
    """Any order is accepted (V1-111). A real status replaces our mark (V1-82).

    Except: what failed or was cancelled after the user's rejection shows the rejection.
    """
    known = status is None or status in STATUSES
    call.status = (status if known else "in_progress") or "pending"
    call.status_raw = None if known else status
    call.unanswered = False
    call.local = "rejected" if call.status in ("failed", "cancelled") and _rejected(call) else "none"


def _settle(call: ToolCall, now: float) -> None:
    if not call.final:
        call.ended = None
    elif call.ended is None:
        call.ended = now


def _answer(permission: Permission) -> str | None:
    """The kind of the option that was chosen; a refusal by ``cancelled`` counts as reject_once.

    None: no answer of the user (withdrawn, or cancelled with the turn).
    """
    if permission.state != "answered":
        return None
    if permission.answer is None:
        return "reject_once" if permission.by in ("user", "rule") else None
    return next((option.kind for option in permission.options if option.id == permission.answer), "other")


def _rejected(call: ToolCall) -> bool:
    """True when the newest answer in this row was a rejection."""
    kinds = [kind for kind in map(_answer, call.permissions) if kind is not None]
    return bool(kinds) and kinds[-1].startswith("reject")


def _answered(elicitation: Elicitation, event: PermissionClosed, call: ToolCall) -> None:
    """It says nothing about the agent's own call it may stand in; declining rejects nothing."""
    if elicitation.state == "open":
        if event.outcome == "withdrawn":
            elicitation.state = "withdrawn"
        elif event.option == ACCEPT:
            elicitation.state = "accepted" if elicitation.url is None else "opened"
        else:
            elicitation.state = "declined" if event.option == DECLINE else "cancelled"
    elicitation.content = event.content
    if call.side == "client":
        # A row of its own: nobody else will say how it went.
        call.status = "completed" if elicitation.state in ("accepted", "opened", "finished") else "cancelled"


def _mark(call: ToolCall, permission: Permission, kind: str | None) -> None:
    if call.side == "client":
        # A row of our own question: nobody else will say how it went.
        if kind is None:
            call.status = "cancelled"
        elif kind.startswith("reject"):
            call.local = "rejected"
        else:
            call.status = "completed"
        return
    if kind is None:
        if permission.state == "answered" and call.status not in FINAL_STATUS and not _rejected(call):
            call.local = "cancelled"
    elif kind.startswith("reject"):
        if call.status != "completed":
            call.local = "rejected"
    elif kind.startswith("allow"):
        if call.status not in FINAL_STATUS:
            call.local = "granted"
        if kind == "allow_always":
            call.granted_always = next(o.name for o in permission.options if o.id == permission.answer)


def _background(step: Step) -> set[str]:
    """Ids of tool calls that go on apart from the turn, also as a terminal of theirs does (V2-66, V2-68)."""
    found: set[str] = set()
    for item in step.session.background or []:
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("toolCallId"), str):
            found.add(item["toolCallId"])
        terminal = step.session.terminals.get(str(item.get("terminalId")))
        if terminal is not None:
            found.update(terminal.calls)
    return found


def _own(item: ToolContent) -> ToolContent:
    return own(item) if isinstance(item, Block) else item
