"""Tool calls as rows: one line each, a body beneath, groups of reads in one fold (ui.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from acp_nvim.session.asked import MERGE, Permission
from acp_nvim.session.content import Block, Diff, UnknownContent
from acp_nvim.session.entities import ToolCall
from acp_nvim.text.sanitise import one_line
from acp_nvim.text.width import pad

from . import elicitation, facts
from .block import Drawn, Fold, Lines, Segment, link
from .changes import words
from .content import block_line, hidden, raw_line
from .look import Look, counts_segments, plural
from .proposal import files
from .questions import describe
from .terminals import ending_of, put_command, put_output, put_terminals, put_unknown

#: Cells of a target that is no path; fewer where the body shows it in full.
TARGET_CELLS = 60
TARGET_CELLS_ABOVE_BODY = 40
VERB_CELLS = 7
#: Lines of a command's output while it runs, and afterwards; of an error.
LIVE_LINES = 8
DONE_LINES = 50
ERROR_LINES = 8

#: Of a command that outlives its call.
RUNS_ON = "still running"

GROUPED = ("read", "search")

_GROUPS = {
    "pending": "AcpPending",
    "running": "AcpRunning",
    "paused": "AcpPending",
    "waiting": "AcpWaiting",
    "done": "AcpDone",
    "failed": "AcpFailed",
    "rejected": "AcpRejected",
    "cancelled": "AcpCancelled",
    "unanswered": "AcpFailed",
}
_ICONS = {"paused": "pending", "unanswered": "failed"}


class Span(Struct, frozen=True):
    """The rows of one tool call in its block."""

    first: int
    last: int
    call: ToolCall


def draw(
    calls: Sequence[ToolCall], look: Look, open_questions: Sequence[Permission]
) -> tuple[Drawn, list[Span]]:
    """One block: a call, or the calls of a group. Open questions are numbered if there are several."""
    drawn = Drawn(kind="row")
    spans: list[Span] = []
    for number, call in enumerate(calls):
        first = len(drawn.lines)
        _draw_row(drawn, call, look, open_questions)
        _draw_body(drawn, call, look, number)
        last = len(drawn.lines) - 1
        if call.terminals:  # anywhere else in the row, <CR> opens the first
            drawn.terminals.append((first, last, call.terminals[0].number))
        if last > first and not _live(call):
            drawn.folds.append(Fold(first, last))
        if paths := files(call):
            drawn.diffs.append([first, last, *paths])
        spans.append(Span(first, last, call))
    drawn.folds.extend(_group_folds(spans, look))
    drawn.folds.sort(key=lambda fold: fold.first)
    return drawn, spans


def _live(call: ToolCall) -> bool:
    """Whether its body is there to be watched; an agent may run a command and never say that it has begun."""
    state = facts.state(call)
    return state in ("waiting", "running") or (state == "pending" and bool(call.terminals))


def _draw_row(drawn: Drawn, call: ToolCall, look: Look, open_questions: Sequence[Permission]) -> None:
    state, verb = facts.state(call), facts.verb(call)
    icon = getattr(look.icons, _ICONS.get(state, state))
    text, group = _target(call, verb, state, look)
    segments: list[Segment] = [(icon, _GROUPS[state]), (" ", "")]
    segments.append((pad(verb, VERB_CELLS) if text else verb, "AcpVerb"))
    segments.append((text, group))
    if verb == "search" and state == "done" and (found := facts.matches(call)) is not None:
        segments += [("  ", ""), (plural(found, "match"), "AcpNote")]
    changes = facts.diffs(call)
    added, removed = facts.counts(changes)
    segments += counts_segments(added, removed, large=any(facts.hunks(each).large for each in changes))
    if any(each.replaces and each.old_text is None for each in changes):
        segments += [("  ", ""), ("overwrites", "AcpNote")]  # what, could not be read
    word = _word(call, state, open_questions)
    if word:
        segments += [("  ", ""), (word, "AcpNote" if state == "done" else _GROUPS[state])]
    row = drawn.put(*segments)
    if state == "running":
        drawn.spin.append(row)
        drawn.since.append((row, int(call.started * 1000)))
    place = facts.location(call)
    if place is not None:
        drawn.links.append([row, place.path] if place.line is None else [row, place.path, place.line])
    if state == "waiting" and drawn.question is None:
        drawn.question = call.open_permissions[0].id


def _word(call: ToolCall, state: facts.State, open_questions: Sequence[Permission]) -> str:
    if state == "waiting":
        numbers = [
            str(n)
            for n, each in enumerate(open_questions, 1)
            if any(each is p for p in call.open_permissions)
        ]
        return f"waiting for you ({', '.join(numbers)})" if len(open_questions) > 1 else "waiting for you"
    if (asked := facts.elicitation(call)) is not None and (
        call.side == "client" or (asked.state == "opened" and not call.final)
    ):
        return elicitation.word(asked)
    if state == "failed":
        code = facts.exit_code(call) if facts.runs(call) else None
        why = f"exit {code}" if code else one_line(facts.signal(call) or "", 20)
        return f"failed, {why}" if why else "failed"
    login = facts.login_of(call)
    if login is not None and state in ("rejected", "done"):
        return "not now" if state == "rejected" else "accepted"  # which is not yet that it holds
    by_rule = bool(call.permissions) and call.permissions[-1].by == "rule"
    if state == "rejected":
        return "rejected by a rule" if by_rule else "rejected by you"
    if by_rule and state in ("pending", "running", "done"):
        return "allowed by a rule"
    if state == "done":
        if call.granted_always:
            return "always allowed"
        if call.terminals:
            return _ending(call)
        if call.side != "client" or not call.permissions:
            return ""
        return "merged, unsaved" if call.permissions[-1].answer == MERGE else "allowed"
    if state in ("pending", "running") and call.terminals and (word := _ending(call)) != RUNS_ON:
        return word
    if state in ("pending", "running") and call.status_raw:
        return one_line(call.status_raw, 20)
    if state == "unanswered":
        return _ended(call) or facts.unanswered(call)
    return {"cancelled": "cancelled", "paused": "paused"}.get(state, "")


def _ended(call: ToolCall) -> str:
    """How its command ended that the agent said nothing more about; "" if it had none, or nobody knows."""
    if not call.terminals or any(each.exit is None for each in call.terminals):
        return ""
    return _ending(call)


def _ending(call: ToolCall) -> str:
    """What there is to say of commands that did not fail, or whose end the agent has not spoken of yet."""
    last = call.terminals[-1]
    if last.exit is None:
        return RUNS_ON if last.owner == "client" else ""
    if last.exit.code == 0 and call.status == "completed":
        return ""
    return f"stopped, {ending_of(last)}" if last.stopped and last.exit.signal else ending_of(last)


def _command(call: ToolCall) -> str:
    """What is run, as far as anybody said."""
    title = call.title.replace("`", "").strip()
    run = next((each.command for each in call.terminals if each.command), "")
    return facts.command(call)[0] or title or run or call.name or ""


def _target(call: ToolCall, verb: str, state: facts.State, look: Look) -> tuple[str, str]:
    """What the row is about, and its group. A path is the best target, but not for what runs or searches."""
    cut = look.icons.cut
    cells = TARGET_CELLS_ABOVE_BODY if state == "waiting" else TARGET_CELLS
    title = call.title.replace("`", "").strip()
    raw = call.raw_input if isinstance(call.raw_input, dict) else {}
    if facts.login_of(call) is not None and title == call.permissions[-1].title:
        return look.agent, ""
    if verb == "run":
        return one_line(_command(call), cells, cut), "AcpCommand"
    if verb in ("search", "fetch"):
        keys = ("pattern", "query") if verb == "search" else ("url",)
        said = next((raw[key] for key in keys if isinstance(raw.get(key), str) and raw[key].strip()), title)
        if said:
            return one_line(said, cells, cut), "AcpPath" if verb == "fetch" else "AcpCommand"
    place = facts.location(call)
    if place is not None and verb not in ("think", "mode"):
        text = look.short(place.path)
        if place.line is not None:
            text += f":{place.line}"
            if place.end_line is not None and place.end_line != place.line:
                text += f"-{place.end_line}"
        changed = [change for diff in facts.diffs(call) for change in diff.changes]
        mine = [change for change in changed if place.path in (change.path, change.old_path)]
        if mine and mine[0].old_path and mine[0].old_path != mine[0].path:
            text = f"{look.short(mine[0].old_path)} -> {look.short(mine[0].path)}"
        others = len({change.path for change in changed} - {each.path for each in mine} - {place.path})
        return f"{text} and {others} more" if others else text, "AcpPath"
    return one_line(title or call.name or call.kind_raw or "", cells, cut), ""


def _draw_body(drawn: Drawn, call: ToolCall, look: Look, number: int) -> None:
    """``number``: of the call in its block, for its links."""
    state, verb = facts.state(call), facts.verb(call)
    body = Lines()
    if state == "waiting":
        for permission in call.open_permissions:
            question = describe(permission, call, look.session, look.icons, look.label, look.home)
            body.extend(question, start=question.known)
            question.put_options(body)
        body.links = [link(row, number, *target["item"]) for row, target in body.links]
        drawn.put_body(body, "question", look.icons)
        return
    if (asked := facts.elicitation(call)) is not None:
        elicitation.put_answer(body, asked, look)
        drawn.put_body(body, "question", look.icons)
        body = Lines()
        if call.side == "client":
            return
    target, _ = _target(call, verb, state, look)
    if state == "rejected":
        if verb == "run":
            put_command(body, _command(call), target, look)
            drawn.put_body(body, "output", look.icons)
        return
    changes = facts.diffs(call)
    if changes:
        _put_diffs(body, changes, look)
        drawn.put_body(body, "diff", look.icons)
        body = Lines()
    if call.terminals and (facts.runs(call) or state == "failed"):
        runs = state == "running" or any(
            each.exit is None and each.owner == "client" for each in call.terminals
        )
        said, _ = facts.command(call)
        places = put_terminals(body, call, target, said, LIVE_LINES if runs else DONE_LINES, look)
        at = len(drawn.lines)
        drawn.terminals += [(first + at, last + at, number) for first, last, number in places]
        if not any(each.output.total for each in call.terminals):
            put_output(body, facts.output(call), DONE_LINES, look)
    elif verb == "run" and state != "pending":
        put_command(body, _command(call), target, look)
        put_output(body, facts.output(call), LIVE_LINES if state == "running" else DONE_LINES, look)
    elif state == "failed":
        put_output(body, facts.output(call), ERROR_LINES, look)
    elif verb == "mode":
        _put_plan(body, facts.plan_text(call), look)
    for index, item in enumerate(call.content):
        if isinstance(item, UnknownContent):
            body.put((raw_line(item.raw), ""))
        elif isinstance(item, Block) and item.type != "text" and not hidden(item):
            row = body.put((block_line(item).removeprefix("  "), "AcpContext"))
            body.links.append(link(row, number, index))
    if not body.lines:
        put_unknown(body, call)
    drawn.put_body(body, "output", look.icons)


def _put_diffs(body: Lines, diffs: list[Diff], look: Look) -> None:
    left = facts.HUNK_LINES
    changed = [facts.hunks(each) for each in diffs]
    more = sum(each.more for each in changed)
    for diff, each in zip(diffs, changed, strict=True):
        said = words(diff, look)
        if each.path and (len(changed) > 1 or said):
            body.put((look.path(each.path), "AcpPath"), (f"  {said}" if said else "", "AcpNote"))
        for line in each.lines[:left]:
            body.put((line, ""))
        more += max(len(each.lines) - left, 0)
        left = max(left - len(each.lines), 0)
    if more:
        body.put((f"{look.icons.cut} {plural(more, 'more line')}, <CR> opens the diff", "AcpNote"))


def _put_plan(body: Lines, text: str, look: Look) -> None:
    """The plan that a change of mode was about: what the user has agreed to stays readable."""
    plan = Lines()
    plan.put_text(text)
    more = len(plan.lines) - facts.HUNK_LINES
    for line in plan.lines[: facts.HUNK_LINES]:
        body.put((line, ""))
    if more > 0:
        body.put((f"{look.icons.cut} {plural(more, 'more line')}, K shows all", "AcpNote"))


def _group_folds(spans: Sequence[Span], look: Look) -> list[Fold]:
    """Runs of quiet reads and searches are one fold each, from the second on."""
    folds: list[Fold] = []
    run: list[Span] = []
    for span in [*spans, None]:
        if span is not None and _quiet(span):
            run.append(span)
            continue
        if len(run) > 1:
            folds.append(Fold(run[0].first, run[-1].last, True, _summary([each.call for each in run], look)))
        run = []
    return folds


def _quiet(span: Span) -> bool:
    return (
        facts.verb(span.call) in GROUPED
        and span.first == span.last
        and facts.state(span.call) in ("pending", "running", "done")
    )


def _summary(calls: Sequence[ToolCall], look: Look) -> list[Segment]:
    states = {facts.state(call) for call in calls}
    state = next((each for each in ("running", "pending") if each in states), "done")
    reads = [call for call in calls if facts.verb(call) == "read"]
    places = [facts.location(call) for call in reads]
    files = len({place.path for place in places if place is not None}) + sum(
        place is None for place in places
    )
    searches = len(calls) - len(reads)
    segments: list[Segment] = [(getattr(look.icons, state), _GROUPS[state]), (" ", "")]
    segments.append((pad("read" if reads else "search", VERB_CELLS), "AcpVerb"))
    if reads:
        segments.append((plural(files, "file"), "AcpPath"))
    if searches:
        text = plural(searches, "search")
        segments.append((f", {text}", "AcpNote") if reads else (text, "AcpPath"))
    return segments
