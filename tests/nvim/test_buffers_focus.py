"""Whatever the user is doing: a write or reload takes no focus, no key, and leaves the cursor at its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Screen, StartScreen, eventually

READ = "return require('acp.buffers').read(...)"
WRITE = "return require('acp.buffers').write(...)"
CHECK = "return require('acp.buffers').check(...)"
WHERE = """
local win = vim.api.nvim_get_current_win()
local mode = vim.api.nvim_get_mode().mode
return { mode, win, vim.api.nvim_win_get_cursor(win), vim.api.nvim_get_current_line() }
"""
LINES = [f"line {n} of the file" for n in range(1, 41)]


def put(screen: Screen, path: Path, how: str, lines: list[str]) -> None:
    """Let the agent change the file."""
    text = "\n".join(lines) + "\n"
    if how == "write":
        assert screen.lua(WRITE, str(path), text)["ok"]
    else:
        path.write_text(text)
        assert screen.lua(CHECK, [str(path)]) == []


@pytest.fixture
def opened(start_screen: StartScreen, short_tmp: Path) -> tuple[Screen, Path]:
    screen, path = start_screen(), short_tmp / "a.txt"
    path.write_text("\n".join(LINES) + "\n")
    screen.command(f"set noautoread hidden shortmess+=I | edit {path}")
    assert screen.lua(READ, str(path))["loaded"]
    screen.api.win_set_cursor(0, [20, 5])
    return screen, path


CHANGED = ["new at the top", "and another", *LINES[:9], "CHANGED", *LINES[10:]]


def edited(text: str, new: str, at: int) -> list[str]:
    """The changed lines, with what the user has made of one."""
    lines = list(CHANGED)
    assert lines[at] == text
    lines[at] = new
    return lines


# What is typed before and after the change, the mode between, and the lines in the end.
DOING: list[tuple[str, str, str, str, Any]] = [
    ("insert", "i", "i", "XY<Esc>", edited("line 20 of the file", "line XY20 of the file", 21)),
    ("replace", "R", "R", "XY<Esc>", edited("line 20 of the file", "line XY of the file", 21)),
    ("visual", "viw", "v", "x", edited("line 20 of the file", "line  of the file", 21)),
    ("lines", "Vj", "V", "d", [*CHANGED[:21], *CHANGED[23:]]),
    ("backwards", "Vkk", "V", "d", [*CHANGED[:19], *CHANGED[22:]]),
    ("block", "<C-v>jl", "\x16", "x", None),
    (
        "command line",
        ":s/20/twe",
        "c",
        "nty/<CR>",
        edited("line 20 of the file", "line twenty of the file", 21),
    ),
    (
        "window of commands",
        "q:",
        "n",
        "is/20/XX/<Esc><CR>",
        edited("line 20 of the file", "line XX of the file", 21),
    ),
]


@pytest.mark.parametrize("how", ["write", "reload"])
@pytest.mark.parametrize(("keys", "mode", "more", "lines"), [d[1:] for d in DOING], ids=[d[0] for d in DOING])
def test_the_user_goes_on(
    opened: tuple[Screen, Path], how: str, keys: str, mode: str, more: str, lines: list[str] | None
) -> None:
    screen, path = opened
    buffer = screen.api.get_current_buf().number
    screen.keys(keys)
    before = screen.lua(WHERE)
    assert before[0] == mode
    put(screen, path, how, CHANGED)
    after = screen.lua(WHERE)
    assert (after[0], after[1], after[3]) == (before[0], before[1], before[3])
    screen.keys(more)
    eventually(lambda: screen.lua(WHERE)[0] == "n")
    if lines is None:
        lines = list(CHANGED)
        for at in (21, 22):
            lines[at] = lines[at][:5] + lines[at][7:]
    eventually(lambda: screen.lines(buffer) == lines, message=lambda: str(screen.lines(buffer)))
    screen.clear_messages()


@pytest.mark.parametrize(
    ("keys", "more", "line"), [("y", "w", 22), ("/line 2", "5<CR>", 27), ("c/x", "<Esc>", 22)]
)
def test_in_the_middle_of_a_command_nothing_moves(
    opened: tuple[Screen, Path], keys: str, more: str, line: int
) -> None:
    """Neovim remembers a line number there, and would take it for another line afterwards."""
    screen, path = opened
    buffer = screen.api.get_current_buf().number
    screen.keys(keys)
    text = "\n".join(CHANGED) + "\n"
    assert screen.lua(WRITE, str(path), text) == {"ok": False, "why": "busy"}
    path.write_text(text)
    assert screen.lua(CHECK, [str(path)]) == []
    assert screen.lines(buffer) == LINES
    screen.keys(more)
    eventually(lambda: screen.lines(buffer) == CHANGED)
    assert screen.lua(WHERE)[2][0] == line
    if keys == "y":
        assert screen.funcs.getreg('"') == "20 "
    screen.clear_messages()


def test_an_edit_that_was_begun_before_is_kept(opened: tuple[Screen, Path]) -> None:
    screen, path = opened
    screen.keys("d")
    path.write_text("\n".join(CHANGED) + "\n")
    assert screen.lua(CHECK, [str(path)]) == []
    screen.keys("w")
    eventually(lambda: screen.lua("return vim.b.acp_conflict"))
    mine = [*LINES[:19], "line of the file", *LINES[20:]]
    assert screen.lines() == mine
    assert screen.lua(CHECK, [str(path)]) == [str(path)]


@pytest.mark.parametrize("how", ["write", "reload"])
def test_a_terminal_keeps_its_keys(opened: tuple[Screen, Path], how: str) -> None:
    screen, path = opened
    buffer = screen.api.get_current_buf().number
    screen.command("split | terminal cat")
    screen.keys("i")
    eventually(lambda: screen.lua(WHERE)[0] == "t")
    screen.keys("one")
    put(screen, path, how, CHANGED)
    assert screen.lua(WHERE)[0] == "t"
    screen.keys("two<CR>")
    screen.wait("onetwo")
    assert screen.lines(buffer) == CHANGED


@pytest.mark.parametrize("how", ["write", "reload"])
def test_a_picker_stays_open(opened: tuple[Screen, Path], how: str) -> None:
    screen, path = opened
    buffer = screen.api.get_current_buf().number
    screen.lua(
        """
        local buf = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_lines(buf, 0, -1, true, { 'one', 'two' })
        vim.api.nvim_open_win(buf, true, { relative = 'editor', row = 3, col = 3, width = 20, height = 5 })
        vim.api.nvim_create_autocmd('WinLeave', { callback = function() _G.left = true end })
        """
    )
    screen.keys("i")
    before = screen.lua(WHERE)
    put(screen, path, how, CHANGED)
    assert screen.lua(WHERE) == before
    assert screen.lua("return _G.left") is None
    assert screen.lines(buffer) == CHANGED


def test_typing_goes_on_in_a_file_the_agent_writes(opened: tuple[Screen, Path]) -> None:
    """What is typed before and after the agent's change are undo steps of their own."""
    screen, path = opened
    screen.keys("A", " mine")
    screen.wait("line 20 of the file mine")
    tick = screen.lua(READ, str(path))["tick"]
    text = "top\n" + "\n".join(screen.lines()) + "\n"
    assert screen.lua(WRITE, str(path), text, {"tick": tick})["ok"]
    screen.keys(" and more<Esc>")
    screen.wait("line 20 of the file mine and more")
    seen = []
    for _ in range(3):
        screen.keys("u")
        lines = screen.lines()
        seen.append((lines[0], lines[19 + (lines[0] == "top")]))
    assert seen == [
        ("top", "line 20 of the file mine"),
        ("line 1 of the file", "line 20 of the file mine"),
        ("line 1 of the file", "line 20 of the file"),
    ]
    screen.clear_messages()


