"""A real agent of the field, driven by the scripted model, in a chat of a real Neovim with a screen."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.plugin import Screen, eventually

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios"
PATIENCE = 90.0  # seconds; a cold start of a Node program on a busy machine
FILES = {
    "greeting.txt": "# greetings\nhello world\ngoodbye world\n",
    "src/main.py": "def main():\n    print('hello world')\n\n\nmain()\n",
    "README.md": "# sample project\n",
}
SIZE = (120, 40)

INIT = """
_G.asked, _G.answered, _G.ended = {}, {}, {}
local function keep(event, list)
  vim.api.nvim_create_autocmd('User', {
    pattern = event,
    callback = function(args) table.insert(list, args.data) end,
  })
end
keep('AcpPermission', _G.asked)
keep('AcpPermissionDone', _G.answered)
keep('AcpTurnEnd', _G.ended)
"""
"""Lua that keeps the events a user's own configuration would listen to."""

TRANSCRIPT = """
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buf].filetype == 'acp-chat' then return buf end
end
"""


def programs() -> Path:
    """The folder of the agents' programs. ``make test-agents`` installs them and sets the variable."""
    folder = os.environ.get("ACP_AGENTS_BIN")
    assert folder, "set ACP_AGENTS_BIN to the folder of the agents' programs, or use make test-agents"
    return Path(folder).absolute()


def make_workspace(folder: Path) -> None:
    """A small project under git."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, stdout=subprocess.DEVNULL)


def settings(name: str, home: Path, workspace: Path, url: str) -> dict[str, Any]:
    """The plugin's settings for an agent of agents.json; its own configuration files are written."""
    agent = json.loads((HERE / "agents.json").read_text("utf-8"))[name]
    names = {"bin": str(programs()), "url": url, "home": str(home), "ws": str(workspace)}
    for path, content in _fill(agent.get("files", {}), names).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(content), "utf-8")
    return {"agents": {name: {"command": _fill(agent["command"], names), "env": _fill(agent["env"], names)}}}


def _fill(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for key, text in names.items():
            value = value.replace(f"${{{key}}}", text)
        return value
    if isinstance(value, list):
        return [_fill(item, names) for item in value]
    if isinstance(value, dict):
        return {_fill(key, names): _fill(item, names) for key, item in value.items()}
    return value


@dataclass
class Chat:
    """The user's view of one chat."""

    name: str
    screen: Screen
    workspace: Path
    turns: int = field(default=0)

    def open(self) -> None:
        self.screen.command(f"AcpChat {self.name}")
        self.until(lambda: self.state() == "idle", "the agent is ready")

    def send(self, scenario: str) -> None:
        """Type a prompt into the prompt window and send it."""
        prompt = json.loads((SCENARIOS / f"{scenario}.json").read_text("utf-8"))["prompt"]
        self.screen.command("AcpChat")
        if self.screen.api.get_mode()["mode"] == "n":
            self.screen.keys("i")
        self.turns += 1
        self.screen.keys(f"{prompt} [[{scenario}]]", "<C-s>")
        self.until(lambda: self.state() != "idle" or self.ended(), "the turn has begun")

    def state(self) -> str:
        return str(self.screen.lua("return require('acp').status().state"))

    def text(self) -> str:
        """The whole transcript, folded or not."""
        return "\n".join(self.screen.lines(int(self.screen.lua(TRANSCRIPT))))

    def until(self, true: Callable[[], Any], what: str) -> Any:
        def report() -> str:
            return f"not so: {what}\nstate {self.state()}\n{self.text()}\n\nscreen:\n{self.screen.text()}"

        return eventually(true, PATIENCE, report)

    def asked(self) -> list[dict[str, Any]]:
        """The questions so far, as the AcpPermission events told them."""
        return list(self.screen.lua("return _G.asked"))

    def answered(self) -> list[dict[str, Any]]:
        return list(self.screen.lua("return _G.answered"))

    def ended(self) -> bool:
        """Whether the turn of the last prompt has ended."""
        return int(self.screen.lua("return #_G.ended")) >= self.turns

    def question(self) -> str:
        """Wait until a question has the focus and return the screen."""
        self.until(lambda: "keeps it open" in self.screen.text(), "a question is open")
        return self.screen.text()

    def answer(self, kind: str) -> None:
        """Press the number of the option of this kind, again while the chooser is too young to listen."""
        before = len(self.answered())
        self.question()
        options = self.asked()[-1]["options"]
        number = 1 + next(at for at, option in enumerate(options) if option["kind"] == kind)

        def press() -> bool:
            if len(self.answered()) == before and "keeps it open" in self.screen.text():
                self.screen.keys(str(number))
            return len(self.answered()) > before

        eventually(press, 15, lambda: f"the answer was not taken\n{self.screen.text()}", interval=0.3)

    def finish(self, kind: str = "allow_once") -> str:
        """Wait for the end of the turn, answering every question; returns the transcript."""

        def step() -> bool:
            if not self.ended() and "keeps it open" in self.screen.text():
                self.answer(kind)
            return self.ended()

        self.until(step, "the turn has ended")
        return self.text()
