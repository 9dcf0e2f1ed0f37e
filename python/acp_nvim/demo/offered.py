"""What a client offers: what it left out, or said wrongly, it cannot do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .peer import Json


@dataclass(frozen=True, slots=True)
class Offered:
    """The part of its capabilities that the demo uses. ``login``: it runs our login in a terminal."""

    reads: bool = False
    writes: bool = False
    terminal: bool = False
    login: bool = False
    forms: bool = False
    pages: bool = False
    booleans: bool = False
    notices: bool = False
    compaction: bool = False

    @classmethod
    def of(cls, params: Json) -> Offered:
        """From the parameters of ``initialize``. A marker counts when it is an object (V1-32)."""

        def at(*path: str) -> Any:
            return _at(params, "clientCapabilities", *path)

        def marked(*path: str) -> bool:
            return isinstance(at(*path), dict)

        return cls(
            reads=at("fs", "readTextFile") is True,
            writes=at("fs", "writeTextFile") is True,
            terminal=at("terminal") is True,
            login=at("auth", "terminal") is True,
            forms=marked("elicitation", "form"),
            pages=marked("elicitation", "url"),
            booleans=marked("session", "configOptions", "boolean"),
            notices=marked("session", "notices"),
            compaction=marked("session", "compaction"),
        )

    @classmethod
    def of_second(cls, params: Json) -> Offered:
        """The same of version 2: files and terminals are ours, much needs no offer (V2-21)."""

        def marked(*path: str) -> bool:
            return isinstance(_at(params, "capabilities", *path), dict)

        return cls(
            login=marked("auth", "terminal"),
            forms=marked("elicitation", "form"),
            pages=marked("elicitation", "url"),
            booleans=True,
            notices=True,
            compaction=True,
        )


def _at(found: Any, *path: str) -> Any:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found
