"""However a diff ends, nothing of it is left; and what the user does in it is what it would be anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, ask
from tests.nvim.diff_kit import NEW, OLD, OPEN, OPTIONS, PATH, Desk, desk, edit, question
from tests.plugin import StartScreen, eventually, kill

MakeDesk = Callable[..., Desk]

# A user whose windows would show it if anything was left over: at the end of the file, scrolled, with folds.
LIVED_IN = """
vim.o.number = true
vim.o.cursorline = true
vim.o.foldcolumn = '1'
"""


@pytest.fixture
def make(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    def start(actions: Sequence[Any] | None = None, **options: Any) -> Desk:
        given = question(edit()) if actions is None else actions
        return desk(start_screen, agent, given, short_tmp, **{"init": LIVED_IN, **options})

    return start


def used(made: Desk) -> dict[str, Any]:
    """Let the user have been somewhere in the file, then look at the screen."""
    code = made.windows()[0][1]
    made.screen.lua(
        "vim.api.nvim_win_call(..., function()"
        " if vim.wo.foldmethod == 'manual' then vim.cmd('14,16fold') end"
        " vim.cmd('normal! G$') vim.fn.winrestview({ topline = 5 }) end)",
        code,
    )
    return made.snapshot()


def restored(made: Desk, before: dict[str, Any], *, views: bool = True) -> None:
    """All as before, but for the transcript: it has got on.

    ``views`` False: a tab page of the user was there for a while, and its tab line scrolls windows.
    """
    made.wait_closed()
    eventually(lambda: made.screen.api.get_mode()["mode"] == before["mode"])
    after, before = made.snapshot(), deepcopy(before)
    for one in (before, after):
        for window in one["wins"].values():
            if window["buf"] == "acp://claude/1" or not views:
                del window["view"]
    assert after == before


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
def test_answered(make: MakeDesk, how: Callable[[Desk], None], mode: str) -> None:
    made = make()
    if mode == "i":
        made.screen.keys("i")
        eventually(lambda: made.screen.api.get_mode()["mode"] == "i")
    before = used(made)
    made.go()
    made.wait_diff()
    how(made)
    made.wait_answer("ok")
    restored(made, before)


def test_withdrawn_by_the_agent(make: MakeDesk) -> None:
    cancel = {"send": {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}}
    made = make([ask(1, edit(), OPTIONS), {"wait": "session/new", "count": 2}, cancel, END])
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


def test_the_turn_is_cancelled(make: MakeDesk) -> None:
    made = make()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.lua("require('acp').cancel()")
    made.wait_answer(None)
    restored(made, before)


def test_the_agent_is_lost(make: MakeDesk) -> None:
    made = make()
    before = used(made)
    made.go()
    made.wait_diff()
    kill(made.agent.events("start")[0]["pid"])
    restored(made, before)
    made.chat.wait("connection lost")
    made.screen.clear_messages()


def test_the_host_is_lost(make: MakeDesk) -> None:
    made = make()
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


def test_the_chat_is_wiped(make: MakeDesk) -> None:
    made = make()
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
def test_closed_by_the_user_the_question_stays(make: MakeDesk, keys: Sequence[str]) -> None:
    """C31, and the screen says it: in its row, in the winbar, in the prompt."""
    made = make()
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


def test_the_users_buffer_is_theirs(make: MakeDesk) -> None:
    """:bd in the left half deletes it, as it would anywhere."""
    made = make()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", ":bd<CR>")
    made.wait_closed()
    assert made.screen.funcs.buflisted(str(made.cwd / PATH)) == 0
    assert made.pending() == 1


def test_taking_a_change_over(make: MakeDesk) -> None:
    """`do`, `dp` and `]c` are Neovim's; the proposal cannot be changed."""
    made = make()
    made.go()
    made.wait_diff()
    (_, left), (_, right) = made.windows()
    made.screen.keys("<C-w>w", "gg", "]c")
    eventually(lambda: made.screen.api.win_get_cursor(left)[0] == 7)
    made.screen.keys("do")
    eventually(lambda: made.lines_of(left) == NEW.splitlines())
    assert made.bar(left) == f"now {PATH} unsaved edits"
    made.screen.keys("u")
    eventually(lambda: made.lines_of(left) == OLD.splitlines())
    made.screen.keys("dp")
    eventually(lambda: "E21" in made.screen.messages() or "E793" in made.screen.messages())
    made.screen.clear_messages()
    assert made.lines_of(right) == NEW.splitlines()
    made.screen.keys("<C-w>w", "]c", "dp")
    eventually(lambda: made.lines_of(left) == NEW.splitlines())
    made.screen.keys(":diffoff<CR>", "\\r")
    made.wait_answer("no")
    made.wait_closed()


