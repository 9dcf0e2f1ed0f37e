"""Whether what our client says is ACP: every message, in every test in which it speaks with an agent."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator
from typing import Any

from .definitions import STABLE, STABLE_V2, UNSTABLE, UNSTABLE_V2, Json, Schema, Side, errors

OUTSIDE = {
    "_session/steering": "an extension of agents that say so in the _meta of initialize (V1-211)",
    "session/set_model": "never stabilised, yet the only way to choose a model with some agents",
}
"""What we send although no schema has it, and why."""

OUR_CODES = {-32700, -32600, -32601, -32602, -32603, -32800, -32002}
"""The codes of section 20 that we answer with; no others of the reserved ranges (V1-216)."""
RESERVED = (range(-32768, -31999), range(-32899, -32799))


class Outgoing:
    """Checks one connection. ``problems`` is what was wrong with the messages so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._asked: dict[str, set[str]] = {}
        self._ids: set[str] = set()
        self._schemas: tuple[Schema, Schema] = (STABLE, UNSTABLE)
        self._hello: Any = None  # id of our request to speak version 2

    def heard(self, message: Any) -> None:
        """The agent wrote a message: it tells what an answer is to be, and which version is spoken."""
        if isinstance(message, dict) and self._hello is not None and message.get("id") == self._hello:
            result = message.get("result")
            if isinstance(result, dict) and result.get("protocolVersion") == 2:
                self._schemas = (STABLE_V2, UNSTABLE_V2)
        if isinstance(message, dict) and "id" in message and isinstance(message.get("method"), str):
            self.asked(message["id"], message["method"])

    def asked(self, ident: Any, method: str) -> None:
        self._asked.setdefault(json.dumps(ident), set()).add(method)

    def said(self, message: Any) -> None:
        """Our client wrote a message."""
        for problem in self._problems(message):
            self.problems.append(f"{problem}\nin {json.dumps(message)[:2000]}")

    def _problems(self, message: Any) -> Iterator[str]:
        if not isinstance(message, dict):
            yield "not an object (V1-09)"
        elif message.get("jsonrpc") != "2.0":
            yield "no jsonrpc (V1-10)"
        elif "method" in message:
            yield from self._call(message)
        else:
            yield from self._answer(message)

    def _call(self, message: Json) -> Iterator[str]:
        method, ending = message["method"], "Notification"
        if "id" in message:
            ending = "Request"
            ident = json.dumps(message["id"])
            if not isinstance(message["id"], (int, str)) or isinstance(message["id"], bool):
                yield "a request's id is an integer or a string (V1-11)"
            if ident in self._ids:
                yield "the id of another request (V1-11)"
            self._ids.add(ident)
        if message.keys() - {"jsonrpc", "id", "method", "params"}:
            yield "members that are none of JSON-RPC"
        if method in OUTSIDE:
            return
        params = message.get("params", {})
        if method == "initialize" and params.get("protocolVersion") == 2:
            self._hello = message.get("id")
            yield from _either(params)
            return
        side: Side = "protocol" if method.startswith("$/") else "agent"
        yield from _fits(self._schemas, side, method, ending, params)
        yield from _paths(message.get("params"))

    def _answer(self, message: Json) -> Iterator[str]:
        if len(message.keys() & {"result", "error"}) != 1 or "id" not in message or len(message) != 3:
            yield "an answer has an id, and a result or an error (V1-12)"
            return
        if "error" in message:
            bare = {name: value for name, value in message["error"].items() if name != "data"}  # any JSON
            yield from errors(self._schemas[0].closed("Error"), bare)
            code = message["error"].get("code", 0)
            if code not in OUR_CODES and any(code in codes for codes in RESERVED):
                yield f"the code {code} is reserved (V1-216)"
            return
        methods = self._asked.get(json.dumps(message["id"]), set())
        found = [
            list(_fits(self._schemas, "client", method, "Response", message["result"])) for method in methods
        ]
        if found and all(found):  # of requests that shared an id, one is answered
            yield from found[0]


def _either(params: Json) -> Iterator[str]:
    """Version 2 is asked for, perhaps with the members that an agent of version 1 reads (V2-07)."""
    older = {"clientCapabilities": "capabilities", "clientInfo": "info"}
    ours = {name: value for name, value in params.items() if name not in older}
    yield from errors(STABLE_V2.closed("InitializeRequest"), ours)
    if older.keys() & params.keys():
        theirs = {name: value for name, value in params.items() if name not in older.values()}
        yield from errors(STABLE.closed("InitializeRequest"), theirs)


def _fits(schemas: tuple[Schema, ...], side: Side, method: str, ending: str, value: Any) -> Iterator[str]:
    for schema in schemas:
        name = schema.name(side, method, ending)
        if name is not None:
            yield from errors(schema.closed(name), value)
            return
    yield f"no schema has the {ending} {method}"


def _paths(params: Any) -> Iterator[str]:
    """Relative paths where absolute ones are due (V1-21, V1-59, V1-63)."""
    if not isinstance(params, dict):
        return
    programs = [server.get("command") for server in params.get("mcpServers") or ()]
    for path in (params.get("cwd"), *(params.get("additionalDirectories") or ()), *programs):
        if path is not None and not posixpath.isabs(path):
            yield f"not an absolute path: {path}"
