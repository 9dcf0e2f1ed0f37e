"""Every message the schema allows an agent to send is decoded, and a broken part costs only itself."""

from __future__ import annotations

import copy
import functools
import json
import random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire import jsonrpc
from acp_nvim.wire.decode import Codec
from acp_nvim.wire.tolerant import WireError

from .agree import differences
from .definitions import ON_ERROR, STABLE, UNSTABLE, Schema, errors, lenient_part
from .sample import LATER, RUBBISH, Maker, Site, at

RECEIVED: dict[str, Codec[Any]] = {
    # Results of our requests.
    "AuthenticateResponse": w.DONE,
    "CloseSessionResponse": w.DONE,
    "DeleteSessionResponse": w.DONE,
    "InitializeResponse": w.INITIALIZED,
    "ListSessionsResponse": w.SESSIONS_LISTED,
    "LoadSessionResponse": w.SESSION_LOADED,
    "LogoutResponse": w.DONE,
    "NewSessionResponse": w.SESSION_CREATED,
    "PromptResponse": w.PROMPTED,
    "ResumeSessionResponse": w.SESSION_RESUMED,
    "SetSessionConfigOptionResponse": w.OPTION_SET,
    "SetSessionModeResponse": w.DONE,
    "Error": jsonrpc.ERROR,
    # Requests of the agent.
    "CreateElicitationRequest": w.CREATE_ELICITATION,
    "CreateTerminalRequest": w.CREATE_TERMINAL,
    "KillTerminalRequest": w.TERMINAL,
    "ReadTextFileRequest": w.READ_TEXT_FILE,
    "ReleaseTerminalRequest": w.TERMINAL,
    "RequestPermissionRequest": w.REQUEST_PERMISSION,
    "TerminalOutputRequest": w.TERMINAL,
    "WaitForTerminalExitRequest": w.TERMINAL,
    "WriteTextFileRequest": w.WRITE_TEXT_FILE,
    # Notifications of the agent.
    "CancelRequestNotification": w.CANCEL_REQUEST,
    "CompleteElicitationNotification": w.ELICITATION_COMPLETE,
    "SessionNotification": w.SESSION_UPDATE,
}
WEIGHT = {"SessionNotification": 12, "InitializeResponse": 3, "CreateElicitationRequest": 4}
"""How many times as often as the others: for their many variants."""

chances = st.randoms(use_true_random=False)
names = pytest.mark.parametrize("name", RECEIVED)


def quick(examples: int) -> settings:
    """Always the same, and without shrinking: of such large values it takes minutes."""
    phases = (Phase.generate,)
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, phases=phases)


