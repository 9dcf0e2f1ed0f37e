"""The protocol's schemas (schema/), and validators made of them: as they are, closed, and lenient.

``closed``   no property but those the schema names (V1-210): for what we send.
``lenient``  what a client must still take, as the marks say (V1-214): for what agents send.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

Json: TypeAlias = dict[str, Any]
Side: TypeAlias = Literal["agent", "client", "protocol"]  # who handles the method

FOLDER = Path(__file__).parent / "schema"
ON_ERROR = "x-deserialize-default-on-error"
SKIP_ITEMS = "x-deserialize-skip-invalid-items"
ON_NULL = "x-deserialize-default-on-null"

# A union with one of these has closed words or tags in the schema; we take others, too.
TAGS = ("type", "sessionUpdate", "mode")


class Schema:
    """One schema file. A validator is made when it is first asked for."""

    def __init__(self, file: str) -> None:
        tree = json.loads((FOLDER / file).read_text(encoding="utf-8"))
        self.definitions: Json = tree["$defs"]
        self._names: dict[tuple[Side, str], list[str]] = {}

    def names(self, side: Side, ending: str) -> list[str]:
        """The definitions of messages one side handles: ``ending`` is Request, Response or Notification."""
        if (side, ending) not in self._names:
            self._names[side, ending] = sorted(
                name
                for name, definition in self.definitions.items()
                if definition.get("x-side") == side and name.endswith(ending)
            )
        return self._names[side, ending]

    def name(self, side: Side, method: str, *endings: str) -> str | None:
        """The definition of one method's message; None when the schema has no such method."""
        return next(
            (
                name
                for ending in endings
                for name in self.names(side, ending)
                if self.definitions[name]["x-method"] == method
            ),
            None,
        )

    def method(self, name: str) -> str:
        return str(self.definitions[name]["x-method"])

    @functools.cached_property
    def plain(self) -> Callable[[str], Validator]:
        """The validator of a definition, as it stands."""
        return _validators(self.definitions, {})

    @functools.cached_property
    def closed(self) -> Callable[[str], Validator]:
        return _validators(_closed(self.definitions), {"unevaluatedProperties": False})

    @functools.cached_property
    def lenient(self) -> Callable[[str], Validator]:
        return _validators(_lenient(self.definitions), {})


def _validators(definitions: Json, more: Json) -> Callable[[str], Validator]:
    @functools.cache
    def validator(name: str) -> Validator:
        return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions, **more})

    return validator


def lenient_part(schema: Schema, part: Json) -> Validator:
    """The lenient validator of a part of a definition."""
    return Draft202012Validator({**_lenient(part), "$defs": _lenient(schema.definitions)})


def _closed(node: Any) -> Any:
    """Close every object where it is used: a definition itself may be a part of another one (allOf)."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _closed(value) for key, value in node.items()}
    if isinstance(properties := made.get("properties"), dict):
        made["properties"] = {name: _shut(value) for name, value in properties.items()}
    if isinstance(made.get("items"), dict):
        made["items"] = _shut(made["items"])
    return made


def _shut(schema: Json) -> Json:
    composed = any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf", "properties"))
    return {**schema, "unevaluatedProperties": False} if composed else schema


def _lenient(node: Any) -> Any:
    """Marked fields and items may be anything, unknown tags and words of closed unions are taken."""
    if isinstance(node, list):
        return [_lenient(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get(ON_ERROR):
        return {}
    made = {key: _lenient(value) for key, value in node.items()}
    made.pop("minItems", None)  # an empty list is taken, and shown as what it is
    if node.get("format") == "uint32":
        made["maximum"] = 2**32 - 1
    if node.get(SKIP_ITEMS):
        made["items"] = {}
    if node.get(ON_NULL):
        return {"anyOf": [{"type": "null"}, made]}
    for union in ("oneOf", "anyOf"):
        if not isinstance(node.get(union), list):
            continue
        if all("const" in member for member in node[union]) and len(node[union]) > 1:  # one word is no choice
            return {"type": node[union][0]["type"]}
        if any(member.get("title") == "other" for member in node[union]):
            continue  # open in the schema itself
        for tag in TAGS:
            known = [word for member in node[union] if (word := const(member, tag)) is not None]
            if known and union == "oneOf":
                other = {"required": [tag], "properties": {tag: {"type": "string", "not": {"enum": known}}}}
                members = [*made.pop(union), {"type": "object", **other}]
                # An unknown variant needs nothing else: the members' common fields are not asked of it.
                return {"anyOf": [{**made, union: members[:-1]}, members[-1]]}
    return made


def const(member: Json, tag: str) -> Any:
    """The constant a union's member wants for its tag, if it has one."""
    return member.get("properties", {}).get(tag, {}).get("const")


def errors(validator: Validator, value: Any) -> Iterator[str]:
    """What is wrong with a value, and where."""
    for error in validator.iter_errors(value):
        yield f"{error.json_path}: {error.message[:500]}"


STABLE = Schema("v1.json")
UNSTABLE = Schema("v1.unstable.json")
STABLE_V2 = Schema("v2.json")
UNSTABLE_V2 = Schema("v2.unstable.json")
