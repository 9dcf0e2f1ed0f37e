"""``make demo``: Neovim on a sample project, with a chat with the built-in demo agent.

With a terminal: for a person. Without one, or with ``--headless``: one scripted user in the same real Neovim,
whose screens are printed. Exit status 0 only if the user saw the question and the file has really changed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.plugin.neovim import Options
from tests.plugin.poll import eventually
from tests.plugin.screen import Screen
from tools.stage import ROOT, Stage, build

from acp_nvim.replay.neovim import StageError, find_neovim

SPEED = 40.0  # words a second, to read along
PROMPT = "replace world by Neovim in greeting.txt"
WANTED = "# greetings\nhello Neovim\ngoodbye Neovim\n"
SIZE = (100, 30)
READING = 0.6  # seconds a person takes to read a question, at least

ANSWERS = """
if not _G.answers then
  _G.answers = 0
  local function count() _G.answers = _G.answers + 1 end
  vim.api.nvim_create_autocmd('User', { pattern = 'AcpPermissionDone', callback = count })
end
return _G.answers
"""
"""Lua that counts the questions answered since it was first asked."""


def show(stage: Stage) -> int:
    """Become a Neovim in this terminal."""
    argv = [find_neovim(), "-n", "-u", str(stage.folder / "init.lua"), "greeting.txt"]
    os.chdir(stage.project)
    os.execve(argv[0], argv, stage.environment)  # noqa: S606


def play(stage: Stage, key: str, timeout: float) -> int:
    """Play the scripted user, who answers the question with ``key``."""
    (stage.folder / "nvim").mkdir()
    options = Options(
        folder=stage.folder / "nvim",
        size=SIZE,
        cwd=stage.project,
        init=stage.init,
        files=("greeting.txt",),
        binary=find_neovim(),
    )
    screen = Screen(options)
    try:
        print_screen("the chat is ready", screen.wait(is_ready, timeout))
        screen.keys(PROMPT, "<C-s>")
        asked = screen.wait(shows_question, timeout)
        print_screen(f"“{PROMPT}” was sent: the demo agent asks", asked)
        press(screen, key, timeout)
        print_screen("after the answer", screen.wait(has_ended, timeout))
        found = (stage.project / "greeting.txt").read_text(encoding="utf-8")
        if found != WANTED:
            return fail(f"greeting.txt was not changed as agreed; it holds {found!r}")
    except AssertionError as error:
        return fail(str(error))
    finally:
        screen.tolerant = True
        screen.close()
    sys.stdout.write("demo: the question was seen, the answer was given, and greeting.txt has changed.\n")
    return 0


def press(screen: Screen, key: str, timeout: float, shows: Callable[[str], bool] | None = None) -> None:
    """Answer the next question with a key, as a person who has read it: what is typed before is no answer."""
    shows = shows or shows_question
    screen.wait(shows, timeout)
    before, since = screen.lua(ANSWERS), time.monotonic()

    def pressed() -> bool:
        nonlocal since
        if screen.lua(ANSWERS) > before:
            return True
        if not has_focus(screen.text()):
            since = time.monotonic()
        elif time.monotonic() - since > READING:
            screen.keys(key)
            since = time.monotonic()
        return False

    eventually(
        pressed, timeout, lambda: f"the question does not take {key!r}\n{screen.text()}", interval=0.05
    )


def is_ready(text: str) -> bool:
    return "ready" in text and "no language model" in " ".join(text.split())


def shows_question(text: str) -> bool:
    return "Allow once" in text and "Reject" in text and "greeting.txt" in text


def has_focus(text: str) -> bool:
    """The question takes the keys; beside a diff its last line is a shorter one."""
    return "q keeps it open" in text or "q keeps open" in text


def has_ended(text: str) -> bool:
    """The end line of a turn is there, in the chat's window, and no question is left."""
    rows = [row.split("│")[-1].lstrip() for row in text.split("\n")]
    return "Allow once" not in text and any(row.startswith("── ") for row in rows)


def print_screen(title: str, text: str) -> None:
    width = SIZE[0]
    rows = "\n".join(f"|{row.ljust(width)}|" for row in text.split("\n"))
    edge = "+" + "-" * width + "+"
    sys.stdout.write(f"\n{title}:\n{edge}\n{rows}\n{edge}\n")
    sys.stdout.flush()


def fail(reason: str) -> int:
    sys.stderr.write(f"demo failed: {reason}\n")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headless", action="store_true", help="play a scripted user and print the screens")
    parser.add_argument("--key", default="1", help="what the scripted user answers the question with")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds to wait for each screen")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/demo", help="scratch folder, made anew")
    parser.add_argument(
        "--protocol", choices=("1", "2", "auto"), default="1", help="the version of ACP that is spoken"
    )
    options = parser.parse_args()
    headless = options.headless or not (sys.stdin.isatty() and sys.stdout.isatty())
    try:
        protocol = options.protocol if options.protocol == "auto" else f"acp-v{options.protocol}"
        stage = build(options.folder.absolute(), 0.0 if headless else SPEED, protocol=protocol)
        return play(stage, options.key, options.timeout) if headless else show(stage)
    except StageError as error:
        return fail(str(error))


if __name__ == "__main__":
    sys.exit(main())
