"""What a tool call says about itself, wherever agents put it."""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from acp_nvim.session.asked import CommandSubject, LoginSubject, PathSubject, Permission
from acp_nvim.session.content import Block, Diff, Location
from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.text.diff import Hunk, LineDiff, count_patch, diff
from acp_nvim.text.sanitise import clean

from .content import hidden

State: TypeAlias = Literal[
    "pending", "running", "paused", "waiting", "done", "failed", "rejected", "cancelled", "unanswered"
]

VERBS = {
    "read": "read",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "run",
    "think": "think",
    "fetch": "fetch",
    "switch_mode": "mode",
}
#: Lines of a diff that are shown in a row or a question, and characters of one of them.
HUNK_LINES = 200
LINE_CHARS = 1000
#: Lines around a change that is shown in a row.
CONTEXT = 1

#: The fence is all of its characters (``++``): a long one would be tried with each number of them.
_FENCED = re.compile(r"\A\s*(`{3,}+|~{3,}+)[^\n`]*\n(.*?)\n?\1\s*\Z", re.DOTALL)


class Hunks(Struct, frozen=True):
    """A diff as it is shown. ``lines`` begin with their sign and a blank, or are headers.

    ``more`` lines were left out; ``large``: too large to be compared at all.
    """

    path: str | None = None
    op: str = "modify"
    added: int = 0
    removed: int = 0
    lines: list[str] = []
    more: int = 0
    large: bool = False


def verb(call: ToolCall) -> str:
    """The word for the kind of the call, or of our question that stands in it."""
    if call.side == "client" and (asked := elicitation(call)) is not None:
        return "ask" if asked.url is None else "open"
    subject = subject_of(call)
    if isinstance(subject, PathSubject):
        return "read" if subject.op == "read" else "edit"
    if isinstance(subject, CommandSubject) and call.kind == "other":
        return "run"
    login = login_of(call)
    if login is not None:
        return login.op
    return VERBS.get(call.kind, "tool")


def state(call: ToolCall) -> State:
    """What the row shows. A question that is open goes before whatever else the agent says (C05)."""
    if call.open_permissions:
        return "waiting"
    if call.side == "client" and (asked := elicitation(call)) is not None and asked.state == "opened":
        return "pending"  # in the browser; nobody may ever say how it ends
    if call.status == "completed":
        return "failed" if runs(call) and (exit_code(call) or signal(call)) else "done"
    if call.local == "rejected":
        return "rejected"
    if call.local == "cancelled" or call.status == "cancelled":
        return "cancelled"
    if call.status == "failed":
        return "failed"
    if call.unanswered:
        return "unanswered"
    if call.status == "in_progress" or call.local == "granted":
        return "running"
    return "paused" if call.status == "paused" else "pending"


def unanswered(call: ToolCall) -> str:
    """What is said of a call that the agent left without a word of how it went.

    After a question of its row that the user has answered, "no answer" would read as theirs.
    """
    answered = any(each.state == "answered" for each in call.permissions)
    return "no result" if answered else "no answer"


def runs(call: ToolCall) -> bool:
    """Whether the call is about a command, whose output and end are shown."""
    return verb(call) == "run" or (bool(call.terminals) and verb(call) not in ("read", "search"))


def elicitation(call: ToolCall) -> Elicitation | None:
    """The newest form or page that stands in this row."""
    for permission in reversed(call.permissions):
        if isinstance(permission.subject, Elicitation):
            return permission.subject
    return None


def subject_of(call: ToolCall) -> CommandSubject | PathSubject | None:
    """The subject of the newest question of this row, when it says more than the call."""
    for permission in reversed(call.permissions):
        if isinstance(permission.subject, CommandSubject | PathSubject):
            return permission.subject
    return None


def login_of(call: ToolCall) -> LoginSubject | None:
    """The subject of a row that is about a login."""
    last = call.permissions[-1].subject if call.permissions else None
    return last if isinstance(last, LoginSubject) else None


