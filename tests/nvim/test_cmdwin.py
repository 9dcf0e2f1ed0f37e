"""The command-line window (`q:`), from which the focus can go nowhere (E11): commands say so."""

from __future__ import annotations

import pytest
from tests.nvim.questions import Desk, desk
from tests.plugin import StartScreen, eventually

REMEDY = "acp: close the command-line window first (<C-c>)"


@pytest.fixture
def inside(start_screen: StartScreen) -> Desk:
    """A chat with an open question, options and a trail; the user is in the command-line window."""
    made = desk(start_screen)
    made.screen.lua("""
    local chat = require('acp.chat').current()
    require('acp.status').update(chat.n, { state = 'idle' }, 0)
    require('acp.options').update(chat.n, {
      { id = 'mode', name = 'Mode', type = 'select', value = 'a', label = 'a', category = 'mode',
        choices = { { value = 'a', name = 'a' }, { value = 'b', name = 'b' } } },
    })
    require('acp.chat.history').add(chat.cwd, 'older')
    require('acp.chat.prompt').queue(chat.n, { { id = 1, text = 'waits' } }, 0)
    require('acp.follow.trail').add(chat.n, { path = '/nowhere', line = 1, verb = 'reads' })
    vim.api.nvim_input('<Esc>:wincmd t<CR>q:')
    """)
    eventually(lambda: made.screen.funcs.getcmdwintype() == ":")
    made.ask()
    made.screen.wait("npm install left-pad")
    return made


@pytest.mark.parametrize(
    "command",
    [
        "AcpChat",
        "AcpDiff",
        "AcpDiff a.txt",
        "AcpFollow list",
        "AcpHistory",
        "AcpInstall",
        "AcpInstall claude",
        "AcpOptions",
        "AcpOptions mode",
        "AcpPermit",
        "AcpQueue",
        "AcpQueue drop",
        "AcpQueue edit 1",
        "AcpSessions",
        "AcpTrace",
        "AcpSend",
    ],
)
def test_a_command_that_needs_a_window_says_what_to_do(inside: Desk, command: str) -> None:
    inside.screen.clear_messages()
    inside.screen.api.input(f":{command}<CR>")
    inside.screen.wait(REMEDY)
    assert inside.screen.messages() == REMEDY
    assert inside.screen.funcs.getcmdwintype() == ":"
    assert inside.count() == 1


def test_an_answer_needs_no_window(inside: Desk) -> None:
    inside.screen.api.input(":AcpPermit allow_once<CR>")
    eventually(lambda: inside.count() == 0)
    assert inside.screen.funcs.getcmdwintype() == ":"
