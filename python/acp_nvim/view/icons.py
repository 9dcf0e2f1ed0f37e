"""Icons of the transcript (ui.md section 8). Lua has the same table for what it draws itself."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Icons:
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
        known = {each.name for each in fields(Icons)}
        return replace(UNICODE, **{k: v for k, v in name.items() if k in known and isinstance(v, str) and v})
    return ASCII if name == "ascii" else UNICODE
