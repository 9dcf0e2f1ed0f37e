"""MCP servers of the settings: their secrets fetched, and what must be masked of them (C41, V1-217)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from acp_nvim.session.ports import AgentError

from .secrets import secret_name

#: Runs the command of a secret: (what to call it, the command). Raises AgentError.
Ask = Callable[[str, list[str]], Awaitable[str]]

_SCHEME = re.compile(r"(?i)^(?:bearer|basic|token)\s+(\S+)$")


async def with_secrets(
    agent: str, servers: Sequence[Any], ask: Ask
) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """The servers with all values as text, what is secret of them, and what went wrong.

    A server whose secret cannot be had is left out: the agent works without it.
    """
    ready: list[dict[str, Any]] = []
    secrets: list[str] = []
    problems: list[str] = []
    for server in servers:
        if not isinstance(server, dict):
            continue
        name = str(server.get("name") or "")
        try:
            made = {**server}
            for field in ("env", "headers"):
                where = f"agents.{agent}.mcp_servers.{name}.{field}"
                made[field] = await _texts(server.get(field), where, ask)
        except AgentError as error:
            problems.append(f"MCP server {name}: {error.failure.message}")
            continue
        ready.append(made)
        secrets += secrets_of(made)
    return ready, secrets, problems


async def _texts(values: Any, where: str, ask: Ask) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in (values if isinstance(values, Mapping) else {}).items():
        command = value.get("cmd") if isinstance(value, Mapping) else None
        if isinstance(command, list):
            found[str(name)] = await ask(f"{where}.{name}", [str(part) for part in command])
        else:
            found[str(name)] = str(value)
    return found


def secrets_of(server: Mapping[str, Any]) -> Iterator[str]:
    """All variables and headers; of the address and the arguments what is named like a secret."""
    for value in (*server.get("env", {}).values(), *server.get("headers", {}).values()):
        yield value
        if (token := _SCHEME.match(value)) is not None:
            yield token[1]
    try:
        url = urlsplit(str(server.get("url") or ""))
        if url.password:
            yield from {url.password, unquote(url.password)}
    except ValueError:  # no address; the agent says so
        return
    yield from (value for name, value in parse_qsl(url.query) if secret_name(name))
    before = ""
    for arg in map(str, server.get("args") or ()):
        name, equals, value = arg.partition("=")
        if equals and secret_name(name):
            yield value
        elif before.startswith("-") and "=" not in before and secret_name(before):
            yield arg
        before = arg