def test_neovims_own_checks_find_nothing_to_ask(start_screen: StartScreen, short_tmp: Path) -> None:
    """A file changed, one appeared, one went, a mode changed: before and after we have looked."""
    screen = start_screen()
    names = ["changed", "mine", "new", "new-mine", "gone", "mode", "same"]
    paths = {name: short_tmp / name for name in names}
    screen.command("set noautoread hidden")
    for name, path in paths.items():
        if not name.startswith("new"):
            path.write_text("one\n")
        screen.command(f"edit {path}")
        if name.endswith("mine"):
            screen.api.buf_set_lines(0, 0, -1, True, ["mine"])
    screen.lua("require('acp.buffers.watch').start(1, { ... })", str(short_tmp))
    eventually(lambda: screen.lua("return #require('acp.buffers').check({}, 1)") == 0)

    def change(text: str) -> None:
        for name in ("changed", "mine", "new", "new-mine"):
            paths[name].write_text(text)
        paths["gone"].unlink(missing_ok=True)
        paths["mode"].chmod(0o755)
        paths["same"].write_text("one\n")

    def lines(name: str) -> list[str]:
        return screen.lines(int(screen.funcs.bufnr(str(paths[name]))))

    change("theirs, longer\n")
    screen.api.ui_set_focus(False)
    screen.api.ui_set_focus(True)
    eventually(lambda: lines("changed") == ["theirs, longer"])
    assert not screen.blocked()
    change("theirs, longer and longer\n")
    assert screen.lua(CHECK, None, 1) == [str(paths["mine"]), str(paths["new-mine"])]
    screen.lua("require('acp.buffers.watch').stop(1)")
    screen.command("checktime")
    assert not screen.blocked()
    assert [lines(name) for name in names] == [
        ["theirs, longer and longer"],
        ["mine"],
        ["theirs, longer and longer"],
        ["mine"],
        ["one"],
        ["one"],
        ["one"],
    ]
    assert screen.messages() == ""
    conflict = "return vim.b[vim.fn.bufnr(...)].acp_conflict"
    assert [screen.lua(conflict, str(path)) for path in paths.values()] == [
        None,
        True,
        None,
        True,
        None,
        None,
        None,
    ]
