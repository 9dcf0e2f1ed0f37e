"""Finds what the user's mentions stand for, while they type, and reads it when the prompt goes out."""

from __future__ import annotations

import base64
import os
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from anyio import current_time, to_thread

from acp_nvim.editor import Editor, NvimError
from acp_nvim.process.capture import Captured, capture
from acp_nvim.process.environment import LaunchError
from acp_nvim.process.git import MISSING, git_command, git_environment
from acp_nvim.process.spawn import Spawner
from acp_nvim.service import disk
from acp_nvim.service.mentioned import COUNT_BYTES, Looked, count_lines, look, warning
from acp_nvim.service.window import window
from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import RequestError
from acp_nvim.text.mentions import Mention, find

from . import seen as views
from .announce import known
from .payloads import Spot
from .prompt import Along, Prompt, arrange, given, text_along, uri_of
from .seen import ABLE, ALL_MEDIA_BYTES, ALL_TEXT_BYTES, TEXT_BYTES, Seen, once, unlinked

#: Seconds that git may take; while the user types what it said is not asked for again so soon.
GIT_SECONDS = 10.0
GIT_AGAIN = 3.0
#: No other diff of the settings, and not into submodules.
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD")
#: The filters of all settings, each with whose they are. Those of the user's own are left to work.
_FILTERS = ("config", "--show-scope", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$")
_FILTER_BYTES = 64 * 1024


@dataclass(slots=True)
class _Left:
    """Bytes that may still go into one prompt."""

    text: int = ALL_TEXT_BYTES
    media: int = ALL_MEDIA_BYTES


class Sources:
    """One for the host. ``own``: the folder with what was pasted, which is not outside of any project."""

    def __init__(self, editor: Editor, spawner: Spawner, own: str) -> None:
        self._editor = editor
        self._spawner = spawner
        self._own = own
        self._diffs: dict[str, tuple[float, dict[str, Any]]] = {}

    async def see(
        self, text: str, session: Session, info: AgentInfo | None, spot: Spot | None, *, whole: bool = False
    ) -> list[Seen]:
        """What each mention of a text is now. ``whole``: with the text of what is in no file."""
        mentions = find(text)
        info = info or ABLE
        files = [each for each in mentions if each.word is None]
        there = await self._look(files, session)
        found = []
        for each in mentions:
            if each.word is None:
                found.append(await self._file(each, there, session, info))
            else:
                told = await self._word(each, session, spot, whole)
                found.append(views.of_word(each, told, await self._warning(told.get("path"), session)))
        return found

    async def compose(
        self, prompt: Prompt, session: Session, info: AgentInfo | None, chat: int
    ) -> tuple[list[Block], list[Block]]:
        """The blocks of a prompt that goes out: to send, and to show. A fault of ours does not stop it."""
        along = [given(each, info) for each in prompt.context]
        if "@" in prompt.text:
            left = _Left()
            try:
                for each in once(await self.see(prompt.text, session, info, prompt.spot, whole=True)):
                    made = await self._read(each, prompt.text, info or ABLE, chat, left)
                    if made is not None:
                        along.append(made)
            except NvimError:
                self._editor.notify("acp.host", "failed", "mentions", traceback.format_exc())
        return arrange(prompt.text, along)

    # -- what there is

    async def _look(
        self, mentions: Sequence[Mention], session: Session
    ) -> dict[str, tuple[Looked, dict[str, Any] | None]]:
        """By absolute path: what is on the disk, and what the editor says of a buffer with unsaved edits."""
        paths = list(
            dict.fromkeys(
                path
                for each in mentions
                for reading in each.readings
                if (path := _absolute(reading.path, session.cwd)) is not None
            )
        )
        if not paths:
            return {}
        unsaved = await self._editor.call("acp.context", "unsaved", paths)
        roots, own = tuple(session.roots) or (session.cwd,), self._own
        looked = await to_thread.run_sync(
            lambda: [look(path, roots, own) for path in paths], abandon_on_cancel=True
        )
        return {
            path: (on_disk, edits or None)
            for path, on_disk, edits in zip(paths, looked, unsaved, strict=True)
        }

    async def _file(
        self,
        mention: Mention,
        there: dict[str, tuple[Looked, dict[str, Any] | None]],
        session: Session,
        info: AgentInfo,
    ) -> Seen:
        def exists(path: str) -> bool:
            looked, unsaved = there.get(_absolute(path, session.cwd) or "", (None, None))
            return unsaved is not None or (looked is not None and looked.kind != "missing")

        reading = mention.read(exists) or mention.plain
        path = _absolute(reading.path, session.cwd)
        looked, unsaved = there.get(path or "", (Looked("", "", "missing"), None))
        lines = None
        if reading.first is not None and unsaved is None and looked.kind == "text":
            lines = await to_thread.run_sync(count_lines, looked.real, abandon_on_cancel=True)
        return views.of_file(mention, reading, looked, unsaved, lines, info)

    async def _warning(self, path: str | None, session: Session) -> str:
        if path is None:
            return ""
        roots = tuple(session.roots) or (session.cwd,)
        return await to_thread.run_sync(lambda: warning(path, os.path.realpath(path), roots, self._own))

    async def _word(
        self, mention: Mention, session: Session, spot: Spot | None, whole: bool
    ) -> dict[str, Any]:
        """What the editor says of a buffer, a selection, a list; git of the difference."""
        if mention.word == "diff":
            return await self._diff(session.cwd, whole)
        reading = mention.plain
        asked = {
            "word": mention.word,
            "all": reading.path.endswith(":all"),
            "first": reading.first,
            "last": reading.last,
            "spot": known(**msgspec.structs.asdict(spot)) if spot is not None else None,
            "cwd": session.cwd,
            "limit": TEXT_BYTES,
            "whole": whole,
        }
        told = await self._editor.call("acp.context", "of", known(**asked))
        return dict(told)

    async def _diff(self, cwd: str, fresh: bool) -> dict[str, Any]:
        """The difference of the working tree to the last commit."""
        before = self._diffs.get(cwd)
        if before is not None and not fresh and current_time() - before[0] < GIT_AGAIN:
            return before[1]
        told: dict[str, Any]
        try:
            named = await self._git(_FILTERS, cwd, _FILTER_BYTES)
            made = named
            if named.code is not None:
                made = await self._git(_DIFF, cwd, TEXT_BYTES, _unfiltered(named.output))
        except LaunchError:
            told = {"none": "git is not installed"}
        else:
            if made.code == MISSING:
                told = {"none": "git is not installed"}
            elif named.code is None or (made.code is None and not made.cut):
                told = {"none": "git takes too long"}
            elif made.code:
                told = {"none": "no git history here"}
            elif not made.output:
                told = {"none": "no changes"}
            else:
                text = made.output.decode("utf-8", "replace")
                told = {"text": text, "bytes": len(made.output), "cut": made.cut, "name": "git diff HEAD"}
        self._diffs = {cwd: (current_time(), told)}
        return told

    async def _git(
        self, words: Sequence[str], cwd: str, limit: int, env: Mapping[str, str] | None = None
    ) -> Captured:
        more = {**git_environment(self._spawner), **(env or {})}
        argv = git_command(*words)
        return await capture(self._spawner, argv, cwd=cwd, limit=limit, seconds=GIT_SECONDS, env=more)

    # -- what is sent

    async def _read(self, seen: Seen, prompt: str, info: AgentInfo, chat: int, left: _Left) -> Along | None:
        """What goes along for one mention; None: nothing but the words."""
        typed = prompt[seen.mention.start : seen.reading.end]
        try:
            match seen.how:
                case "text" if seen.mention.word is not None:
                    return _of_word(seen, typed, info)
                case "text":
                    text = await self._text(seen, chat)
                    size = len(text.encode("utf-8", "replace"))
                    if size <= TEXT_BYTES and size <= left.text:
                        left.text -= size
                        return _of_text(seen, text, typed, info)
                case "image" | "audio" as kind if seen.size <= left.media:
                    data = await to_thread.run_sync(disk.read_bytes, Path(seen.real), left.media)
                    left.media -= len(data)
                    coded = await to_thread.run_sync(base64.b64encode, data)
                    block = Block(
                        kind, data=coded.decode(), mime=seen.mime, uri=uri_of(seen.path), name=typed
                    )
                    return Along(block, block)
                case _:
                    pass
        except (RequestError, NvimError):
            pass  # gone since, or no text after all: then the agent may see for itself
        return _link(unlinked(seen, info))

    async def _text(self, seen: Seen, chat: int) -> str:
        """As the user has it now: of the buffer if one is loaded, saved or not. Raises RequestError."""
        buffer = await self._editor.call("acp.buffers", "read", seen.real, chat)
        if buffer["loaded"] and not buffer.get("large"):
            text = str(buffer["text"])
            if "\0" in text:
                raise disk.not_text(Path(seen.real))
        else:
            text = await to_thread.run_sync(
                disk.read_text, Path(seen.real), COUNT_BYTES, abandon_on_cancel=True
            )
        if seen.first is None or seen.last is None:
            return text
        return window(text, seen.first, seen.last - seen.first + 1).removesuffix("\n")


def _of_text(seen: Seen, text: str, typed: str, info: AgentInfo) -> Along:
    where = seen.path
    if seen.first is not None:
        where += f":{seen.first}" + (f"-{seen.last}" if seen.last != seen.first else "")
    return text_along(text, where, uri_of(seen.path, seen.first, seen.last), info, name=typed)


def _of_word(seen: Seen, typed: str, info: AgentInfo) -> Along:
    text = seen.text or ""
    if seen.path:  # the line below the words tells which file it was
        return _unnamed(_of_text(seen, text, typed, info))
    mime = "text/x-diff" if seen.mention.word == "diff" else ""
    return text_along(text, seen.where, None, info, name=typed, mime=mime)


def _unnamed(along: Along) -> Along:
    """Without the user's own name for it, so that the file's is shown."""
    shown = msgspec.structs.replace(along.shown, name=None)
    return Along(shown if along.sent is along.shown else along.sent, shown)


def _link(seen: Seen) -> Along | None:
    if seen.how != "link":
        return None
    name = os.path.basename(seen.path) or seen.path  # noqa: PTH119 (Path would not take every text)
    block = Block("link", uri=uri_of(seen.path, seen.first, seen.last), name=name, size=seen.size or None)
    return Along(block, block)


def _absolute(path: str, cwd: str) -> str | None:
    """The path from the session's folder on, without ``..``; None: no file can have this name."""
    if path == "~" or path.startswith("~/"):
        path = str(Path.home()) + path[1:]
    made = os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118 (Path would not take every text)
    try:
        os.fsencode(made)
    except UnicodeEncodeError:
        return None
    return made


def _unfiltered(said: bytes) -> dict[str, str]:
    """The variables that switch off the filters of a repository's own settings, out of what git says of them.

    Its filters are programs: whoever hands out a folder with a .git in it would have them run.
    """
    rows = [line.partition("\t") for line in said.decode("utf-8", "surrogateescape").splitlines()]
    names = [name for scope, _, name in rows if scope in ("local", "worktree")]
    pairs = [(name, "") for name in names]
    pairs += [(f"{name.rpartition('.')[0]}.required", "false") for name in names]
    settings = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(pairs)}
    settings |= {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(pairs)}
    return {**settings, "GIT_CONFIG_COUNT": str(len(pairs))} if pairs else {}
