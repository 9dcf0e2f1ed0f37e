"""MCP servers of the settings, as the agent wants them (spec section 5)."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from acp_nvim.wire.acp_v1.connection import McpCapabilities
from acp_nvim.wire.acp_v1.session import (
    EnvVariable,
    HttpHeader,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)


def servers(
    settings: Sequence[Mapping[str, Any]], takes: McpCapabilities
) -> tuple[list[McpServer], list[str]]:
    """The servers to pass on, and for each that cannot be passed on a sentence that says why.

    An entry is ``{name, command, args?, env?}``, or ``{name, type = http|sse, url, headers?}``; ``env``
    and ``headers`` are tables, or lists of ``{name, value}``. A command's path is made absolute (V1-63);
    http and sse only where the agent takes them (V1-64).
    """
    passed: list[McpServer] = []
    problems: list[str] = []
    for entry in settings:
        name = str(entry.get("name") or "")
        kind = str(entry.get("type") or ("http" if entry.get("url") else "stdio"))
        command, url = entry.get("command"), entry.get("url")
        if kind == "stdio" and isinstance(command, str):
            found = shutil.which(command)
            if found is None:
                problems.append(f"MCP server {name}: {command} is not an executable program")
                continue
            args = [str(arg) for arg in entry.get("args") or ()]
            env = [EnvVariable(key, value) for key, value in _pairs(entry.get("env"))]
            passed.append(McpServerStdio(name=name, command=found, args=args, env=env))
        elif kind in ("http", "sse") and isinstance(url, str):
            if not getattr(takes, kind):
                problems.append(f"MCP server {name}: the agent takes no {kind} servers")
                continue
            headers = [HttpHeader(key, value) for key, value in _pairs(entry.get("headers"))]
            form = McpServerHttp if kind == "http" else McpServerSse
            passed.append(form(name=name, url=url, headers=headers))
        else:
            problems.append(f"MCP server {name}: it needs a command, or a type and a url")
    return passed, problems


def _pairs(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [(str(key), str(each)) for key, each in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [(str(p.get("name")), str(p.get("value"))) for p in value if isinstance(p, Mapping)]
    return []
