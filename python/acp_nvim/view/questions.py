"""A question in full: what will happen if the user says yes. For the row's body and for the card (C34)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import (
    Block,
    CommandSubject,
    Diff,
    LoginSubject,
    PathSubject,
    Permission,
    PermissionOption,
    Session,
    ToolCall,
    UnknownContent,
)
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long

from . import elicitation, facts, login
from .block import Lines, Segment, link
from .content import as_json, block_line, raw_line
from .elicitation import CONTENT_BYTES, put_text
from .icons import UNICODE, Icons
from .look import Look, plural
from .proposal import files

About: TypeAlias = Literal["command", "path", "edit", "mode", "tool", "elicitation"]

#: Cells of the one-line form.
PROMPT_CELLS = 300

#: An option for always whose own words say so.
_SAYS_ALWAYS = re.compile(r"\b(always|all)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\s:,`\"']+")
_WHY = {"outside": "outside the project", "protected": "protected", "modified": "has unsaved edits"}


@dataclass(slots=True)
class Question(Lines):
    """``lines`` and ``marks`` hold the content without the options. ``known`` first lines repeat the row.

    ``what``: verb and target in short. An option has a ``note`` if it is for always and its name hides that.

    ``change``: it is about a file, whose change can be shown in windows; then the card does without the rows
    of ``hunks``, each from its first to its last.
    """

    id: str = ""
    title: str = ""
    prompt: str = ""
    what: str = ""
    options: list[dict[str, str]] = field(default_factory=list)
    n_open: int = 1
    known: int = 0
    change: bool = False
    form: dict[str, Any] | None = None  # what there is to fill in before it is accepted
    hunks: list[list[int]] = field(default_factory=list)

    def payload(self, chat: int) -> dict[str, Any]:
        """For ``acp.question.open``."""
        return {
            "id": self.id,
            "chat": chat,
            "n_open": self.n_open,
            "title": self.title,
            "prompt": self.prompt,
            "what": self.what,
            "lines": self.lines,
            "marks": [list(mark) for mark in self.marks],
            "options": self.options,
            **({"hunks": self.hunks} if self.change else {}),
            **({"form": self.form} if self.form is not None else {}),
        }

    def put_options(self, body: Lines) -> None:
        """Add the line of the answers: ``1 Allow once  2 Reject``."""
        segments: list[Segment] = []
        for number, option in enumerate(self.options, 1):
            group = "AcpWarn" if option["kind"].endswith("_always") else ""
            segments += [("  " if segments else "", ""), (str(number), "AcpKey"), (" ", "")]
            segments.append((option["name"] + option.get("note", ""), group))
        body.put(*(segments or [("no answers are offered; :AcpPermit cancel refuses", "AcpNote")]))


def describe(
    permission: Permission,
    call: ToolCall | None,
    session: Session,
    icons: Icons = UNICODE,
    label: str = "",
    home: str | None = None,
) -> Question:
    """Say everything about a question. ``call`` is the tool call it stands in; ``label`` names the agent."""
    look = Look(session, icons, label, home)
    call = call or ToolCall("")
    about = _about(permission, call)
    question = Question(
        id=permission.id,
        options=[_option(each) for each in permission.options],
        n_open=max(len(session.open_permissions), 1),
    )
    if isinstance(permission.subject, LoginSubject):
        question.title, question.prompt, question.what = login.words(permission.subject, look)
        login.put(question, permission.subject, look)
        return question
    if isinstance(permission.subject, Elicitation):
        action, short = elicitation.action(permission.subject)
        question.form = elicitation.for_lua(permission.subject)
    else:
        action, short = _action(about, permission, call, look)
    question.title = f"{look.agent} {action}"
    question.change = about != "elicitation" and bool(files(call))
    _CONTENT[about](question, permission, call, look)
    if not question.lines:
        question.put(("nothing is said about it; K shows all there is", "AcpNote"))
    question.prompt = one_line(f"{look.agent} {short}", PROMPT_CELLS, icons.cut)
    verb, _, target = short.removeprefix("wants to ").partition(": ")
    question.what = one_line(f"{verb} {target}", PROMPT_CELLS, icons.cut)
    return question


def words(permission: Permission, session: Session, label: str = "") -> str:
    """A question in one line, as a picker shows it; without its content, which may be long."""
    call = session.tool_calls.get(permission.tool_call_id or "") or ToolCall("")
    look = Look(session, UNICODE, label)
    short = _action(_about(permission, call), permission, call, look)[1]
    return one_line(f"{look.agent} {short}", PROMPT_CELLS)


def _option(option: PermissionOption) -> dict[str, str]:
    """The agent's words stay; but what goes on for longer than this once must show."""
    name = one_line(option.name or option.id)
    shown = {"id": option.id, "name": name, "kind": option.kind}
    if option.kind.endswith("_always") and not _SAYS_ALWAYS.search(name):
        shown["note"] = " (always)"
    return shown


def _about(permission: Permission, call: ToolCall) -> About:
    if isinstance(permission.subject, Elicitation):
        return "elicitation"
    if isinstance(permission.subject, CommandSubject):
        return "command"
    if isinstance(permission.subject, PathSubject):
        return "path"
    if call.kind == "execute":
        return "command"
    if call.kind in ("edit", "delete", "move") or facts.diffs(call):
        return "edit"
    return "mode" if call.kind == "switch_mode" else "tool"


