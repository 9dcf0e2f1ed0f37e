"""Icons of the transcript (ui.md section 8). Lua has the same table for what it draws itself."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs


class Icons(Struct, frozen=True):
    """One cell each, but ``rule`` and ``cut``."""

    pending: str = "○"
    running: str = "●"
    waiting: str = "?"
    done: str = "✓"
    failed: str = "✗"
    rejected: str = "⊘"
    cancelled: str = "–"
    user: str = "❯"
    bar: str = "│"
    rule: str = "──"
    think: str = "·"
    cut: str = "…"
    dot: str = "·"  # between parts of a line


UNICODE = Icons()
ASCII = Icons(
    pending=".",
    running="*",
    done="+",
    failed="!",
    rejected="x",
    cancelled="-",
    user=">",
    bar="|",
    rule="--",
    think=":",
    cut="...",
    dot="-",
)


def icons_named(name: Any = "unicode") -> Icons:
    """The icons by their setting: ``unicode``, ``ascii``, or a table that replaces single ones."""
    if isinstance(name, dict):
        known = Icons.__struct_fields__
        own = {k: v for k, v in name.items() if k in known and isinstance(v, str) and v}
        return structs.replace(UNICODE, **own)
    return ASCII if name == "ascii" else UNICODE
