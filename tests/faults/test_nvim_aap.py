"""Faults of a server of AAP in a real Neovim with the real host, and a user who acts, from a seed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.faults.check import Outcome, problems
from tests.faults.remote import Posts
from tests.faults.server import CLIENT_TOOLS, FaultyServer
from tests.faults.test_nvim import with_luck
from tests.faults.world import BEFORE
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen, eventually

MINE = "mine, not saved"


class Case:
    """A chat with the faulty server, beside a buffer with unsaved text."""

    def __init__(self, start_screen: StartScreen, server: FaultyServer, workspace: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.server = server
        self.workspace = workspace
        settings = {"protocol": "aap", "url": server.url, "client_tools": list(CLIENT_TOOLS)}
        self.chat: Chat = open_chat(start_screen, settings, cwd=workspace, files=("open.txt",))
        self.screen = self.chat.screen
        self.unsaved = int(self.screen.funcs.bufadd("unsaved.txt"))
        self.screen.funcs.bufload(self.unsaved)
        self.screen.api.buf_set_lines(self.unsaved, 0, -1, False, [MINE])
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)
        self.screen.command(f"AcpSend {text}")

    def act(self) -> None:
        """What the user does, in an order of its own."""
        for number in range(self.rng.randint(4, 10)):
            seen, state = len(self.server.requests), self.chat.status["state"]
            match self.rng.choice(("send", "send", "answer", "answer", "cancel", "away", "look")):
                case "send":
                    self.send(f"prompt-{number}-")
                case "answer":
                    self.answer("1", "2", "3", "cancel")
                case "cancel":
                    self.screen.command("silent! AcpCancel")
                case "away" if self.rng.random() < 0.3:
                    self.server.leave(0.2, forgets=self.rng.random() < 0.3)
            with_luck(lambda: len(self.server.requests) > seen or self.chat.status["state"] != state)  # noqa: B023

    def answer(self, *answers: str) -> None:
        if self.chat.status["state"] == "waiting":
            self.screen.command(f"silent! AcpPermit {self.rng.choice(answers)}")

    def recovers(self) -> None:
        """``:AcpRestart`` works, with a server that is well; what an old session waits for is answered."""
        self.server.calm = True
        eventually(lambda: not self.server.away)
        self.screen.clear_messages()
        self.screen.command("AcpRestart")
        eventually(lambda: self.server.starts, message=self.chat.show)
        self.chat.until_state("idle")
        self.send("and now?")

        def answered() -> bool:
            self.answer("cancel")
            return self.chat.has("calm: and now?") and self.chat.status["state"] == "idle"

        eventually(answered, message=self.chat.show)
        eventually(lambda: not self.server.open)
        assert self.screen.lua("return require('acp.question').count()") == 0
        self.chat.quiet()

    def check(self) -> None:
        unsaved = [(MINE, "\n".join(self.screen.lines(self.unsaved)))]
        if "unsaved.txt" in self.chat.text and "allowed" in self.chat.text:  # else the user let it
            unsaved = []
        places = {"transcript": self.chat.text, "prompt": self.chat.prompt}
        lost = [text for text in self.sent if not any(text in place for place in places.values())]
        found = problems(
            Outcome(
                rows=Posts(self.server),
                workspace=self.workspace,
                before=BEFORE,
                sent=self.sent,
                places=places,
                unsaved=unsaved,
                extra=[f"the user does not find {text}" for text in lost],
            )
        )
        assert not found, "\n".join(found)


def life(start_screen: StartScreen, folder: Path, seed: int) -> None:
    workspace = folder / "home" / "ws"
    workspace.mkdir(parents=True)
    for name, text in BEFORE.items():
        (workspace / name).write_text(text)
    with FaultyServer(seed, workspace, rate=(0.03, 0.1, 0.3)[seed % 3]) as server:
        case = Case(start_screen, server, workspace, seed)
        case.act()
        if case.chat.status["state"] == "failed":
            case.chat.until(":AcpRestart")
        case.recovers()
        case.check()


@pytest.mark.parametrize("seed", [1, 2])
def test_faults_in_neovim(start_screen: StartScreen, tmp_path: Path, seed: int) -> None:
    life(start_screen, tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 63))
def test_many_faults_in_neovim(start_screen: StartScreen, tmp_path: Path, seed: int) -> None:
    life(start_screen, tmp_path, seed)
