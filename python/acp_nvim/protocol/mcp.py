"""MCP servers of the settings, ready to be passed on (spec section 5)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from acp_nvim.process.environment import LaunchError, find_command
from acp_nvim.session.agent import AgentInfo


@dataclass(frozen=True, slots=True)
class Server:
    """``command`` is an absolute path; ``pairs`` are the variables of a program, else the headers."""

    kind: Literal["stdio", "http", "sse"]
    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mcp:
    """The servers of the settings, and where programs are found: ``path`` is the agent's.

    An entry is ``{name, command, args?, env?}``, or ``{name, type = http|sse, url, headers?}``; ``env`` and
    ``headers`` are tables. ``problems``: sentences about servers that were left out before.
    """

    entries: Sequence[Mapping[str, Any]] = ()
    path: str = ""
    problems: Sequence[str] = ()

    def servers(self, info: AgentInfo, cwd: str) -> tuple[list[Server], list[str]]:
        """The servers to pass on, and for each that cannot be passed on a sentence that says why.

        A command's path is made absolute (V1-63); only what the agent takes (V1-64, V2-149).
        """
        passed: list[Server] = []
        problems = list(self.problems)
        for entry in self.entries:
            try:
                passed.append(self._server(entry, info, cwd))
            except LaunchError as error:
                problems.append(f"MCP server {entry.get('name')}: {error}")
        return passed, problems

    def _server(self, entry: Mapping[str, Any], info: AgentInfo, cwd: str) -> Server:
        name, command, url = str(entry.get("name") or ""), entry.get("command"), entry.get("url")
        kind = str(entry.get("type") or ("http" if url else "stdio"))
        if kind == "stdio" and isinstance(command, str):
            _takes(info.mcp_stdio, kind)
            env = _pairs(entry.get("env"))
            argv = [posixpath.expanduser(command), *map(str, entry.get("args") or ())]
            found = find_command(argv[:1], cwd=cwd, path=dict(env).get("PATH", self.path))
            return Server("stdio", name, found, tuple(argv[1:]), pairs=env)
        if kind in ("http", "sse") and isinstance(url, str):
            _takes(info.mcp_http if kind == "http" else info.mcp_sse, kind)
            headers = _pairs(entry.get("headers"))
            return Server("http" if kind == "http" else "sse", name, url=url, pairs=headers)
        raise LaunchError("it needs a command, or a type and a url")


def _takes(does: bool, kind: str) -> None:
    if not does:
        raise LaunchError(f"the agent takes no {kind} servers")


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    """In the order of the names: a table of Lua has none of its own."""
    if not isinstance(value, Mapping):
        return ()
    return tuple(sorted((str(key), str(each)) for key, each in value.items()))
