"""File access for agents (ports.Files; design.md section 5, Files; V1-161 to V1-175)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from anyio import sleep, to_thread

from ..session.asked import MERGE, PathSubject, Permission, PermissionOption
from ..session.content import Change, Diff
from ..session.entities import Session
from ..session.events import FileWritten
from ..session.ports import CANCELLED, Questions, RequestError
from ..text.merge import Merged, merge
from . import disk
from .asked import approved, base
from .known import Known
from .order import Order
from .roots import Place, resolve
from .window import window

PROTECTED = (".git/**", ".nvim.lua", ".exrc", ".envrc", ".vscode/**")
"""The default of ``files.protected``: what runs code when a folder is opened or a commit is made."""

BUSY_S = 0.05
"""Seconds between two tries to change a buffer in which the user has begun a command."""

YES = PermissionOption("yes", "Yes", "allow_once", "allow_once")
NO = PermissionOption("no", "No", "reject_once", "reject_once")


class Buffers(Protocol):
    """The part of the editor that is needed here: calls of functions of Lua modules."""

    async def call(self, module: str, function: str, /, *args: Any) -> Any: ...


class Gate(Protocol):
    """Who decides instead of our own questions about places. Methods raise RequestError for a no."""

    async def read(self, place: Place) -> None:
        """Before anything of the file is told."""

    async def change(self, place: Place, diff: Diff, unsaved: bool) -> None:
        """Before it is changed. ``unsaved``: the user has edits of it that are not saved."""


class FileService:
    """Reads and writes for all sessions.

    ``protected()`` gives the globs of ``files.protected`` as they are now. ``quirks(session)`` gives those
    of its agent: ``{'missing_file': 'empty'}`` reads a missing file as an empty text, for an agent whose
    own writing of new files breaks on the error. ``changed(session, path)`` is called after each write.
    ``chat(session)`` is the number of its chat, which events about its files go to.
    ``written(session, event)`` gets what each write has changed.
    """

    def __init__(
        self,
        editor: Buffers,
        questions: Questions,
        *,
        protected: Callable[[], Sequence[str]] = lambda: PROTECTED,
        quirks: Callable[[Session], Mapping[str, Any]] = lambda _session: {},
        changed: Callable[[Session, str], None] = lambda _session, _path: None,
        chat: Callable[[Session], int | None] = lambda _session: None,
        written: Callable[[Session, FileWritten], None] = lambda _session, _event: None,
    ) -> None:
        self._editor = editor
        self._questions = questions
        self.protected = protected
        self._quirks = quirks
        self._changed = changed
        self.chat = chat
        self._written = written
        self._order = Order()
        self._known = Known()

    async def read(
        self, session: Session, path: str, line: int | None, limit: int | None, gate: Gate | None = None
    ) -> str:
        """Return the text an agent asked for: of the loaded buffer, saved or not, else of the disk."""
        allowed = await self._allowed(session, path, gate) if gate is not None else None
        async with self._turn(session, path) as place:
            if allowed is not None:
                _must_be(place, allowed)
            elif place.why is not None:
                await self._ask(session, "read", place, place.why)
            text = await self._current(session, place.real)
            if text is None:
                if self._quirks(session).get("missing_file") != "empty":
                    raise disk.missing(Path(place.real))
                text = ""
            self._known.learn(session.id, place.real, text)
            return window(text, line, limit)

    async def write(self, session: Session, path: str, text: str) -> None:
        """Write a whole file, through its buffer if one is loaded. Creates missing folders."""
        text = _without_surrogates(text)
        async with self._turn(session, path) as place:
            if place.why is not None:
                await self._ask(session, "write", place, place.why, text)
            change = await self._change(session, place, text)
            wrote = await self._put_text(session, place, text)
        if wrote:
            self._tell(session, path, place, change)

    async def change(
        self, session: Session, path: str, make: Callable[[str | None], str], gate: Gate, *, reads: bool
    ) -> Diff:
        """Change a file, after the user has agreed to just this: the text becomes what ``make`` makes of it.

        ``make`` gets None when there is no such file, and may raise RequestError. ``reads``: what it says
        then tells of the text, so that this takes the user's word as a read does. What has changed while the
        user was asked is left as it is. Returns the change.
        """
        allowed = await self._allowed(session, path, gate) if reads else await self._resolve(session, path)
        try:
            async with self._turn(session, path) as place:
                _must_be(place, allowed)
                old, unsaved = await self._seen(session, place)
        except RequestError:
            if not reads:
                await gate.read(allowed)  # even what is wrong with it tells of it
            raise
        new = _without_surrogates(make(old))
        op = "add" if old is None else "modify"
        diff = Diff((Change(op, place.path),), old, new)
        await gate.change(place, diff, unsaved)
        async with self._turn(session, path) as place:  # others need not wait for the user's answer
            _must_be(place, allowed)
            if (await self._seen(session, place))[0] != old:
                message = f"it has changed while the user was asked; nothing was done: {place.path}"
                raise RequestError(disk.INTERNAL_ERROR, message, {"path": place.real})
            wrote = await self._put_text(session, place, new)
        if wrote:
            self._tell(session, path, place, Diff((Change(op, place.real),), old, new))
        return diff

    async def _put_text(self, session: Session, place: Place, text: str) -> bool:
        """Give the file its text, through its buffer if one is loaded. Whether anything was written."""
        wrote = await self._write_buffer(session, place, text)
        if wrote is None:
            await to_thread.run_sync(disk.write_text, Path(place.real), text)
        self._known.learn(session.id, place.real, text)
        return wrote is not False

    def _tell(self, session: Session, path: str, place: Place, change: Diff) -> None:
        """Tell of a file that was written; ``path``: as the agent has named it."""
        self._changed(session, place.real)
        if change.old_text != change.new_text:
            self._written(session, FileWritten(change, (path, place.path, place.real)))

    async def _allowed(self, session: Session, path: str, gate: Gate) -> Place:
        """Where the path leads, after the user's word if that takes it."""
        place = await self._resolve(session, path)
        await gate.read(place)
        return place

    async def place(self, session: Session, path: str) -> Place:
        """Where a path leads, and whether it takes the user's word."""
        return await self._resolve(session, path)

    def forget(self, session: Session) -> None:
        """The session is over: what it knows of files is not needed any more."""
        self._known.forget(session.id)
        self._order.forget(session.id)

    def _turn(self, session: Session, path: str) -> AbstractAsyncContextManager[Place]:
        return self._order.turn(session.id, partial(self._resolve, session, path))

    async def _resolve(self, session: Session, path: str) -> Place:
        roots = tuple(session.roots) or (session.cwd,)
        job = partial(resolve, path, roots, tuple(self.protected()))
        return await to_thread.run_sync(job, abandon_on_cancel=True)

    async def _seen(self, session: Session, place: Place) -> tuple[str | None, bool]:
        """The whole text as the user has it now, and whether it has edits that are not saved."""
        text = await self._current(session, place.real)
        buffer = await self._editor.call("acp.buffers", "read", place.real, self.chat(session))
        return text, bool(buffer["loaded"] and buffer.get("modified"))

    async def _buffer(self, session: Session, real: str) -> tuple[str, int] | None:
        """The text of the loaded buffer and the number of its last change; None when it is not loaded."""
        buffer = await self._editor.call("acp.buffers", "read", real, self.chat(session))
        if not buffer["loaded"]:
            return None
        if buffer.get("large"):
            raise RequestError(disk.INTERNAL_ERROR, f"too large: {real}", {"path": real})
        return str(buffer["text"]), int(buffer["tick"])

    async def _current(self, session: Session, real: str) -> str | None:
        """The whole text as the user has it now; None when there is no such file."""
        buffer = await self._buffer(session, real)
        if buffer is None:
            return await self._on_disk(real)
        if "\0" in buffer[0] or _broken(buffer[0]):
            raise disk.not_text(Path(real))
        return buffer[0]

    async def _on_disk(self, real: str) -> str | None:
        try:
            return await to_thread.run_sync(disk.read_text, Path(real), abandon_on_cancel=True)
        except RequestError as error:
            if error.code == disk.NOT_FOUND:
                return None
            raise

    async def _write_buffer(self, session: Session, place: Place, text: str) -> bool | None:
        """Write through the loaded buffer; None when there is none, False when file and buffer had the text.

        Unsaved edits of the user are in the way, unless the agent knows them or the user has approved
        this very change of them; always if the file has changed under them, because nobody has its text
        then. Each edit counts: a buffer that changed since is looked at again.
        """
        options: dict[str, Any] = {}
        if (chat := self.chat(session)) is not None:
            options["chat"] = chat
        while True:
            answer = await self._editor.call("acp.buffers", "write", place.real, text, dict(options))
            if answer.get("loaded") is False:
                return None
            if answer["ok"]:
                return bool(answer.get("wrote", True))
            if answer.get("why") == "busy":
                await sleep(BUSY_S)
                continue
            if answer.get("why") != "modified":
                message = str(answer.get("error") or "it could not be written")
                raise RequestError(disk.INTERNAL_ERROR, f"{message}: {place.real}", {"path": place.real})
            buffer = await self._buffer(session, place.real)
            if buffer is None:
                return None
            mine, options["tick"] = buffer
            options.pop("merged", None)
            options.pop("disk", None)
            if behind := answer.get("disk"):
                options["disk"] = behind
            known = self._known.knows(session.id, place.real, mine)
            if behind or not (known or approved(session, place, mine, text)):
                merged = await self._ask_conflict(session, place, mine, text)
                if merged is not None:
                    options["merged"] = merged

    async def _ask(self, session: Session, op: str, place: Place, why: str, text: str | None = None) -> None:
        """Ask the user; raises RequestError unless the answer is yes. ``text``: what would be written."""
        diff = await self._change(session, place, text) if text is not None else None
        await self._put(session, place, PathSubject(op, place.path, place.real, why, diff), [YES, NO])
        if diff is not None and diff.old_text is not None:
            self._known.learn(session.id, place.real, diff.old_text)

    async def _change(self, session: Session, place: Place, text: str) -> Diff:
        """What writing ``text`` changes, as the file is now."""
        try:
            old = await self._current(session, place.real)
        except RequestError:  # it cannot be read as text: then there is nothing to compare with
            return Diff((Change("modify", place.real),), None, text)
        return Diff((Change("add" if old is None else "modify", place.real),), old, text)

    async def _ask_conflict(self, session: Session, place: Place, mine: str, text: str) -> str | None:
        """Ask about unsaved edits that are in the way; raises RequestError for a no.

        Returns what the buffer gets when the user wants both texts; None: the agent's.
        """
        try:
            now = await self._on_disk(place.real)
        except RequestError:
            now = None
        origin = base(session, place, text) or self._known.text(session.id, place.real)
        if origin is None and now != text:
            origin = now  # an agent that reads the disk by itself
        diff = Diff((Change("modify", place.real),), mine, text)
        subject = PathSubject("write", place.path, place.real, "modified", diff, origin, now)
        merged: Merged | None = None
        if origin is not None:
            job = partial(merge, origin, mine, text, ("yours", session.agent))
            merged = await to_thread.run_sync(job, abandon_on_cancel=True)
        options = [YES, NO]
        if merged is not None and merged.text not in (mine, text):
            options.append(_both(merged))
        chosen = await self._put(session, place, subject, options)
        return merged.text if merged is not None and chosen == MERGE else None

    async def _put(
        self, session: Session, place: Place, subject: PathSubject, options: list[PermissionOption]
    ) -> str:
        """Put our question; returns the answer, raises RequestError for a no."""
        where = {"path": place.real}
        question = Permission("", options, subject=subject, asked_by="client")
        chosen = await self._questions.ask(session, question)
        if chosen is None and question.by in ("cancel", "close"):
            raise RequestError(CANCELLED, f"the turn or the chat was ended: {place.real}", where)  # V1-87
        if chosen is None or chosen == NO.id:
            said = "the user did not allow" if chosen is not None else "nobody has answered the question"
            message = f"{said} to {subject.op} {place.real}"
            if subject.written:
                message += "; the file has this text, but the user's editor has unsaved edits of another one"
            raise RequestError(disk.INTERNAL_ERROR, message, where)
        _must_be(await self._resolve(session, place.path), place)
        return chosen


def _must_be(now: Place, asked: Place) -> None:
    """Raises RequestError when the path is another file's since the user was asked."""
    if now.real != asked.real:
        message = f"{asked.path} leads elsewhere now than when the user was asked"
        raise RequestError(disk.INTERNAL_ERROR, message, {"path": asked.real})


def _both(merged: Merged) -> PermissionOption:
    """The third answer. No kind: what allows once is Yes, and a key must know which is meant."""
    several = "conflict" if merged.conflicts == 1 else "conflicts"
    marks = f", {merged.conflicts} {several} marked" if merged.conflicts else ""
    return PermissionOption(MERGE, f"Keep both: merge into the buffer{marks}, unsaved", "other", "other")


def _broken(text: str) -> bool:
    """True when the text has half characters: bytes that were not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _without_surrogates(text: str) -> str:
    """Join pairs of surrogates and replace lone ones: they are no text and never reach a disk."""
    if not _broken(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
