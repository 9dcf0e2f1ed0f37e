"""What of the stable protocol has passed the SDKs: its methods, and the words of its lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from tests.agents.peers.kit import Peer
from tests.conformance.definitions import STABLE, STABLE_V2, Json, Schema, Side

Word: TypeAlias = tuple[str, str]
"""A definition of the schema, and one of the words it lists: ``("SessionUpdate", "plan")``."""

SIDES: tuple[Side, ...] = ("agent", "client", "protocol")
REF = "#/$defs/"
SCHEMAS = {1: STABLE, 2: STABLE_V2}
"""By the version of the protocol."""


def methods(schema: Schema) -> set[str]:
    """All methods of the stable schema, of both sides."""
    return {str(each["x-method"]) for each in schema.definitions.values() if "x-method" in each}


def roots(schema: Schema) -> list[str]:
    """The definitions of all messages, but for those that are open to any extension."""
    return [name for name, each in schema.definitions.items() if "x-method" in each]


def words(schema: Schema) -> set[Word]:
    """All words that stand in messages: each tag of a union and each member of an enumeration."""
    found: set[Word] = set()
    done: set[str] = set()

    def walk(rule: Any, name: str) -> None:
        if isinstance(rule, dict):
            if "const" in rule and isinstance(rule["const"], str):
                found.add((name, rule["const"]))
            if "$ref" in rule and (ref := rule["$ref"].removeprefix(REF)) not in done:
                done.add(ref)
                walk(schema.definitions[ref], ref)
            for key, each in rule.items():
                if key not in ("const", "default", "$ref"):
                    walk(each, name)
        elif isinstance(rule, list):
            for each in rule:
                walk(each, name)

    for root in roots(schema):
        walk({"$ref": f"{REF}{root}"}, root)
    return found


def words_of(schema: Schema, definition: str, value: Any) -> Iterator[Word]:
    """The words that stand in one valid message."""
    yield from _words(schema, schema.definitions[definition], value, definition)


def _words(schema: Schema, rule: Json, value: Any, name: str) -> Iterator[Word]:
    if "$ref" in rule:
        name = rule["$ref"].removeprefix(REF)
        yield from _words(schema, schema.definitions[name], value, name)
    if "const" in rule and rule["const"] == value and isinstance(value, str):
        yield name, value
    for each in rule.get("allOf", ()):
        yield from _words(schema, each, value, name)
    for each in (*rule.get("anyOf", ()), *rule.get("oneOf", ())):
        if _is_meant(schema, each, value):
            yield from _words(schema, each, value, name)
    if isinstance(value, dict):
        others = rule.get("additionalProperties")
        for key, part in value.items():
            part_rule = rule.get("properties", {}).get(key, others)
            if isinstance(part_rule, dict):
                yield from _words(schema, part_rule, part, name)
    elif isinstance(value, list) and isinstance(rule.get("items"), dict):
        for part in value:
            yield from _words(schema, rule["items"], part, name)


def _is_meant(schema: Schema, branch: Json, value: Any) -> bool:
    """Whether a branch of a union may be the one: its tag, and what it requires, are there."""
    if "$ref" in branch and not _is_meant(
        schema, schema.definitions[branch["$ref"].removeprefix(REF)], value
    ):
        return False
    if not all(_is_meant(schema, each, value) for each in branch.get("allOf", ())):
        return False
    if "const" in branch:
        return bool(branch["const"] == value)
    if not isinstance(value, dict):
        return True
    tags = {k: v["const"] for k, v in branch.get("properties", {}).items() if "const" in v}
    return value.keys() >= set(branch.get("required", ())) and all(
        value.get(key) == tag for key, tag in tags.items()
    )


class Exercised:
    """What the agents of all tests have used, together, of one version of the protocol."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.methods: set[str] = set()
        self.words: set[Word] = set()

    def add(self, peer: Peer) -> None:
        """Count what has passed one SDK. A request counts when it was answered with a result."""
        for message, to in (*peer.said(), *peer.heard()):
            if "method" in message:
                if "id" not in message:
                    self.methods.add(message["method"])
                ending = "Request" if "id" in message else "Notification"
                self._count(message["method"], ending, message.get("params"))
            elif to is not None and "result" in message:
                self.methods.add(to)
                self._count(to, "Response", message["result"])

    def _count(self, method: str, ending: str, value: Any) -> None:
        for side in SIDES:
            name = self.schema.name(side, method, ending)
            if name is not None:
                self.words |= set(words_of(self.schema, name, value))


def missing(wanted: Iterable[Any], used: Iterable[Any]) -> list[Any]:
    return sorted(set(wanted) - set(used))
