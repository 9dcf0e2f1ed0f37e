"""Answers the user has given beforehand: ``permission.rules`` of the settings (design.md section 4).

Off without settings. A rule never goes by a title or by the name of an option. Of the rules that fit, the
strictest decides: reject, then ask, then allow. What is not plain is asked.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from anyio import to_thread

from ..session.asked import CommandSubject, PathSubject, Permission, ToolSubject
from ..session.content import Diff
from ..session.entities import Session, ToolCall
from ..session.ports import RequestError
from .roots import inside, matches, real_path, relative, resolve

Action: TypeAlias = Literal["allow", "reject", "ask"]

#: A command line of these characters means the same to every shell: its words, parted by blanks.
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./ -]+")
#: Where a shell begins another command, for rules that refuse: better one question too many.
_PARTS = re.compile(r"[\s;|&()<>`$\"'\\{}]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """All that is given must fit. ``words``: the rule for people. ``paths``: globs below the roots.

    ``command``: the words of one command, all of them. ``kinds``: of tool calls, as the agent names them.
    """

    action: Action
    words: str
    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """``index``: the option that is the answer, from 1; 0 cancels; None: the user is asked after all.

    ``why``: the explanation for the trace.
    """

    index: int | None
    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a question is about, as far as it is known beyond its words."""

    agent: str
    kind: str
    command: str | None
    paths: tuple[str, ...]


def facts_of(session: Session, permission: Permission) -> Facts:
    """Collect them from the question and the tool call it stands in."""
    call = session.tool_calls.get(permission.tool_call_id or "")
    subject = permission.subject
    if isinstance(subject, CommandSubject):
        return Facts(session.agent, "execute", subject.command, ())
    if isinstance(subject, PathSubject):
        return Facts(session.agent, "read" if subject.op == "read" else "edit", None, (subject.path,))
    if isinstance(subject, ToolSubject) and call is not None:
        return Facts(session.agent, call.kind, None, tuple(_paths(call)))
    return Facts(session.agent, "", None, ())


def _paths(call: ToolCall) -> Iterable[str]:
    """All files the call names: where it works, and what its changes touch."""
    found = [each.path for each in call.locations]
    for diff in call.content:
        if isinstance(diff, Diff):
            for change in diff.changes:
                found += [change.path, *([change.old_path] if change.old_path else [])]
    return dict.fromkeys(found)


class Rules:
    """Decides by ``rules()``, the rules that hold now. ``protected()``: the globs of ``files.protected``."""

    def __init__(self, rules: Callable[[], Sequence[Rule]], protected: Callable[[], Sequence[str]]) -> None:
        self._rules = rules
        self._protected = protected

    async def decide(self, session: Session, permission: Permission) -> Decision | None:
        """What the rules say to a question; None: none of them fits. Looks at the disk in a thread."""
        rules = [each for each in self._rules() if each.agent in (None, session.agent)]
        if not rules or not isinstance(permission.subject, CommandSubject | PathSubject | ToolSubject):
            return None
        facts, roots = facts_of(session, permission), tuple(session.roots) or (session.cwd,)
        fitting = await to_thread.run_sync(_fitting, rules, facts, roots, abandon_on_cancel=True)
        for action in ("reject", "ask"):
            for rule in fitting:
                if rule.action == action:
                    return _refused(permission, rule) if action == "reject" else Decision(None, rule, "ask")
        if not fitting:
            return None
        allowed = fitting[0]
        against = await to_thread.run_sync(
            _objection,
            permission,
            facts,
            session.cwd,
            roots,
            tuple(self._protected()),
            abandon_on_cancel=True,
        )
        if against is not None:
            return Decision(None, allowed, against)
        index = _only(permission, "allow_once")
        if index is None:
            return Decision(None, allowed, "not one option alone allows it once")
        return Decision(index, allowed, "allowed")


