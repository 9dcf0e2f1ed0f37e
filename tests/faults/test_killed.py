"""kill -9 of the agent, the host, and Neovim at random points of a turn, with a real Neovim and host."""

from __future__ import annotations

import json
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.faults.check import Outcome, Rows, problems
from tests.faults.world import AGENT, BEFORE
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen, eventually, kill, none_left

VICTIMS = ("agent", "host", "Neovim")
ACTS = ["write", "write", "permit", "speak", "run", "call"]
MINE = "mine, not saved"


class Case:
    """A chat in the middle of a turn of an agent that writes, asks and runs commands without end."""

    def __init__(self, start_screen: StartScreen, folder: Path, seed: int, version: int) -> None:
        self.rng = random.Random(seed)
        self.workspace = folder / "home" / "ws"
        self.workspace.mkdir(parents=True)
        for name, text in BEFORE.items():
            (self.workspace / name).write_text(text)
        self.rows = Rows(folder / "agent.log")
        self._plan = folder / "plan.json"
        self._facts = {"seed": seed, "version": version, "log": str(folder / "agent.log"), "lasting": True}
        self.plan(rate=0, calm=False, acts=ACTS if version == 1 else ACTS[2:], most=200)
        command = [sys.executable, "-I", "-S", str(AGENT), str(self._plan)]
        config = {"command": command, "protocol": f"acp-v{version}"}
        self.chat: Chat = open_chat(
            start_screen, config, cwd=self.workspace, files=("open.txt", "unsaved.txt")
        )
        self.screen = self.chat.screen
        self.unsaved = int(self.screen.funcs.bufadd("unsaved.txt"))
        self.screen.funcs.bufload(self.unsaved)
        self.screen.api.buf_set_lines(self.unsaved, 0, -1, False, [MINE])
        self.sent: list[str] = []
        self.extra: list[str] = []

    def plan(self, **plan: Any) -> None:
        self._plan.write_text(json.dumps({**self._facts, **plan}))

    def send(self, text: str) -> None:
        self.sent.append(text)
        self.chat.submit(text)

    def pids(self, victim: str) -> list[int]:
        if victim == "agent":
            return [row["pid"] for row in self.rows() if row.get("event") == "start"][-1:]
        return [self.screen.host_ready() if victim == "host" else self.screen.pid]

    def until_busy(self) -> None:
        """Wait until the agent has asked for a number of things that the seed says."""
        count = self.rng.choice([0, 1, 2, 3, 5, 8, 13])
        eventually(lambda: self.rows.prompts(), message=self.chat.show)
        eventually(lambda: self.asked() >= count or self.waits(), message=self.chat.show)

    def asked(self) -> int:
        return sum("asked" in row for row in self.rows())

    def waits(self) -> bool:
        """Whether the agent waits for the user; who answers here now and then."""
        if self.chat.status["state"] != "waiting":
            return False
        if self.rng.random() < 0.5:
            return True
        self.screen.command(f"AcpPermit {self.rng.choice(['1', '2', 'cancel'])}")
        return False

    def recovers(self, victim: str) -> None:
        """One message that names the remedy, which works; the session is taken up again."""
        self.chat.until_state("failed")
        self.chat.until(":AcpRestart")
        said = [line for line in self.chat.troubles if "ended" in line]
        if len(said) != 1:
            self.extra.append(f"not one message: {said}\n{self.chat.text}")
        begun = "❯ first prompt" in self.chat.text  # else it is back in the prompt: nothing to go on with
        assert begun or "first prompt" in self.chat.prompt
        self.screen.clear_messages()
        self.plan(rate=0, calm=True)
        self.screen.command("AcpRestart")
        eventually(lambda: any(row.get("calm") for row in self.rows()), message=self.chat.show)
        self.chat.until_state("idle")
        if begun:
            self.chat.until("resumed: x remembers this chat")
        assert self.chat.status["pending"] == 0
        back = self.chat.prompt
        self.chat.submit("and now?")
        self.chat.until("calm: and now?")
        self.chat.until_state("idle")
        self.chat.type(back)
        self.chat.quiet()

    def check(self, victim: str) -> None:
        places: dict[str, str] = {}
        unsaved: Sequence[tuple[str, str]] = ()
        if victim != "Neovim":
            places = {"transcript": self.chat.text, "prompt": self.chat.prompt}
            if not ("unsaved.txt" in self.chat.text and "allowed" in self.chat.text):  # else the user let it
                unsaved = [(MINE, "\n".join(self.screen.lines(self.unsaved)))]
        found = problems(
            Outcome(
                rows=self.rows,
                workspace=self.workspace,
                before=BEFORE,
                sent=self.sent if victim != "Neovim" else (),
                places=places,
                unsaved=unsaved,
                extra=self.extra,
            )
        )
        assert not found, "\n".join(found)


def killed(start_screen: StartScreen, folder: Path, seed: int, version: int, victim: str) -> None:
    case = Case(start_screen, folder, seed, version)
    case.chat.until_state("idle")
    case.send("first prompt")
    eventually(lambda: case.chat.status["state"] in ("running", "waiting"))
    case.send("second prompt")
    case.chat.type("a draft")
    case.until_busy()
    for pid in case.pids(victim):
        kill(pid, signal.SIGKILL)
    if victim == "Neovim":
        case.screen.wait_exit()
        none_left(case.screen.marker)
    else:
        case.recovers(victim)
        assert "a draft" in case.chat.prompt
        assert sum("second prompt" in each for each in (case.chat.prompt, *case.rows.prompts())) == 1
    case.check(victim)


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("version", [1, 2])
def test_killed(start_screen: StartScreen, tmp_path: Path, victim: str, version: int) -> None:
    killed(start_screen, tmp_path, 1, version, victim)


@pytest.mark.long
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("seed", range(2, 22))
def test_killed_at_many_points(start_screen: StartScreen, tmp_path: Path, victim: str, seed: int) -> None:
    killed(start_screen, tmp_path, seed, 1 + seed % 2, victim)
