"""The files follow shows: no swap question, no modelines, no events, nothing left of what nobody wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.nvim.follow_kit import code_and_chat, project, visit, window_of, windows
from tests.plugin import Screen, StartScreen, eventually

SEEN = """
_G.fired = {}
vim.api.nvim_create_autocmd(
  { 'BufReadPre', 'BufReadPost', 'BufWinEnter', 'BufEnter', 'BufLeave', 'BufHidden', 'FileType', 'BufAdd',
    'SwapExists', 'BufUnload', 'BufWipeout', 'OptionSet', 'WinEnter', 'WinLeave', 'ModeChanged' },
  { callback = function(args)
    table.insert(_G.fired, { args.event, vim.fn.fnamemodify(args.file, ':t') })
  end })
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


def fired(screen: Screen, name: str) -> list[str]:
    """The events of a file so far, in order."""
    return [event for event, file in screen.lua("return _G.fired") if file == name]


def seen(start_screen: StartScreen, folder: Path, **options: Any) -> Screen:
    screen = code_and_chat(start_screen, folder, **options)
    screen.lua(SEEN)
    return screen


READ = ["BufReadPre", "FileType", "BufReadPost", "BufWinEnter"]


def test_a_file_that_stays_gets_its_events_once(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    visit(screen, folder / "b.py", 150)
    assert fired(screen, "b.py") == []
    eventually(lambda: "BufWinEnter" in fired(screen, "b.py"))
    visit(screen, folder / "b.py", 151)
    events = fired(screen, "b.py")
    assert sorted(events) == sorted(READ)
    assert screen.api.get_option_value("filetype", {"buf": screen.funcs.bufnr("b.py")}) == "python"
    assert windows(screen) == [("b.py", 151)]
    screen.lua("_G.fired = {}")
    screen.api.set_current_win(window_of(screen, "b.py"))
    assert "BufReadPost" not in fired(screen, "b.py")
    assert screen.api.get_option_value("buflisted", {"buf": 0})


def test_a_file_that_is_left_at_once_wakes_nobody_and_goes(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    count = len(screen.api.list_bufs())
    for n in range(20):
        (folder / f"f{n}.py").write_text("x\n")
        visit(screen, folder / f"f{n}.py", 1)
    visit(screen, folder / "a.py", 1)
    assert [row for row in screen.lua("return _G.fired") if row[0] not in ("ModeChanged",)] == []
    assert len(screen.api.list_bufs()) == count
    assert screen.messages().strip() == ""


def test_autocommands_that_move_the_cursor_do_not(start_screen: StartScreen, folder: Path) -> None:
    init = "vim.cmd([[autocmd BufReadPost * normal! 5G]]) vim.cmd([[autocmd BufWinEnter *.py wincmd w]])"
    screen = code_and_chat(start_screen, folder, init=init)
    focus = screen.api.get_current_win()
    visit(screen, folder / "b.py", 150)
    number = screen.funcs.bufnr("b.py")
    eventually(lambda: screen.api.get_option_value("filetype", {"buf": number}) == "python")
    assert windows(screen) == [("b.py", 150)]
    assert screen.api.get_current_win() == focus


def test_a_file_that_stayed_is_closed_with_its_events(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    visit(screen, folder / "b.py", 1)
    eventually(lambda: "BufWinEnter" in fired(screen, "b.py"))
    visit(screen, folder / "a.py", 1)
    assert screen.funcs.bufnr("b.py") == -1
    assert fired(screen, "b.py")[-1] == "BufWipeout"


def test_a_file_the_agent_changed_keeps_its_undo_history(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    path = folder / "b.py"
    before = path.read_text()
    visit(screen, path, 1)
    eventually(lambda: "BufWinEnter" in fired(screen, "b.py"))
    assert screen.lua("return require('acp.buffers').write(...)", str(path), "new\n" + before)["ok"]
    visit(screen, folder / "a.py", 1)
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("edit b.py")
    assert screen.lines()[0] == "new"
    screen.command("undo")
    assert "\n".join(screen.lines()) + "\n" == before


def test_the_users_own_buffers_are_left_as_they_are(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder, init="vim.o.hidden = false")
    win = window_of(screen, "a.py")
    screen.api.set_current_win(win)
    screen.command("badd c.py")
    screen.command("normal! ix")
    screen.command("silent write")
    screen.command("wincmd p")
    visit(screen, folder / "c.py", 1)
    visit(screen, folder / "b.py", 1)
    loaded = {name: screen.funcs.bufloaded(name) for name in ("a.py", "b.py", "c.py")}
    assert loaded == {"a.py": 1, "b.py": 1, "c.py": 0}, "unloaded again, for the user to open"
    assert screen.api.get_option_value("buflisted", {"buf": screen.funcs.bufnr("c.py")})
    screen.api.set_current_win(win)
    screen.command("buffer a.py")
    screen.command("undo")
    assert screen.lines()[0] == "a.py line 1", "undo is there though 'hidden' is off"


def test_entering_makes_it_the_users_at_once(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    screen.lua("require('acp.follow').STAY_MS = 600000")
    visit(screen, folder / "b.py", 50)
    assert fired(screen, "b.py") == []
    screen.api.set_current_win(window_of(screen, "b.py"))
    assert {*READ, "BufEnter"} <= {*fired(screen, "b.py")} <= {*READ, "BufEnter", "BufAdd", "WinEnter"}
    assert screen.api.get_option_value("buflisted", {"buf": 0})
    screen.command("wincmd p")
    visit(screen, folder / "c.py", 50)
    assert screen.funcs.bufloaded("b.py") == 1


def test_moving_in_the_current_window_makes_it_the_users(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    screen.lua("require('acp.follow').STAY_MS = 600000")
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    visit(screen, folder / "b.py", 50)
    listed = "return vim.bo[vim.fn.bufnr('b.py')].buflisted"
    assert screen.lua(listed) is False
    screen.keys("k")
    eventually(lambda: screen.lua(listed), message=lambda: str(windows(screen)))
    assert "BufReadPost" in fired(screen, "b.py")


MODELINE = "# vim: set tw=7 foldmethod=marker:\n"


@pytest.mark.parametrize("modeline", [True, False])
def test_modelines_wait_for_the_user(modeline: bool, start_screen: StartScreen, folder: Path) -> None:
    (folder / "b.py").write_text("x = 1\n" * 50 + MODELINE)
    screen = seen(start_screen, folder, init=f"vim.o.modeline = {str(modeline).lower()}")
    visit(screen, folder / "b.py", 5)
    number = screen.funcs.bufnr("b.py")

    def width() -> int:
        return int(screen.api.get_option_value("textwidth", {"buf": number}))

    assert width() != 7
    eventually(lambda: "BufWinEnter" in fired(screen, "b.py"))
    assert width() != 7
    (folder / "b.py").write_text("y = 1\n" * 50 + MODELINE)
    screen.lua("require('acp.buffers').check({ ... })", str(folder / "b.py"))
    assert screen.lines(number)[0] == "y = 1"
    assert width() != 7
    (folder / "b.py").write_text("the z = 1\n" * 50 + MODELINE)
    screen.command(f"set autoread | checktime {number}")
    assert screen.lines(number)[0] == "the z = 1"
    assert width() != 7
    assert screen.api.get_option_value("modelines", {}) == 5
    screen.api.set_current_win(window_of(screen, "b.py"))
    assert (width() == 7) is modeline
    assert screen.api.get_option_value("modeline", {"buf": number}) is modeline


def test_no_question_about_a_swap_file(start_screen: StartScreen, folder: Path) -> None:
    swap = f"set updatecount=200 directory={folder} shortmess=filnxtToOF"
    other = start_screen(cwd=folder)
    other.command(f"{swap} | edit b.py")
    assert (folder / "b.py.swp").exists()
    screen = code_and_chat(start_screen, folder)
    screen.command(swap)
    visit(screen, folder / "b.py", 50)
    assert windows(screen) == [("b.py", 50)]
    assert not screen.blocked()
    assert screen.messages().strip() == ""
    assert screen.api.get_option_value("shortmess", {}) == "filnxtToOF"
    visit(screen, folder / "a.py", 50)
    assert screen.funcs.bufnr("b.py") == -1
    visit(screen, folder / "b.py", 50)
    screen.api.set_current_win(window_of(screen, "b.py"))
    assert not screen.blocked()
    assert "b.py has another swap file: is it open elsewhere?" in screen.messages()
    assert other.running()


def test_a_file_that_cannot_be_read_is_a_note(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    screen.lua("""
      require('acp.follow.files').load = function() error('Vim(call):E484: cannot open\\nmore', 0) end
    """)
    visit(screen, folder / "b.py", 50)
    assert windows(screen) == [("a.py", 1)]
    assert screen.messages().strip() == ""
    screen.command("AcpFollow list")
    assert screen.funcs.getqflist()[-1]["text"].endswith("b.py  not opened: E484: cannot open")


def test_unsaved_text_is_told(start_screen: StartScreen, folder: Path) -> None:
    screen = seen(start_screen, folder)
    ask = "return require('acp.follow').unsaved(...)"
    path = folder / "a.py"
    assert screen.lua(ask, str(path)) == {}
    assert screen.lua(ask, str(folder / "b.py")) == {}
    screen.api.buf_set_lines(screen.funcs.bufnr("a.py"), 0, -1, False, ["mine", "two"])
    assert screen.lua(ask, str(path)) == {"text": "mine\ntwo\n"}
    (folder / "link.py").symlink_to(path)
    assert screen.lua(ask, str(folder / "link.py")) == {"text": "mine\ntwo\n"}
    screen.command("wincmd t")
    screen.command("split new.py")
    assert screen.lua(ask, str(folder / "new.py")) == {"text": "\n"}