def command(call: ToolCall | None, permission: Permission | None = None) -> tuple[str | None, str | None]:
    """The command in full and its folder; None for what nobody said. Never guessed from a title."""
    subject = permission.subject if permission is not None else subject_of(call) if call else None
    if isinstance(subject, CommandSubject):
        return subject.command, subject.cwd
    raw = call.raw_input if call is not None else None
    if not isinstance(raw, dict):
        return None, None
    said = next((raw[key] for key in ("command", "cmd") if raw.get(key)), None)
    if isinstance(said, list) and all(isinstance(word, str) for word in said):
        said = shlex.join(said)
        args = None
    else:
        args = raw.get("args")
    if not isinstance(said, str):
        return None, None
    if isinstance(args, list) and args and all(isinstance(word, str) for word in args):
        said = f"{said} {shlex.join(args)}"
    folder = next((raw[key] for key in ("cwd", "workdir") if isinstance(raw.get(key), str)), None)
    return said, folder


def diffs(call: ToolCall) -> list[Diff]:
    """The changes of the call; our own question about a file brings its own.

    An agent may drop them when it is done (opencode, for a new file): then what the user allowed is shown.
    """
    found = [item for item in call.content if isinstance(item, Diff)]
    if not found and call.status == "completed":
        found = list(call.proposed)
    subject = subject_of(call)
    if not found and isinstance(subject, PathSubject) and subject.diff is not None:
        found.append(subject.diff)
    return found


def location(call: ToolCall) -> Location | None:
    """Where the call works: with a range of lines when known, else from the diff."""
    subject = subject_of(call)
    if isinstance(subject, PathSubject):
        return Location(subject.path)
    if call.locations:
        place = call.locations[0]
        if place.line is not None and place.end_line is None and isinstance(call.raw_input, dict):
            limit = call.raw_input.get("limit")
            if isinstance(limit, int) and 1 < limit < 10_000_000:
                return Location(place.path, place.line, place.line + limit - 1)
        return place
    for change in diffs(call):
        if change.changes:
            return Location(change.changes[0].path)
    return None


def texts(call: ToolCall, *, whole: bool = False) -> str:
    """The text content of the call. A fence around the whole of it is dropped.

    ``whole``: also what is for the model alone (V1-101): the user is asked about all of it.
    """
    blocks = [item for item in call.content if isinstance(item, Block) and item.type == "text"]
    if not whole:
        blocks = [block for block in blocks if not hidden(block)]
    text = "\n".join(str(block.text).removesuffix("\n") for block in blocks if block.text is not None)
    match = _FENCED.match(text)
    return match[2] if match else text


def output(call: ToolCall) -> str:
    """What the program wrote: the text content, else known shapes of the raw output."""
    text = texts(call)
    if text:
        return text
    raw = call.raw_output
    if isinstance(raw, str):
        return raw
    if not isinstance(raw, dict):
        return ""
    for key in ("output", "aggregated_output", "formatted_output", "error", "message"):
        if isinstance(raw.get(key), str) and raw[key]:
            return str(raw[key])
    streams = [raw[key] for key in ("stdout", "stderr") if isinstance(raw.get(key), str) and raw[key]]
    if streams:
        return "\n".join(stream.removesuffix("\n") for stream in streams)
    meta = raw.get("metadata")
    return meta["output"] if isinstance(meta, dict) and isinstance(meta.get("output"), str) else ""


def exit_code(call: ToolCall) -> int | None:
    """The exit code of the command, or of the first that failed: its terminal knows, else the raw output."""
    codes = [
        each.exit.code for each in call.terminals if each.exit is not None and each.exit.code is not None
    ]
    if codes:
        return next((code for code in codes if code), 0)
    for place in _places(call.raw_output):
        for key in ("exit", "exit_code", "exitCode", "returncode", "code"):
            value = place.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def signal(call: ToolCall) -> str | None:
    """The signal that ended the command when nobody had asked for its end."""
    for each in call.terminals:
        if each.exit is not None and each.exit.signal and not each.stopped:
            return each.exit.signal
    return None


