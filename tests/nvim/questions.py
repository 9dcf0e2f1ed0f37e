"""A Neovim with a chat and no host: questions are asked as the host would, and what Lua tells it is kept."""

from __future__ import annotations

from typing import Any

from tests.plugin import Screen, StartScreen, eventually

OPTIONS = [
    {"id": "ok", "name": "Allow once", "kind": "allow_once"},
    {"id": "always", "name": "Always allow npm", "kind": "allow_always"},
    {"id": "no", "name": "Reject", "kind": "reject_once"},
]
COMMAND = ["npm install left-pad@1.3.0 --save-exact \\", "  && npm test", "in ~/src/app"]
FOOTER = "1-3 answers · q keeps it open"

STUB = """
  _G.sent = {}
  local host = require('acp.host')
  host.event = function(name, payload) table.insert(_G.sent, { name, payload }) end
  host.status = function() return { state = 'ready' } end
"""


class Desk:
    """The test's side of the questions of one Neovim."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        screen.lua(STUB)
        self.chat = self.new_chat()

    def new_chat(self) -> int:
        number = self.screen.lua("return require('acp.chat').create('claude', vim.fn.getcwd(), {}, false).n")
        return int(number)

    def show(self, chat: int | None = None, *, focus: bool = True) -> None:
        """Open the chat's windows, as :AcpChat does."""
        self.screen.lua(
            "local n, focus = ... require('acp.chat.windows').open(require('acp.chat').get(n), focus)",
            chat or self.chat,
            focus,
        )

    def ask(self, name: str = "q1", *, chat: int | None = None, **fields: Any) -> None:
        question = {
            "id": name,
            "chat": chat or self.chat,
            "n_open": 1,
            "title": f"claude wants to run a command ({name})",
            "prompt": f"claude wants to run: npm test ({name})",
            "lines": COMMAND,
            "marks": [[0, 0, 11, "AcpCommand"]],
            "options": OPTIONS,
            **fields,
        }
        self.screen.lua("require('acp.question').open(...)", question)

    def close(self, name: str, outcome: str = "withdrawn") -> None:
        self.screen.lua("require('acp.question').close(...)", name, outcome)

    def permit(self, *arguments: Any, key: bool = False) -> tuple[bool, str]:
        """Call ``permit`` (as a command, or as a key) and return what it says: done or not, and why not."""
        code = (
            "local name, arguments = ..."
            " local ok, reason = require('acp.question')[name](unpack(arguments))"
            " return { ok or false, reason or '' }"
        )
        ok, reason = self.screen.lua(code, "permit_key" if key else "permit", list(arguments))
        return bool(ok), str(reason)

    def answers(self) -> list[tuple[str, int]]:
        """What the host was told, in order: question and index."""
        return [(p["id"], p["index"]) for name, p in self.screen.lua("return _G.sent") if name == "answer"]

    def wait_answers(self, *wanted: tuple[str, int]) -> None:
        eventually(lambda: self.answers() == list(wanted), message=lambda: f"answers: {self.answers()}")

    def count(self) -> int:
        return int(self.screen.lua("return require('acp.question').count()"))

    def entered(self) -> str:
        """The id of the question whose chooser has the focus, or ''."""
        return str(
            self.screen.lua(
                "local c = require('acp.question.card').get()"
                " return c and c.entered and c.win == vim.api.nvim_get_current_win() and c.question.id or ''"
            )
        )

    def carded(self) -> str:
        """The id of the question whose card is on the screen, or ''."""
        return str(
            self.screen.lua("local c = require('acp.question.card').get() return c and c.question.id or ''")
        )

    def wait_entered(self, name: str = "q1") -> None:
        """Wait until the chooser has the focus and listens."""
        eventually(
            lambda: self.entered() == name, message=lambda: f"not entered: {name}\n{self.screen.text()}"
        )
        self.wait_listening()

    def wait_listening(self) -> None:
        eventually(lambda: self.screen.funcs.maparg("?", "n", False, True).get("desc"), message="still deaf")

    def open_float(self) -> None:
        """Enter a float of somebody else, as a picker opens it."""
        self.screen.lua(
            "local size = { relative = 'editor', row = 1, col = 1, width = 9, height = 2 }"
            " vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, size)"
        )

    def close_float(self) -> None:
        """Leave it by ``:q`` and go back to the prompt."""
        win = self.screen.api.get_current_win()
        self.screen.keys(":q<CR>")
        eventually(lambda: not self.screen.api.win_is_valid(win))
        self.screen.command("wincmd b")

    def mode(self) -> str:
        return str(self.screen.api.get_mode()["mode"])


def desk(start_screen: StartScreen, *, show: bool = True, focus: bool = True, **options: Any) -> Desk:
    made = Desk(start_screen(**{"size": (120, 30), **options}))
    if show:
        made.show(focus=focus)
    return made


# The time a test gives a fault to show itself where nothing may happen: longer than the 400 ms of rest.
REST_MS = 700


def rest(made: Desk) -> None:
    """Let Neovim sit idle for longer than the time after which a question may be entered."""
    made.screen.lua("vim.wait(...)", REST_MS)


def open_file(made: Desk) -> int:
    """Put the cursor into the code window and return its id."""
    win = made.screen.lua("return vim.fn.win_getid(1)")
    made.screen.api.set_current_win(win)
    return int(win)