def _action(about: About, permission: Permission, call: ToolCall, look: Look) -> tuple[str, str]:
    """The words of the title, and the one-line form, both without the agent's name."""
    says = permission.title or call.title.replace("`", "")
    if about == "command":
        said, folder = facts.command(call, permission)
        place = f" in {look.folder(folder or look.session.cwd)}"
        return "wants to run a command", f"wants to run: {one_line(said) + place if said else one_line(says)}"
    if about == "path":
        return _path_action(permission, look)
    place_of = facts.location(call)
    path = look.path(place_of.path) if place_of is not None else one_line(says)
    if about == "edit":
        verb = _edit_verb(call)
        added, removed = facts.counts(facts.diffs(call))
        numbers = "".join(f" {sign}{n}" for sign, n in (("+", added), ("-", removed)) if n)
        return f"wants to {verb} a file", f"wants to {verb}: {path}{numbers}"
    if about == "mode" or not (says or call.kind_raw or call.raw_input):
        return "wants to ask you something", f"asks: {one_line(says)}"
    if call.kind == "read" and place_of is not None and _outside(place_of.path, look.session):
        return "wants to read outside the project", f"wants to read: {path}"
    return "wants to use a tool", f"wants to use a tool: {one_line(says or call.name or call.kind)}"


def _path_action(permission: Permission, look: Look) -> tuple[str, str]:
    subject = permission.subject
    assert isinstance(subject, PathSubject)
    path = look.path(subject.real_path or subject.path)
    if subject.op == "read":
        where = "outside the project" if subject.why == "outside" else "a file"
        return f"wants to read {where}", f"wants to read: {path}"
    if subject.written:
        return "has changed a file on disk", f"has changed on disk: {path}; take it into the buffer?"
    new = subject.diff is not None and facts.hunks(subject.diff).op == "add"
    new = new and (subject.why != "modified" or subject.disk is None)  # the user may have emptied it
    verb = "create" if new else "edit"
    return f"wants to {verb} a file", f"wants to {verb}: {path}"


def _edit_verb(call: ToolCall) -> str:
    if call.kind in ("delete", "move"):
        return call.kind
    if any(each.replaces for each in facts.diffs(call)):
        return "overwrite"
    changes = [facts.hunks(each) for each in facts.diffs(call)]
    ops = {"add": "create", "delete": "delete", "move": "move"}
    verbs = {ops.get(each.op, "edit") for each in changes}
    return verbs.pop() if len(verbs) == 1 else "edit"


def _outside(path: str, session: Session) -> bool:
    roots = [root.rstrip("/") for root in (*session.roots, session.cwd)]
    return path.startswith("/") and not any(path == root or path.startswith(root + "/") for root in roots)


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
    _hunks(question, changed, look)
    _words(question, permission, call, look, subject.path)


def _edit(question: Question, permission: Permission, call: ToolCall, look: Look) -> None:
    diffs = facts.diffs(call)
    changed = [facts.hunks(each) for each in diffs]
    paths = [each.path for each in changed if each.path] or [each.path for each in call.locations]
    if len(changed) <= 1:
        for path in paths[:1]:
            question.put((look.path(path), "AcpPath"), *_counts(changed))
            question.known = 1 if look.short(path) == look.path(path) else 0
        _replaced(question, diffs)
        _hunks(question, changed, look)
    else:
        for diff, each in zip(diffs, changed, strict=True):
            question.put((look.path(each.path or ""), "AcpPath"), *_counts([each]))
            _replaced(question, [diff])
            _hunks(question, [each], look)
    for diff in diffs:
        for change in diff.changes[1:] or ():
            question.put((f"{one_line(change.op)} ", "AcpNote"), (look.path(change.path), "AcpPath"))
        for change in diff.changes:
            if change.old_path:
                question.put(("from ", "AcpNote"), (look.path(change.old_path), "AcpPath"))
    if not changed:
        put_text(question, facts.texts(call, whole=True), "")
        if not facts.texts(call, whole=True):
            _raw(question, call.raw_input)
    _others(question, call)
    _words(question, permission, call, look, *paths)


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
        if _outside(place.path, look.session):
            question.put((_WHY["outside"], "AcpWarn"))
    put_text(question, facts.texts(call, whole=True), "")
    _raw(question, call.raw_input)
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


_CONTENT = {
    "command": _command,
    "path": _path,
    "edit": _edit,
    "mode": _mode,
    "tool": _tool,
    "elicitation": _elicitation,
}


def _counts(changed: list[facts.Hunks]) -> list[Segment]:
    return counts_segments(
        sum(each.added for each in changed),
        sum(each.removed for each in changed),
        large=any(each.large for each in changed),
    )


def counts_segments(added: int, removed: int, *, large: bool = False) -> list[Segment]:
    """``  +2 -1``, zeros left out; ``  too large`` when nothing was counted."""
    segments: list[Segment] = []
    if added:
        segments += [("  ", ""), (f"+{added}", "AcpAdd")]
    if removed:
        segments += [(" " if added else "  ", ""), (f"-{removed}", "AcpDelete")]
    if large:
        segments += [("  ", ""), ("too large", "AcpNote")]
    return segments


def put_hunk(body: Lines, line: str) -> None:
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
            put_hunk(question, line)
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
        shown = value if isinstance(value, str) else as_json(value)
        first, *rest = safe_lines(f"{one_line(str(key))}: {shown}")
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
        if not words or words in said or not says_more(words, call, look, *shown):
            continue
        said.append(words)
        put_text(question, f'{look.agent} says: "{words}"', group)


def says_more(words: str, call: ToolCall, look: Look, *shown: str) -> bool:
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
