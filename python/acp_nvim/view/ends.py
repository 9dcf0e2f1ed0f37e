"""Lines between the parts of a conversation: how a turn ended, errors, notices, compaction, the plan."""

from __future__ import annotations

import re
from collections.abc import Sequence

from acp_nvim.session.entities import Compaction, Failure, Note, Plan, Session, TurnEnd
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long

from . import facts
from .block import Drawn, Fold, Lines, Segment
from .content import as_json
from .look import Look, duration, plural

#: Seconds under which a turn's time is not worth saying.
SHORT_TURN = 2.0
#: Lines of an error's details: the end of stderr, or what the agent sent as data.
DETAIL_LINES = 12
#: Bytes of one line of ours.
NOTE_BYTES = 8000

#: Messages of agents that say no more than that a login is needed.
_AUTH_WORDS = ("authentication required", "auth required", "auth_required", "not logged in", "login required")

_COMMAND = re.compile(r"(?<!\S):[A-Za-z]\w*(?: acp\b)?")

_REMEDIES = {
    "auth": ":AcpLogin lists the ways {agent} offers",
    "limit": "Wait a little, then send again. :AcpTrace has the full answer.",
    "transport": ":AcpRestart starts it again and resumes this chat",
}


def draw_end(end: TurnEnd, session: Session, look: Look) -> Drawn:
    """The end line of a turn, with remedies."""
    turn = end.turn
    drawn = Drawn(kind="end", tail=1)
    if turn.stop in ("error", "lost"):
        _error(drawn, turn.stop, turn.error or Failure("no reason was given"), look)
        return drawn
    words, group = _words(end, session, look)
    drawn.put((f"{look.icons.rule} {words}", group))
    return drawn


def _words(end: TurnEnd, session: Session, look: Look) -> tuple[str, str]:
    turn, agent = end.turn, look.agent
    seconds = (turn.ended or turn.started) - turn.started
    match turn.stop:
        case "end_turn":
            done = "done" if seconds < SHORT_TURN else f"done in {duration(seconds)}"
            changed = _changed(end, session)
            return (f"{done} {look.icons.dot} {changed}" if changed else done), "AcpEnd"
        case "max_tokens":
            return 'stopped: the answer reached the token limit. Send "continue" to go on.', "AcpWarn"
        case "max_turn_requests":
            said = f'stopped: {agent} used up its steps for one turn. Send "continue" to go on.'
            return said, "AcpWarn"
        case "refusal":
            return f"refused by {agent}. It forgets this prompt and all that followed it.", "AcpWarn"
        case "cancelled" if turn.cancelling:
            return f"cancelled by you after {duration(seconds)}", "AcpEnd"
        case "cancelled" if turn.rejected:
            return "stopped after your rejection. Say what to do instead.", "AcpEnd"
        case "cancelled":
            return f"cancelled by {agent} after {duration(seconds)}", "AcpWarn"
        case None:
            return f"ended: {agent} gave no reason", "AcpEnd"
    return f'stopped: {agent} said "{one_line(turn.stop, 80)}"', "AcpEnd"


def _changed(end: TurnEnd, session: Session) -> str:
    """``2 files +12 -4``: what finished calls of the turn changed."""
    files: set[str] = set()
    added = removed = 0
    for call in facts.turn_calls(session, end):
        if call.side == "client" or facts.state(call) != "done":
            continue
        for change in facts.diffs(call):
            found = facts.hunks(change)
            files |= {each.path for each in change.changes}
            added, removed = added + found.added, removed + found.removed
    if not files:
        return ""
    numbers = "".join(f" {sign}{n}" for sign, n in (("+", added), ("-", removed)) if n)
    return plural(len(files), "file") + numbers


def _error(drawn: Drawn, stop: str, failure: Failure, look: Look) -> None:
    if failure.kind == "cancelled":
        drawn.put((f"{look.icons.rule} {one_line(failure.message)}", "AcpEnd"))
        return
    title = failure_title(failure)
    if failure.kind != "auth":
        title = f"{'connection lost' if stop == 'lost' else 'error'}: {title}"
        if stop == "error" and failure.code is not None and str(failure.code) not in title:
            title += f" ({failure.code})"
    drawn.put((f"{look.icons.failed} {title}", "AcpError"))
    body = Lines()
    for line in failure_lines(failure, look.agent, lost=stop == "lost"):
        put_remedy(body, line)
    drawn.put_body(body, "output", look.icons)


def failure_title(failure: Failure) -> str:
    """What went wrong, in one line without an icon."""
    return "not logged in" if failure.kind == "auth" else one_line(failure.message)


