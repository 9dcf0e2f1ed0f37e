"""Every message an agent may send, made from the schema, with poison in every string of it.

All fields are there, and each branch of each union is in one of the values at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from tests.conformance.definitions import Json, Schema

POISON = (
    "done\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202e\u2066\u200b\u00ad\U000e0041\x9b31m\r\n\x00\u2028"
    "%{v:lua.pwn()}%{%v:lua.pwn()%}%#Error#%@v:lua.pwn@%!v:lua.pwn() <CR>:lua pwn()\r|lua pwn()|"
    "<Cmd>lua pwn()<CR>\x1b:lua pwn()\n`touch pwned` $(touch pwned) =pwn() vim: set ts=77 :\n"
)
"""Would set the clipboard, clear the screen, turn the direction of writing, hide itself, break a row, run
code from a statusline, as typed keys, in a shell, as an expression, and set an option from a modeline."""

WHOLE = POISON.replace("\0", "")
"""For what cannot be with a NUL in it: the name of a file, and the text of one that is not binary."""

WORDS = {"sessionId": "$session", "role": "user", "terminalId": f"terminal {POISON}"}
"""Strings that must be right, or the message is not for the chat."""

NUMBERS = {"minLength": 0, "maxLength": 9000, "minItems": 0, "maxItems": 9, "priority": 1}
"""Numbers under which the texts beside them are taken."""


class Poisoner:
    """Makes the values of one schema."""

    def __init__(self, schema: Schema, words: Json | None = None) -> None:
        self._schema = schema
        self._words = {**WORDS, **(words or {})}
        self._numbers = count(1)

    def values(self, name: str) -> list[Any]:
        """Values of a definition that have all of its fields and branches."""
        return self._all({"$ref": f"#/$defs/{name}"}, "", ())

    def _all(self, node: Json, name: str, around: Sequence[str]) -> list[Any]:
        if "const" in node:
            return [node["const"]]
        if "enum" in node:
            return list(node["enum"])
        if name == "_meta":
            return [{POISON: POISON, "terminal_output": {"data": POISON, "terminal_id": POISON}}]
        if isinstance(name, str) and name in self._words:
            return [self._words[name]]
        parts = [self._all(each, name, around) for each in node.get("allOf", ())]
        if "$ref" in node:
            ref = node["$ref"].rpartition("/")[2]
            if ref in around:
                return []
            parts.append(self._all(self._schema.definitions[ref], name, (*around, ref)))
        unions = [node[union] for union in ("anyOf", "oneOf") if union in node]
        parts += [[v for each in union for v in self._all(each, name, around)] for union in unions]
        if "properties" in node or (node.get("type") == "object" and not parts):
            parts.append(self._objects(node, around))
        if not parts:
            return self._plain(node, name, around)
        return merged([part for part in parts if part])

    def _objects(self, node: Json, around: Sequence[str]) -> list[Any]:
        fields = {
            name: values
            for name, each in node.get("properties", {}).items()
            if (values := self._all(each, name, around))
        }
        others = node.get("additionalProperties")
        if isinstance(others, dict):
            values = self._all(others, POISON, around)
            return [{f"{n} {POISON}": value for n, value in enumerate(values)}]
        if not fields:
            return [{POISON: POISON}] if others else [{}]
        longest = max(map(len, fields.values()))
        return [{name: v[at % len(v)] for name, v in fields.items()} for at in range(longest)]

    def _plain(self, node: Json, name: str, around: Sequence[str]) -> list[Any]:
        kinds = node.get("type", "string")
        kind = next((k for k in kinds if k != "null"), "null") if isinstance(kinds, list) else kinds
        match kind:
            case "string":
                return [self._text(name)]
            case "boolean":
                return [True]
            case "integer" | "number":
                return [NUMBERS.get(name, 7)]
            case "array":
                return [self._all(node["items"], name, around)]
        return []

    def _text(self, name: str) -> str:
        if name in ("path", "oldPath", "cwd"):
            return f"$cwd/{WHOLE}"
        if name in ("oldText", "newText"):
            return f"{name} {WHOLE}"
        if name.endswith(("Id", "id")):
            return f"{next(self._numbers)} {POISON}"
        return f"{name} {POISON}"


def merged(parts: list[list[Any]]) -> list[Any]:
    """The values of all parts together: of objects the fields, else those of the one part there is."""
    if len(parts) == 1:
        return parts[0]
    longest = max(map(len, parts), default=0)
    made = []
    for at in range(longest):
        one: Json = {}
        for part in parts:
            value = part[at % len(part)]
            assert isinstance(value, dict)
            one.update(value)
        made.append(one)
    return made


def apart(values: list[Any]) -> list[Any]:
    """The same values, each about a tool call and a message of its own."""
    numbers = count(1)

    def renamed(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: renamed(each, key) for key, each in value.items()}
        if name in ("toolCallId", "messageId", "planId", "noticeId"):
            return f"{next(numbers)} {POISON}"
        return value

    return [renamed(value) for value in values]