def test_reading_it_again(make: MakeDesk) -> None:
    """:edit in the proposal changes nothing."""
    made = make()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "<C-w>w", ":edit<CR>")
    (_, left), (_, right) = made.windows()
    eventually(lambda: made.screen.api.get_current_win().handle == right)
    made.screen.command("redraw")
    assert made.lines_of(right) == NEW.splitlines()
    assert made.lines_of(left) == OLD.splitlines()
    assert not made.screen.lua("return vim.bo.modifiable")
    assert [row for row, group in enumerate(made.diffs(right), 1) if group] == [7, 8]


def test_only_its_tab_page_is_left(make: MakeDesk) -> None:
    """The user has closed all else; when the question is answered an empty buffer takes its place."""
    made = make()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", ":tabonly<CR>")
    eventually(lambda: made.tabs() == 1)
    made.screen.lua("require('acp').permit(1)")
    made.wait_answer("ok")
    made.wait_closed()
    assert [name for name, _ in made.windows()] == [""]


def test_the_card_is_entered_by_hand(make: MakeDesk) -> None:
    """Left open in its tab page, the diff comes back with the card that was gone to in the chat."""
    made = make()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "gt")
    made.screen.wait("@@ -6,2 +6,4 @@")
    made.screen.wait("│ 1  Yes")
    card = made.screen.lua("return require('acp.question.card').get().win")
    made.screen.api.set_current_win(card)
    made.wait_diff()
    assert made.tabs() == 2, "not a second one"
    made.screen.keys("3")
    made.wait_answer("no")
    restored(made, before)


def test_windows_split_from_it_keep_nothing(make: MakeDesk) -> None:
    made = make()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "<C-w>s", "<C-w>v")
    eventually(lambda: len(made.windows()) == 4)
    made.screen.lua("require('acp').permit(1)")
    made.wait_answer("ok")
    eventually(lambda: not any("/diff/" in name for name, _ in made.windows()))
    tabs = made.screen.api.list_tabpages()
    assert len(tabs) == 2, "the user's own splits stay"
    for win in made.screen.api.tabpage_list_wins(tabs[1]):
        left = made.screen.lua(
            "local w = vim.wo[...]"
            " return { w.diff, w.scrollbind, w.cursorbind, w.winbar, w.foldmethod, w.winfixbuf }",
            win,
        )
        assert left == [False, False, False, "", "manual", False]
    made.screen.command("tabonly")
    restored(made, before, views=False)


def test_another_window_of_the_file_gets_nothing(make: MakeDesk) -> None:
    """Neovim remembers options and cursor of a closed window for its buffer, and gives them to the next."""
    made = make()
    used(made)
    look = (
        "vim.cmd('tabnew') vim.cmd('buffer date.py')"
        " local w = vim.wo"
        " local found = { w.diff, w.scrollbind, w.cursorbind, w.winbar, w.foldmethod, w.winfixbuf, w.wrap,"
        " w.number, w.relativenumber, w.foldcolumn, w.foldlevel, vim.fn.line('.'), vim.fn.line('\\'\"') }"
        " vim.cmd('tabclose') return found"
    )
    code = made.windows()[0][1]
    made.screen.api.set_current_win(code)
    made.screen.command("hide enew")
    made.screen.command("AcpChat")
    made.screen.lua("vim.o.hidden = true")
    wanted = made.screen.lua(look)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "gg", "<C-w>w", "\\r")
    made.wait_answer("no")
    made.wait_closed()
    assert made.screen.lua(look) == wanted