def _refused(permission: Permission, rule: Rule) -> Decision:
    """By the one option that rejects once; without one the question is cancelled, which is no yes either."""
    return Decision(_only(permission, "reject_once") or 0, rule, "rejected")


def _only(permission: Permission, kind: str) -> int | None:
    """The place of the one option of this kind, from 1."""
    places = [n for n, option in enumerate(permission.options, 1) if option.kind == kind]
    return places[0] if len(places) == 1 else None


def _fitting(rules: Sequence[Rule], facts: Facts, roots: Sequence[str]) -> list[Rule]:
    return [rule for rule in rules if _fits(rule, facts, roots)]


def _fits(rule: Rule, facts: Facts, roots: Sequence[str]) -> bool:
    """A rule that allows must fit all there is; one that does not, any of it."""
    if rule.kinds and facts.kind not in rule.kinds:
        return False
    allows = rule.action == "allow"
    if rule.command and not (
        facts.command is not None and (_is_command if allows else _has_command)(facts.command, rule.command)
    ):
        return False
    if rule.paths:
        each = [_under(path, rule.paths, roots, exact=allows) for path in facts.paths]
        return bool(each) and (all(each) if allows else any(each))
    # A kind of tool call says nothing of a command it runs.
    return not (allows and not rule.command and facts.command is not None)


def _is_command(line: str, words: tuple[str, ...]) -> bool:
    """Whether the line is these words and nothing else, in whatever shell."""
    if line == shlex.join(words):
        return "\n" not in line
    return _PLAIN.fullmatch(line) is not None and tuple(line.split(" ")) == words


def _has_command(line: str, words: tuple[str, ...]) -> bool:
    """Whether these words stand in the line anywhere, one after the other."""
    found = [part for part in _PARTS.split(line) if part]
    # `/bin/rm` is `rm`, too.
    return any(
        found[at : at + len(words)] == list(words)
        or [os.path.basename(found[at]), *found[at + 1 : at + len(words)]] == list(words)  # noqa: PTH119
        for at in range(len(found) - len(words) + 1)
    )


def _under(path: str, globs: Sequence[str], roots: Sequence[str], *, exact: bool) -> bool:
    """Whether a file matches below a root: by its real place; to refuse, also by the name it was given."""
    anchored = [glob if glob.startswith("/") or "/" not in glob.rstrip("/") else f"/{glob}" for glob in globs]
    real = real_path(path)
    bases = [os.path.realpath(root) for root in roots]
    names = relative(real, bases) if real is not None and any(inside(real, base) for base in bases) else []
    if not exact:
        names += relative(os.path.normpath(path), (*roots, *bases))
    return any(matches(name, anchored, exact=exact) for name in names)


def _objection(
    permission: Permission, facts: Facts, cwd: str, roots: Sequence[str], protected: Sequence[str]
) -> str | None:
    """Why an allowing rule does not decide although it fits; None: nothing speaks against it."""
    subject = permission.subject
    if isinstance(subject, CommandSubject):
        if permission.asked_by == "client" and subject.why != "asked":
            return "questions of the editor's own are always asked"
        if subject.env:  # with another PATH, or LD_PRELOAD, the same words are another command
            return f"it sets variables of its own: {', '.join(name for name, _ in subject.env)}"
        return None if _within(subject.cwd or cwd, roots) else "its folder is outside the project"
    if permission.asked_by == "client":
        return "questions of the editor's own are always asked"
    if not facts.paths and facts.kind not in ("search", "fetch", "think"):
        return "it names no file"
    for path in facts.paths:
        try:
            place = resolve(path, roots, protected)
        except RequestError as error:
            return error.message
        if place.why is not None:
            words = {"outside": "is outside the project", "protected": "is protected"}
            return f"{path} {words.get(place.why, place.why)}"
    return None


def _within(folder: str, roots: Sequence[str]) -> bool:
    if not folder.startswith("/"):
        return False
    real = real_path(folder)
    return real is not None and any(inside(real, os.path.realpath(root)) for root in roots)
