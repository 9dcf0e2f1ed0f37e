"""An agent writes a file that exists and does not say so: the row and the card do (C19)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, update
from tests.nvim.diff_kit import NEW, OLD, PATH, Desk, desk, edit, question
from tests.plugin import StartScreen, eventually

MakeDesk = Callable[..., Desk]


@pytest.fixture
def make(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    def start(actions: Any, **options: Any) -> Desk:
        options = {"settings": {"permission": {"open": "never"}}, **options}
        made = desk(start_screen, agent, actions, short_tmp, **options)
        for path in made.cwd.rglob("*.*"):
            os.utime(path, (time.time() - 60,) * 2)
        return made

    return start


@pytest.mark.req("C19")
@pytest.mark.parametrize("old", [None, ""])
def test_the_card_and_the_row_tell_what_is_replaced(make: MakeDesk, old: str | None) -> None:
    made = make(question(edit(old, NEW)))
    made.screen.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/date.py'), 0, 1, false, { '# mine' })")
    made.go()
    card = made.screen.wait("claude wants to overwrite a file")
    text = made.chat.wait("has unsaved edits")
    for shown in (card, text):
        for part in ("+3 -1", "has unsaved edits", "- # mine", '+ """Dates'):
            assert part in shown
    assert f"? edit   {PATH}  +3 -1  waiting for you" in text
    assert "create" not in card + text
    asked = made.screen.lua("return require('acp.question').list()")
    assert [each["title"] for each in asked] == ["claude wants to overwrite a file"]
    # The change as windows says the same.
    made.screen.command("AcpDiff")
    eventually(lambda: made.tabs() == 2)
    assert made.bar(made.windows()[1][1]) == f"proposed {PATH} overwrite +3 -1 (1)"
    made.screen.command("AcpPermit reject_once")
    made.wait_answer("no")


def test_a_new_file_is_created(make: MakeDesk) -> None:
    made = make(question(edit(None, "x\n", "new.py")))
    made.go()
    made.screen.wait("claude wants to create a file")
    made.chat.wait("? edit   new.py  +1  waiting for you")
    made.screen.command("AcpPermit reject_once")


def test_what_cannot_be_shown_is_said(make: MakeDesk) -> None:
    made = make(question(edit(None, "x\n", "a.bin")), files={"a.bin": b"\xff\xfe\x00\x01"})
    made.go()
    made.screen.wait("claude wants to overwrite a file")
    text = made.chat.wait("the file is there already; its text cannot be shown")
    assert "? edit   a.bin  +1  overwrites  waiting for you" in text
    made.screen.command("AcpPermit reject_once")


def test_an_agent_that_asks_nobody(make: MakeDesk) -> None:
    """It says what it does before it does it, and again when it is done: the row has both texts."""
    call = edit(None, NEW)
    done = {**call, "status": "completed"}
    made = make(
        [
            update("tool_call", **call, status="in_progress"),
            {"wait": "session/cancel"},
            {"write": f"$cwd/{PATH}", "text": NEW},
            update("tool_call_update", **done),
            END,
        ]
    )
    made.go()
    made.chat.wait(f"edit   {PATH}  +2")
    made.chat.cancel()
    made.chat.wait(f"✓ edit   {PATH}  +2")
    made.screen.command(f"AcpDiff {PATH}")
    eventually(lambda: made.tabs() == 2)
    (_, left), (_, right) = made.windows()
    assert made.bar(left) == f"before {PATH}"
    assert made.bar(right).startswith(f"now {PATH} edit +2")
    assert (made.lines_of(left), made.lines_of(right)) == (OLD.splitlines(), NEW.splitlines())