def failure_lines(failure: Failure, agent: str, *, lost: bool = False, given_back: bool = False) -> list[str]:
    """What stands below the title: the end of what the agent said, and the remedy.

    ``lost``: the agent is gone. ``given_back``: prompts that were not sent go back to the user.
    """
    lines = _details(failure)[-DETAIL_LINES:]
    if failure.kind == "auth" and failure.message.lower().rstrip(".!") not in _AUTH_WORDS:
        lines = [one_line(failure.message), *lines]
    if given_back:
        lines.append("Your text is back in the prompt.")
    if failure.kind == "slow":
        return lines
    kind = "transport" if lost else "limit" if failure.code == 429 else failure.kind
    if failure.remedy and failure.remedy != ":AcpLogin":
        return [*lines, failure.remedy]
    return [*lines, _REMEDIES.get(kind, ":AcpTrace has the full answer").format(agent=agent)]


def _details(failure: Failure) -> list[str]:
    """What the agent said besides the message, in lines; what only repeats it is left out."""
    data = failure.data
    if isinstance(data, dict):
        data = next((data[key] for key in ("details", "detail", "message", "error") if data.get(key)), data)
    if data in (None, "", {}, []):
        return []
    if isinstance(data, list | tuple) and all(isinstance(line, str) for line in data):
        text = "\n".join(data)
    else:
        text = data if isinstance(data, str) else as_json(data)
    if text.strip() in failure.message:
        return []
    return [piece[:1000] for piece in safe_lines(text.strip())]


def draw_note(note: Note, look: Look) -> Drawn:
    """A notice, or an error of ours, with remedies."""
    drawn = Drawn(kind="note", tail=1)
    if note.severity == "error":
        icon, group = look.icons.failed, "AcpError"
    else:
        icon, group = look.icons.rule, "AcpWarn" if note.severity == "warning" else "AcpNote"
    for piece in split_long(f"{icon} {one_line(note.title)}", NOTE_BYTES):
        drawn.put((piece, group))
    body = Lines()
    for line in note.lines:
        put_remedy(body, line)
    drawn.put_body(body, "output", look.icons)
    return drawn


def draw_compaction(compaction: Compaction, look: Look) -> Drawn:
    """The agent has made room in its context."""
    drawn = Drawn(kind="note", tail=1)
    if compaction.status == "completed":
        drawn.put((f"{look.icons.rule} {look.agent} has summarised what came before", "AcpNote"))
        body = Lines()
        text = "".join(str(block.text) for block in compaction.summary if block.text is not None)
        for line in safe_lines(text.strip()) if text.strip() else ():
            for piece in split_long(line, NOTE_BYTES):
                body.put((piece, ""))
        drawn.put_body(body, "output", look.icons)
        if body.lines:
            drawn.folds.append(Fold(0, len(drawn.lines) - 1))
    elif compaction.error or compaction.status in ("failed", "cancelled"):
        reason = one_line(compaction.error or compaction.status)
        drawn.put((f"{look.icons.failed} the summary of what came before failed: {reason}", "AcpError"))
    else:
        drawn.put((f"{look.icons.running} {look.agent} summarises what came before", "AcpNote"))
        drawn.spin.append(0)
    return drawn


def draw_plan(plan: Plan, look: Look) -> Drawn:
    """The plan: ``plan  2 of 5`` and its entries, or its text."""
    drawn = Drawn(kind="plan", tail=1)
    done = sum(entry.status == "completed" for entry in plan.entries)
    header = f"{done} of {len(plan.entries)}" if plan.entries else ""
    text = plan.text or (one_line(plan.uri) if plan.uri else None)
    if not header and text is None and plan.raw is None:
        header = "removed"
    drawn.put(("plan", "AcpPlan"), (f"  {header}" if header else "", "AcpPlan"))
    for entry in plan.entries:
        icon, icon_group, group = _ENTRY.get(entry.status, _ENTRY["pending"])
        content = [
            (f"  {getattr(look.icons, icon)}", icon_group),
            (" ", ""),
            (one_line(entry.content), group),
        ]
        drawn.put(*content)
    if text is not None:
        for line in safe_lines(text.strip("\n")):
            for piece in split_long(line, NOTE_BYTES):
                drawn.put((f"  {piece}" if piece else "", ""))
    elif not plan.entries and plan.raw is not None:
        drawn.put((f"  {one_line(as_json(plan.raw), 400)}", "AcpNote"))
    return drawn


_ENTRY = {
    "completed": ("done", "AcpDone", "AcpNote"),
    "in_progress": ("running", "AcpRunning", ""),
    "pending": ("pending", "AcpPending", "AcpNote"),
}


def put_remedy(body: Lines, line: str) -> None:
    """A line that may name commands: they stand out."""
    for piece in safe_lines(line):
        body.put(*_commands(piece))


def _commands(line: str) -> Sequence[Segment]:
    segments: list[Segment] = []
    at = 0
    for match in _COMMAND.finditer(line):
        segments += [(line[at : match.start()], ""), (match[0], "AcpKey")]
        at = match.end()
    return [*segments, (line[at:], "")]
