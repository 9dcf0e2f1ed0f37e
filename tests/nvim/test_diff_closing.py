"""However a diff ends, nothing of it is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.nvim.cases.kit import END, ask
from tests.nvim.diff_kit import OPTIONS, PATH, Desk, MakeDesk, edit, restored, used
from tests.plugin import eventually, kill


def answer_in_the_chooser(made: Desk) -> None:
    made.screen.keys("1")


def answer_by_a_key_in_the_diff(made: Desk) -> None:
    made.screen.keys("<C-w>w", "<C-w>w")
    eventually(lambda: "/diff/" in made.screen.api.buf_get_name(0))
    made.screen.keys("\\a")


def answer_by_command(made: Desk) -> None:
    made.screen.keys("<C-w>w")
    made.screen.command("AcpPermit allow_once")


def answer_by_function(made: Desk) -> None:
    made.screen.lua("require('acp').permit(1)")


@pytest.mark.parametrize(
    "how", [answer_in_the_chooser, answer_by_a_key_in_the_diff, answer_by_command, answer_by_function]
)
@pytest.mark.parametrize("mode", ["n", "i"])
def test_answered(make_desk: MakeDesk, how: Callable[[Desk], None], mode: str) -> None:
    made = make_desk()
    if mode == "i":
        made.screen.keys("i")
        eventually(lambda: made.screen.api.get_mode()["mode"] == "i")
    before = used(made)
    made.go()
    made.wait_diff()
    how(made)
    made.wait_answer("ok")
    restored(made, before)


def test_withdrawn_by_the_agent(make_desk: MakeDesk) -> None:
    cancel = {"send": {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}}
    made = make_desk([ask(1, edit(), OPTIONS), {"wait": "session/new", "count": 2}, cancel, END])
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.lua(  # a second session, without windows, is the sign for the agent
        "local config = require('acp.chat.start').config_of('claude')"
        " local chat = require('acp.chat').create('claude', vim.fn.getcwd(), config, false)"
        " _G.second = chat"
    )
    made.wait_closed()
    made.screen.lua("require('acp.chat').finish(_G.second)")
    restored(made, before)
    assert made.pending() == 0


def test_the_turn_is_cancelled(make_desk: MakeDesk) -> None:
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.lua("require('acp').cancel()")
    made.wait_answer(None)
    restored(made, before)


def test_the_agent_is_lost(make_desk: MakeDesk) -> None:
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    kill(made.agent.events("start")[0]["pid"])
    restored(made, before)
    made.chat.wait("connection lost")
    made.screen.clear_messages()


def test_the_host_is_lost(make_desk: MakeDesk) -> None:
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    kill(made.screen.host_ready())
    made.wait_closed()
    after = made.snapshot()
    files = [window for window in after["wins"].values() if window["buf"].endswith(PATH)]
    assert files == [window for window in before["wins"].values() if window["buf"].endswith(PATH)]
    assert (after["win"], after["tab"], after["tabs"]) == (before["win"], before["tab"], before["tabs"])
    made.screen.clear_messages()


def test_the_chat_is_wiped(make_desk: MakeDesk) -> None:
    made = make_desk()
    made.go()
    made.wait_diff()
    made.screen.command("bwipeout! acp://claude/1")
    made.wait_closed()


WAYS = {
    "q in the chooser": ("q",),
    "escape in the chooser": ("<Esc>",),
    ":q in the chooser": (":q<CR>",),
    "q in the proposal": ("<C-w>w", "<C-w>w", "q"),
    ":q in the proposal": ("<C-w>w", "<C-w>w", ":q<CR>"),
    ":q in the user's half": ("<C-w>w", ":q<CR>"),
    "<C-w>o in the proposal": ("<C-w>w", "<C-w>w", "<C-w>o"),
    "<C-w>o in the user's half": ("<C-w>w", "<C-w>o"),
    "<C-w>c in the user's half": ("<C-w>w", "<C-w>c"),
    ":tabclose": (":tabclose<CR>",),
    ":tabclose in the proposal": ("<C-w>w", "<C-w>w", ":tabclose<CR>"),
    ":tabonly elsewhere": ("gt", ":tabonly<CR>"),
    ":bd in the proposal": ("<C-w>w", "<C-w>w", ":bd<CR>"),
    ":bw in the proposal": ("<C-w>w", "<C-w>w", ":bwipeout<CR>"),
    ":AcpPermit hide": (":AcpPermit hide<CR>",),
}


@pytest.mark.parametrize("keys", WAYS.values(), ids=WAYS.keys())
def test_closed_by_the_user_the_question_stays(make_desk: MakeDesk, keys: Sequence[str]) -> None:
    """C31, and the screen says it: in its row, in the winbar, in the prompt."""
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys(*keys)
    restored(made, before)
    assert (made.pending(), made.answers()) == (1, [])
    made.screen.wait("? waiting for you")
    made.screen.wait("Answer above: <CR> on a question, or :AcpPermit")
    made.screen.wait("waiting for you")
    # It comes back when it is asked for, and can be answered.
    made.screen.command("AcpPermit")
    made.wait_diff()
    made.screen.keys("3")
    made.wait_answer("no")
    restored(made, before)
