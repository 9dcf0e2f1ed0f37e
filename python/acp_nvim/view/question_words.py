"""What a question is about, in words: its title and its one-line form."""

from __future__ import annotations

from typing import Literal, TypeAlias

from acp_nvim.session.asked import CommandSubject, PathSubject, Permission
from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.text.sanitise import one_line

from . import facts
from .look import Look

About: TypeAlias = Literal["command", "path", "edit", "mode", "tool", "elicitation"]


def about(permission: Permission, call: ToolCall) -> About:
    """What kind of question it is: by its subject, else by its tool call."""
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


def action(about: About, permission: Permission, call: ToolCall, look: Look) -> tuple[str, str]:
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
    if about == "mode":
        return "wants to change the mode", f"asks: {one_line(says)}"
    if not (says or call.kind_raw or call.raw_input):
        return "wants to ask you something", f"asks: {one_line(says)}"
    if call.kind == "read" and place_of is not None and outside(place_of.path, look.session):
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


def outside(path: str, session: Session) -> bool:
    """Whether an absolute path is in none of the session's folders."""
    roots = [root.rstrip("/") for root in (*session.roots, session.cwd)]
    return path.startswith("/") and not any(path == root or path.startswith(root + "/") for root in roots)
