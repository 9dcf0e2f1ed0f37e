"""Messages made from the schema alone: valid ones, and the places in them where the schema allows a loss.

Written against ``random.Random``, so that hypothesis can draw (and shrink) as well as a plain seed can. The
package hypothesis-jsonschema was tried: it needs two seconds for one SessionNotification.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from .definitions import ON_ERROR, ON_NULL, SKIP_ITEMS, Json, Schema, const

Path: TypeAlias = tuple[str | int, ...]

LATER = "x-later"  # the names of fields that no schema knows begin like this

TEXTS = (
    "",
    "a",
    "Hello, ",
    "line\nline\r\n",
    "é🚀",
    "\t\x1b[2J\x00",
    "`x` **b**",
    "/ws/a.py",
    "1" * 300,
    "\u2028",
)
WORDS = ("id-1", "id-2", "id-3")
INTEGERS = {"uint16": 2**16, "uint32": 2**32, "int32": 2**31, "int64": 2**63, "uint64": 2**64}


class Site(NamedTuple):
    """A place that may be broken alone: a field with a mark, or an item of a list with one."""

    path: Path
    kind: Literal["field", "item", "null"]
    schema: Json
    required: bool = False


class Maker:
    """Makes values of one schema. ``noise``: with fields that the schema does not know."""

    def __init__(self, schema: Schema, chance: random.Random, *, noise: bool = True) -> None:
        self._definitions = schema.definitions
        self._chance = chance
        self._noise = noise
        self.sites: list[Site] = []

    def make(self, name: str) -> Any:
        """A value of a definition; ``sites`` are its."""
        self.sites = []
        return self._value({"$ref": f"#/$defs/{name}"}, ())

    def often(self, of: int) -> bool:
        """True once in ``of`` times."""
        return self._chance.randrange(of) == 0

    def text(self) -> str:
        parts = [self._chance.choice(TEXTS) for _ in range(self._chance.randrange(3))]
        return "".join(parts)

    def anything(self, depth: int = 3) -> Any:
        """Any JSON value."""
        match self._chance.randrange(8 if depth else 5):
            case 0:
                return None
            case 1:
                return self.often(2)
            case 2:
                return self._chance.choice((0, -1, 7, 2**53, -(2**63)))
            case 3:
                return self._chance.choice((0.5, -1e9, 1e300))
            case 4:
                return self.text()
            case 5 | 6:
                return {self.text(): self.anything(depth - 1) for _ in range(self._chance.randrange(3))}
            case _:
                return [self.anything(depth - 1) for _ in range(self._chance.randrange(3))]

    def _value(self, node: Json, path: Path) -> Any:
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._chance.choice(node["enum"])
        parts = list(node.get("allOf", ()))
        if "$ref" in node:
            parts.append(self._definitions[node["$ref"].rpartition("/")[2]])
        parts += [self._chance.choice(node[union]) for union in ("anyOf", "oneOf") if union in node]
        if "properties" in node or node.get("type") == "object":
            made: Any = self._object(node, path)
            for part in parts:
                made.update(self._value(part, path))
            self._other(node, made)
            return made
        if not parts:
            return self._plain(node, path)
        values = [self._value(part, path) for part in parts]
        if len(values) == 1:
            return values[0]
        return {key: value for each in values for key, value in each.items()}

    def _other(self, node: Json, made: Json) -> None:
        """The open variant of a union: its tag is none of those that are known."""
        for member in node.get("not", {}).get("anyOf", ()):
            for tag in member["properties"]:
                if const(member, tag) is not None:
                    made[tag] = f"{LATER}-{self._chance.choice(WORDS)}"

    def _object(self, node: Json, path: Path) -> Json:
        made: Json = {}
        for name, schema in node.get("properties", {}).items():
            required = name in node.get("required", ())
            if required or self.often(2):
                made[name] = self._field(schema, (*path, name), required)
        values = node.get("additionalProperties")
        if isinstance(values, dict):
            for key in sorted({self.text() for _ in range(self._chance.randrange(4))}):
                made[key] = self._value(values, (*path, key))
        elif "properties" not in node and values:
            made.update({self.text(): self.anything() for _ in range(self._chance.randrange(3))})
        elif self._noise and self.often(4):
            made[f"{LATER}-{self._chance.choice(WORDS)}"] = self.anything()
        return made

    def _field(self, schema: Json, path: Path, required: bool) -> Any:
        value = self._value(schema, path)
        if schema.get(ON_ERROR):
            self.sites.append(Site(path, "field", schema, required))
        if schema.get(ON_NULL):
            self.sites.append(Site(path, "null", schema, required))
        if schema.get(SKIP_ITEMS) and isinstance(value, list):
            self.sites += [Site((*path, at), "item", schema["items"]) for at in range(len(value))]
        return value

    def _plain(self, node: Json, path: Path) -> Any:
        kind = node.get("type")
        if isinstance(kind, list):
            kind = self._chance.choice(kind)
        match kind:
            case None:
                return self.anything()
            case "null":
                return None
            case "boolean":
                return self.often(2)
            case "string":
                return self._string(node)
            case "integer":
                return self._integer(node)
            case "number":
                low, high = node.get("minimum", -1), node.get("maximum", 1e9)
                return self._chance.choice([each for each in (0, -1, 0.5, 1e9, 3.0) if low <= each <= high])
            case "array":
                count = max(self._chance.randrange(4), node.get("minItems", 0))
                return [self._value(node["items"], (*path, at)) for at in range(count)]
            case "object":
                return self._object(node, path)
        raise TypeError(node)

    def _string(self, node: Json) -> str:
        text = self._chance.choice(WORDS) if self.often(2) else self.text()
        return text or ("x" if node.get("minLength") else "")

    def _integer(self, node: Json) -> int | float:
        top = INTEGERS.get(node.get("format", ""), 2**53)
        low = node.get("minimum", -top)
        top = min(top, node.get("maximum", top) + 1)
        value = self._chance.choice((low, low + 1, 3, 100, top // 2, top - 1))
        return float(value) if value < 2**50 and self.often(8) else int(value)


def at(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


RUBBISH: Sequence[Any] = (None, True, 7, -1, 1.5, 10**30, "", "rubbish", [], [7], {}, {"a": 1}, [[]])