def dumps(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode()


def test_all_that_an_agent_may_send_is_here() -> None:
    theirs = {
        *STABLE.names("agent", "Response"),
        *STABLE.names("client", "Request"),
        *STABLE.names("client", "Notification"),
        *STABLE.names("protocol", "Notification"),
        "Error",
    }
    assert RECEIVED.keys() == theirs


@pytest.mark.req("V1-88", "V1-95", "V1-209", "V1-213")
@names
def test_valid_messages_are_decoded(name: str) -> None:
    """Strictly: the slow path is not needed but for what the strict one cannot know (a later variant)."""
    validator = STABLE.plain(name)

    @quick(30 * WEIGHT.get(name, 1))
    @given(chances)
    def check(chance: random.Random) -> None:
        tree = Maker(STABLE, chance).make(name)
        assert list(errors(validator, tree)) == []
        value = RECEIVED[name].decode(dumps(tree))
        assert list(differences(tree, value)) == [], tree

    check()


@pytest.mark.req("V1-89", "V1-213")
@pytest.mark.parametrize("name", sorted(RECEIVED.keys() & UNSTABLE.definitions.keys()))
def test_valid_messages_of_the_unstable_schema_are_decoded(name: str) -> None:
    """What is stable in them is read, the rest is kept raw or ignored."""
    validator = UNSTABLE.plain(name)
    unread = frozenset(_fields(UNSTABLE))

    @quick(15 * WEIGHT.get(name, 1))
    @given(chances)
    def check(chance: random.Random) -> None:
        tree = Maker(UNSTABLE, chance).make(name)
        assert list(errors(validator, tree)) == []
        value = RECEIVED[name].decode(dumps(tree))
        assert list(differences(tree, value, unread)) == [], tree

    check()


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


@pytest.mark.req("V1-31", "V1-35", "V1-56", "V1-114", "V1-140", "V1-214")
@names
def test_a_broken_part_costs_only_itself(name: str) -> None:
    """A field with a mark falls back, an item of such a list is dropped; nothing else changes."""

    @quick(30 * WEIGHT.get(name, 1))
    @given(chances)
    def check(chance: random.Random) -> None:
        maker = Maker(STABLE, chance)
        tree = maker.make(name)
        sites = [site for site in maker.sites if _rubbish(site) and not _kept_raw(tree, site)]
        if not sites:
            return
        site = chance.choice(sites)
        broken, whole = copy.deepcopy(tree), copy.deepcopy(tree)
        step = site.path[-1]
        rubbish = chance.choice(_rubbish(site))
        at(broken, site.path[:-1])[step] = rubbish
        if site.required and step != "options":  # a group without options has them as None
            at(whole, site.path[:-1])[step] = []
        else:
            del at(whole, site.path[:-1])[step]
        codec, notes = RECEIVED[name], list[str]()
        assert codec.decode(dumps(broken), notes.append) == codec.decode(dumps(whole)), (broken, site.path)
        assert len(notes) == 1 or (rubbish is None and not notes)  # null is often taken without a word

    check()


def _kept_raw(tree: Any, site: Site) -> bool:
    """Whether the place is in a variant that nobody knows."""
    around = [at(tree, site.path[:length]) for length in range(len(site.path))]
    tags = [str(each.get(tag)) for each in around if isinstance(each, dict) for tag in ("type", "mode")]
    return any(tag.startswith(LATER) for tag in tags)


def _rubbish(site: Site) -> list[Any]:
    """Values that a place cannot hold, read ever so leniently."""
    return [None] if site.kind == "null" else _not_in(json.dumps(site.schema))


@functools.cache
def _not_in(schema: str) -> list[Any]:
    bare = {key: value for key, value in json.loads(schema).items() if key != ON_ERROR}
    validator = lenient_part(STABLE, bare)
    return [value for value in RUBBISH if not validator.is_valid(value)]


@pytest.mark.req("V1-214")
@names
def test_what_the_schema_refuses_is_refused_and_nothing_else(name: str) -> None:
    """A value anywhere is replaced, taken away, or doubled: the marks say whether the rest is decoded."""
    validator = STABLE.lenient(name)

    @quick(30 * WEIGHT.get(name, 1))
    @given(chances)
    def check(chance: random.Random) -> None:
        tree = Maker(STABLE, chance, noise=False).make(name)
        _break(tree, chance)
        if isinstance(tree.get("mode"), str) and tree["mode"] not in ("form", "url"):
            return  # answered with -32602 whatever else it says (V1-198)
        allowed = validator.is_valid(tree)
        try:
            RECEIVED[name].decode(dumps(tree))
        except WireError as error:
            assert error.code == -32602
            assert not allowed, (tree, error)
        else:
            assert allowed, (tree, list(errors(validator, tree)))

    check()


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


@pytest.mark.req("V1-13", "V1-14")
@names
def test_null_and_nothing_are_an_empty_object(name: str) -> None:
    codec = RECEIVED[name]
    if STABLE.plain(name).is_valid({}):
        assert codec.decode(b"null") == codec.decode(b"") == codec.decode(b"{}")
    else:
        for raw in (b"null", b""):
            with pytest.raises(WireError):
                codec.decode(raw)
