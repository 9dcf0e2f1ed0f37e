"""A message on its way into the buffer: text that only grows becomes lines that are only added."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from acp_nvim.session.content import Block
from acp_nvim.text.sanitise import LINE_BYTES, Cleaner, byte_length, fitting

from .content import block_line
from .fences import Fences

#: Lines that one frame may add, however short they are.
MAX_LINES = 4000


class Piece(Struct):
    """New content: ``lines[0]`` goes on where the last line ended. ``fences`` count rows of the content.

    ``others``: the row of the content and the index of each block that is not text.
    """

    lines: list[str] = field(default_factory=lambda: [""])
    fences: list[list[Any]] = []
    others: list[tuple[int, int]] = []
    size: int = 0

    @property
    def empty(self) -> bool:
        return len(self.lines) == 1 and not self.lines[0] and not self.fences


class Stream:
    """Reads a message's blocks piece by piece, each character once.

    ``first`` and ``rest`` are what the first and the other lines begin with; ``blank``: also blank lines.
    ``line_of`` makes the line of a block that is not text.
    Line breaks at the beginning are left out, those at the end wait for what follows them. Lines are cut at
    ``LINE_BYTES``. What comes out does not depend on how the text was cut into chunks.
    """

    def __init__(
        self,
        first: str = "",
        rest: str = "",
        *,
        blank: bool = False,
        fences: bool = False,
        line_of: Callable[[Block], str] = block_line,
    ) -> None:
        self._line_of = line_of
        self._first = first
        self._rest = rest
        self._blank = blank
        self._fences = Fences() if fences else None
        self._cleaner = Cleaner()
        self._known: list[Block] = []  # blocks that were read, the last one perhaps not to its end
        self._index = 0  # of the last known block's text: how many pieces were read
        self._read = 0  # the same in characters
        self._text = ""  # safe text, not yet given from ``_at`` on
        self._at = 0
        self._length = 0  # of the safe text, and of what is about to be added to it
        self._solid = 0  # end of what is not line breaks
        self._last = ""  # last character of the safe text
        self._break = False  # a line of its own came: what follows begins a new one
        self._others: deque[tuple[int, int]] = deque()  # where in the text they stand, and their index
        self._width = 0  # bytes in the last line
        self.rows = 0  # number of the last line of the content, from 0
        self.begun = False
        self._whole = 0  # lines of the message that were given to their end

    @property
    def total(self) -> int:
        """Lines of what was read of the message, cut or not."""
        if not self._solid:
            return self._whole + 1 if self.begun else 0
        return self._whole + 1 + self._text.count("\n", self._at, self._solid)

    def stale(self, blocks: Sequence[Block]) -> bool:
        """True when what was read is no longer the beginning of the message."""
        known = self._known
        if not known:
            return False
        return (
            len(blocks) < len(known) or blocks[0] is not known[0] or blocks[len(known) - 1] is not known[-1]
        )

    def left(self, blocks: Sequence[Block]) -> int:
        """Characters that are in the model and were not given yet."""
        start = max(len(self._known) - 1, 0)
        waiting = sum(b.text.length for b in blocks[start:] if b.text is not None and b.type == "text")
        waiting += sum(1 for b in blocks[len(self._known) :] if b.type != "text")
        if self._known and self._known[-1].type == "text":
            waiting -= self._read
        return waiting + max(self._solid - self._at, 0)

    def read(self, blocks: Sequence[Block], *, final: bool, max_bytes: int, max_events: int = 200) -> Piece:
        """Give the next piece. ``final``: the message has ended, nothing waits for its continuation."""
        self._pull(blocks, final)
        piece = Piece()
        while (
            self._at < self._solid
            and piece.size < max_bytes
            and len(piece.lines) < MAX_LINES
            and len(piece.fences) < max_events
        ):
            if not self.begun:
                while self._text[self._at] == "\n":
                    self._at += 1
                self.begun = True
                self._start_line(piece, self._first)
            end = self._text.find("\n", self._at, self._solid)
            whole = end >= 0
            part = self._text[self._at : end if whole else self._solid]
            room = max_bytes - piece.size
            if len(part) > room:
                part, whole = part[: max(fitting(part, room), 1)], False
            self._put(piece, part)
            self._at += len(part) + whole
            if whole:
                self._complete(piece)
                self.rows += 1
                self._whole += 1
                piece.lines.append("")
                piece.size += 1
                self._start_line(piece, self._rest if self._blank or self._text[self._at] != "\n" else "")
        if self.begun and self._at >= self._solid and (final or len(self._text) > self._solid):
            self._complete(piece)
        return piece

    def _start_line(self, piece: Piece, prefix: str) -> None:
        piece.lines[-1] += prefix
        self._width = byte_length(prefix)
        piece.size += self._width
        if self._others and self._others[0][0] <= self._at:
            piece.others.append((self.rows, self._others.popleft()[1]))
        if self._fences is not None:
            self._fences.start(self.rows)

    def _put(self, piece: Piece, part: str) -> None:
        if self._fences is not None:
            self._fences.feed(part)
        while part:
            size = byte_length(part)
            if self._width + size <= LINE_BYTES:
                piece.lines[-1] += part
                self._width += size
                piece.size += size
                return
            fits = fitting(part, LINE_BYTES - self._width)
            piece.lines[-1] += part[:fits]
            piece.size += byte_length(part[:fits]) + 1
            part = part[fits:]
            self.rows += 1
            piece.lines.append(self._rest)
            self._width = byte_length(self._rest)

    def _complete(self, piece: Piece) -> None:
        event = self._fences.complete() if self._fences is not None else None
        if event is not None:
            piece.fences.append(event)

    def _pull(self, blocks: Sequence[Block], final: bool) -> None:
        new: list[str] = []
        while True:
            if self._known and self._known[-1].text is not None and self._known[-1].type == "text":
                text, self._index = self._known[-1].text.since(self._index)
                self._read += len(text)
                self._add(new, self._cleaner.feed(text))
            if len(self._known) == len(blocks):
                break
            block = blocks[len(self._known)]
            self._known.append(block)
            self._index = self._read = 0
            if block.type != "text":
                self._add(new, self._cleaner.end())
                if not self._break and self._last not in ("", "\n"):
                    self._add(new, "\n")
                self._other(new, block)
        if final:
            self._add(new, self._cleaner.end())
        if new:
            self._others = deque((at - self._at, index) for at, index in self._others)
            self._text = self._text[self._at :] + "".join(new)
            self._at = 0
            self._length = len(self._text)
            self._solid = len(self._text.rstrip("\n"))

    def _other(self, new: list[str], block: Block) -> None:
        """The line of a block that is not text."""
        if self._break:
            self._break = False
            self._add(new, "\n")
        self._others.append((self._length, len(self._known) - 1))
        self._add(new, self._line_of(block))
        self._break = True

    def _add(self, new: list[str], text: str) -> None:
        if not text:
            return
        if self._break:
            self._break = False
            text = "\n" + text
        new.append(text)
        self._length += len(text)
        self._last = text[-1]
