"""A chat with the faulty agent in a real Neovim with the real host."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.agent import command
from tests.faults.check import Outcome, Rows, problems
from tests.faults.world import BEFORE
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen, eventually

ACTS = ["write", "write", "permit", "speak", "run", "call"]
MINE = "mine, not saved"


class Case:
    """A chat in the middle of a turn of an agent that writes, asks and runs commands without end."""

    def __init__(
        self,
        start_screen: StartScreen,
        folder: Path,
        seed: int,
        version: int,
        rate: float = 0,
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """``more``: of the agent's plan (agent.py)."""
        self.rng = random.Random(seed)
        self.workspace = folder / "home" / "ws"
        self.workspace.mkdir(parents=True)
        for name, text in BEFORE.items():
            (self.workspace / name).write_text(text)
        self.rows = Rows(folder / "agent.log")
        self._plan = folder / "plan.json"
        self._facts = {"seed": seed, "version": version, "log": str(folder / "agent.log"), "lasting": True}
        length = {"least": 100, "most": 200} if rate == 0 else {}
        acts = ACTS if version == 1 else ACTS[2:]
        self.plan(**{"rate": rate, "calm": False, "acts": acts, **length, **more})
        config = {"command": command(self._plan), "protocol": f"acp-v{version}"}
        self.again = partial(open_chat, start_screen, config, cwd=self.workspace, env=env or {})
        """Open a chat in another Neovim."""
        self.chat: Chat = self.again(files=("open.txt", "unsaved.txt"))
        self.screen = self.chat.screen
        self.unsaved = int(self.screen.funcs.bufadd("unsaved.txt"))
        self.screen.funcs.bufload(self.unsaved)
        self.screen.api.buf_set_lines(self.unsaved, 0, -1, False, [MINE])
        self.sent: list[str] = []
        self.extra: list[str] = []

    def plan(self, **plan: Any) -> None:
        self._plan.write_text(json.dumps({**self._facts, **plan}))

    def send(self, text: str, *, now: bool = False) -> None:
        self.sent.append(text)
        self.screen.command(f"AcpSend{'!' if now else ''} {text}")

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

    def asks_more(self, than: int) -> bool:
        return self.asked() > than

    def answer(self) -> None:
        """Answer what is asked, if something is."""
        if self.chat.status["state"] == "waiting":
            self.screen.command(f"silent! AcpPermit {self.rng.choice(['1', '2', '3', 'cancel'])}")

    def waits(self) -> bool:
        """Whether the agent waits for the user; who answers here now and then."""
        if self.chat.status["state"] != "waiting":
            return False
        if self.rng.random() < 0.5:
            return True
        self.screen.command(f"AcpPermit {self.rng.choice(['1', '2', 'cancel'])}")
        return False

    def told(self) -> None:
        """One message says what has happened, and what to do."""
        self.chat.until_state("failed")
        self.chat.until(":AcpRestart")
        said = [line for line in self.chat.troubles if "ended" in line]
        if len(said) != 1:
            self.extra.append(f"not one message: {said}\n{self.chat.text}")

    def recovers(self) -> None:
        """``:AcpRestart`` works, with an agent that is well; the session is taken up again."""
        begun = "❯ " in self.chat.text  # else the prompt is back: there is nothing to go on with
        self.screen.clear_messages()
        self.plan(rate=0, calm=True)
        self.screen.command("AcpRestart")
        eventually(lambda: any(row.get("calm") for row in self.rows()), message=self.chat.show)
        self.chat.until_state("idle")
        if begun:
            self.chat.until("resumed: x remembers this chat")
        assert self.chat.status["pending"] == 0
        self.screen.command("AcpSend and now?")
        self.chat.until("calm: and now?")
        self.chat.until_state("idle")
        self.chat.quiet()

    def check(self, *, lives: bool = True) -> None:
        """``lives``: Neovim, and so what was written into it."""
        places: dict[str, str] = {}
        unsaved: Sequence[tuple[str, str]] = ()
        if lives:
            places = {"transcript": self.chat.text, "prompt": self.chat.prompt}
            if not ("unsaved.txt" in self.chat.text and "allowed" in self.chat.text):  # else the user let it
                unsaved = [(MINE, "\n".join(self.screen.lines(self.unsaved)))]
        found = problems(
            Outcome(
                rows=self.rows,
                workspace=self.workspace,
                before=BEFORE,
                sent=self.sent if lives else (),
                places=places,
                unsaved=unsaved,
                extra=self.extra,
            )
        )
        assert not found, "\n".join(found)
