"""A diff takes the focus only where it may, whatever the settings, and gives it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.cases.kit import END, ask
from tests.nvim.diff_kit import (
    OLD,
    OPEN,
    OPTIONS,
    PATH,
    Desk,
    MakeDesk,
    edit,
    question,
    restored,
    used,
)
from tests.plugin import eventually

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
def test_odd_settings_change_nothing(make_desk: MakeDesk, short_tmp: Path, fixed: bool) -> None:
    call = edit()
    call["content"][0]["path"] = str(short_tmp / "ws" / PATH)  # 'autochdir': the chat begins in src
    made = make_desk(question(call), init=ODD)
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


def test_the_user_went_elsewhere(make_desk: MakeDesk) -> None:
    """A diff that ends while the user is in another tab page moves nothing."""
    made = make_desk()
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


def test_nothing_opens_while_the_user_works_elsewhere(make_desk: MakeDesk) -> None:
    made = make_desk()
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


def test_one_after_the_other(make_desk: MakeDesk) -> None:
    """Two questions: the diff of the second opens when the first is answered."""
    second = edit("    return MONTHS[month - 1]\n", "    return 30\n", call="t2")
    made = make_desk([ask(1, edit(), OPTIONS), ask(2, second, OPTIONS), {"await": 1}, {"await": 2}, END])
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


def rest(made: Desk) -> None:
    """The time a fault gets to show itself: longer than the keyboard must rest before a question enters."""
    made.screen.lua("vim.wait(...)", 700)


FLOAT = (
    ":lua local b = vim.api.nvim_create_buf(false, true) vim.api.nvim_open_win(b, true,"
    " { relative = 'editor', row = 2, col = 2, width = 30, height = 3 }) vim.cmd.startinsert()<CR>"
)
# What the user does in the file, its mode, how they go on, and what it comes to in the first lines.
DOING = [
    ("insert", "Ofirst", "i", " line<Esc>", ["first line", OLD.splitlines()[0]]),
    ("replace", "RXX", "R", "YY<Esc>", ["XXYY" + OLD.splitlines()[0][4:]]),
    ("command line", ":s/Dates/Da", "c", "ys/<CR>", [OLD.splitlines()[0].replace("Dates", "Days")]),
    ("search", "/def", "c", " days<CR>x", [OLD.splitlines()[0]]),
    ("operator", "d", "no", "d", ["", OLD.splitlines()[2]]),
    ("visual", "wv", "v", "ed", ['"""' + OLD.splitlines()[0][8:]]),
    ("lines", "V", "V", "jd", [OLD.splitlines()[2]]),
]


@pytest.mark.parametrize(("keys", "mode", "more", "lines"), [d[1:] for d in DOING], ids=[d[0] for d in DOING])
@pytest.mark.parametrize("open_", ["chat", "always"])
def test_no_key_is_eaten(
    make_desk: MakeDesk, open_: str, keys: str, mode: str, more: str, lines: list[str]
) -> None:
    """A question with a diff comes while the user is in the middle of something: it goes on as it began."""
    made = make_desk(settings={"permission": {"open": open_}})
    code = made.windows()[0][1]
    made.screen.api.set_current_win(code)
    made.screen.keys("gg0", keys)
    eventually(lambda: made.screen.api.get_mode()["mode"] == mode)
    made.go()
    made.chat.wait_pending(1)
    rest(made)
    assert made.screen.api.get_mode()["mode"] == mode
    made.screen.keys(more)
    eventually(
        lambda: made.lines_of(code)[: len(lines)] == lines,
        message=lambda: f"{made.lines_of(code)[:3]}\n{made.screen.text()}",
    )
    if open_ == "chat":
        assert (made.tabs(), made.screen.api.get_current_win().handle) == (1, code)
    assert made.answers() == []


def test_no_key_of_a_terminal_is_eaten(make_desk: MakeDesk) -> None:
    made = make_desk()
    made.screen.api.set_current_win(made.windows()[0][1])
    made.screen.command("hide terminal cat")
    made.screen.keys("ihel")
    eventually(lambda: made.screen.api.get_mode()["mode"] == "t")
    made.go()
    made.chat.wait_pending(1)
    rest(made)
    made.screen.keys("lo<CR>")
    eventually(lambda: made.screen.lines()[:2] == ["hello", "hello"], message=made.screen.text)
    assert (made.tabs(), made.screen.api.get_mode()["mode"]) == (1, "t")


def test_no_key_of_a_picker_is_eaten(make_desk: MakeDesk) -> None:
    """A float with text in it, as pickers are, above the chat."""
    made = make_desk(settings={"permission": {"open": "always"}})
    made.screen.keys(FLOAT)
    eventually(lambda: made.screen.api.get_mode()["mode"] == "i")
    made.screen.keys("fin")
    made.go()
    made.chat.wait_pending(1)
    rest(made)
    made.screen.keys("d me")
    eventually(lambda: made.screen.lines() == ["find me"], message=made.screen.text)
    assert made.tabs() == 1