def matches(call: ToolCall) -> int | None:
    """How many matches a search found, if the raw output says so."""
    for place in _places(call.raw_output):
        for key in ("matches", "count", "totalMatches"):
            value = place.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def plan_text(call: ToolCall) -> str:
    """The plan that a change of mode is about, wherever it stands (C07): raw input, text, embedded text."""
    raw = call.raw_input if isinstance(call.raw_input, dict) else {}
    plan = raw.get("plan")
    said = [plan] if isinstance(plan, str) else []
    for item in call.content:
        if isinstance(item, Block) and item.text is not None:
            text = str(item.text)
            if not any(text.strip() in known for known in said):
                said.append(text)
    return "\n\n".join(part.strip("\n") for part in said if part.strip())


def hunks(change: Diff) -> Hunks:
    """The diff as it is shown; kept for the diffs seen last, because a row is drawn many times."""
    known = _shown.get(id(change))
    if known is not None and known[0] is change:
        _shown.move_to_end(id(change))
        return known[1]
    made = _hunks(change)
    _shown[id(change)] = (change, made)
    if len(_shown) > 64:
        _shown.popitem(last=False)
    return made


def all_lines(change: Diff) -> Iterator[str]:
    """The whole diff, line by line, as ``hunks`` would show it without its bounds. Not safe text."""
    if change.new_text is not None or change.old_text is not None:
        compared = diff(change.old_text or "", change.new_text or "")
        return iter(()) if compared is None else _signed(compared, compared.hunks(CONTEXT))
    return _patch_lines(change.patch or "")


def counts(changes: list[Diff]) -> tuple[int, int]:
    """Lines added and removed by all of them."""
    found = [hunks(change) for change in changes]
    return sum(each.added for each in found), sum(each.removed for each in found)


def turn_calls(session: Session, turn_end: Any) -> Iterator[ToolCall]:
    """The tool calls between an end line and the one before it."""
    items = session.items
    at = next((i for i in range(len(items) - 1, -1, -1) if items[i] is turn_end), len(items))
    for i in range(at - 1, -1, -1):
        item = items[i]
        if isinstance(item, ToolCall):
            yield item
        elif type(item) is type(turn_end):
            return


_shown: OrderedDict[int, tuple[Diff, Hunks]] = OrderedDict()


def _places(raw: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(raw, dict):
        return
    yield raw
    for key in ("metadata", "exitStatus", "exit_status"):
        inner = raw.get(key)
        if isinstance(inner, dict):
            yield inner


def _hunks(change: Diff) -> Hunks:
    path = change.changes[0].path if change.changes else None
    op = change.changes[0].op if change.changes else "modify"
    if change.new_text is not None or change.old_text is not None:
        if op == "modify" and not change.old_text and not change.replaces:
            op = "add"
        compared = diff(change.old_text or "", change.new_text or "")
        if compared is None:
            return Hunks(path, op, large=True)
        lines, more = _cut(_signed(compared, compared.hunks(CONTEXT)))
        return Hunks(path, op, compared.added, compared.removed, lines, more)
    if change.patch:
        added, removed = count_patch(change.patch)
        lines, more = _cut(_patch_lines(change.patch))
        return Hunks(path, op, added, removed, lines, more)
    return Hunks(path, op)


def _signed(compared: LineDiff, found: list[Hunk]) -> Iterator[str]:
    for hunk in found:
        for index, line in enumerate(compared.unified(hunk)):
            yield line if index == 0 or line.startswith("\\") else f"{line[0]} {line[1:]}"


def _patch_lines(patch: str) -> Iterator[str]:
    inside = False
    for line in patch.removesuffix("\n").split("\n"):
        if line.startswith("@@"):
            inside = True
            yield line
        elif line.startswith(("diff --git ", "Index: ")):
            inside = False
        elif inside and line[:1] in ("+", "-", " "):
            yield f"{line[0]} {line[1:]}"
        elif inside:
            yield line


def _cut(lines: Iterator[str]) -> tuple[list[str], int]:
    kept: list[str] = []
    more = 0
    for line in lines:
        if len(kept) >= HUNK_LINES:
            more += 1
        elif len(line) > LINE_CHARS + 2:
            kept.append(f"{clean(line[: LINE_CHARS + 2])} ({len(line) - LINE_CHARS - 2:,} more characters)")
        else:
            kept.append(clean(line))
    return kept, more
