"""What messages and tool calls are made of: content blocks, changes of files, places."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct


class Text:
    """Text that only grows, read piece by piece without copying the whole again.

    A reader keeps the index it has read up to; ``since`` gives the pieces that are new. Chunks that
    came since the last read are joined into one piece, so 100,000 chunks cost a piece per frame.
    """

    __slots__ = ("_settled", "_tail", "length")

    def __init__(self, text: str = "") -> None:
        self._settled: list[str] = []
        self._tail: list[str] = []
        self.length = 0
        if text:
            self.append(text)

    def append(self, text: str) -> None:
        """Add text at the end."""
        self._tail.append(text)
        self.length += len(text)

    def since(self, index: int) -> tuple[str, int]:
        """Return what came after ``index`` (a number an earlier call gave; 0 = all) and the new index."""
        if self._tail:
            self._settled.append("".join(self._tail))
            self._tail.clear()
        return "".join(self._settled[index:]), len(self._settled)

    def __str__(self) -> str:
        return self.since(0)[0]

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"


class Block(Struct):
    """A content block. ``type`` is text, image, audio, link, resource or unknown.

    ``text`` holds the text of a text block or of an embedded text resource; ``data`` is base64;
    ``size`` is in bytes; ``raw`` keeps what an unknown block said.
    """

    type: str
    text: Text | None = None
    data: str | None = None
    mime: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    audience: tuple[str, ...] | None = None
    raw: Any = None

    @classmethod
    def of_text(cls, text: str) -> Block:
        """A text block."""
        return cls("text", text=Text(text))


class Location(Struct, frozen=True):
    """A place in a file: an absolute path; ``line`` counts from 1, None = no line."""

    path: str
    line: int | None = None
    end_line: int | None = None


class Change(Struct, frozen=True):
    """One file of a diff. ``op`` is add, delete, modify, move or copy (or the agent's own word)."""

    op: str
    path: str
    old_path: str | None = None
    file_type: str | None = None
    mime: str | None = None


class Diff(Struct, frozen=True):
    """A proposed or finished change. v1 gives both texts (whole file or fragment), v2 a patch.

    ``replaces``: what it overwrites without a word of the agent: a file, or the user's unsaved edits of one.
    ``old_text`` is then what we have found there, None if that cannot be shown.
    """

    changes: tuple[Change, ...]
    old_text: str | None = None
    new_text: str | None = None
    patch_format: str | None = None
    patch: str | None = None
    replaces: Literal["", "file", "edits"] = ""

    @property
    def unsaid(self) -> str | None:
        """The path of a file that is written anew without an old text: it may exist all the same (C19)."""
        if self.replaces or self.old_text or self.new_text is None or len(self.changes) != 1:
            return None
        return self.changes[0].path if self.changes[0].op in ("add", "modify") else None


class TerminalRef(Struct, frozen=True):
    """The place of a terminal in a tool call."""

    terminal_id: str


class UnknownContent(Struct, frozen=True):
    """Content of a kind this version does not know; kept and shown generically."""

    raw: Any


ToolContent: TypeAlias = Block | Diff | TerminalRef | UnknownContent
