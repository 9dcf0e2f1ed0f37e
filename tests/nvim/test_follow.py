"""Follow: how a window gets to a place, the switch, the trail, and what is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.follow_kit import (
    EVENTS,
    NO_HOST,
    code_and_chat,
    marks,
    project,
    shows,
    visit,
    winbar,
    window_of,
    windows,
)
from tests.nvim.stub import AGENT, INIT, events, status
from tests.plugin import Screen, StartNvim, StartScreen, eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def screen(start_screen: StartScreen, folder: Path) -> Screen:
    return code_and_chat(start_screen, folder)


def test_the_code_window_goes_where_the_agent_goes(screen: Screen, folder: Path) -> None:
    focus = screen.api.get_current_win()
    visit(screen, folder / "b.py", 120)
    assert windows(screen) == [("b.py", 120)]
    seen = screen.wait("b.py line 120  claude edits")
    row, _ = screen.find("b.py line 120")
    assert 8 < row < 20, "in the middle"
    assert "Visual" in screen.groups_at(row, 5), "AcpFollowLine"
    assert seen.count("claude edits") == 1
    assert screen.api.get_current_win() == focus
    eventually(lambda: not marks(screen, flash=True))
    screen.wait(lambda _: "Visual" not in screen.groups_at(row, 5))
    assert marks(screen), "the mark stays"
    data = screen.lua("return _G.visits")
    assert data == [{"path": str(folder / "b.py"), "line": 120, "agent": "claude", "bufnr": 2}]
    visit(screen, folder / "a.py", 3, "read")
    assert windows(screen) == [("a.py", 3)]
    screen.wait("a.py line 3  claude reads")
    assert screen.messages().strip() == ""


def test_a_line_in_view_moves_the_cursor_not_the_text(screen: Screen, folder: Path) -> None:
    visit(screen, folder / "b.py", 120)
    top = "return vim.fn.getwininfo(...)[1].topline"
    before = screen.lua(top, window_of(screen, "b.py"))
    for line in (121, 118, 125):
        visit(screen, folder / "b.py", line)
        assert screen.lua(top, window_of(screen, "b.py")) == before
        assert windows(screen) == [("b.py", line)]
    visit(screen, folder / "b.py", 20)
    assert screen.lua(top, window_of(screen, "b.py")) < 20


@pytest.mark.parametrize(("said", "shown"), [(9999, 200), (0, 1), (1, 1), (2**40, 200)])
def test_the_line_is_clamped(said: int, shown: int, screen: Screen, folder: Path) -> None:
    visit(screen, folder / "b.py", said)
    assert windows(screen) == [("b.py", shown)]


def test_without_a_line_the_cursor_stays_where_it_is(screen: Screen, folder: Path) -> None:
    visit(screen, folder / "b.py", None, "read")
    assert windows(screen) == [("b.py", 1)]
    visit(screen, folder / "b.py", 50)
    visit(screen, folder / "b.py", None, "read")
    assert windows(screen) == [("b.py", 50)]
    (mark,) = marks(screen)
    assert (mark["line"], mark["text"]) == (50, " claude reads")


@pytest.mark.parametrize("how", ["manual", "indent"])
def test_folds_are_opened_over_the_line_only(how: str, screen: Screen, folder: Path) -> None:
    text = "".join(f"{'  ' * (n % 10 > 1)}{'  ' * (n % 10 > 4)}x{n}\n" for n in range(1, 101))
    (folder / "b.py").write_text(text)
    visit(screen, folder / "b.py", 1)
    win = window_of(screen, "b.py")
    script = {
        "manual": "set foldmethod=manual | 41,60fold | 45,50fold | 71,80fold",
        "indent": "set foldmethod=indent foldlevel=0 shiftwidth=2",
    }[how]
    do = "local win, cmd = ... return vim.api.nvim_win_call(win, function() return vim.cmd(cmd) end)"
    screen.lua(do, win, script + " | %foldclose!")
    visit(screen, folder / "b.py", 47)

    def closed(line: int) -> bool:
        return int(screen.funcs.win_execute(win, f"echo foldclosed({line})").strip()) != -1

    assert not closed(47)
    assert closed(75)
    assert windows(screen) == [("b.py", 47)]


def test_one_jump_back_and_the_alternate_file(screen: Screen, folder: Path) -> None:
    screen.command("AcpFollow off")
    win = window_of(screen, "a.py")
    screen.api.set_current_win(win)
    screen.command("edit c.py | edit a.py | normal! 33G")
    screen.command("wincmd p")
    screen.command("AcpFollow on")
    for name, line in (("b.py", 10), ("b.py", 90), ("c.py", 70), ("b.py", 150)):
        visit(screen, folder / name, line)
    assert windows(screen) == [("b.py", 150)]
    screen.api.set_current_win(win)
    assert screen.funcs.bufname("#") == "c.py"
    screen.keys("<C-o>")
    eventually(lambda: windows(screen) == [("a.py", 33)], message=lambda: str(windows(screen)))


def test_one_jump_back_within_a_file(screen: Screen, folder: Path) -> None:
    win = window_of(screen, "a.py")
    screen.api.win_set_cursor(win, [33, 0])
    for line in (100, 150, 20):
        visit(screen, folder / "a.py", line)
    screen.api.set_current_win(win)
    screen.keys("<C-o>")
    eventually(lambda: windows(screen) == [("a.py", 33)])


def test_the_place_the_user_had_in_a_file_comes_back(screen: Screen, folder: Path) -> None:
    win = window_of(screen, "a.py")
    screen.api.set_current_win(win)
    screen.command("edit c.py | normal! 60G")
    screen.command("buffer a.py")
    screen.command("wincmd p")
    visit(screen, folder / "c.py", 150)
    visit(screen, folder / "b.py", 10)
    screen.api.set_current_win(win)
    screen.command("buffer c.py")
    assert screen.api.win_get_cursor(win)[0] == 60


def test_list_is_the_quickfix_list(screen: Screen, folder: Path) -> None:
    for name, line, verb in (("b.py", 5, "read"), ("c.py", None, "search"), ("b.py", 9, "edit")):
        visit(screen, folder / name, line, verb)
        visit(screen, folder / name, line, verb)
    skip = {"chat": 1, "path": str(folder / "x.png"), "verb": "read", "why": "binary"}
    screen.lua("require('acp.follow').skip(...)", skip)
    assert "not opened: x.png: binary" in winbar(screen)
    screen.command("AcpFollow off")
    screen.command("AcpFollow list")
    assert screen.funcs.getqflist({"title": 0})["title"] == "acp: where claude was"
    items = screen.funcs.getqflist()
    places = [(screen.funcs.bufname(i["bufnr"]) if i["valid"] else "", i["lnum"]) for i in items]
    assert places == [("b.py", 5), ("c.py", 1), ("b.py", 9), ("", 0)]
    assert [item["text"].split("  ")[1] for item in items] == ["read", "search", "edit", "read"]
    assert items[-1]["text"].endswith("x.png  not opened: binary")
    assert screen.api.get_option_value("buftype", {"buf": 0}) == "quickfix"
    screen.keys("k<CR>")
    eventually(lambda: ("b.py", 9) in windows(screen))
    assert screen.messages().strip() == ""


def test_the_trail_is_bounded(screen: Screen, folder: Path) -> None:
    screen.lua("require('acp.follow.trail').MOST = 5")
    for line in range(1, 10):
        visit(screen, folder / "b.py", line)
    screen.command("AcpFollow list")
    assert [item["lnum"] for item in screen.funcs.getqflist()] == [5, 6, 7, 8, 9]


@pytest.mark.req("V1-124")
def test_the_switch(screen: Screen) -> None:
    def on() -> bool:
        return bool(status(screen)["follow"])

    assert on()
    told = [payload["on"] for payload in events(screen, "follow")]
    assert told == [True]
    screen.command("AcpFollow")
    assert not on()
    assert "follow" not in winbar(screen)
    screen.command("AcpFollow toggle")
    assert on()
    screen.command("AcpFollow off")
    screen.command("AcpFollow off")
    assert not on()
    assert screen.lua("return require('acp').follow()") is True
    assert on()
    screen.lua("require('acp').follow(false)")
    assert not on()
    screen.lua("require('acp').follow(true)")
    assert on()
    screen.keys("<Esc>\\f")
    eventually(lambda: not on())
    screen.lua("vim.api.nvim_feedkeys(vim.keycode('<Plug>(acp-follow)'), 'x', false)")
    assert on()
    told = [payload["on"] for payload in events(screen, "follow")]
    assert told == [True, False, True, False, True, False, True, False, True]
    assert screen.funcs.getcompletion("AcpFollow ", "cmdline") == ["on", "off", "toggle", "list"]
    screen.lua("require('acp.chat.show').keys('prompt')")
    screen.wait("follow the agent, or not")
    assert screen.messages().strip() == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("AcpFollow sideways", "takes on, off, toggle or list, not 'sideways'"),
        ("AcpFollow list", "nothing was followed yet"),
    ],
)
def test_what_cannot_be_done_is_said(command: str, said: str, screen: Screen) -> None:
    assert said in screen.command(command)


def test_without_a_chat(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    assert "no chat to follow; :AcpChat opens one" in nvim.command("AcpFollow on")


def test_a_setting_turns_it_on(start_screen: StartScreen, folder: Path) -> None:
    screen = start_screen(init=NO_HOST, cwd=folder, size=(140, 30), files=("a.py",))
    screen.setup({"follow": {"enabled": True}, "agents": {"claude": {"command": ["sh"]}}})
    screen.command("AcpChat claude")
    assert status(screen)["follow"] is True
    assert events(screen, "follow") == [{"chat": 1, "on": True}]
    visit(screen, folder / "b.py", 5)
    assert windows(screen) == [("b.py", 5)]
    screen.setup({"follow": {"enabled": "yes"}})
    assert "follow.enabled must be true or false, not 'yes'" in screen.messages()


TIMERS = """
_G.timers = {}
local new = vim.uv.new_timer
vim.uv.new_timer = function()
  table.insert(_G.timers, new())
  return _G.timers[#_G.timers]
end
"""
LEFT = """
local group = pcall(vim.api.nvim_get_autocmds, { group = 'acp.follow' })
local alive = vim.tbl_filter(function(timer) return not timer:is_closing() end, _G.timers)
return { group, #alive }
"""


def test_off_leaves_nothing(screen: Screen, folder: Path) -> None:
    screen.lua(TIMERS)
    visit(screen, folder / "b.py", 5)
    assert screen.lua(LEFT) == [True, 2]
    assert len(marks(screen) + marks(screen, flash=True)) == 2
    screen.command("AcpFollow off")
    assert screen.lua(LEFT) == [False, 0]
    assert marks(screen) + marks(screen, flash=True) == []
    assert windows(screen) == [("b.py", 5)]
    assert screen.api.get_option_value("buflisted", {"buf": screen.funcs.bufnr("b.py")})
    visit(screen, folder / "c.py", 5)
    assert windows(screen) == [("b.py", 5)]


def test_idle_has_no_timer(screen: Screen, folder: Path) -> None:
    screen.lua(TIMERS)
    visit(screen, folder / "b.py", 5)
    eventually(lambda: screen.lua(LEFT) == [True, 0])


def test_the_end_of_the_chat_is_the_end_of_it(screen: Screen, folder: Path) -> None:
    screen.lua(TIMERS)
    visit(screen, folder / "b.py", 5)
    screen.command("bwipeout! acp://claude/1")
    eventually(lambda: screen.lua(LEFT)[0] is False)
    assert marks(screen) == []


def test_events_name_no_line_that_nobody_knows(start_screen: StartScreen, folder: Path) -> None:
    screen = start_screen(init=INIT + AGENT + EVENTS, cwd=folder, size=(140, 30), files=("a.py",))
    screen.command("AcpChat")
    screen.command("AcpFollow on")
    visit(screen, folder / "b.py", None, "read")
    shows(screen, "b.py", 1)
    assert screen.lua("return _G.visits")[0]["line"] == 1
