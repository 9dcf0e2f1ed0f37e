"""A chat through the real host in a Neovim with a screen, for the tests of what goes wrong."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tests.agents.fixtures import Json, ScriptedAgent
from tests.plugin import Screen, StartScreen, eventually, kill

SIZE = (100, 40)
"""Columns and lines: the chat stands below, over the full width."""

TRANSCRIPT = "acp://x/1"

BACK = "Your text is back in the prompt."

Config = ScriptedAgent | Sequence[str] | Mapping[str, Any]


class Chat:
    """A chat on a screen; if nothing else is said the first of the agent ``x``."""

    def __init__(self, screen: Screen, name: str = TRANSCRIPT) -> None:
        self.screen = screen
        self._transcript = self._buffer(name)
        self._prompt = self._buffer(f"{name}/prompt")

    def _buffer(self, name: str) -> int:
        for buffer in self.screen.api.list_bufs():
            if self.screen.api.buf_get_name(buffer) == name:
                return int(buffer.number)
        raise AssertionError(f"no buffer {name}")

    @property
    def text(self) -> str:
        """The text of the transcript."""
        return "\n".join(self.screen.lines(self._transcript))

    @property
    def troubles(self) -> list[str]:
        """The lines of the transcript that say that something failed."""
        return [line for line in self.screen.lines(self._transcript) if line.startswith("✗")]

    @property
    def prompt(self) -> str:
        """The text in the prompt."""
        return "\n".join(self.screen.lines(self._prompt))

    @property
    def status(self) -> Json:
        """What ``require('acp').status()`` says of the chat."""
        return dict(self.screen.lua("return require('acp').status(...)", self._transcript))

    def show(self) -> str:
        """All there is to see, for messages of failures."""
        return f"{self.screen.text()}\n-- {self.status}\n-- {self.screen.messages()}"

    def sees(self, *wanted: str) -> None:
        """Wait until the user sees all of these on the screen."""
        for text in wanted:
            self.screen.wait(text)

    def has(self, text: str) -> bool:
        """Whether the transcript has this text."""
        return text in self.text

    def until(self, *wanted: str) -> None:
        """Wait until all of these stand in the transcript."""
        for text in wanted:
            eventually(partial(self.has, text), message=lambda: f"{wanted}\n{self.show()}")

    def until_state(self, *states: str) -> None:
        """Wait until the chat is in one of these states."""
        eventually(lambda: self.status["state"] in states, message=self.show)

    def until_prompt(self, text: str) -> None:
        """Wait until this stands in the prompt."""
        eventually(lambda: self.prompt == text, message=self.show)

    def type(self, text: str) -> None:
        """Put text into the prompt."""
        self.screen.api.buf_set_lines(self._prompt, 0, -1, False, text.split("\n"))

    def submit(self, text: str | None = None) -> None:
        """Send this, or what stands in the prompt, with the prompt's key."""
        self.screen.api.set_current_win(self.screen.funcs.bufwinid(self._prompt))
        if text is not None:
            self.type(text)
        self.screen.keys("<C-s>")
        eventually(lambda: self.screen.lua("return vim.fn.mode(1)") in ("n", "i"), message=self.show)

    def works(self, text: str | None = None) -> None:
        """Assert that the next prompt (or what stands there) is answered, and that nothing is in the way."""
        before = self.text.count("── done")
        self.submit(text or (None if self.prompt else "and now?"))
        eventually(lambda: self.text.count("── done") == before + 1, message=self.show)
        self.until_state("idle")
        assert self.prompt == ""
        self.quiet()

    def quiet(self) -> None:
        """Assert that nothing waits for a key and that nothing was written into ``:messages``."""
        assert not self.screen.blocked()
        # 0.10 puts an empty line there when Insert mode is left right after another buffer came up.
        assert self.screen.messages().strip() == "", self.screen.messages()


def settings_of(config: Config) -> dict[str, Any]:
    """The settings of a scripted agent, of a command, or as they are."""
    if isinstance(config, ScriptedAgent):
        return config.settings
    return dict(config) if isinstance(config, Mapping) else {"command": list(config)}


def configure(screen: Screen, config: Config) -> None:
    """Make this the agent ``x`` of the settings."""
    screen.setup({"agents": {"x": settings_of(config)}, "default_agent": "x"})


def open_chat(start_screen: StartScreen, config: Config, **options: Any) -> Chat:
    """Open a chat with the agent ``x`` in a Neovim of its own."""
    screen = start_screen(**{"size": SIZE, **options})
    configure(screen, config)
    screen.command("AcpChat")
    screen.leave_insert()
    return Chat(screen)


def ready_chat(start_screen: StartScreen, config: Config, **options: Any) -> Chat:
    """Open a chat and wait until its agent is ready."""
    chat = open_chat(start_screen, config, **options)
    chat.until("ready in")
    chat.until_state("idle")
    return chat


def change(agent: ScriptedAgent, **on: Sequence[Mapping[str, Any]]) -> None:
    """Let the agent play this from its next start on; ``session_new`` is the method session/new."""
    script = json.loads(agent.script.read_text())
    script["on"].update({method.replace("_", "/"): [list(actions)] for method, actions in on.items()})
    agent.script.write_text(json.dumps(script))


def starts(agent: ScriptedAgent) -> list[int]:
    """The pids of all processes of the agent so far."""
    return [row["pid"] for row in agent.rows() if row.get("event") == "start"]


def kill_agent(agent: ScriptedAgent) -> None:
    """End the agent's last process as the system does when there is no memory left."""
    kill(eventually(lambda: starts(agent))[-1], signal.SIGKILL)


def kill_host(screen: Screen) -> None:
    """End the host in the same way."""
    kill(screen.host_ready(), signal.SIGKILL)
