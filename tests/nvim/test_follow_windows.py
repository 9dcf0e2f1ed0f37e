"""Follow: which window goes along, and when it waits for the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.nvim.follow_kit import (
    code_and_chat,
    marks,
    project,
    visit,
    winbar,
    window_of,
    windows,
)
from tests.plugin import Screen, StartScreen, eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def screen(start_screen: StartScreen, folder: Path) -> Screen:
    return code_and_chat(start_screen, folder)


def test_the_window_it_was_turned_on_in(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, on=False, size=(180, 40))
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split c.py")
    screen.command("wincmd j")  # a.py, below
    screen.command("AcpFollow on")
    screen.command("wincmd k")
    visit(screen, folder / "b.py", 50)
    assert sorted(windows(screen)) == [("b.py", 50), ("c.py", 1)]
    assert screen.funcs.bufname("%") == "c.py"


def test_else_the_first_ordinary_window_that_is_not_current(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, size=(180, 40))
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split c.py")
    visit(screen, folder / "b.py", 50)
    assert windows(screen) == [("c.py", 1), ("b.py", 50)]
    screen.command("wincmd j")
    visit(screen, folder / "b.py", 60)
    assert windows(screen) == [("c.py", 1), ("b.py", 60)], "it goes on in the same window"


UNUSABLE = {
    "winfixbuf": "setlocal winfixbuf",
    "terminal": "enew | call termopen(['sleep', '100'])",
    "quickfix": "call setqflist([{'text': 'x'}]) | copen | only | AcpChat",
    "help": "help | only | AcpChat",
    "preview": "setlocal previewwindow",
    "diff": "diffthis",
    "nofile": "enew | setlocal buftype=nofile",
    "picker": "enew | setlocal buftype=prompt",
    "wiped": "setlocal bufhidden=wipe",
    "unsaved, nohidden": "set nohidden | call setline(1, 'mine')",
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_is_no_ordinary_window_gets_a_split_made_once(
    case: str, start_screen: StartScreen, folder: Path
) -> None:
    screen = code_and_chat(start_screen, folder, size=(180, 40))
    win = window_of(screen, "a.py")
    screen.api.set_current_win(win)
    screen.command(UNUSABLE[case])
    screen.lua("require('acp.chat.windows').open(require('acp.chat').get(1), true)")
    focus = screen.api.get_current_win()
    before = windows(screen)
    visit(screen, folder / "b.py", 50)
    assert ("b.py", 50) in windows(screen)
    assert len(windows(screen)) == len(before) + 1
    visit(screen, folder / "c.py", 60)
    assert ("c.py", 60) in windows(screen)
    assert len(windows(screen)) == len(before) + 1, "made once"
    assert screen.api.get_current_win() == focus
    made = window_of(screen, "c.py")
    for option, value in {"winfixbuf": False, "winfixwidth": False, "previewwindow": False}.items():
        if case not in ("winfixbuf", "preview"):
            assert screen.api.get_option_value(option, {"win": made}) == value
    screen.api.win_close(made, True)
    visit(screen, folder / "b.py", 70)
    assert len(windows(screen)) == len(before), "closed by the user: that is an answer"
    assert "◇ follow paused" in winbar(screen)
    screen.command("AcpFollow on")
    assert ("b.py", 70) in windows(screen)
    assert "◆ follow" in winbar(screen)


def test_a_split_beside_the_chat_alone(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, size=(160, 40), init="vim.o.number = true")
    screen.api.win_close(window_of(screen, "a.py"), True)
    focus, chat = screen.api.get_current_win(), screen.api.win_get_width(0)
    assert windows(screen) == []
    visit(screen, folder / "b.py", 50)
    assert windows(screen) == [("b.py", 50)]
    win = window_of(screen, "b.py")
    assert screen.api.win_get_position(win) == [0, 0]
    for option, value in {"winfixbuf": False, "winbar": "", "number": True, "signcolumn": "auto"}.items():
        assert screen.api.get_option_value(option, {"win": win}) == value
    assert screen.api.get_current_win() == focus
    assert chat > 0


def test_in_the_current_window_only_while_the_cursor_rests(screen: Screen, folder: Path) -> None:
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    for name, line in (("b.py", 50), ("c.py", 60)):
        visit(screen, folder / name, line)
        assert windows(screen) == [(name, line)], "the user looks on"
    screen.keys("j")
    eventually(lambda: windows(screen) == [("c.py", 61)])
    visit(screen, folder / "c.py", 90)
    visit(screen, folder / "c.py", 95)
    assert windows(screen) == [("c.py", 61)], "the user is on their own way"
    assert "%#AcpWarn#◇ follow paused" in winbar(screen)
    (mark,) = marks(screen)
    assert (mark["name"], mark["line"]) == ("c.py", 95)
    screen.keys("95G")
    eventually(lambda: "◆ follow" in winbar(screen), message=lambda: winbar(screen))
    visit(screen, folder / "b.py", 7)
    assert windows(screen) == [("b.py", 7)], "it goes on from the mark"


def test_paused_goes_on_when_asked(screen: Screen, folder: Path) -> None:
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    screen.keys("5j")
    eventually(lambda: windows(screen) == [("a.py", 6)])
    visit(screen, folder / "b.py", 50)
    assert windows(screen) == [("a.py", 6)]
    assert marks(screen) == [], "b.py is not loaded for a mark"
    screen.command("AcpFollow on")
    assert windows(screen) == [("b.py", 50)]
    assert "◆ follow" in winbar(screen)
    screen.keys("<C-o>")
    eventually(lambda: windows(screen) == [("a.py", 6)])


def test_paused_the_mark_is_there_when_the_user_opens_the_file(screen: Screen, folder: Path) -> None:
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    screen.keys("5j")
    eventually(lambda: windows(screen) == [("a.py", 6)])
    visit(screen, folder / "b.py", 50)
    screen.keys(":edit b.py<CR>")
    eventually(lambda: [(m["name"], m["line"]) for m in marks(screen)] == [("b.py", 50)])
    assert "◇ follow paused" in winbar(screen)
    screen.keys("50G")
    eventually(lambda: "◆ follow" in winbar(screen))


def test_paused_ends_when_the_user_leaves(screen: Screen, folder: Path) -> None:
    code = window_of(screen, "a.py")
    screen.api.set_current_win(code)
    screen.command("AcpFollow on")
    screen.keys("5j")
    eventually(lambda: windows(screen) == [("a.py", 6)])
    visit(screen, folder / "b.py", 50)
    screen.command("wincmd p")
    assert "◆ follow" in winbar(screen)
    assert windows(screen) == [("a.py", 6)], "nothing moves by itself"
    visit(screen, folder / "b.py", 51)
    assert windows(screen) == [("b.py", 51)]


def test_the_agents_own_edits_do_not_pause(screen: Screen, folder: Path) -> None:
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    visit(screen, folder / "a.py", 50)
    text = "new\n" * 3 + (folder / "a.py").read_text()
    answer = screen.lua("return require('acp.buffers').write(...)", str(folder / "a.py"), text)
    assert answer["ok"]
    eventually(lambda: windows(screen) == [("a.py", 53)])
    visit(screen, folder / "b.py", 7)
    assert windows(screen) == [("b.py", 7)]
    (folder / "b.py").write_text("new\n" * 3 + (folder / "b.py").read_text())
    screen.lua("require('acp.buffers').check({ ... })", str(folder / "b.py"))
    eventually(lambda: windows(screen) == [("b.py", 10)])
    visit(screen, folder / "c.py", 8)
    assert windows(screen) == [("c.py", 8)]


def test_the_users_own_edits_do(screen: Screen, folder: Path) -> None:
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    visit(screen, folder / "a.py", 50)
    screen.keys("x")
    eventually(lambda: screen.api.get_option_value("modified", {"buf": 0}))
    visit(screen, folder / "b.py", 7)
    assert windows(screen) == [("a.py", 50)]
    assert "◇ follow paused" in winbar(screen)


def test_works_while_the_chat_is_hidden(screen: Screen, folder: Path) -> None:
    screen.lua("require('acp.chat.windows').close(require('acp.chat').get(1))")
    screen.command("split c.py")
    visit(screen, folder / "b.py", 5)
    assert windows(screen) == [("c.py", 1), ("b.py", 5)]


def test_another_tab_page_stays_where_it_is(screen: Screen, folder: Path) -> None:
    screen.command("tabnew c.py")
    visit(screen, folder / "b.py", 5)
    assert windows(screen) == [("c.py", 1)]
    assert screen.api.get_current_tabpage() == screen.api.list_tabpages()[1]
    screen.command("tabprevious")
    assert windows(screen) == [("b.py", 5)]


def two_chats(start_screen: StartScreen, folder: Path, **options: Any) -> Screen:
    screen = code_and_chat(start_screen, folder, size=(200, 50), **options)
    screen.lua("require('acp.chat.windows').close(require('acp.chat').get(1))")
    screen.command("AcpChat!")
    screen.command("AcpFollow on")
    return screen


def test_two_chats_use_two_windows(start_screen: StartScreen, folder: Path) -> None:
    screen = two_chats(start_screen, folder)
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split a.py")
    screen.lua("require('acp.chat.windows').open(require('acp.chat').get(2), true)")
    visit(screen, folder / "b.py", 5)
    visit(screen, folder / "c.py", 7, chat=2)
    visit(screen, folder / "b.py", 6)
    visit(screen, folder / "c.py", 8, chat=2)
    assert sorted(windows(screen)) == [("b.py", 6), ("c.py", 8)]
    assert len(marks(screen)) == 2


def test_two_chats_share_one_window(start_screen: StartScreen, folder: Path) -> None:
    screen = two_chats(start_screen, folder)
    visit(screen, folder / "b.py", 5)
    visit(screen, folder / "c.py", 7, chat=2)
    assert windows(screen) == [("c.py", 7)], "newest wins"
    visit(screen, folder / "b.py", 6)
    assert windows(screen) == [("b.py", 6)]
    screen.command("AcpFollow off")
    assert "follow" not in winbar(screen, 2)
    assert "◆ follow" in winbar(screen, 1), "each has its own switch"


def test_the_same_home_for_two(start_screen: StartScreen, folder: Path) -> None:
    screen = two_chats(start_screen, folder)
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split c.py")
    for n in (1, 2):
        screen.lua("require('acp.follow').set(require('acp.chat').get(...), true)", n)
    screen.lua("require('acp.chat.windows').open(require('acp.chat').get(2), true)")
    visit(screen, folder / "b.py", 5, chat=1)
    visit(screen, folder / "b.py", 9, chat=2)
    assert windows(screen) == [("b.py", 9), ("b.py", 5)], "the later has the window"
