"""The two windows of a chat, and what odd settings do to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import (
    AGENT,
    INIT,
    PROMPT,
    TRANSCRIPT,
    buffer,
    events,
    focus,
    frame,
    go_to_transcript,
    layout,
)
from tests.plugin import Screen, StartNvim, StartScreen, eventually


@pytest.mark.parametrize(
    ("columns", "lines", "expected"),
    [
        (200, 40, [("", 119, 38), ("claude/1", 80, 34), ("claude/1/prompt", 80, 3)]),
        (300, 40, [("", 199, 38), ("claude/1", 100, 34), ("claude/1/prompt", 100, 3)]),
        (110, 40, [("", 49, 38), ("claude/1", 60, 34), ("claude/1/prompt", 60, 3)]),
        (100, 40, [("", 100, 11), ("claude/1", 100, 22), ("claude/1/prompt", 100, 3)]),
        (80, 24, [("", 80, 6), ("claude/1", 80, 11), ("claude/1/prompt", 80, 3)]),
    ],
)
def test_windows(
    start_screen: StartScreen, columns: int, lines: int, expected: list[tuple[str, int, int]]
) -> None:
    screen = start_screen(init=INIT + AGENT, size=(columns, lines))
    screen.command("AcpChat")
    assert layout(screen) == expected
    assert focus(screen) == PROMPT


@pytest.mark.parametrize(("position", "first"), [("right", ("", 49)), ("below", ("", 120)), ("tab", None)])
def test_position(start_screen: StartScreen, position: str, first: tuple[str, int] | None) -> None:
    screen = start_screen(init=INIT, size=(120, 40))
    screen.setup({"agents": {"claude": {"command": ["sh"]}}, "chat": {"position": position, "width": 0.58}})
    screen.command("AcpChat claude")
    windows = layout(screen)
    if first is None:
        assert len(screen.api.list_tabpages()) == 2
        assert [w[0] for w in windows] == ["claude/1", "claude/1/prompt"]
    else:
        assert windows[0][:2] == (first if position == "below" else ("", 50))
    screen.command("quit")
    eventually(lambda: [w[0] for w in layout(screen)] == [""])


def test_the_first_screen(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 20))
    screen.command("AcpChat")
    rows = [row[60:] for row in screen.rows()]
    home = screen.funcs.fnamemodify(str(screen.cwd), ":~")
    assert rows[:4] == [
        " claude  ● starting",
        f"claude in {home}",
        "Starting. You can type already; the prompt is sent when the",
        "agent is ready.",
    ]
    assert rows[14].endswith("g? keys")
    assert rows[15] == "Ask claude…   @ adds a file   / lists commands"
    assert rows[18] == " prompt                                         <C-s> sends"
    assert screen.groups_at(0, 70)[-1] == "DiagnosticInfo"
    assert screen.groups_at(15, 62)[-1] == "Comment"


@pytest.mark.parametrize(
    ("key", "where"),
    [
        (":q<CR>", "transcript"),
        ("<C-w>c", "transcript"),
        ("q", "transcript"),
        (":q<CR>", "prompt"),
        ("<C-w>c", "prompt"),
    ],
)
def test_closing_one_closes_both_and_restores_the_layout(
    start_screen: StartScreen, key: str, where: str
) -> None:
    screen = start_screen(init=INIT + AGENT + "vim.o.equalalways = false", size=(140, 30))
    screen.command("vsplit | vertical resize 30 | split | wincmd t")
    before = layout(screen)
    screen.command("AcpChat")
    screen.keys("text of mine<Esc>")
    if where == "transcript":
        go_to_transcript(screen)
    screen.keys(key)
    eventually(lambda: layout(screen) == before)
    screen.command("AcpChat")
    assert screen.lines() == ["text of mine"]
    assert len(events(screen, "open")) == 1
    assert events(screen, "close") == []


def test_the_view_is_kept(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.command("AcpChat")
    frame(screen, 1, [f"line {i}" for i in range(200)])
    go_to_transcript(screen)
    screen.keys("50Gzt5j")
    view = screen.funcs.winsaveview()
    screen.keys("q")
    eventually(lambda: len(layout(screen)) == 1)
    frame(screen, 2, ["more"])
    screen.command("AcpChat")
    go_to_transcript(screen)
    after = screen.funcs.winsaveview()
    assert (after["lnum"], after["topline"]) == (view["lnum"], view["topline"])
    screen.keys("Gq")
    eventually(lambda: len(layout(screen)) == 1)
    frame(screen, 3, ["the end"])
    screen.command("AcpChat")
    screen.wait("the end")


LEAVE = {":q": ":q<CR>", ":close": ":close<CR>", "q": "q"}


@pytest.mark.parametrize("where", ["transcript", "prompt"])
@pytest.mark.parametrize("key", LEAVE)
def test_the_last_windows_make_room_for_the_file_used_last(
    start_screen: StartScreen, tmp_path: Path, key: str, where: str
) -> None:
    if (key, where) == ("q", "prompt"):
        pytest.skip("q is a macro there")
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(name)
    screen = start_screen(init=INIT + AGENT, cwd=tmp_path, files=("one.txt", "two.txt"), size=(120, 30))
    screen.command("edit two.txt")
    screen.command("AcpChat")
    screen.command("1close")
    if where == "transcript":
        go_to_transcript(screen)
    screen.keys("<Esc>" + LEAVE[key])
    eventually(lambda: [Path(w[0]).name for w in layout(screen)] == ["two.txt"], message=screen.text)
    for option in ("winbar", "winfixbuf", "statusline"):
        assert screen.api.get_option_value(option, {"win": 0}) == screen.lua("return vim.go[...]", option)
    screen.command("AcpChat")
    assert len(events(screen, "open")) == 1


@pytest.mark.parametrize("key", LEAVE)
def test_with_no_file_left_quit_leaves_neovim(start_screen: StartScreen, key: str) -> None:
    screen = start_screen(init=INIT + AGENT)
    screen.command("AcpChat")
    screen.command("1close")
    go_to_transcript(screen)
    screen.keys("<Esc>" + LEAVE[key])
    if key == ":q":
        assert screen.wait_exit() == 0
        return
    eventually(lambda: [w[0] for w in layout(screen)] == [""])
    assert screen.api.get_option_value("winbar", {}) == ""
    assert not screen.api.get_option_value("winfixbuf", {})
    screen.command("AcpChat")
    assert len(events(screen, "open")) == 1


def test_text_in_a_buffer_without_a_name_is_no_reason_to_leave(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT)
    screen.keys("iunsaved<Esc>")
    screen.command("AcpChat")
    screen.command("1hide")
    screen.keys("<Esc>:q<CR>")
    screen.wait("unsaved")
    assert [w[0] for w in layout(screen)] == [""]


@pytest.mark.parametrize("size", [(120, 30), (80, 24)])
@pytest.mark.parametrize("where", [TRANSCRIPT, PROMPT])
def test_only_keeps_the_chat(start_screen: StartScreen, where: str, size: tuple[int, int]) -> None:
    screen = start_screen(init=INIT + AGENT, size=size)
    screen.command("AcpChat")
    frame(screen, 1, [f"line {i}" for i in range(200)])
    screen.keys("a draft<Esc>")
    eventually(lambda: screen.api.get_mode()["mode"] == "n")
    screen.api.set_current_win(screen.funcs.bufwinid(buffer(screen, where)))
    screen.keys("<C-w>o")
    height = size[1] - 6  # two statuslines, three lines of prompt, the command line
    wanted = [("claude/1", size[0], height), ("claude/1/prompt", size[0], 3)]
    eventually(lambda: layout(screen) == wanted, message=lambda: str(layout(screen)))
    assert focus(screen) == where
    screen.wait("line 199")
    screen.wait("a draft")


ROOT_AGENT = """
require('acp').setup({ agents = { claude = { command = { 'sh' }, cwd = '/' } }, default_agent = 'claude' })
"""
ODD = """
vim.o.autochdir = true vim.o.autoread = false vim.o.hidden = false
vim.o.splitright = true vim.o.splitbelow = true vim.o.equalalways = false
vim.o.winminwidth = 20 vim.o.winminheight = 0 vim.o.winwidth = 90 vim.o.winheight = 20
vim.o.number = true vim.o.relativenumber = true vim.o.signcolumn = 'yes' vim.o.foldcolumn = '3'
vim.o.foldmethod = 'syntax' vim.o.scrolloff = 999 vim.o.list = true vim.o.spell = true vim.o.wrap = false
vim.o.colorcolumn = '40' vim.o.showbreak = '>>>' vim.o.conceallevel = 2 vim.o.scrollbind = true
vim.o.statuscolumn = '%l ' vim.o.fillchars = 'fold:-,eob:~' vim.o.textwidth = 20
vim.o.switchbuf = 'useopen,usetab,newtab' vim.o.modeline = true
"""


@pytest.mark.parametrize("columns", [120, 80])
def test_odd_settings_change_nothing(start_screen: StartScreen, tmp_path: Path, columns: int) -> None:
    file = tmp_path / "sub" / "code.txt"
    file.parent.mkdir()
    file.write_text("".join(f"line {i}\n" for i in range(50)))
    screen = start_screen(init=INIT + ROOT_AGENT + ODD, size=(columns, 30), cwd=tmp_path, files=(str(file),))
    screen.command("set winfixbuf")
    user = screen.api.get_current_win()
    options = (
        "local w, o = ..., {} for k, v in pairs(vim.api.nvim_get_all_options_info()) do if v.scope == 'win' "
    )
    options += "then o[k] = vim.api.nvim_get_option_value(k, { win = w }) end end o.scroll = nil return o"
    before, global_before = screen.lua(options, user), screen.lua("return vim.o.equalalways")
    screen.command("AcpChat")
    plain = start_screen(init=INIT + ROOT_AGENT, size=(columns, 30), cwd=tmp_path, files=(str(file),))
    plain.command("AcpChat")
    assert chat_part(screen, columns) == chat_part(plain, columns)
    assert layout(screen) == layout(plain)
    assert screen.lua(options, user) == before
    assert screen.lua("return vim.o.equalalways") == global_before
    screen.keys("word " * 30 + "<Esc>")
    assert len(screen.lines()) == 1  # no 'textwidth' in the prompt
    assert screen.funcs.getcwd() == str(file.parent)


def chat_part(screen: Screen, columns: int) -> list[str]:
    """The rows of the chat on the screen."""
    rows = screen.rows()[:-1]
    return [row[60:] for row in rows] if columns == 120 else rows[10:]


def test_a_user_opens_a_file_from_the_chat_with_their_own_options(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.o.number = true")
    nvim.command("AcpChat")
    nvim.command("new other.txt")
    assert nvim.api.get_option_value("number", {}) is True
    assert nvim.api.get_option_value("winbar", {}) == ""
    assert nvim.api.get_option_value("winfixbuf", {}) is False


def test_from_a_float_it_opens_beside_the_code(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.lua(
        "vim.api.nvim_open_win(0, true, { relative = 'editor', row = 1, col = 1, width = 9, height = 3 })"
    )
    screen.command("AcpChat")
    assert layout(screen)[:3] == [("", 59, 28), ("claude/1", 60, 24), ("claude/1/prompt", 60, 3)]
    assert focus(screen) == PROMPT


def test_local_options_do_not_leak(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    before = nvim.lua(
        "return { vim.go.number, vim.go.winbar, vim.go.statusline, vim.go.wrap, vim.go.fillchars }"
    )
    nvim.command("AcpChat")
    assert (
        nvim.lua("return { vim.go.number, vim.go.winbar, vim.go.statusline, vim.go.wrap, vim.go.fillchars }")
        == before
    )


def test_the_hints_of_the_demo_hang_below_their_words(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(60, 30))
    screen.command("AcpChat")
    hint = "  get one    :checkhealth acp  lists agents, how to install them, and where it looked"
    frame(screen, 1, [hint])
    rows = screen.wait("and where it looked").split("\n")
    at = next(n for n, row in enumerate(rows) if "get one" in row)
    assert rows[at + 1].startswith(" " * 13) and rows[at + 1][13] != " "
