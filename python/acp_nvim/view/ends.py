"""Lines between the parts of a conversation: how a turn ended, errors, notices, compaction, the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Compaction, Failure, Note, Plan, Session, TurnEnd
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long

from . import facts
from .block import Drawn, Fold, Lines, Segment, link
from .content import as_json, block_line, hidden
from .look import Look, duration, plural

GIVEN_BACK = "Your text is back in the prompt."
#: Seconds under which a turn's time is not worth saying.
SHORT_TURN = 2.0
#: Lines of an error's details: the end of stderr, or what the agent sent as data.
DETAIL_LINES = 12
#: Bytes of one line of ours.
NOTE_BYTES = 8000
#: Cells of an entry of the plan.
ENTRY_CELLS = 2000

#: Messages of agents that say no more than that a login is needed.
_AUTH_WORDS = ("authentication required", "auth required", "auth_required", "not logged in", "login required")

_COMMAND = re.compile(r"(?<!\S):[A-Za-z]\w*(?: acp\b)?")
#: Cells of a remedy in the narrowest chat (60 columns), beside its bar.
REMEDY_CELLS = 56
_BEFORE_COMMAND = re.compile(r"[;,] (?=(?:then |or )?(:[A-Z]\w*))")

_REMEDIES = {
    "auth": ":AcpLogin lists the ways {agent} offers",
    "limit": "Wait a little, then send again. :AcpTrace has the full answer.",
    "transport": ":AcpRestart starts it again and resumes this chat",
}


def draw_end(end: TurnEnd, session: Session, look: Look) -> Drawn:
    """The end line of a turn, with remedies."""
    turn, outcome = end.turn, end.turn.outcome
    drawn = Drawn(kind="end", tail=1)
    if outcome in ("error", "lost"):
        _error(drawn, outcome, turn.error or Failure("no reason was given"), look)
        return drawn
    words, group = _words(end, session, look)
    drawn.put((f"{look.icons.rule} {words}", group))
    if turn.error is not None and turn.error.unsent:
        drawn.put_body(_not_taken(), "output", look.icons)
    elif turn.error is not None:  # of what the user has cancelled
        body = Lines()
        body.put_text(f"{look.agent} says: {failure_title(turn.error)}")
        drawn.put_body(body, "output", look.icons)
    return drawn


def _not_taken() -> Lines:
    body = Lines()
    body.put((f"The prompt was not taken into the conversation. {GIVEN_BACK}", "AcpNote"))
    return body


def _words(end: TurnEnd, session: Session, look: Look) -> tuple[str, str]:
    turn, outcome, agent = end.turn, end.turn.outcome, look.agent
    seconds = (turn.ended or turn.started) - turn.started
    match outcome:
        case "cancelled" if turn.cancelling:
            cancelled = f"cancelled by you after {duration(seconds)}"
            if turn.stop == "end_turn" and turn.confirmed:
                # It may have been done before it heard of the cancel: what it says, and has changed, counts.
                return _with_changes(f"{cancelled}; {agent} calls it done", end, session, look), "AcpEnd"
            return cancelled, "AcpEnd"
        case "end_turn" if not turn.confirmed:
            return f"broken off: the answer ended without a word of {agent} that it is done", "AcpWarn"
        case "end_turn":
            done = "done" if seconds < SHORT_TURN else f"done in {duration(seconds)}"
            return _with_changes(done, end, session, look), "AcpEnd"
        case "max_tokens":
            return 'stopped: the answer reached the token limit. Send "continue" to go on.', "AcpWarn"
        case "max_turn_requests":
            said = f'stopped: {agent} used up its steps for one turn. Send "continue" to go on.'
            return said, "AcpWarn"
        case "refusal":
            return f"refused by {agent}. It forgets this prompt and all that followed it.", "AcpWarn"
        case "cancelled" if turn.rejected:
            return "stopped after your rejection. Say what to do instead.", "AcpEnd"
        case "cancelled":
            return f"cancelled by {agent} after {duration(seconds)}", "AcpWarn"
        case None:
            return f"ended: {agent} gave no reason", "AcpEnd"
    return f'stopped: {agent} said "{one_line(outcome, 80)}"', "AcpEnd"


def _with_changes(words: str, end: TurnEnd, session: Session, look: Look) -> str:
    changed = _changed(end, session)
    return f"{words} {look.icons.dot} {changed}" if changed else words


def _changed(end: TurnEnd, session: Session) -> str:
    """``2 files +12 -4``: what finished calls of the turn changed; rows of ours where no call names it."""
    files: set[str] = set()
    added = removed = 0
    calls = [call for call in facts.turn_calls(session, end) if facts.state(call) == "done"]
    for call in sorted(calls, key=lambda each: each.side == "client"):
        for change in facts.diffs(call):
            paths = {each.path for each in change.changes}
            if call.side == "client" and paths <= files:
                continue
            found = facts.hunks(change)
            files |= paths
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
        kind = "connection lost" if stop == "lost" else "not sent" if failure.unsent else "error"
        title = f"{kind}: {title}"
        if stop == "error" and failure.code is not None and str(failure.code) not in title:
            title += f" ({failure.code})"
    drawn.put((f"{look.icons.failed} {title}", "AcpError"))
    body = Lines()
    # With a login it is sent again; where there is none, the remedy is another one.
    logs_in = failure.kind == "auth" and failure.remedy in (None, ":AcpLogin")
    given_back = failure.unsent and not logs_in
    for line in failure_lines(failure, look.agent, lost=stop == "lost", given_back=given_back):
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
        lines.append(GIVEN_BACK)
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
    """A notice of the agent, marked as its words (V1-159), or a line of ours with remedies."""
    drawn = Drawn(kind="note", tail=1)
    if note.severity == "error":
        icon, group = look.icons.failed, "AcpError"
    else:
        icon, group = look.icons.rule, "AcpWarn" if note.severity == "warning" else "AcpNote"
    title = one_line(note.title)
    if note.by == "agent":
        word = one_line(note.severity_raw, 20) if note.severity_raw else _NOTICE[note.severity]
        title = f"{look.agent}{f' ({word})' if word else ''}: {title}"
    for piece in split_long(f"{icon} {title}", NOTE_BYTES):
        drawn.put((piece, group))
    body = Lines()
    for line in note.lines:
        if note.by == "agent":
            body.put_text(line)
        else:
            put_remedy(body, line)
    drawn.put_body(body, "output", look.icons)
    return drawn


_NOTICE = {"info": "", "warning": "warning", "error": "error"}


def draw_compaction(compaction: Compaction, look: Look) -> Drawn:
    """The agent makes room in its context: a row, and the summary in its fold (V1-160)."""
    drawn = Drawn(kind="note", tail=1)
    state = compaction.status if compaction.local == "none" else compaction.local
    icon, group, word = _COMPACTION.get(state, ("pending", "AcpPending", state))
    drawn.put(
        (getattr(look.icons, icon), group),
        (" compact ", "AcpVerb"),
        ("what came before", ""),
        (f"  {one_line(word, 20)}" if word else "", group),
    )
    if state == "in_progress":
        drawn.spin.append(0)
    body = Lines()
    body.put_text(compaction.error or "")
    for text, place, block in _parts(compaction.summary):
        if block is None:
            body.put_text(text)
        else:
            body.links.append(link(body.put((text, "AcpContext")), place))
    drawn.put_body(body, "output", look.icons)
    if body.lines:
        drawn.folds.append(Fold(0, len(drawn.lines) - 1, closed=not compaction.error))
    return drawn


def _parts(blocks: Sequence[Block]) -> Iterator[tuple[str, int, Block | None]]:
    """Texts that follow each other as one, as they were sent; the others as their line, place and block."""
    text = ""
    for place, block in enumerate(blocks):
        if hidden(block):
            continue
        if block.type == "text":
            text += str(block.text)
            continue
        if text:
            yield text, place, None
        text = ""
        yield block_line(block).strip(), place, block
    if text:
        yield text, len(blocks), None


_COMPACTION = {
    "in_progress": ("running", "AcpRunning", ""),
    "completed": ("done", "AcpDone", ""),
    "failed": ("failed", "AcpFailed", "failed"),
    "cancelled": ("cancelled", "AcpCancelled", "cancelled"),
    "unanswered": ("failed", "AcpFailed", "no answer"),
}


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
        word = "" if entry.status in _ENTRY else one_line(entry.status, 20)
        content = [
            (f"  {getattr(look.icons, icon)}", icon_group),
            (" ", ""),
            (one_line(entry.content, ENTRY_CELLS), group),
            (f"  {word}" if word else "", "AcpNote"),
        ]
        drawn.put(*content)
    if text is not None:
        drawn.put_text(text, prefix="  ")
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
        for part in _parted(piece):
            body.put(*_commands(part))


def _parted(line: str) -> Sequence[str]:
    """Begin anew before a command that would stand at the edge: 'linebreak' parts `:` from its name."""
    for match in _BEFORE_COMMAND.finditer(line):
        if match.start(1) < REMEDY_CELLS < match.end(1):
            return line[: match.start()], line[match.end() :]
    return (line,)


def _commands(line: str) -> Sequence[Segment]:
    segments: list[Segment] = []
    at = 0
    for match in _COMMAND.finditer(line):
        segments += [(line[at : match.start()], ""), (match[0], "AcpKey")]
        at = match.end()
    return [*segments, (line[at:], "")]
