"""All there is to know about an item, for ``K``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_nvim.session.content import Block, UnknownContent
from acp_nvim.session.entities import Compaction, Item, Message, Note, Plan, ToolCall, TurnEnd
from acp_nvim.text import screen
from acp_nvim.text.sanitise import lines, one_line, split_long

from . import facts
from .content import as_json, hidden, size_of, size_text
from .look import Look, duration
from .terminals import ending_of, text_of

#: Characters of raw input and output that are shown; all of it is in the trace.
RAW_CHARS = 200_000
#: Lines of a terminal's output; all of it is in its buffer.
OUTPUT_LINES = 2000
#: Blocks of content that are described.
BLOCKS = 200


def details_of(item: Item, look: Look) -> list[str]:
    """The lines of the details window. Safe text."""
    found: list[str] = []
    match item:
        case ToolCall():
            _call(found, item, look)
        case Message():
            _pair(found, "message", f"{item.role}, id {item.id}")
            _raw(found, "meta", item.meta)
            _blocks(found, item.blocks)
        case TurnEnd():
            turn = item.turn
            _pair(found, "turn", str(turn.n))
            _pair(found, "stop", turn.stop or "no reason was given")
            if turn.ended is not None:
                _pair(found, "took", duration(turn.ended - turn.started))
            if turn.error is not None:
                _pair(found, "error", turn.error.message)
                _raw(found, "data", turn.error.data)
        case Plan():
            _pair(found, "plan", f"{len(item.entries)} entries, id {item.id}")
            for entry in item.entries:
                _pair(found, one_line(entry.priority, 9), f"{entry.content}  ({entry.status})")
            _raw(found, "plan", item.raw)
        case Compaction():
            _pair(found, "compact", f"{item.status}, id {item.id}")
            _pair(found, "error", item.error or "")
            _blocks(found, item.summary)
        case Note():
            _pair(found, "note", item.title)
            _pair(found, "severity", item.severity_raw or item.severity)
            _pair(found, "by", look.agent if item.by == "agent" else "acp.nvim")
            _raw(found, "text", "\n".join(item.lines))
    return found or ["nothing more is known about this"]


def _call(found: list[str], call: ToolCall, look: Look) -> None:
    _pair(found, "title", call.title)
    _pair(found, "tool", call.name or "")
    _pair(found, "kind", call.kind_raw or call.kind)
    _pair(found, "status", call.status_raw or call.status)
    _pair(found, "id", call.id)
    for place in call.locations:
        line = f":{place.line}" if place.line is not None else ""
        _pair(found, "path", look.folder(place.path) + line)
    for permission in call.permissions:
        option = next((each.name for each in permission.options if each.id == permission.answer), None)
        said = f"{permission.state}: {option}" if option else permission.state
        _pair(found, "asked", f"{said}, by the rule: {permission.rule}" if permission.rule else said)
    for change in facts.diffs(call):
        path = facts.hunks(change).path
        _raw(found, f"diff  {look.path(path)}" if path else "diff", "\n".join(facts.all_lines(change)))
    _raw(found, "raw input", call.raw_input)
    for terminal in call.terminals:
        _raw(found, "command", terminal.command)
        _pair(found, "in", look.folder(terminal.cwd) if terminal.cwd else "")
        _pair(found, "ended", ending_of(terminal))
        shown = screen.output(text_of(terminal, screen.TAIL), OUTPUT_LINES)
        if shown:
            found += ["", "output", *(f"  {line}" for line in shown)]
    text = "" if any(each.output.total for each in call.terminals) else facts.output(call)
    if text:
        found += ["", "output", *_indented(text)]
    if not isinstance(call.raw_output, str) or call.raw_output != text:
        _raw(found, "raw output", call.raw_output)
    _blocks(found, [each for each in call.content if isinstance(each, Block)])
    for item in call.content:
        if isinstance(item, UnknownContent):
            _raw(found, "unknown content", item.raw)


def _blocks(found: list[str], blocks: Sequence[Block]) -> None:
    """What content is, in full, but for what can be read where it stands: texts that are shown."""
    told = 0
    for number, block in enumerate(blocks, 1):
        if block.type == "text" and not hidden(block):
            continue
        told += 1
        if told > BLOCKS:
            found += ["", "the trace has the rest: :AcpTrace"]
            return
        found += ["", f"content {number}"]
        said = {"type": block.type, "mime": block.mime, "size": size_text(size_of(block))}
        said |= {name: getattr(block, name) for name in ("name", "title", "description", "uri")}
        said["for"] = ", ".join(block.audience or ())
        for name, value in said.items():
            _pair(found, f"  {name}", (value or "")[:RAW_CHARS], 15)
        if block.type == "unknown":
            found += _indented(as_json(block.raw, 2))
        elif block.type == "text":
            found += _indented(str(block.text))


def _pair(found: list[str], name: str, value: str, width: int = 10) -> None:
    if value:
        pieces = split_long(f"{name:<{width}}{one_line(value)}", 8000)
        found += [pieces[0], *(f"{'':<{width}}{piece}" for piece in pieces[1:])]


def _raw(found: list[str], name: str, value: Any) -> None:
    if value not in (None, {}, [], ""):
        found += ["", name, *_indented(value if isinstance(value, str) else as_json(value, 2))]


def _indented(text: str) -> list[str]:
    cut = text[:RAW_CHARS]
    rows = [f"  {piece}" for line in lines(cut) for piece in split_long(line, 8000)]
    return rows if len(cut) == len(text) else [*rows, "  the trace has the rest: :AcpTrace"]
