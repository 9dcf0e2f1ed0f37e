"""The mark of follow: where it is drawn, and that no text of the user moves for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.follow_kit import code_and_chat, marks, project, visit, winbar, window_of, windows
from tests.plugin import Screen, StartScreen, eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


SIGN = """
vim.api.nvim_create_autocmd('BufWinEnter', { pattern = '*.py', callback = function(args)
  local ns = vim.api.nvim_create_namespace('test')
  vim.api.nvim_buf_set_extmark(args.buf, ns, 2, 0, { sign_text = 'E' })
end })
vim.fn.bufload(vim.fn.bufadd('b.py'))
vim.api.nvim_exec_autocmds('BufWinEnter', { buffer = vim.fn.bufnr('b.py') })
"""


@pytest.mark.parametrize(
    ("options", "signs", "kind"),
    [
        ("signcolumn=yes", False, "sign"),
        ("signcolumn=yes:2 number", False, "sign"),
        ("signcolumn=auto number", False, "number"),
        ("signcolumn=auto relativenumber", False, "number"),
        ("signcolumn=auto:2-4 number", False, "number"),
        ("signcolumn=number number", False, "number"),
        ("signcolumn=no number", False, "number"),
        ("signcolumn=auto", False, "sign"),
        ("signcolumn=no", False, "text"),
        ("signcolumn=auto number", True, "sign"),
        ("signcolumn=auto", True, "sign"),
    ],
)
def test_kinds(options: str, signs: bool, kind: str, start_screen: StartScreen, folder: Path) -> None:
    init = f"vim.cmd('set {options}')" + (SIGN if signs else "")
    screen = code_and_chat(start_screen, folder, init=init)
    offset = "return vim.fn.getwininfo(...)[1].textoff"
    win = window_of(screen, "a.py")
    if signs:
        screen.lua("local win = ... vim.api.nvim_win_set_buf(win, vim.fn.bufnr('b.py'))", win)
    before = screen.lua(offset, win)
    visit(screen, folder / "b.py", 10)
    (mark,) = marks(screen)
    row, col = screen.find("b.py line 10")
    line = screen.rows()[row]
    if kind == "sign":
        assert mark["sign"] == "◆"
        assert line.lstrip().startswith("◆")
        assert screen.groups_at(row, line.index("◆"))[-1:] == ["DiagnosticInfo"]
    elif kind == "number":
        assert (mark["sign"], mark["number"]) == ("", "AcpFollowSign")
        assert "DiagnosticInfo" in screen.groups_at(row, col - 2)
    else:
        assert mark["text"] == " ◆ claude edits"
        assert "b.py line 10  ◆ claude edits" in line
    if (options, signs) != ("signcolumn=auto", False):
        assert screen.lua(offset, win) == before, "the text is where it was"


def test_another_window_on_the_same_file_is_not_shifted(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, size=(180, 40))
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("setlocal signcolumn=yes | split | setlocal signcolumn=auto number | wincmd p")
    screen.command("AcpFollow on")
    screen.command("AcpChat")
    visit(screen, folder / "a.py", 10)
    (mark,) = marks(screen)
    assert (mark["sign"], mark["number"]) == ("", "AcpFollowSign")


@pytest.mark.parametrize("kind", ["room", "exactly", "one too many", "tabs", "wide", "wraps"])
def test_the_text_stands_there_only_if_it_fits(kind: str, start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, init="vim.o.number = true vim.o.tabstop = 8")
    win = window_of(screen, "a.py")
    room = screen.api.win_get_width(win) - screen.lua("return vim.fn.getwininfo(...)[1].textoff", win)
    needed = len("  claude edits")
    line, fits = {
        "room": ("x", True),
        "exactly": ("x" * (room - needed), True),
        "one too many": ("x" * (room - needed + 1), False),
        "tabs": ("\t" * 9, False),
        "wide": ("漢" * ((room - needed) // 2 + 1), False),
        "wraps": ("x" * (room + 5), False),
    }[kind]
    (folder / "b.py").write_text(f"first\n{line}\nlast\n")
    visit(screen, folder / "b.py", 2)
    (mark,) = marks(screen)
    assert mark["text"] == (" claude edits" if fits else "")
    if kind == "exactly":
        screen.wait("xx  claude edits│")


def test_ascii_and_the_agents_name(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, init="vim.o.signcolumn = 'yes'")
    screen.setup({"icons": "ascii", "agents": {"claude": {"command": ["sh"]}}})
    place = {"chat": 1, "path": str(folder / "b.py"), "line": 5, "verb": "search", "label": "a\x1b[31m\nb"}
    screen.lua("require('acp.follow').visit(...)", place)
    (mark,) = marks(screen)
    assert mark["sign"] == ">"
    assert mark["text"] == " a [31m b searches"
    assert "> follow" in winbar(screen)


def test_paused_it_is_hollow(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder, init="vim.o.signcolumn = 'yes'")
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("AcpFollow on")
    visit(screen, folder / "a.py", 5)
    assert marks(screen)[0]["sign"] == "◆"
    screen.keys("j")
    eventually(lambda: windows(screen) == [("a.py", 6)])
    visit(screen, folder / "a.py", 9)
    screen.wait("◇ a.py line 9  claude edits")
    screen.wait("◇ follow paused")
    screen.command("wincmd p")
    screen.wait("◆ a.py line 9")


def test_it_moves_with_its_line(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder)
    visit(screen, folder / "b.py", 50)
    path = str(folder / "b.py")
    text = "new\n" * 4 + (folder / "b.py").read_text()
    assert screen.lua("return require('acp.buffers').write(...)", path, text)["ok"]
    assert [mark["line"] for mark in marks(screen)] == [54]


def test_it_is_there_after_the_file_was_read_again(start_screen: StartScreen, folder: Path) -> None:
    screen = code_and_chat(start_screen, folder)
    visit(screen, folder / "b.py", 50)
    (folder / "b.py").write_text((folder / "b.py").read_text().replace("line 60\n", "line sixty\n"))
    screen.lua("require('acp.buffers').check({ ... })", str(folder / "b.py"))
    assert "b.py line sixty" in screen.lines(screen.funcs.bufnr("b.py"))
    eventually(lambda: [mark["line"] for mark in marks(screen)] == [50], message=lambda: str(marks(screen)))


def looks(screen: Screen) -> list[str]:
    return screen.text().split("\n")


def test_the_screen(start_screen: StartScreen, folder: Path) -> None:
    init = "vim.o.number = true vim.o.signcolumn = 'yes'"
    screen = code_and_chat(start_screen, folder, init=init, size=(120, 24))
    visit(screen, folder / "b.py", 100, "read")
    screen.wait("◆ 100 b.py line 100  claude reads")
    top = looks(screen)[0]
    assert top.endswith("◆ follow")
    assert looks(screen)[-2].startswith("b.py "), "the statusline has the short name"
