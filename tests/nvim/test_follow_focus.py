"""Nothing takes the focus: whatever the user does, follow moves no cursor of theirs and eats no key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.nvim.follow_kit import code_and_chat, marks, project, visit, window_of, windows
from tests.plugin import Screen, StartScreen, eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


def two_windows(start_screen: StartScreen, folder: Path, **options: Any) -> Screen:
    """``a.py``, where the user works, above ``c.py``, which goes with the agent; the chat at the right."""
    screen = code_and_chat(start_screen, folder, on=False, size=(160, 44), **options)
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split c.py | AcpFollow on | wincmd p")
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.api.win_set_cursor(0, [20, 3])
    return screen


def walk(screen: Screen, folder: Path, step: Callable[[int], None], times: int = 12) -> None:
    """Between what the user does, the agent goes from place to place, and stays here and there."""
    for n in range(times):
        visit(screen, folder / f"{'bc'[n % 2]}.py", 10 + n * 7)
        step(n)
        assert not screen.blocked() or n >= 0
    visit(screen, folder / "b.py", 177)


def visit_later(screen: Screen, path: Path, line: int) -> None:
    """Say where the agent works without waiting: Neovim may be waiting for a key."""
    place = {"chat": 1, "path": str(path), "verb": "read", "line": line}
    code = "require('acp.follow').visit(...)"
    screen.nvim.request("nvim_exec_lua", code, [place], async_=True)


def focus(screen: Screen) -> int:
    """The number of the current window."""
    return int(screen.api.get_current_win().handle)


MODE = "return { vim.api.nvim_get_mode().mode, vim.api.nvim_get_current_win() }"


def test_typing_in_insert_mode(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    mine = focus(screen)
    screen.keys("O")
    words = [f"word{n} " for n in range(12)]
    walk(screen, folder, lambda n: screen.keys(words[n]))
    eventually(lambda: screen.lines(screen.funcs.bufnr("a.py"))[19] == "".join(words))
    assert screen.lua(MODE) == ["i", mine]
    assert ("b.py", 177) in windows(screen)
    screen.keys("<Esc>u")
    eventually(lambda: screen.lines(screen.funcs.bufnr("a.py"))[19] == "a.py line 20")


def test_typing_on_the_command_line(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    mine = focus(screen)
    text = "let g:typed = 'abcdefghijkl'"
    screen.keys(":")
    for n, first in enumerate(range(0, len(text), 3)):
        screen.keys(text[first : first + 3])
        visit(screen, folder / f"{'bc'[n % 2]}.py", 10 + n * 7)
        assert screen.lua(MODE) == ["c", mine]
    visit(screen, folder / "b.py", 177)
    screen.wait("b.py line 177  claude edits")
    row, col = screen.find("b.py line 177")
    assert "Visual" in screen.groups_at(row, col)
    screen.wait(lambda _: "Visual" not in screen.groups_at(row, col))
    assert screen.funcs.getcmdline() == text
    assert text in screen.rows()[-1]
    screen.keys("<CR>")
    eventually(lambda: screen.funcs.exists("g:typed"))
    assert screen.lua(MODE) == ["n", mine]
    assert screen.api.win_get_cursor(mine) == [20, 3]


def test_typing_a_search(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    mine = focus(screen)
    screen.keys("/line 9")
    walk(screen, folder, lambda n: None)
    screen.keys("3<CR>")
    eventually(lambda: screen.api.win_get_cursor(mine) == [93, 5])
    assert focus(screen) == mine


def test_typing_in_a_terminal(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    screen.command("enew | call termopen(['cat'])")
    mine = focus(screen)
    screen.keys("i")
    eventually(lambda: screen.lua(MODE) == ["t", mine])
    words = [f"w{n}." for n in range(12)]
    walk(screen, folder, lambda n: screen.keys(words[n]))
    screen.wait("".join(words))
    assert screen.lua(MODE) == ["t", mine]
    assert ("b.py", 177) in windows(screen)
    screen.keys("<C-\\><C-n>")
    eventually(lambda: screen.lua(MODE) == ["nt", mine])


def test_an_operator_waits_for_its_motion(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    mine = focus(screen)
    number = screen.funcs.bufnr("a.py")
    screen.keys("2d")
    for n in range(6):  # Neovim takes no calls now: they are done when the operator is
        visit_later(screen, folder / "b.py", 50 + n)
    screen.keys("j")
    eventually(lambda: ("b.py", 55) in windows(screen), message=lambda: str(windows(screen)))
    assert screen.lines(number)[18:20] == ["a.py line 19", "a.py line 23"]
    assert screen.lua(MODE) == ["n", mine]


@pytest.mark.parametrize(("keys", "mode"), [("3vl", "v"), ("V2j", "V"), ("<C-v>3l2j", "\x16")])
def test_selecting(keys: str, mode: str, start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    mine = focus(screen)
    screen.api.win_set_cursor(0, [20, 0])
    screen.keys(keys)
    area = "return { vim.fn.mode(), vim.fn.getpos('v'), vim.fn.getpos('.') }"
    eventually(lambda: screen.lua(area)[0] == mode)
    before = screen.lua(area)
    walk(screen, folder, lambda n: None)
    assert screen.lua(area) == before
    assert focus(screen) == mine
    assert ("b.py", 177) in windows(screen)
    screen.keys("y")
    eventually(lambda: screen.funcs.getreg('"').startswith("a.py"))


def test_a_count_and_a_register_are_kept(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    number = screen.funcs.bufnr("a.py")
    screen.keys('"q')
    walk(screen, folder, lambda n: None)
    screen.keys("2")
    for n in range(6):
        visit_later(screen, folder / "b.py", 50 + n)
    screen.keys("yy")
    eventually(lambda: screen.funcs.getreg("q") == "a.py line 20\na.py line 21\n")
    assert len(screen.lines(number)) == 200


def test_a_macro_records_and_plays(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    number = screen.funcs.bufnr("a.py")
    screen.keys("qw", "A!")
    walk(screen, folder, lambda n: None)
    screen.keys("<Esc>jq", "3@w")
    eventually(lambda: screen.lines(number)[22] == "a.py line 23!")
    assert screen.funcs.getreg("w") == "A!\x1bj"


FLOAT = """
local buf = vim.api.nvim_create_buf(false, true)
vim.bo[buf].buftype = 'prompt'
vim.api.nvim_open_win(buf, true, { relative = 'editor', row = 3, col = 3, width = 40, height = 5 })
vim.fn.prompt_setprompt(buf, '> ')
vim.cmd('startinsert!')
"""


def test_typing_in_a_picker(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    screen.lua(FLOAT)
    mine = focus(screen)
    eventually(lambda: screen.lua(MODE) == ["i", mine])
    walk(screen, folder, lambda n: screen.keys("xy"))
    eventually(lambda: screen.lines() == ["> " + "xy" * 12])
    assert screen.lua(MODE) == ["i", mine]
    assert ("b.py", 177) in windows(screen)


def test_completion_stays_open(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    screen.command("set completeopt=menuone,noselect")
    screen.keys("Oa", "<C-n>")
    eventually(lambda: screen.funcs.pumvisible() == 1)
    walk(screen, folder, lambda n: None)
    assert screen.funcs.pumvisible() == 1
    screen.keys("<C-e><Esc>")


def test_the_command_line_window(start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    screen.keys("q:")
    eventually(lambda: screen.funcs.getcmdwintype() == ":")
    walk(screen, folder, lambda n: None)
    assert screen.funcs.getcmdwintype() == ":"
    screen.keys(":quit<CR>")
    eventually(lambda: ("b.py", 177) in windows(screen), message=lambda: str(windows(screen)))
    assert screen.messages().strip() == ""


def test_a_question_of_neovim(start_screen: StartScreen, folder: Path) -> None:
    """``confirm()`` waits for the user's answer, and gets it."""
    screen = two_windows(start_screen, folder)
    screen.keys(":let g:answer = confirm('Really?', \"&Yes\\n&No\")<CR>")
    screen.wait("Really?")
    visit_later(screen, folder / "b.py", 50)
    screen.keys("n")
    eventually(lambda: ("b.py", 50) in windows(screen))
    assert screen.api.get_var("answer") == 2


