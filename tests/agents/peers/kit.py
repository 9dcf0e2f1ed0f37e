"""Agents made with the official SDKs, and what passed them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.fixtures import Json, ScriptedAgent
from tests.agents.real import make_workspace
from tests.nvim.cases.kit import PASSIVE, WATCH, Chat, Stage
from tests.nvim.elicit_kit import BROWSER
from tests.plugin import Screen, StartScreen

HERE = Path(__file__).parent
LANGUAGES = ("typescript", "python")
SECOND = "typescript, version 2"


def installed() -> Path:
    """The folder of the SDKs. ``make test-agents`` installs them and sets the variable."""
    folder = os.environ.get("ACP_PEERS")
    assert folder, "set ACP_PEERS to the folder of the installed SDKs, or use make test-agents"
    return Path(folder).absolute()


@dataclass(frozen=True)
class Peer(ScriptedAgent):
    """One agent made with an SDK. It logs as a scripted one does, and also what it says."""

    language: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """Of the protocol."""
        return 2 if self.language == SECOND else 1

    @property
    def command(self) -> list[str]:
        if self.script.suffix == ".mjs":
            return ["node", str(self.script)]
        return [str(installed() / "python/bin/python"), str(self.script)]

    @property
    def settings(self) -> Json:
        """The SDK in its folder, the log, and what the test wants."""
        env = {"ACP_PEERS": str(installed()), "PEER_LOG": str(self.log_path), **self.env}
        return {"command": self.command, "env": env, "protocol": f"acp-v{self.version}"}

    def said(self) -> Iterator[tuple[Json, str | None]]:
        """All that the SDK has written, with the method that an answer answers."""
        for row in self.rows():
            if "said" in row:
                yield row["said"], row.get("to")

    def heard(self) -> Iterator[tuple[Json, str | None]]:
        """All that the SDK has read, with the method that an answer answers."""
        for row in self.rows():
            if "msg" in row:
                yield row["msg"], row.get("to")

    def refused(self) -> list[Json]:
        """The errors the SDK has answered our client with."""
        return [message for message, to in self.said() if to and "error" in message]

    def complaints(self) -> list[str]:
        """What the SDK has written about its client."""
        return [row["complaint"] for row in self.rows() if "complaint" in row]


def make_peer(language: str, folder: Path, **env: str) -> Peer:
    programs = {"typescript": "agent.mjs", "python": "agent.py", SECOND: "second.mjs"}
    program = f"{language.partition(',')[0]}/{programs[language]}"
    return Peer(HERE / program, folder / "peer.log", language, env)


@dataclass(frozen=True)
class Desk:
    """A user at work in a project, with a chat with the peer beside a file."""

    peer: Peer
    screen: Screen
    chat: Chat
    workspace: Path

    def do(self, act: str) -> None:
        """Let the agent do this."""
        self.chat.send(f"do {act}")

    def done(self, act: str) -> str:
        """Let the agent do this to the end; returns the transcript."""
        before = len(self.chat.events("AcpTurnEnd"))
        self.do(act)
        self.chat.wait_turn(before + 1)
        return self.chat.text()


def open_desk(
    start_screen: StartScreen, peer: Peer, workspace: Path, *, settings: Json | None = None, **agent: Any
) -> Desk:
    """Open a chat and wait until it is ready. ``agent``: more settings of the agent."""
    make_workspace(workspace)
    screen = start_screen(size=(120, 45), cwd=workspace, init=WATCH + BROWSER, files=("README.md",))
    screen.setup({**PASSIVE, **(settings or {}), "agents": {"x": {**peer.settings, **agent}}})
    chat = Stage(screen).open(peer)
    chat.wait_state("idle")
    return Desk(peer, screen, chat, workspace)
