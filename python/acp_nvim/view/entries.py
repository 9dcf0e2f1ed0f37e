"""What the transcript keeps of each block, and how the block gives its operations (contract, frame ops).

Messages are streams: a ``set`` with their beginning, then only ``add``. All others are drawn whole, in one
``set``, once per frame at most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Compaction, Message, ToolCall
from acp_nvim.text.mentions import find, written
from acp_nvim.text.sanitise import one_line
from acp_nvim.text.width import cells_of

from . import facts, rows
from .block import Drawn, Fold, Op, bar, link
from .content import block_line, file_path, hidden
from .ends import draw_compaction
from .look import Look, duration, plural
from .stream import Piece, Stream

#: Bytes up to which a user's message is rewritten whole when it grows: its mentions get their colour.
WHOLE_USER = 32768


class Entry(Protocol):
    """A block. ``id`` is None until the block is in the buffer; ``unread`` counts characters."""

    id: int | None
    lead: int
    unread: int

    @property
    def urgent(self) -> bool:
        """A question is open here."""

    def touch(self) -> None:
        """The item has changed."""

    def take(self, block_id: int, max_bytes: int, max_events: int, *, force: bool) -> tuple[list[Op], bool]:
        """The operations that bring the block up to date, and whether more is left for the next frame.

        A block drawn whole may be larger than ``max_bytes``. ``force``: others follow, so the block must
        be made although it has nothing to show yet.
        """

    def again(self) -> None:
        """The block has to be written from its beginning."""

    def content(self, place: Sequence[int]) -> Block | None:
        """The content that a link of ours stands for (``block.link``), None: it is not there any more."""


class Whole:
    """A block drawn whole by a function."""

    def __init__(self, draw: Callable[[], Drawn], lead: int) -> None:
        self._draw = draw
        self.id: int | None = None
        self.lead = lead
        self.unread = 0

    @property
    def urgent(self) -> bool:
        return False

    def touch(self) -> None:
        """Drawn anew when it is taken."""

    def again(self) -> None:
        """Nothing is remembered of what was drawn."""

    def content(self, place: Sequence[int]) -> Block | None:
        return None

    def take(self, block_id: int, max_bytes: int, max_events: int, *, force: bool) -> tuple[list[Op], bool]:
        drawn = self._draw()
        drawn.lead = self.lead
        return [drawn.op(block_id)], False


class Rows(Whole):
    """A tool call, or several reads and searches that follow each other."""

    def __init__(self, call: ToolCall, look: Look, lead: int) -> None:
        super().__init__(self._rows, lead)
        self.calls = [call]
        self.spans: list[rows.Span] = []
        self._look = look

    @property
    def urgent(self) -> bool:
        return any(call.open_permissions for call in self.calls)

    def takes(self, call: ToolCall) -> bool:
        """Whether a call that follows joins this block."""
        return (
            len(self.calls) < MAX_GROUP
            and facts.verb(call) in rows.GROUPED
            and facts.verb(self.calls[-1]) in rows.GROUPED
        )

    def call_at(self, row: int) -> ToolCall:
        """The call a row of the block belongs to."""
        row -= self.lead
        return next((span.call for span in self.spans if span.first <= row <= span.last), self.calls[0])

    def content(self, place: Sequence[int]) -> Block | None:
        call = _at(self.calls, place[:1])
        found = _at(call.content, place[1:]) if call is not None else None
        return found if isinstance(found, Block) else None

    def _rows(self) -> Drawn:
        drawn, self.spans = rows.draw(self.calls, self._look, self._look.session.open_permissions)
        return drawn


#: Calls in one group, because each change rewrites the group.
MAX_GROUP = 100


class Summary(Whole):
    """A compaction: the agent has made room in its context."""

    def __init__(self, compaction: Compaction, look: Look, lead: int) -> None:
        super().__init__(lambda: draw_compaction(compaction, look), lead)
        self._compaction = compaction

    def content(self, place: Sequence[int]) -> Block | None:
        return _at(self._compaction.summary, place)


T = TypeVar("T")


def _at(found: Sequence[T], place: Sequence[int]) -> T | None:
    return found[place[0]] if place and 0 <= place[0] < len(found) else None


class Talk:
    """A message: the user's, the agent's, or a thought."""

    def __init__(self, message: Message, look: Look, lead: int) -> None:
        self.message = message
        self._look = look
        self.id: int | None = None
        self.lead = lead
        self.unread = 0
        self._stream = self._new_stream()
        self._written = False  # the buffer has what the stream gave
        self._summed = False  # the header tells how long the thought was
        self._last_fold = 0
        self._source: list[Block] | None = None  # what is below was made of it, up to ``_looked``
        self._looked = 0
        self._shown: list[Block] = []
        self._places: list[int] = []  # of what is shown, in the message

    @property
    def urgent(self) -> bool:
        return False

    def touch(self) -> None:
        blocks = self._blocks()
        if self._stream.stale(blocks) or (self._written and self._whole()):
            self.again()
        self.unread = self._stream.left(blocks)

    def again(self) -> None:
        self._stream = self._new_stream()
        self._written = False
        self._summed = False
        self.unread = self._stream.left(self._blocks())

    def take(self, block_id: int, max_bytes: int, max_events: int, *, force: bool) -> tuple[list[Op], bool]:
        final = self.message.ended is not None
        thought = self.message.role == "thought"
        blocks = self._blocks()
        piece = self._stream.read(blocks, final=final, max_bytes=max_bytes, max_events=max_events)
        self.unread = self._stream.left(blocks)
        ops: list[Op] = []
        if not self._written:
            if self._stream.begun or force or self.id is not None:
                ops.append(self._set(block_id, piece, final))
                self._written, self._summed = self._stream.begun, thought and final
        else:
            if not piece.empty:
                ops.append(self._add(block_id, piece))
                self._summed = False
            if thought and final and not self._summed and not self.unread:
                ops.append(self._header(block_id))
                self._summed = True
        return ops, self.unread > 0

    # -- drawing

    def _blocks(self) -> list[Block]:
        """What is shown, in its order: without what is for the model alone (V1-101).

        What the user said goes before what was sent with it.
        """
        blocks = self.message.blocks
        if self._source is not blocks or self._looked > len(blocks) or self.message.role == "user":
            self._source, self._looked, self._shown, self._places = blocks, 0, [], []
        for place in range(self._looked, len(blocks)):
            if not hidden(blocks[place]):
                self._shown.append(blocks[place])
                self._places.append(place)
        self._looked = len(blocks)
        if self.message.role == "user" and len(self._shown) > 1:
            self._part()
        return self._shown

    def _part(self) -> None:
        pairs = list(zip(self._shown, self._places, strict=True))
        said = [pair for pair in pairs if pair[0].type == "text"]
        text = "".join(str(block.text) for block, _ in said) if len(pairs) > len(said) else ""
        named = {
            text[each.start : reading.end].rstrip("/") for each in find(text) for reading in each.readings
        }
        along = [pair for pair in pairs if pair[0].type != "text" and self._mention(pair[0]) not in named]
        self._shown = [block for block, _ in said + along]
        self._places = [place for _, place in said + along]

    def _mention(self, block: Block) -> str:
        return mention(block, self._look) or "\0"

    def _whole(self) -> bool:
        if self.message.role != "user":
            return False
        size = sum(block.text.length for block in self.message.blocks if block.text is not None)
        return size <= WHOLE_USER

    def _new_stream(self) -> Stream:
        icons, role = self._look.icons, self.message.role
        if role == "user":
            indent = " " * (cells_of(icons.user) + 1)
            return Stream(f"{icons.user} ", indent, line_of=self._sent_along)
        if role == "thought":
            return Stream(bar(icons), bar(icons), blank=True)
        return Stream(fences=True)

    def _sent_along(self, block: Block) -> str:
        return mention(block, self._look) or block_line(block).strip()

    def _set(self, block_id: int, piece: Piece, final: bool) -> Op:
        role = self.message.role
        drawn = Drawn(kind=_KINDS[role], lead=self.lead, tail=1)
        if role == "thought":
            self._think_header(drawn, final)
            if self._stream.begun:
                drawn.lines += piece.lines
                drawn.body.append((1, len(piece.lines), "think"))
                drawn.folds.append(Fold(0, len(piece.lines)))
        else:
            drawn.lines, drawn.fences = piece.lines, piece.fences
            if not self._stream.begun:  # a block must have a line, and this one has nothing to show
                drawn.lines, drawn.tail = ([], 0) if self.lead else ([""], 0)
            elif role == "user":
                self._mark_user(drawn)
        known = {each[0] for each in drawn.links}
        drawn.links += [each for each in self._links(piece) if each[0] not in known]
        self._last_fold = len(drawn.lines) - 1 + drawn.lead
        return drawn.op(block_id)

    def _add(self, block_id: int, piece: Piece) -> Op:
        deco: dict[str, Any] = {}
        shift = self.lead
        if piece.fences:
            deco["fences"] = [[fence[0] + shift, *fence[1:]] for fence in piece.fences]
        if piece.others:
            deco["links"] = [[each[0] + shift, *each[1:]] for each in self._links(piece)]
        if self.message.role == "thought":
            last = self.lead + 1 + self._stream.rows
            if last != self._last_fold:
                self._last_fold = last
                deco["folds"] = [Fold(self.lead, last).wire()]
        return ["add", block_id, piece.lines, deco or None]

    def _header(self, block_id: int) -> Op:
        """The end of a thought changes its first line alone, however long it was."""
        drawn = Drawn(kind="think", lead=self.lead)
        self._think_header(drawn, True)
        _, _, lines, deco = drawn.op(block_id)
        return ["header", block_id, lines[self.lead :], {"marks": deco["marks"]}]

    def _links(self, piece: Piece) -> list[list[Any]]:
        """Links of the content that is not text. Rows are relative to the block without its lead."""
        header = self.message.role == "thought"
        return [link(row + header, self._places[index]) for row, index in piece.others]

    def content(self, place: Sequence[int]) -> Block | None:
        return _at(self.message.blocks, place)

    def _think_header(self, drawn: Drawn, final: bool) -> None:
        icon = self._look.icons.think
        if not final:
            drawn.put((icon, "AcpThought"), (" think", "AcpThought"))
            drawn.spin.append(0)
            return
        seconds = (self.message.ended or 0) - self.message.started
        count = self._stream.total
        parts = [duration(seconds)] if seconds >= 1 else []
        if count:
            parts.append(plural(count, "line"))
        text = f" think  {', '.join(parts)}" if parts else " think"
        drawn.put((icon, "AcpThought"), (text, "AcpThought"))

    def _mark_user(self, drawn: Drawn) -> None:
        if drawn.lines:
            drawn.marks.append((0, 0, len(self._look.icons.user.encode()), "AcpUser"))
        drawn.marks += _mentioned(drawn.lines)
        for index, block in enumerate(self.message.blocks):
            place = file_path(block.uri)
            label = mention(block, self._look)
            if place is None or label is None:
                continue
            # What the agent says the user has sent is not opened without a look at where it leads.
            own = self.message.origin == "local"
            for row, line in enumerate(drawn.lines):
                if label in line:
                    parts = [part for part in place if part is not None]
                    drawn.links.append([row, *parts] if own else link(row, index))
                    break


def _mentioned(lines: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """Where mentions stand in lines, in bytes."""
    if not any("@" in line for line in lines):
        return []
    marks: list[tuple[int, int, int, str]] = []
    text, row, begin = "\n".join(lines), 0, 0
    for each in find(text):
        while each.start > begin + len(lines[row]):
            begin, row = begin + len(lines[row]) + 1, row + 1
        start = len(text[begin : each.start].encode())
        marks.append((row, start, start + len(text[each.start : each.plain.end].encode()), "AcpContext"))
    return marks


_KINDS: dict[str, Any] = {"user": "user", "agent": "answer", "thought": "think"}


def mention(block: Block, look: Look) -> str | None:
    """How what was sent along is named: as the user has written it, else ``@src/date.py:7-13``."""
    # The protocols have no name for these: it is ours.
    if block.type != "link" and block.name is not None and block.name.startswith("@"):
        return one_line(block.name)
    place = file_path(block.uri)
    if block.type not in ("resource", "link") or place is None:
        return None
    path, _ = place
    lines = re.search(r"#L(\d{1,9})(?:-L?(\d{1,9}))?$", block.uri or "")
    first, last = (int(lines[1]), int(lines[2] or lines[1])) if lines else (None, None)
    return one_line(written(look.path(path), first, last))
