"""File access for agents (ports.Files; design.md section 5, Files; V1-161 to V1-175)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from anyio import to_thread

from ..session.entities import Change, Diff, PathSubject, Permission, PermissionOption, Session
from ..session.ports import Questions, RequestError
from . import disk
from .order import Order
from .roots import Place, resolve
from .window import window

PROTECTED = (".git/**", ".nvim.lua", ".exrc", ".envrc", ".vscode/**")
"""The default of ``files.protected``: what runs code when a folder is opened or a commit is made."""

YES = PermissionOption("yes", "Yes", "allow_once", "allow_once")
NO = PermissionOption("no", "No", "reject_once", "reject_once")


class Buffers(Protocol):
    """The part of the editor that is needed here: calls of functions of Lua modules."""

    async def call(self, module: str, function: str, /, *args: Any) -> Any: ...


class FileService:
    """Reads and writes for all sessions.

    ``protected()`` gives the globs of ``files.protected`` as they are now. ``quirks(session)`` gives those
    of its agent: ``{'missing_file': 'empty'}`` reads a missing file as an empty text, for an agent whose
    own writing of new files breaks on the error. ``changed(session, path)`` is called after each write.
    """

    def __init__(
        self,
        editor: Buffers,
        questions: Questions,
        *,
        protected: Callable[[], Sequence[str]] = lambda: PROTECTED,
        quirks: Callable[[Session], Mapping[str, Any]] = lambda _session: {},
        changed: Callable[[Session, str], None] = lambda _session, _path: None,
    ) -> None:
        self._editor = editor
        self._questions = questions
        self._protected = protected
        self._quirks = quirks
        self._changed = changed
        self._order = Order()
        # What each session knows a file to hold: what it last read or wrote, or was shown to the user
        # beside its proposal.
        self._known: dict[str, dict[str, bytes]] = {}

    async def read(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        """Return the text an agent asked for: of the loaded buffer, saved or not, else of the disk."""
        async with self._turn(session, path) as place:
            if place.why is not None:
                await self._ask(session, "read", place, place.why)
            text = await self._current(place.real)
            if text is None:
                if self._quirks(session).get("missing_file") != "empty":
                    raise disk.missing(Path(place.real))
                text = ""
            self._learn(session, place.real, text)
            return window(text, line, limit)

    async def write(self, session: Session, path: str, text: str) -> None:
        """Write a whole file, through its buffer if one is loaded. Creates missing folders."""
        text = _without_surrogates(text)
        async with self._turn(session, path) as place:
            if place.why is not None:
                await self._ask(session, "write", place, place.why, text)
            if not await self._write_buffer(session, place, text):
                await to_thread.run_sync(disk.write_text, Path(place.real), text)
            self._learn(session, place.real, text)
        self._changed(session, place.real)

    def forget(self, session: Session) -> None:
        """The session is over: what it knows of files is not needed any more."""
        self._known.pop(session.id, None)
        self._order.forget(session.id)

    def _turn(self, session: Session, path: str) -> AbstractAsyncContextManager[Place]:
        return self._order.turn(session.id, partial(self._resolve, session, path))

    async def _resolve(self, session: Session, path: str) -> Place:
        roots = tuple(session.roots) or (session.cwd,)
        job = partial(resolve, path, roots, tuple(self._protected()))
        return await to_thread.run_sync(job, abandon_on_cancel=True)

    async def _current(self, real: str) -> str | None:
        """The whole text as the user has it now; None when there is no such file."""
        buffer = await self._editor.call("acp.buffers", "read", real)
        if buffer["loaded"]:
            text = str(buffer["text"])
            if "\0" in text or _broken(text):
                raise disk.not_text(Path(real))
            return text
        try:
            return await to_thread.run_sync(disk.read_text, Path(real), abandon_on_cancel=True)
        except RequestError as error:
            if error.code == disk.NOT_FOUND:
                return None
            raise

    async def _write_buffer(self, session: Session, place: Place, text: str) -> bool:
        """Write through the loaded buffer; False when there is none.

        Unsaved edits of the user are in the way, unless the agent knows them or the user has approved
        this very change of them. Each edit counts: a buffer that changed since is looked at again.
        """
        options: dict[str, Any] = {}
        while True:
            answer = await self._editor.call("acp.buffers", "write", place.real, text, options)
            if answer.get("loaded") is False:
                return False
            if answer["ok"]:
                return True
            if answer.get("why") != "modified":
                message = str(answer.get("error") or "it could not be written")
                raise RequestError(disk.INTERNAL_ERROR, f"{message}: {place.real}", {"path": place.real})
            buffer = await self._editor.call("acp.buffers", "read", place.real)
            now = str(buffer.get("text", ""))
            known = self._known.get(session.id, {}).get(place.real) == _digest(now)
            if buffer["loaded"] and not known and not _approved(session, place, now, text):
                await self._ask(session, "write", place, "modified", text)
            options = {"tick": buffer.get("tick")}

    async def _ask(self, session: Session, op: str, place: Place, why: str, text: str | None = None) -> None:
        """Ask the user; raises RequestError unless the answer is yes. ``text``: what would be written."""
        old, diff = None, None
        if text is not None:
            try:
                old = await self._current(place.real)
                diff = Diff((Change("add" if old is None else "modify", place.real),), old, text)
            except RequestError:  # it cannot be read as text: then there is nothing to compare with
                diff = Diff((Change("modify", place.real),), None, text)
        subject = PathSubject(op, place.path, place.real, why, diff)
        question = Permission("", [YES, NO], subject=subject, asked_by="client")
        where = {"path": place.real}
        if await self._questions.ask(session, question) != YES.id:
            raise RequestError(disk.INTERNAL_ERROR, f"the user did not allow to {op} {place.real}", where)
        if (await self._resolve(session, place.path)).real != place.real:
            message = f"{place.path} leads elsewhere now than when the user was asked"
            raise RequestError(disk.INTERNAL_ERROR, message, where)
        if old is not None:
            self._learn(session, place.real, old)

    def _learn(self, session: Session, real: str, text: str) -> None:
        self._known.setdefault(session.id, {})[real] = _digest(text)


def _approved(session: Session, place: Place, old: str, new: str) -> bool:
    """True when the user has allowed a question of the agent that showed exactly this change."""
    for permission in session.permissions.values():
        call = session.tool_calls.get(permission.tool_call_id or "")
        chosen = next((o for o in permission.options if o.id == permission.answer), None)
        if call is None or chosen is None or not chosen.kind.startswith("allow"):
            continue
        for item in call.content:
            if (
                isinstance(item, Diff)
                and (item.old_text or "", item.new_text) == (old, new)
                and any(change.path in (place.path, place.real) for change in item.changes)
            ):
                return True
    return False


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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
