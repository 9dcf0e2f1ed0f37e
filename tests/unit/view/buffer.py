"""What the Lua transcript does with frame operations, in Python: for tests that want the buffer's text.

It checks the contract while it applies: a new block comes last, rows of the decoration are inside the
block, marks are inside their line, no line has a newline in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from acp_nvim.text.sanitise import LINE_BYTES


@dataclass(slots=True)
class Block:
    id: int
    lines: list[str]
    deco: dict[str, Any]
    fences: list[list[Any]] = field(default_factory=list)

    @property
    def content(self) -> list[str]:
        """The lines without the leading and trailing blank ones."""
        return self.lines[self.deco.get("lead", 0) : len(self.lines) - self.deco.get("tail", 0)]


class Buffer:
    """The transcript's buffer: the concatenation of its blocks. ``written`` counts lines as Lua does."""

    def __init__(self, head: bool = True) -> None:
        self.blocks: dict[int, Block] = {}
        self.written = 0
        if head:  # made by Lua when the chat is created
            self.apply([["set", 0, ["agent in ~/x", "Starting.", ""], {"kind": "head", "tail": 1}]])

    def apply(self, ops: list[list[Any]]) -> int:
        """Apply operations; return the number of lines written."""
        before = self.written
        for name, block_id, lines, deco in ops:
            assert lines, "an operation has lines"
            for line in lines:
                assert "\n" not in line and "\0" not in line
                line.encode()
            self.written += len(lines)
            if name == "set":
                self._set(block_id, lines, deco)
            elif name == "header":
                self._header(block_id, lines, deco)
            else:
                assert name == "add"
                self._add(block_id, lines, deco or {})
            self._check(self.blocks[block_id])
        return self.written - before

    @property
    def lines(self) -> list[str]:
        return [line for block in self.blocks.values() for line in block.lines]

    @property
    def text(self) -> str:
        """Everything below the head."""
        return "\n".join(line for block in self.blocks.values() if block.id for line in block.lines)

    def of_kind(self, kind: str) -> list[Block]:
        return [block for block in self.blocks.values() if block.deco["kind"] == kind]

    def marked(self, group: str) -> list[str]:
        """The texts that have a highlight group."""
        found = []
        for block in self.blocks.values():
            for row, col, end, name in block.deco.get("marks", ()):
                if name == group:
                    found.append(block.lines[row].encode()[col:end].decode())
        return found

    def screen(self) -> list[str]:
        """The lines below the head as they are seen with the folds as the host made them."""
        seen: list[str] = []
        for block in self.blocks.values():
            if not block.id:
                continue
            folds = {fold[0]: fold for fold in block.deco.get("folds", ()) if fold[2]}
            row = 0
            while row < len(block.lines):
                fold = folds.get(row)
                if fold is None:
                    seen.append(block.lines[row])
                    row += 1
                    continue
                text = "".join(chunk for chunk, _ in fold[3]) if len(fold) > 3 else block.lines[row]
                seen.append(text + " ▸")
                row = fold[1] + 1
        return seen

    def _set(self, block_id: int, lines: list[str], deco: dict[str, Any]) -> None:
        known = self.blocks.get(block_id)
        if known is None:
            assert not self.blocks or block_id > max(self.blocks), "ids grow, new blocks come last"
        self.blocks[block_id] = Block(block_id, list(lines), deco, list(deco.get("fences", ())))

    def _header(self, block_id: int, lines: list[str], deco: dict[str, Any]) -> None:
        assert set(deco) <= {"marks", "spin", "since"}
        (line,) = lines
        block = self.blocks[block_id]
        block.lines[block.deco.get("lead", 0)] = line
        kept = {key: value for key, value in block.deco.items() if key not in ("marks", "spin", "since")}
        block.deco = {**kept, **deco}

    def _add(self, block_id: int, lines: list[str], deco: dict[str, Any]) -> None:
        assert set(deco) <= {"fences", "folds", "links"}
        block = self.blocks[block_id]
        at = len(block.lines) - block.deco.get("tail", 0) - 1
        block.lines[at] += lines[0]
        block.lines[at + 1 : at + 1] = lines[1:]
        for body in block.deco.get("body", ()):
            if body[1] == at:  # a body that ends where the text went on grows with it
                body[1] += len(lines) - 1
        block.fences.extend(deco.get("fences", ()))
        if "links" in deco:
            block.deco = {**block.deco, "links": [*block.deco.get("links", ()), *deco["links"]]}
        if "folds" in deco:
            block.deco = {**block.deco, "folds": deco["folds"]}

    def _check(self, block: Block) -> None:
        count = len(block.lines)
        assert all(len(line.encode()) <= LINE_BYTES + 8 for line in block.lines)
        for row, col, end, group in block.deco.get("marks", ()):
            assert 0 <= row < count and group
            raw = block.lines[row].encode()
            assert 0 <= col < end <= len(raw)
            raw[:col].decode(), raw[col:end].decode()
        for first, last, *_ in block.deco.get("folds", ()):
            assert 0 <= first < last < count
        for first, last, _ in block.deco.get("body", ()):
            assert 0 <= first <= last < count
        for row, *_ in (*block.deco.get("links", ()), *block.deco.get("since", ()), *block.fences):
            assert 0 <= row < count
        for row in block.deco.get("spin", ()):
            assert 0 <= row < count
