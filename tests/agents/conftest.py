"""Fixtures for the tests with real agents: each test runs with each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.agents.fake_llm import FakeLlm
from tests.agents.real import INIT, SCENARIOS, SIZE, Chat, make_workspace, settings
from tests.plugin import StartScreen

StartChat = Callable[..., Chat]


@pytest.fixture(params=["opencode", "gemini"])
def start_chat(
    request: pytest.FixtureRequest, tmp_path: Path, start_screen: StartScreen
) -> Iterator[StartChat]:
    """A function that opens a chat with a ready agent beside a file; ``follow`` on if not told otherwise."""
    workspace, home = tmp_path / "ws", tmp_path / "home"
    make_workspace(workspace)
    with FakeLlm(SCENARIOS, workspace) as llm:

        def start(file: str = "README.md", *, follow: bool = True) -> Chat:
            screen = start_screen(size=SIZE, cwd=workspace, init=INIT, files=(file,))
            screen.setup(settings(request.param, home, workspace, llm.url))
            chat = Chat(request.param, screen, workspace, llm)
            chat.open(follow=follow)
            return chat

        yield start


@pytest.fixture
def chat(start_chat: StartChat) -> Chat:
    """A followed chat; ``README.md`` is open in the window beside it."""
    return start_chat()
