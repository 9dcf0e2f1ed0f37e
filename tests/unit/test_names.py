"""Nothing above ``protocol`` names a protocol, but what chooses one: the settings, the start of an agent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / "python" / "acp_nvim"
NAME = re.compile(r"acp[-_. ]?v\d|aap", re.IGNORECASE)
MODULE = re.compile(r"acp_nvim\.(?:protocol|wire)\.(?:acp_v\d|aap)")

CHOOSE = {
    "python/acp_nvim/client/local.py": "which version a program of the user's is asked for",
    "python/acp_nvim/client/remote.py": "an agent that is a server",
    "python/acp_nvim/client/connection.py": "a program or a server",
    "python/acp_nvim/client/payloads.py": "the setting",
    "python/acp_nvim/client/remembered.py": "what such a server does not remember itself",
    "lua/acp/config.lua": "the setting",
    "lua/acp/settings.lua": "the setting",
    "lua/acp/health.lua": "what the settings say",
}


def texts(path: Path) -> Iterator[str]:
    """The strings and imported modules of a Python file, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as value) if id(node) not in said:
                yield value
            case ast.ImportFrom(module=str() as module):
                yield from (f"{module}.{each.name}" for each in node.names)
            case ast.Import():
                yield from (each.name for each in node.names)


def named(path: Path) -> list[str]:
    """The names of protocols in a file."""
    if path.suffix == ".py":
        return [text for text in texts(path) if MODULE.search(text) or NAME.fullmatch(text)]
    lines = (line.split("--")[0] for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if re.search(r"acp[-_]v\d|'aap'", line)]


FILES = sorted(
    [
        *(path for layer in ("client", "view", "service") for path in (PYTHON / layer).rglob("*.py")),
        *PYTHON.glob("*.py"),
        *(ROOT / "lua").rglob("*.lua"),
        *(ROOT / "plugin").rglob("*.lua"),
    ]
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_protocol_is_named(path: Path) -> None:
    found = named(path)
    assert found == [] or str(path.relative_to(ROOT)) in CHOOSE


def test_a_name_would_be_found(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("from acp_nvim.wire.acp_v2 import tools\nif info.protocol == 'acp-v2':\n    pass\n")
    assert named(bad) == ["acp_nvim.wire.acp_v2.tools", "acp-v2"]
