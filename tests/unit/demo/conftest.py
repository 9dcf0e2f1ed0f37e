"""A small project and a demo agent on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient

FILES = {
    "greeting.txt": "# greetings\nhello world\ngoodbye world\n",
    "src/main.py": 'print("hello world")\n',
    "notes.md": "# Notes\n\nThis is the the first line.\n",
    "crlf.txt": "one\r\ntwo",
    "node_modules/left/index.js": "world\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / "picture.bin").write_bytes(b"\x89PNG\0world")
    return folder


@pytest.fixture
def start(project: Path) -> Iterator[Callable[..., DemoClient]]:
    """A function that starts agents; at the end each has to leave when its input is closed."""
    started: list[DemoClient] = []

    def begin(*arguments: str, **options: Any) -> DemoClient:
        started.append(DemoClient(project, *arguments, **options))
        return started[-1]

    yield begin
    for client in started:
        assert client.close() == 0


@pytest.fixture
def client(start: Callable[..., DemoClient]) -> DemoClient:
    return start()
