"""Faults of an agent in a real Neovim with the real host, and a user who acts; the seed names the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.faults.case import Case
from tests.plugin import StartScreen, eventually

STEPS = ("send", "send", "send", "now", "answer", "answer", "answer", "cancel", "look")
RATES = (0.03, 0.1, 0.3)


def life(start_screen: StartScreen, folder: Path, seed: int, version: int) -> None:
    case = Case(start_screen, folder, seed, version, RATES[seed % 3])
    case.chat.type("a draft")
    for number in range(case.rng.randint(4, 12)):
        match case.rng.choice(STEPS):
            case "send":
                case.send(f"prompt-{number}-{seed}-")
            case "now":
                case.send(f"prompt-{number}-{seed}-", now=True)
            case "answer":
                case.answer()
            case "cancel":
                case.screen.command("silent! AcpCancel")
        with_luck(partial(case.asks_more, case.asked()))
    if case.chat.status["state"] == "failed":
        case.chat.until(":AcpRestart")
    case.recovers()
    assert "a draft" in case.chat.prompt
    case.check()


def with_luck(happens: Callable[[], object]) -> None:
    """Give the agent a moment, which may bring nothing."""
    try:
        eventually(happens, 0.1)
    except AssertionError:
        return


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_faults_in_neovim(start_screen: StartScreen, tmp_path: Path, seed: int, version: int) -> None:
    life(start_screen, tmp_path, seed, version)


@pytest.mark.long
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(3, 33))
def test_many_faults_in_neovim(start_screen: StartScreen, tmp_path: Path, seed: int, version: int) -> None:
    life(start_screen, tmp_path, seed, version)
