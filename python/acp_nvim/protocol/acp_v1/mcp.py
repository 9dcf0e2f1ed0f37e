"""MCP servers of the settings, as the agent wants them (spec section 5)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acp_nvim.process.environment import LaunchError, find_command
from acp_nvim.wire.acp_v1.connection import McpCapabilities
from acp_nvim.wire.acp_v1.session import (
    EnvVariable,
    HttpHeader,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)


@dataclass(frozen=True, slots=True)
class Mcp:
    """The servers of the settings, and where programs are found: ``path`` is the agent's.

    An entry is ``{name, command, args?, env?}``, or ``{name, type = http|sse, url, headers?}``; ``env`` and
    ``headers`` are tables. ``problems``: sentences about servers that were left out before.
    """

    entries: Sequence[Mapping[str, Any]] = ()
    path: str = ""
    problems: Sequence[str] = ()

    def servers(self, takes: McpCapabilities, cwd: str) -> tuple[list[McpServer], list[str]]:
        """The servers to pass on, and for each that cannot be passed on a sentence that says why.

        A command's path is made absolute (V1-63); http and sse only where the agent takes them (V1-64).
        """
        passed: list[McpServer] = []
        problems = list(self.problems)
        for entry in self.entries:
            try:
                passed.append(self._server(entry, takes, cwd))
            except LaunchError as error:
                problems.append(f"MCP server {entry.get('name')}: {error}")
        return passed, problems

    def _server(self, entry: Mapping[str, Any], takes: McpCapabilities, cwd: str) -> McpServer:
        name, command, url = str(entry.get("name") or ""), entry.get("command"), entry.get("url")
        kind = str(entry.get("type") or ("http" if url else "stdio"))
        env = _pairs(entry.get("env"))
        if kind == "stdio" and isinstance(command, str):
            argv = [posixpath.expanduser(command), *map(str, entry.get("args") or ())]
            found = find_command(argv[:1], cwd=cwd, path=dict(env).get("PATH", self.path))
            variables = [EnvVariable(key, value) for key, value in env]
            return McpServerStdio(name=name, command=found, args=argv[1:], env=variables)
        if kind in ("http", "sse") and isinstance(url, str):
            if not getattr(takes, kind):
                raise LaunchError(f"the agent takes no {kind} servers")
            headers = [HttpHeader(key, value) for key, value in _pairs(entry.get("headers"))]
            form = McpServerHttp if kind == "http" else McpServerSse
            return form(name=name, url=url, headers=headers)
        raise LaunchError("it needs a command, or a type and a url")


def _pairs(value: Any) -> list[tuple[str, str]]:
    """In the order of the names: a table of Lua has none of its own."""
    return sorted((str(key), str(each)) for key, each in value.items()) if isinstance(value, Mapping) else []
