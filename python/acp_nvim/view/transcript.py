"""The transcript: turns what has changed in the session into frame operations, bounded and in order.

It keeps a block for each item of the timeline, but for reads and searches that follow each other, which
share one. Operations say only what changed; the text of messages goes out once, as it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Compaction, Item, Message, Note, Plan, Session, ToolCall, TurnEnd

from .block import Op, op_bytes, op_events
from .details import details_of
from .ends import draw_end, draw_note, draw_plan
from .entries import Entry, Rows, Summary, Talk, Whole
from .head import Head, draw_head
from .icons import UNICODE, Icons
from .look import Look

#: A frame's size: bytes, and blocks, folds and fences. 64 KB (architecture.md section 3) every 16 ms would
#: take 1.5 s for 6 MB; these take 1 s, and Neovim about 4 ms each, of its 16.
FRAME_BYTES = 98304
FRAME_EVENTS = 200
#: Bytes of each message that stands before a question: the question is not kept waiting by their text.
HASTE_BYTES = 2048

Ops: TypeAlias = list[Op]


class Transcript:
    """The view of one chat. ``label`` names the agent; ``home`` is for tests.

    ``first`` is the first block id that is free: the buffer may hold blocks of a host that was lost.

    ``lines_written`` counts the lines of all operations, for tests and the benchmark.
    """

    def __init__(
        self,
        chat: int,
        session: Session,
        icons: Icons = UNICODE,
        label: str = "",
        home: str | None = None,
        first: int = 1,
    ) -> None:
        self.chat = chat
        self.session = session
        self.lines_written = 0
        self.unread = 0  # characters in the model that no operation has told yet
        self._look = Look(session, icons, label, home)
        self._entries: list[Entry] = []
        self._by_item: dict[int, tuple[Item, int]] = {}
        self._seen = 0  # items of the session that have their entry
        self._dirty: set[int] = set()
        self.first = first
        self._next_id = first
        self._made = 0  # entries that have their block: always the first ones
        self._open: list[Permission] = []
        self._head: Head | None = None

    @property
    def dirty(self) -> bool:
        """Whether ``take`` would give something."""
        return bool(self._dirty) or self._head is not None

    @property
    def last(self) -> int:
        """The number of the newest entry; ``settled`` takes it."""
        self._discover()
        return len(self._entries) - 1

    def settled(self, entry: int) -> bool:
        """Whether nothing of the entries up to this one is left to take."""
        return self._head is None and all(index > entry for index in self._dirty)

    def set_head(self, head: Head) -> None:
        """Have the head rewritten."""
        self._head = head

    def touch(self, items: Sequence[Item]) -> None:
        """These items have changed, or are new."""
        self._discover()
        for item in items:
            known = self._by_item.get(id(item))
            if known is not None:
                self._mark(known[1])
            if isinstance(item, ToolCall) and item.permissions:
                self._renumber()

    def again(self, ops: Sequence[Op]) -> None:
        """Operations did not arrive: have their blocks written from the beginning."""
        lost = {op[1] for op in ops}
        for index, entry in enumerate(self._entries):
            if entry.id in lost:
                entry.again()
                self._mark(index)

    def take(self, max_bytes: int = FRAME_BYTES, max_events: int = FRAME_EVENTS) -> tuple[Ops, int]:
        """Give the next operations and their bytes. What does not fit comes with the next call.

        Only a single block that is larger by itself goes beyond ``max_bytes``.
        """
        self._discover()
        frame = _Frame(max_bytes, max_events)
        if self._head is not None:
            drawn = draw_head(self._head, self._look)
            frame.put([drawn.op(0)])
            self._head = None
        order = sorted(self._dirty)
        urgent = [index for index in order if self._entries[index].urgent]
        if urgent:
            self._take(frame, [index for index in order if index <= urgent[-1]], HASTE_BYTES)
            order = sorted(self._dirty)
        self._take(frame, order, max_bytes)
        self.lines_written += sum(len(op[2]) for op in frame.ops)
        return frame.ops, frame.size

    def call_at(self, block: int, row: int = 0) -> ToolCall | None:
        """The tool call a row of a block belongs to."""
        entry = next((entry for entry in self._entries if entry.id == block), None)
        return entry.call_at(row) if isinstance(entry, Rows) else None

    def content(self, block: int, place: Sequence[int]) -> Block | None:
        """The content behind a link of a block (``block.link``); None: it is gone."""
        entry = next((entry for entry in self._entries if entry.id == block), None)
        return entry.content(place) if entry is not None else None

    def details(self, block: int, row: int = 0) -> list[str]:
        """All there is to know about a row of a block (``K``)."""
        entry = next((entry for entry in self._entries if entry.id == block), None)
        if entry is None:
            return []
        if isinstance(entry, Rows):
            return details_of(entry.call_at(row), self._look)
        index = self._entries.index(entry)
        items = [item for item, at in self._by_item.values() if at == index]
        return details_of(items[0], self._look) if items else []

    # -- taking

    def _take(self, frame: _Frame, order: Sequence[int], piece_bytes: int) -> None:
        for index in order:
            if index not in self._dirty:
                continue
            while index > self._made:  # blocks are made in the order of the timeline
                if not frame.room or not self._take_one(frame, self._made, piece_bytes, force=True):
                    return
            if not frame.room or not self._take_one(frame, index, piece_bytes, force=False):
                return

    def _take_one(self, frame: _Frame, index: int, piece_bytes: int, *, force: bool) -> bool:
        """Take what one entry gives. False: it did not fit any more, or has more than fitted."""
        entry = self._entries[index]
        new = index == self._made
        before = entry.unread
        room = min(frame.bytes_left, piece_bytes)
        block_id = entry.id if entry.id is not None else self._next_id
        ops, more = entry.take(block_id, room, frame.events_left, force=force)
        if isinstance(entry, Whole) and not frame.fits(ops):
            return False
        self.unread += entry.unread - before
        if new and ops:
            entry.id = block_id
            self._next_id += 1
            self._made += 1
        frame.put(ops)
        if not more:
            self._dirty.discard(index)
        return not more or piece_bytes < frame.max_bytes

    # -- keeping track

    def _mark(self, index: int) -> None:
        entry = self._entries[index]
        before = entry.unread
        entry.touch()
        self.unread += entry.unread - before
        self._dirty.add(index)

    def _renumber(self) -> None:
        """The numbers of all open questions change when one comes or goes."""
        now = self.session.open_permissions
        if len(now) == len(self._open) and all(a is b for a, b in zip(now, self._open, strict=True)):
            return
        for permission in (*self._open, *now):
            call = self.session.tool_calls.get(permission.tool_call_id or "")
            known = self._by_item.get(id(call)) if call is not None else None
            if known is not None:
                self._mark(known[1])
        self._open = now

    def _discover(self) -> None:
        items = self.session.items
        while self._seen < len(items):
            item = items[self._seen]
            self._seen += 1
            last = self._entries[-1] if self._entries else None
            if isinstance(item, ToolCall) and isinstance(last, Rows) and last.takes(item):
                last.calls.append(item)
            else:
                self._entries.append(self._entry(item, last))
            index = len(self._entries) - 1
            self._by_item[id(item)] = (item, index)
            self._mark(index)

    def _entry(self, item: Item, last: Entry | None) -> Entry:
        look, session = self._look, self.session
        if isinstance(item, ToolCall):
            return Rows(item, look, 0)
        lead = 1 if isinstance(last, Rows) else 0
        match item:
            case Message():
                return Talk(item, look, lead)
            case Plan():
                return Whole(lambda: draw_plan(item, look), lead)
            case TurnEnd():
                return Whole(lambda: draw_end(item, session, look), lead)
            case Note():
                return Whole(lambda: draw_note(item, look), lead)
            case Compaction():
                return Summary(item, look, lead)


class _Frame:
    """What has been collected, and how much more goes in."""

    def __init__(self, max_bytes: int, max_events: int) -> None:
        self.max_bytes = max_bytes
        self.ops: Ops = []
        self.size = 0
        self.bytes_left = max_bytes
        self.events_left = max_events

    @property
    def room(self) -> bool:
        return self.bytes_left > 0 and self.events_left > 0

    def fits(self, ops: Sequence[Op]) -> bool:
        """Whether a block that is drawn whole still goes in. The first one always does."""
        return not self.ops or sum(map(op_bytes, ops)) <= self.bytes_left

    def put(self, ops: Sequence[Op]) -> None:
        for op in ops:
            size = op_bytes(op)
            self.ops.append(op)
            self.size += size
            self.bytes_left -= size
            self.events_left -= op_events(op)
