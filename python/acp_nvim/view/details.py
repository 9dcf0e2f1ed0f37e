"""All there is to know about an item, for ``K``."""

from __future__ import annotations

from typing import Any

from acp_nvim.session.entities import Item, Message, ToolCall, TurnEnd
from acp_nvim.text import screen
from acp_nvim.text.sanitise import lines, one_line, split_long

from . import facts
from .content import as_json
from .look import Look, duration
from .terminals import ending_of, text_of

#: Characters of raw input and output that are shown; all of it is in the trace.
RAW_CHARS = 200_000
#: Lines of a terminal's output; all of it is in its buffer.
OUTPUT_LINES = 2000


def details_of(item: Item, look: Look) -> list[str]:
    """The lines of the details window. Safe text."""
    found: list[str] = []
    match item:
        case ToolCall():
            _call(found, item, look)
        case Message():
            _pair(found, "message", f"{item.role}, id {item.id}")
            _pair(found, "blocks", ", ".join(block.type for block in item.blocks))
            _raw(found, "meta", item.meta)
        case TurnEnd():
            turn = item.turn
            _pair(found, "turn", str(turn.n))
            _pair(found, "stop", turn.stop or "no reason was given")
            if turn.ended is not None:
                _pair(found, "took", duration(turn.ended - turn.started))
            if turn.error is not None:
                _pair(found, "error", turn.error.message)
                _raw(found, "data", turn.error.data)
        case _:
            _raw(found, type(item).__name__.lower(), getattr(item, "raw", None))
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
        _pair(found, "asked", f"{permission.state}: {option}" if option else permission.state)
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


def _pair(found: list[str], name: str, value: str) -> None:
    if value:
        found.append(f"{name:<10}{one_line(value)}")


def _raw(found: list[str], name: str, value: Any) -> None:
    if value not in (None, {}, [], ""):
        found += ["", name, *_indented(value if isinstance(value, str) else as_json(value, 2))]


def _indented(text: str) -> list[str]:
    cut = text[:RAW_CHARS]
    rows = [f"  {piece}" for line in lines(cut) for piece in split_long(line, 8000)]
    return rows if len(cut) == len(text) else [*rows, "  the trace has the rest: :AcpTrace"]
