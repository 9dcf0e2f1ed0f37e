"""Forms, pages and logins of an agent that breaks, in a real Neovim: no chooser is left on the screen."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.faults.case import Case
from tests.faults.test_nvim import with_luck
from tests.plugin import StartScreen, eventually

ACTS = ["form", "form", "page", "page", "permit", "speak"]
FLOATS = """
return vim.tbl_filter(function(win) return vim.api.nvim_win_get_config(win).relative ~= '' end,
  vim.api.nvim_list_wins())
"""


def asking(start_screen: StartScreen, folder: Path, seed: int, version: int) -> None:
    rate, login = (0.03, 0.1, 0.3)[seed % 3], (0.0, 0.4)[seed % 2]
    acts = [*ACTS, "exit"] if seed % 4 == 0 else ACTS
    case = Case(start_screen, folder, seed, version, rate, acts=acts, login=login, least=3, most=8)
    screen, chat = case.screen, case.chat
    for number in range(case.rng.randint(4, 10)):
        match case.rng.choice(("send", "send", "answer", "answer", "answer", "cancel", "keys", "look")):
            case "send":
                case.send(f"prompt-{number}-{seed}-")
            case "answer":
                case.answer()
            case "cancel":
                screen.command("silent! AcpCancel")
            case "keys" if screen.lua("return require('acp.question').count()"):
                screen.keys(case.rng.choice(["1", "2", "<Esc>", "<CR>", "abc<CR>"]))
                if screen.blocked():  # the question went just before: the digit is a count
                    screen.keys("<Esc>")
        with_luck(partial(case.asks_more, case.asked()))
    screen.keys("<Esc><Esc>")
    if chat.status["state"] == "failed":
        eventually(lambda: chat.has(":AcpRestart") or chat.has(":AcpLogin"), message=chat.show)
    case.recovers()
    eventually(lambda: screen.lua("return require('acp.question').count()") == 0, message=chat.show)
    eventually(lambda: not screen.lua(FLOATS), message=chat.show)
    case.check()


@pytest.mark.parametrize("seed", [1, 2])
def test_no_chooser_is_left(start_screen: StartScreen, tmp_path: Path, seed: int) -> None:
    asking(start_screen, tmp_path, seed, 1 + seed % 2)


@pytest.mark.long
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(3, 33))
def test_no_chooser_is_left_often(start_screen: StartScreen, tmp_path: Path, seed: int, version: int) -> None:
    asking(start_screen, tmp_path, seed, version)
