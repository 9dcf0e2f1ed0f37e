"""Where the plugin can reach a network: in the one module for agents on servers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "python/acp_nvim"
MODULES = {
    "socket", "ssl", "httpx2", "httpcore", "urllib.request", "http.client", "ftplib", "smtplib", "xmlrpc",
    "websockets", "aiohttp", "requests",
}  # fmt: skip
CALLS = {"open_connection", "create_connection", "connect_tcp", "create_datagram_endpoint", "sock_connect"}
APART = {"demo", "replay"}
"""The built-in agent, whose server listens on this machine, and the player of traces, with a socket file."""


def uses(path: Path) -> Iterator[str]:
    """The names in a module that lead to a network."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        elif isinstance(node, ast.Attribute) and node.attr in CALLS:
            yield node.attr
        yield from (name for name in names if name in MODULES or name.split(".")[0] in MODULES)


def test_only_one_module_can_reach_the_network() -> None:
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in APART and any(uses(path))
    }
    assert found == {"transport/http.py"}
    lua = {
        str(path.relative_to(ROOT))
        for folder in ("lua", "plugin")
        for path in (ROOT / folder).rglob("*.lua")
        if re.search(r"new_tcp|new_udp|sockconnect|getaddrinfo|vim\.net\b", path.read_text(encoding="utf-8"))
    }
    assert lua == set()
