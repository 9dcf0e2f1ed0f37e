"""Files of a live host may not grow any more (RLIMIT_FSIZE): it writes for an agent, the user, itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.case import Case
from tests.faults.full import limited_process
from tests.plugin import StartScreen, eventually

TOO_LARGE = "File too large"
REFUSED = f"the trace was not written: {TOO_LARGE}"
SIZES = (4096, 200)
"""Bytes: short texts of the agent fit, or hardly anything does, nor do files of our own."""


def limited(start_screen: StartScreen, folder: Path, seed: int, size: int) -> None:
    case = Case(start_screen, folder, seed, 1, acts=["write", "write", "write", "speak"], least=40, most=60)
    screen, chat, host = case.screen, case.chat, case.pids("host")[0]
    traces = folder / "traces"
    traces.mkdir()
    chat.until_state("idle")
    chat.type("a draft")
    with limited_process(host, size):
        case.send(f"first-{seed}-")
        eventually(lambda: case.asked() >= 3 or case.waits(), message=chat.show)
        window = screen.api.get_current_win()
        screen.command("AcpTrace")
        eventually(lambda: any("session/prompt" in line for line in screen.lines()), message=chat.show)
        # As long as the agent has not written much a trace may fit.
        large = size < 1000 or any(" kB" in line for line in screen.lines())
        for _ in range(2 * large):  # the user tries again: each time it is said
            screen.command(f"silent w {traces}/a.jsonl")
            eventually(lambda: REFUSED in screen.messages().replace("\n", ""), message=chat.show)
            assert screen.messages().replace("\n", "").count(REFUSED) == 1, screen.messages()
            assert not list(traces.iterdir())
            screen.clear_messages()
        screen.api.set_current_win(window)
        finish(case)
        # How the agent ends its turn is its own affair.
        assert [line for line in chat.troubles if "model is gone" not in line] == [], chat.text
        ours = [line for line in screen.messages().splitlines() if line.strip()]
        assert len(ours) == len(set(ours)) <= 2, "what cannot be kept of ours is said once"
        screen.clear_messages()
    refused = [row["in"]["error"]["message"] for row in case.rows() if "error" in row.get("in", {})]
    assert any(TOO_LARGE in each for each in refused), refused
    assert not case.rows.due()
    screen.command("AcpTrace")
    screen.command(f"silent w {traces}/a.jsonl")
    eventually(lambda: list(traces.iterdir()) == [traces / "a.jsonl"], message=chat.show)
    screen.api.set_current_win(window)
    case.send(f"second-{seed}-")
    eventually(lambda: len(case.rows.prompts()) == 2, message=chat.show)
    finish(case)
    assert chat.prompt == "a draft"
    case.check()


def finish(case: Case) -> None:
    """Answer until the turn is over."""

    def over() -> bool:
        if case.chat.status["state"] == "waiting":
            case.screen.command("silent! AcpPermit 2")
        return bool(case.chat.status["state"] == "idle" and not case.rows.due())

    eventually(over, 30, message=case.chat.show)


@pytest.mark.parametrize("size", SIZES)
def test_a_host_whose_files_may_not_grow(start_screen: StartScreen, tmp_path: Path, size: int) -> None:
    limited(start_screen, tmp_path, 1, size)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(2, 12))
def test_at_many_points(start_screen: StartScreen, tmp_path: Path, seed: int, size: int) -> None:
    limited(start_screen, tmp_path, seed, size)
