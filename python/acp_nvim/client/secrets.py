"""Masking of secrets wherever text leaves the process: trace, health, messages, exports (C41)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

MASK = "•••"
#: A value shorter than this is not masked: it would tear holes into ordinary text.
SHORTEST = 6
_NAMES = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}")


def secret_name(name: str) -> bool:
    """Whether what is called so is better not shown."""
    return _NAMES.search(name) is not None


def _written(value: str) -> set[str]:
    """The ways to write a text within JSON, and itself."""
    found = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return found | {each.replace("/", "\\/") for each in found}


class Secrets:
    """Knows the values that must not be shown and takes them out of text."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._members: dict[str, re.Pattern[str]] = {}
        self._member_values: set[tuple[str, str | float]] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, values: Iterable[str]) -> None:
        """Remember values, as they are and as JSON writes them, also within JSON."""
        for value in values:
            if len(value) < SHORTEST:
                continue
            self._values.add(value)
            for once in _written(value):
                self._values.update(_written(once))
        longest_first = sorted(self._values, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def add_environment(self, environment: Mapping[str, str]) -> None:
        """Remember the values of variables whose names say that they are secret."""
        self.add(value for name, value in environment.items() if secret_name(name))

    def add_member(self, name: str, value: str | float) -> None:
        """Remember a member of a JSON object: there its value is masked however short it is."""
        self._member_values.add((name, value))
        names = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
        values = {json.dumps(value), json.dumps(value, ensure_ascii=False)}
        name_is, value_is = ("|".join(map(re.escape, sorted(each))) for each in (names, values))
        pattern = rf"((?:{name_is})\s*:\s*)(?:{value_is})(?=\s*(?:[,}}]|$))"
        self._members[pattern] = re.compile(pattern)

    def mask(self, text: str) -> str:
        """Return ``text`` without any secret."""
        for member in list(self._members.values()):  # another thread may add one
            text = member.sub(rf'\1"{MASK}"', text)
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        return _BEARER.sub(rf"\1 {MASK}", text)

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where ``text`` has secrets, and what to put there: (start, end, instead), some may overlap."""
        found: list[tuple[int, int, str]] = []
        if self._pattern is not None:
            found += [(match.start(), match.end(), MASK) for match in self._pattern.finditer(text)]
        found += [(match.end(1), match.end(), f" {MASK}") for match in _BEARER.finditer(text)]
        return found

    def hides(self, name: str, value: Any) -> bool:
        """Whether a member of a JSON object is secret as a whole: a field that was hidden while it was filled
        in, or a number that is a secret's.
        """
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return False
        return (name, value) in self._member_values or str(value) in self._values

    @property
    def longest(self) -> int:
        """Characters of the longest one."""
        return max(map(len, self._values), default=0)

    def mask_all(self, value: Any) -> Any:
        """The same for all text in a JSON value."""
        match value:
            case str():
                return self.mask(value)
            case list():
                return [self.mask_all(item) for item in value]
            case dict():
                return {name: self.mask_all(item) for name, item in value.items()}
            case _:
                return value
