"""The checks of what is received: all that an agent may send is decoded, a broken part costs only itself."""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from acp_nvim.wire.decode import Codec
from acp_nvim.wire.tolerant import WireError

from .agree import differences
from .definitions import ON_ERROR, Schema, errors, lenient_part
from .sample import LATER, RUBBISH, Maker, Site, at

TAGS = ("type", "mode", "operation")

chances = st.randoms(use_true_random=False)


def quick(examples: int) -> settings:
    """Always the same, and without shrinking: of such large values it takes minutes."""
    phases = (Phase.generate,)
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, phases=phases)


def dumps(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode()


@dataclass(frozen=True)
class Received:
    """One version of the protocol: its schemas and our codec for each message.

    ``weight``: how many times as often as the others it is made. ``aside``: whether a broken message is none
    for this check.
    """

    stable: Schema
    unstable: Schema
    codecs: dict[str, Codec[Any]]
    weight: dict[str, int]
    aside: Callable[[str, Any], bool] = lambda name, tree: False

    def theirs(self) -> set[str]:
        """The names of all that an agent may send."""
        return {
            *self.stable.names("agent", "Response"),
            *self.stable.names("client", "Request"),
            *self.stable.names("client", "Notification"),
            *self.stable.names("protocol", "Notification"),
            "Error",
        }

    def drafted(self) -> list[str]:
        """The names of the messages that the unstable schema has, too."""
        return sorted(self.codecs.keys() & self.unstable.definitions.keys())

    def valid(self, name: str) -> None:
        """Strictly: the slow path is not needed but for what the strict one cannot know (a later variant)."""
        self._valid(name, self.stable, 30, frozenset())

    def valid_draft(self, name: str) -> None:
        """What is stable in it is read, the rest is kept raw or ignored."""
        self._valid(name, self.unstable, 15, frozenset(_fields(self.unstable)))

    def _valid(self, name: str, schema: Schema, examples: int, unread: frozenset[str]) -> None:
        validator = schema.plain(name)

        @quick(examples * self.weight.get(name, 1))
        @given(chances)
        def check(chance: random.Random) -> None:
            tree = Maker(schema, chance).make(name)
            assert list(errors(validator, tree)) == []
            value = self.codecs[name].decode(dumps(tree))
            assert list(differences(tree, value, unread)) == [], tree

        check()

    def broken_part(self, name: str) -> None:
        """A field with a mark falls back, an item of such a list is dropped; nothing else changes."""

        @quick(30 * self.weight.get(name, 1))
        @given(chances)
        def check(chance: random.Random) -> None:
            maker = Maker(self.stable, chance)
            tree = maker.make(name)
            sites = [site for site in maker.sites if self._rubbish(site) and not _kept_raw(tree, site)]
            if not sites:
                return
            site = chance.choice(sites)
            broken, whole = copy.deepcopy(tree), copy.deepcopy(tree)
            step = site.path[-1]
            rubbish = chance.choice(self._rubbish(site))
            at(broken, site.path[:-1])[step] = rubbish
            if site.required and step != "options":  # a group without options has them as None
                at(whole, site.path[:-1])[step] = []
            else:
                del at(whole, site.path[:-1])[step]
            codec, notes = self.codecs[name], list[str]()
            assert codec.decode(dumps(broken), notes.append) == codec.decode(dumps(whole)), (
                broken,
                site.path,
            )
            assert len(notes) == 1 or (rubbish is None and not notes)  # null is often taken without a word

        check()

    def _rubbish(self, site: Site) -> list[Any]:
        """Values that a place cannot hold, read ever so leniently."""
        return [None] if site.kind == "null" else _not_in(self.stable, json.dumps(site.schema))

    def refused(self, name: str) -> None:
        """A value anywhere is replaced, taken away, or doubled: the marks say whether the rest is decoded."""
        validator = self.stable.lenient(name)

        @quick(30 * self.weight.get(name, 1))
        @given(chances)
        def check(chance: random.Random) -> None:
            tree = Maker(self.stable, chance, noise=False).make(name)
            _break(tree, chance)
            if self.aside(name, tree):
                return
            allowed = validator.is_valid(tree)
            try:
                self.codecs[name].decode(dumps(tree))
            except WireError as error:
                assert error.code == -32602
                assert not allowed, (tree, error)
            else:
                assert allowed, (tree, list(errors(validator, tree)))

        check()

    def empty(self, name: str) -> None:
        """Null and nothing are an empty object."""
        codec = self.codecs[name]
        if self.stable.plain(name).is_valid({}) or self.aside(name, {}):
            assert codec.decode(b"null") == codec.decode(b"") == codec.decode(b"{}")
            return
        for raw in (b"null", b""):
            try:
                codec.decode(raw)
            except WireError:
                continue
            raise AssertionError(f"{name}: {raw!r} was decoded")


def _fields(schema: Schema) -> set[str]:
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if isinstance(node.get("properties"), dict):
                found.update(node["properties"])
            for value in node.values():
                walk(value)

    walk(schema.definitions)
    return found


def _kept_raw(tree: Any, site: Site) -> bool:
    """Whether the place is in a variant that nobody knows."""
    around = [at(tree, site.path[:length]) for length in range(len(site.path))]
    tags = [str(each.get(tag)) for each in around if isinstance(each, dict) for tag in TAGS]
    return any(tag.startswith(LATER) for tag in tags)


@functools.cache
def _not_in(of: Schema, schema: str) -> list[Any]:
    bare = {key: value for key, value in json.loads(schema).items() if key != ON_ERROR}
    validator = lenient_part(of, bare)
    return [value for value in RUBBISH if not validator.is_valid(value)]


def _break(tree: Any, chance: random.Random) -> None:
    place = tree
    while isinstance(place, dict | list) and place:
        key: Any = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or chance.randrange(4) == 0:
            match chance.randrange(3):
                case 0:
                    del place[key]
                case 1 if isinstance(place, list):
                    place.insert(key, copy.deepcopy(inner))
                case _:
                    place[key] = chance.choice(RUBBISH)
            return
        place = inner
