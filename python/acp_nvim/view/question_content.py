"""What a question shows above its answers: all that will happen if the user says yes, or more (C34)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from acp_nvim.session.asked import CommandSubject, PathSubject, Permission, UnknownSubject
from acp_nvim.session.content import Block, Diff, UnknownContent
from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import ToolCall
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long

from . import changes, elicitation, facts
from .block import Lines, Segment, link
from .content import as_json, block_line, raw_line
from .elicitation import CONTENT_BYTES, put_text, says
from .look import Look, counts_segments, plural
from .question import Question
from .question_words import About, outside

_WORD = re.compile(r"[^\s:,`\"']+")
_WHY = {
    "outside": "outside the project",
    "protected": "protected",
    "secret": "its name says that it holds secrets",
    "ignored": "ignored by git",
    "modified": "has unsaved edits",
}


def put_content(question: Question, about: About, permission: Permission, call: ToolCall, look: Look) -> None:
    """Put all that is said of it into the question, and where its hunks stand; never nothing."""
    _CONTENT[about](question, permission, call, look)
    if not question.lines:
        question.put(("nothing is said about it; K shows all there is", "AcpNote"))


def _command(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    said, folder = facts.command(call, permission)
    if said is not None:
        put_text(question, said, "AcpCommand")
        question.put(("in ", "AcpNote"), (look.folder(folder or look.session.cwd), "AcpPath"))
        subject = permission.subject
        if isinstance(subject, CommandSubject):
            if subject.real_cwd is not None and subject.real_cwd != subject.cwd:
                question.put(("really ", "AcpNote"), (look.folder(subject.real_cwd), "AcpPath"))
            if subject.why in _WHY:
                question.put((_WHY[subject.why], "AcpWarn"))
            for name, value in subject.env:
                _put_pair(question, f"with {one_line(name)}=", value)
        _words(question, permission, call, look, said)
        return
    # Nobody said the command: the agent's words are the best there is. Gemini puts it into the title.
    _words(question, permission, call, look, group="")
    put_text(question, facts.texts(call, whole=True), "AcpNote" if question.lines else "")


def _path(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    subject = permission.subject
    assert isinstance(subject, PathSubject)
    shown = look.path(subject.path)
    changed = [facts.hunks(subject.diff)] if subject.diff is not None else []
    question.put((shown, "AcpPath"), *_counts(changed))
    question.known = 1 if look.short(subject.path) == shown else 0
    if subject.real_path and subject.real_path != subject.path:
        question.put(("really ", "AcpNote"), (look.folder(subject.real_path), "AcpPath"))
    if subject.why in _WHY:
        question.put((_WHY[subject.why], "AcpWarn"))
    if subject.written:
        question.put(("on disk already; Yes takes it into the buffer too", "AcpWarn"))
    elif subject.why == "modified":
        question.put(("Yes replaces them and saves; u brings them back", "AcpNote"))
    _hunks(question, changed, look)
    _words(question, permission, call, look, subject.path)


def _edit(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    diffs = facts.diffs(call)
    changed = [facts.hunks(each) for each in diffs]
    paths = [each.path for each in changed if each.path] or [each.path for each in call.locations]
    if len(changed) <= 1:
        for path in paths[:1]:
            said = _said(diffs[0], look) if diffs else []
            question.put((look.path(path), "AcpPath"), *_counts(changed), *said)
            question.known = 1 if look.short(path) == look.path(path) and not said else 0
        _replaced(question, diffs)
        _hunks(question, changed, look)
    else:
        for diff, each in zip(diffs, changed, strict=True):
            question.put((look.path(each.path or ""), "AcpPath"), *_counts([each]), *_said(diff, look))
            _replaced(question, [diff])
            _hunks(question, [each], look)
    for diff in diffs:
        for change in diff.changes[1:]:
            question.put((f"{one_line(change.op)} ", "AcpNote"), (look.path(change.path), "AcpPath"))
            if change.old_path:
                question.put(("from ", "AcpNote"), (look.path(change.old_path), "AcpPath"))
    if not changed:
        put_text(question, facts.texts(call, whole=True), "")
        if not facts.texts(call, whole=True):
            _raw(question, call.raw_input)
    _others(question, call)
    _words(question, permission, call, look, *paths)


def _said(diff: Diff, look: Look) -> list[Segment]:
    said = changes.words(diff, look)
    return [(f"  {said}", "AcpNote")] if said else []


def _mode(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    plan = facts.plan_text(call)
    if plan.strip():
        put_text(question, plan, "")
    else:
        _raw(question, call.raw_input)
    _others(question, call)
    _words(question, permission, call, look)


def _tool(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    for place in call.locations:
        question.put((look.path(place.path), "AcpPath"))
        if outside(place.path, look.session):
            question.put((_WHY["outside"], "AcpWarn"))
    put_text(question, facts.texts(call, whole=True), "")
    _raw(question, call.raw_input)
    if isinstance(permission.subject, UnknownSubject):
        _raw(question, permission.subject.raw)
    _others(question, call)
    _words(question, permission, call, look)


def _others(question: Question, call: ToolCall) -> None:
    """Content that is neither text nor a change: pictures, links. Its links lack the number of the call."""
    for index, item in enumerate(call.content):
        if isinstance(item, Block) and item.type != "text":
            row = question.put((block_line(item).removeprefix("  "), "AcpContext"))
            question.links.append(link(row, index))
        elif isinstance(item, UnknownContent):
            question.put((raw_line(item.raw), ""))


def _elicitation(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    assert isinstance(permission.subject, Elicitation)
    elicitation.put_content(question, permission.subject, look)


def _counts(changed: list[facts.Hunks]) -> list[Segment]:
    return counts_segments(
        sum(each.added for each in changed),
        sum(each.removed for each in changed),
        large=any(each.large for each in changed),
    )


def _put_hunk(body: Lines, line: str) -> None:
    """A line of a hunk in its colour."""
    group = {"+": "AcpAdd", "-": "AcpDelete", "@": "AcpNote", "\\": "AcpNote"}.get(line[:1], "")
    body.put((line, group))


def _replaced(question: Question, diffs: list[Diff]) -> None:
    """What is lost with a file that the agent overwrites."""
    for each in diffs:
        if each.replaces == "edits":
            question.put((_WHY["modified"], "AcpWarn"))
        if each.replaces and each.old_text is None:
            question.put(("the file is there already; its text cannot be shown", "AcpWarn"))


def _hunks(question: Question, changed: list[facts.Hunks], look: Look) -> None:
    first = len(question.lines)
    for each in changed:
        for line in each.lines:
            _put_hunk(question, line)
        if each.more:
            question.put((f"{look.icons.cut} {plural(each.more, 'more line')}, K on it shows all", "AcpNote"))
    if not question.hunks and len(question.lines) > first:  # one file is shown in windows: the first
        question.hunks.append([first, len(question.lines) - 1])


def _raw(question: Question, raw: Any) -> None:
    """The raw input, because it is what the tool will get."""
    if raw in (None, {}, [], ""):
        return
    if not isinstance(raw, dict):
        put_text(question, raw if isinstance(raw, str) else as_json(raw, 2), "")
        return
    for key, value in raw.items():
        _put_pair(question, f"{one_line(str(key))}: ", value if isinstance(value, str) else as_json(value))


def _put_pair(question: Question, name: str, value: str) -> None:
    """A name and its value, all of it; further lines are set in."""
    first, *rest = safe_lines(name + value)
    for line in (first, *(f"  {each}" for each in rest)):
        for piece in split_long(line, CONTENT_BYTES):
            question.put((piece, ""))


def _words(
    question: Question,
    permission: Permission,
    call: ToolCall,
    look: Look,
    *shown: str,
    group: str = "AcpNote",
) -> None:
    """The agent's own words, marked as such, where they say more than what already stands there."""
    said: list[str] = []
    for words in (permission.title, permission.description, call.title):
        if not words or words in said or not _says_more(words, call, look, *shown):
            continue
        said.append(words)
        put_text(question, says(look, words), group)


def _says_more(words: str, call: ToolCall, look: Look, *shown: str) -> bool:
    """Whether a title says more than the verb and the target."""
    plain = words.replace("`", "").strip()
    if not plain or any(plain == each.strip() for each in shown):
        return False
    known = {facts.verb(call), call.kind, "write", "create", "file", "run", "a", "the", "(pending)"}
    known.add((call.name or "").lower())
    for each in shown:
        known |= {form.lower() for form in (each, look.path(each), each.rsplit("/", 1)[-1])}
        known |= set(_WORD.findall(each.lower())) if len(each) < 2000 else set()
    return any(word not in known for word in _WORD.findall(plain.lower()))


_CONTENT: dict[About, Callable[[Question, Permission, ToolCall, Look], None]] = {
    "command": _command,
    "path": _path,
    "edit": _edit,
    "mode": _mode,
    "tool": _tool,
    "elicitation": _elicitation,
}