IN_THE_WINDOW = {
    "Insert": ("i", "mine", "<Esc>"),
    "Replace": ("R", "mine", "<Esc>"),
    "Visual": ("v", "", "<Esc>"),
    "command line": (":", "abc", "<Esc>"),
    "search": ("/", "abc", "<Esc>"),
    "register": ('"a', "", "<Esc>"),
    "macro": ("qz", "", "q"),
}


@pytest.mark.parametrize("what", IN_THE_WINDOW)
def test_in_the_window_that_goes_along_it_waits(what: str, start_screen: StartScreen, folder: Path) -> None:
    screen = two_windows(start_screen, folder)
    screen.command("AcpFollow on")
    mine = focus(screen)
    begin, text, end = IN_THE_WINDOW[what]
    before = (screen.api.win_get_buf(mine), screen.funcs.line("w0"))
    screen.keys(begin)
    for n in range(5):
        visit(screen, folder / "b.py", 100 + n)
        screen.keys(text)
        assert (screen.api.win_get_buf(mine), screen.funcs.line("w0")) == before
    visit(screen, folder / "a.py", 199)
    assert marks(screen)[0]["line"] == 199
    assert marks(screen)[0]["text"] == " claude edits"
    screen.keys(end)
    assert focus(screen) == mine
    if what == "Insert":
        eventually(lambda: "mine" * 5 in screen.lines()[19])
    assert screen.messages().strip() == ""


def test_the_users_keys_are_counted(start_screen: StartScreen, folder: Path) -> None:
    """Hundreds of keys between hundreds of jumps: each one arrives, in order."""
    screen = two_windows(start_screen, folder)
    number = screen.funcs.bufnr("a.py")
    screen.keys("O")
    text = "".join(chr(97 + n % 26) for n in range(300))
    for n, key in enumerate(text):
        screen.keys(key)
        if n % 3 == 0:
            visit(screen, folder / f"{'bc'[n % 2]}.py", n % 200 + 1)
    eventually(lambda: screen.lines(number)[19] == text, message=lambda: screen.lines(number)[19])
