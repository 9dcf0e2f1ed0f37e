"""Fixtures for the tests with agents made with the official SDKs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.peers.exercised import SCHEMAS, Exercised
from tests.agents.peers.kit import LANGUAGES, Desk, Peer, make_peer, open_desk
from tests.plugin import StartScreen

OpenDesk = Callable[..., Desk]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    """Each SDK, if a test does not name one."""
    return str(request.param)


@pytest.fixture(scope="session")
def exercised() -> dict[int, Exercised]:
    """What the agents of all tests have used, by the version of the protocol."""
    return {version: Exercised(schema) for version, schema in SCHEMAS.items()}


@pytest.fixture(scope="session")
def ran() -> set[str]:
    """The files whose tests have run."""
    return set()


@pytest.fixture
def start_peer(
    request: pytest.FixtureRequest,
    language: str,
    tmp_path: Path,
    exercised: dict[int, Exercised],
    ran: set[str],
) -> Iterator[Callable[..., Peer]]:
    """A function that makes the agent. In the end all that its client wrote must have been ACP."""
    made: list[Peer] = []

    def start(**env: str) -> Peer:
        made.append(make_peer(language, tmp_path, **env))
        return made[-1]

    yield start
    ran.add(request.path.name)
    for peer in made:
        exercised[peer.version].add(peer)
        assert peer.problems() == []
        assert peer.complaints() == []


@pytest.fixture
def desk(start_peer: Callable[..., Peer], start_screen: StartScreen, tmp_path: Path) -> OpenDesk:
    """A function that opens a chat with the peer; ``env`` is the peer's, the rest settings."""

    def start(env: dict[str, str] | None = None, **settings: Any) -> Desk:
        return open_desk(start_screen, start_peer(**(env or {})), tmp_path / "ws", **settings)

    return start
