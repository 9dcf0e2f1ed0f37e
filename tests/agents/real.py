"""A real agent of the field, driven by the scripted model, in a chat of a real Neovim with a screen."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.fake_llm import FakeLlm
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

FOCUS = """
local tab = vim.api.nvim_tabpage_get_number(vim.api.nvim_get_current_tabpage())
return { tab, #vim.api.nvim_list_tabpages(), vim.bo.filetype, vim.api.nvim_get_mode().mode }
"""
"""Where the user is: tab page, of how many, filetype, mode."""

OPEN = re.compile(r"\bq keeps (it )?open\b")
"""In the footer of a chooser that has the focus."""

UNSAVED = "has unsaved edits"
"""In the plugin's own question, about a write that the user's unsaved edits are in the way of."""


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


def settings(name: str, home: Path, workspace: Path, url: str, **more: Any) -> dict[str, Any]:
    """The plugin's settings for an agent of agents.json, and ``more``; its own files are written."""
    agent = json.loads((HERE / "agents.json").read_text("utf-8"))[name]
    names = {"bin": str(programs()), "url": url, "home": str(home), "ws": str(workspace)}
    for path, content in _fill(agent.get("files", {}), names).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(content) if isinstance(content, list) else json.dumps(content)
        Path(path).write_text(text, "utf-8")
    env = _fill(agent["env"], names) | more.pop("env", {})
    made = {"command": _fill(agent["command"], names), "env": env}
    return {"agents": {name: made | more}}


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
    """The user's view of one chat; ``code`` is the window that follow has."""

    name: str
    screen: Screen
    workspace: Path
    llm: FakeLlm | None = None  # where the test has need of it
    code: int = field(default=0)
    turns: int = field(default=0)

    def open(self, *, follow: bool = True) -> None:
        self.code = int(self.screen.api.get_current_win().handle)
        self.screen.command(f"AcpChat {self.name}")
        self.until(lambda: self.state() == "idle", "the agent is ready")
        if follow:
            self.screen.command("AcpFollow on")

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

    def rows(self, verb: str) -> list[str]:
        """The rows of the transcript with this verb."""
        return re.findall(rf"^\S {verb} .*$", self.text(), re.MULTILINE)

    def until(self, true: Callable[[], Any], what: str) -> Any:
        def report() -> str:
            return f"not so: {what}\nstate {self.state()}\n{self.text()}\n\nscreen:\n{self.screen.text()}"

        return eventually(true, PATIENCE, report, interval=0.03)

    def asked(self) -> list[dict[str, Any]]:
        """The questions so far, as the AcpPermission events told them."""
        return list(self.screen.lua("return _G.asked"))

    def answered(self) -> list[dict[str, Any]]:
        return list(self.screen.lua("return _G.answered"))

    def ended(self) -> bool:
        """Whether the turn of the last prompt has ended."""
        return int(self.screen.lua("return #_G.ended")) >= self.turns

    def is_asking(self) -> bool:
        """Whether a chooser has the focus, and listens."""
        shown = OPEN.search(self.screen.text())
        return bool(shown and self.screen.funcs.maparg("?", "n", False, True).get("desc"))

    def question(self) -> str:
        """Wait until a question has the focus and return the screen."""
        self.until(self.is_asking, "a question is open")
        return self.screen.text()

    def press(self, kind: str) -> None:
        """Press the number of the option of this kind in the chooser that listens: of the oldest question."""
        closed = {done["id"] for done in self.answered()}
        options = next(asked["options"] for asked in self.asked() if asked["id"] not in closed)
        number = 1 + next(at for at, option in enumerate(options) if option["kind"] == kind)
        self.screen.keys(str(number))

    def answer(self, kind: str) -> None:
        """Wait for a question and answer it."""
        before = len(self.answered())
        self.question()
        self.press(kind)
        self.until(lambda: len(self.answered()) > before, "the answer was taken")

    def finish(self, kind: str = "allow_once", *, ours: str | None = None) -> str:
        """Wait for the end of the turn, answering every question; returns the transcript.

        opencode does not wait for the answer to a write: a question about one may outlive the turn.
        ``ours``: the answer to the plugin's own questions, if it is another one.
        """
        pressed = -1

        def step() -> bool:
            nonlocal pressed
            closed = len(self.answered())
            if pressed < closed < len(self.asked()) and not over() and self.is_asking():
                pressed = closed
                # In the chooser: another question of ours may stand in the transcript meanwhile.
                own = ours is not None and UNSAVED in " ".join(self.screen.lines())
                self.press(str(ours) if own else kind)
            return over()

        def over() -> bool:
            return self.ended() and not self.screen.lua("return require('acp').status().pending_all > 0")

        self.until(step, "the turn has ended")
        return self.text()

    # -- what is beside the chat

    def focus(self) -> tuple[int, int, str, str]:
        tab, tabs, filetype, mode = self.screen.lua(FOCUS)
        return tab, tabs, filetype, mode

    def wait_home(self) -> None:
        """Wait until the user is in the prompt again, and nothing of a diff is left."""
        self.until(lambda: self.focus()[:3] == (1, 1, "acp-prompt"), f"back in the prompt: {self.focus()}")

    def place(self) -> tuple[str, int]:
        """File and cursor line of the code window."""
        buffer = self.screen.api.win_get_buf(self.code)
        name = Path(self.screen.api.buf_get_name(buffer)).name
        return name, int(self.screen.api.win_get_cursor(self.code)[0])

    def wait_place(self, name: str, line: int) -> None:
        """Wait until follow has got there."""
        self.until(lambda: self.place() == (name, line), f"the code window is at {name}:{line}")

    def buffer(self, name: str) -> int:
        """The buffer of a file, which must be loaded."""
        number = int(self.screen.funcs.bufnr(name))
        assert self.screen.api.buf_is_loaded(number)
        return number

    def modified(self, buffer: int) -> bool:
        return bool(self.screen.api.get_option_value("modified", {"buf": buffer}))

    def undo(self, buffer: int) -> list[str]:
        """Undo once, and return the lines."""
        self.screen.lua("vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)", buffer)
        return self.screen.lines(buffer)