ODD = """
vim.o.splitright = true
vim.o.splitbelow = true
vim.o.equalalways = false
vim.o.autochdir = true
vim.o.hidden = false
vim.o.switchbuf = 'useopen,usetab,newtab'
vim.o.winbar = 'mine'
vim.o.showtabline = 2
vim.o.laststatus = 3
vim.o.cmdheight = 2
vim.o.diffopt = 'internal,filler,horizontal,followwrap,context:2'
vim.o.wrap = false
vim.o.scrolloff = 5
vim.o.autowriteall = true
vim.o.foldmethod = 'indent'
"""


@pytest.mark.parametrize("fixed", [False, True])
def test_odd_settings_change_nothing(make: MakeDesk, short_tmp: Path, fixed: bool) -> None:
    call = edit()
    call["content"][0]["path"] = str(short_tmp / "ws" / PATH)  # 'autochdir': the chat begins in src
    made = make(question(call), init=ODD)
    code = made.windows()[0][1]
    made.screen.api.set_option_value("winfixbuf", fixed, {"win": code, "scope": "local"})
    before = used(made)
    made.go()
    made.wait_diff()
    (left, left_win), (right, right_win) = made.windows()
    assert (left, right) == (str(made.cwd / PATH), "acp://claude/1/diff/1/date.py")
    assert made.screen.funcs.winlayout()[0] == "row"
    assert made.bar(right_win) == "proposed date.py edit +2 (1)"
    assert made.screen.api.win_get_width(left_win) >= 50 <= made.screen.api.win_get_width(right_win)
    made.screen.keys("1")
    made.wait_answer("ok")
    restored(made, before)


def test_the_user_went_elsewhere(make: MakeDesk) -> None:
    """A diff that ends while the user is in another tab page moves nothing."""
    made = make()
    made.go()
    made.wait_diff()
    made.screen.keys(":tabnew<CR>")
    eventually(lambda: made.tabs() == 3)
    made.screen.keys("ihello")
    win = made.screen.api.get_current_win()
    made.screen.lua("require('acp').cancel()")
    made.wait_answer(None)
    eventually(lambda: made.tabs() == 2)
    assert made.screen.api.get_current_win() == win
    assert made.screen.api.get_mode()["mode"] == "i"
    made.screen.keys(" there<Esc>")
    eventually(lambda: made.screen.lines() == ["hello there"])


def test_nothing_opens_while_the_user_works_elsewhere(make: MakeDesk) -> None:
    made = make()
    code = made.windows()[0][1]
    made.screen.api.set_current_win(code)
    made.screen.keys("i")
    before = made.snapshot()
    made.go()
    made.screen.wait(":AcpPermit answers")
    made.screen.lua("vim.wait(...)", 900)
    after = made.snapshot()
    assert (after["tabs"], after["win"], after["mode"]) == (1, before["win"], "i")
    assert OPEN not in made.screen.text()


def test_one_after_the_other(make: MakeDesk) -> None:
    """Two questions: the diff of the second opens when the first is answered."""
    second = edit("    return MONTHS[month - 1]\n", "    return 30\n", call="t2")
    made = make([ask(1, edit(), OPTIONS), ask(2, second, OPTIONS), {"await": 1}, {"await": 2}, END])
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys("1")
    made.wait_answer("ok")
    made.screen.wait("return 30")
    made.wait_diff()
    made.screen.keys("3")
    assert made.agent.response(2)["result"]["outcome"] == {"outcome": "selected", "optionId": "no"}
    restored(made, before)
