"""kill -9 of the agent, the host, and Neovim at random points of a turn, with a real Neovim and host."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.faults.case import Case
from tests.nvim.draft_kit import texts
from tests.plugin import StartScreen, eventually, kill, none_left

VICTIMS = ("agent", "host", "Neovim")


def killed(start_screen: StartScreen, folder: Path, seed: int, version: int, victim: str) -> None:
    case = Case(start_screen, folder, seed, version, env={"XDG_STATE_HOME": str(folder / "state")})
    case.chat.until_state("idle")
    case.send("first prompt")
    eventually(case.rows.prompts, message=case.chat.show)
    case.send("second prompt")
    case.chat.type("a draft")
    case.until_busy()
    if victim == "Neovim":
        eventually(lambda: any("a draft" in text for text in texts(folder)))
    for pid in case.pids(victim):
        kill(pid, signal.SIGKILL)
    if victim == "Neovim":
        case.screen.wait_exit()
        none_left(case.screen.marker)
    else:
        case.told()
        case.recovers()
        assert "a draft" in case.chat.prompt
        assert "second prompt" in "\n".join([case.chat.prompt, *case.rows.prompts()])
    case.check(lives=victim != "Neovim")
    if victim == "Neovim":
        received = case.rows.prompts()  # before another agent writes in the log
        again = case.again()
        assert "a draft" in again.prompt
        assert "second prompt" in "\n".join([again.prompt, *received])


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("version", [1, 2])
def test_killed(start_screen: StartScreen, tmp_path: Path, victim: str, version: int) -> None:
    killed(start_screen, tmp_path, 1, version, victim)


@pytest.mark.long
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("seed", range(2, 22))
def test_killed_at_many_points(start_screen: StartScreen, tmp_path: Path, victim: str, seed: int) -> None:
    killed(start_screen, tmp_path, seed, 1 + seed % 2, victim)
