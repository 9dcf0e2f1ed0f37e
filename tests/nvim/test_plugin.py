"""The test plugin itself: a Neovim starts, types, draws and leaves nothing behind."""

from __future__ import annotations

import pytest
from tests.plugin import Neovim, Screen, StartNvim, StartScreen, eventually, marked


def test_a_headless_neovim_answers(nvim: Neovim) -> None:
    assert nvim.lua("return 1 + ...", 2) == 3
    assert nvim.funcs.getpid() == nvim.pid
    assert nvim.messages() == ""


def test_nothing_of_this_machine_leaks_in(nvim: Neovim) -> None:
    home = nvim.funcs.stdpath("data")
    assert str(nvim.home) in home
    assert nvim.lua("return vim.env.NVIM") is None
    assert nvim.funcs.getcwd() == str(nvim.cwd)


def test_the_screen_shows_what_is_typed(screen: Screen) -> None:
    screen.keys("ihello w\u00f6rld \u4e16\u754c<Esc>")
    screen.wait("hello w\u00f6rld \u4e16\u754c")
    assert screen.find("\u4e16") == (0, 12)
    screen.wait(lambda _: screen.mode == "normal")
    assert screen.cursor == (0, 14)


def test_the_screen_scrolls_and_resizes(start_screen: StartScreen) -> None:
    screen = start_screen(size=(40, 10))
    screen.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(('line\\n'):rep(50), '\\n'))")
    screen.keys("GO<Esc>ilast but one<Esc>gg")
    screen.wait(lambda text: "last" not in text)
    screen.keys("G")
    screen.wait("last but one")
    screen.resize(60, 12)
    assert len(screen.rows()) == 12
    screen.wait("last but one")


def test_the_screen_knows_highlight_groups(screen: Screen) -> None:
    screen.lua(
        """
        vim.api.nvim_set_hl(0, 'TestMark', { fg = '#ff0000', bold = true })
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'plain marked' })
        vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('t'), 0, 6,
          { end_col = 12, hl_group = 'TestMark' })
        """
    )
    screen.wait("plain marked")
    assert "TestMark" in screen.groups_at(0, 6)
    assert screen.attr_at(0, 6) == {"foreground": 0xFF0000, "bold": True}
    assert screen.attr_at(0, 0) == {}


def test_a_blocking_prompt_does_not_hang_the_test(screen: Screen) -> None:
    screen.keys(":call input('name? ')<CR>")
    screen.wait("name?")


def test_options_reach_neovim(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init="vim.g.early = 7", env={"EXTRA": "x y"}, python=None)
    assert nvim.lua("return { vim.g.early, vim.env.EXTRA, vim.g.acp_python == nil }") == [7, "x y", True]


def test_an_error_in_the_messages_fails_the_test(start_nvim: StartNvim) -> None:
    nvim = start_nvim()
    nvim.api.command("silent! echo 1")
    assert nvim.errors() == ""
    nvim.api.command("echomsg 'E42: something'")
    assert "E42" in nvim.errors()
    nvim.clear_messages()


def test_processes_are_found_by_their_marker(nvim: Neovim) -> None:
    child = nvim.funcs.jobstart(["sleep", "60"])
    pid = nvim.funcs.jobpid(child)
    assert nvim.pid in marked(nvim.marker)
    eventually(lambda: "sleep 60" in marked(nvim.marker).get(pid, ""))
    nvim.funcs.jobstop(child)
    eventually(lambda: pid not in marked(nvim.marker))


def test_an_exit_is_seen(start_nvim: StartNvim) -> None:
    nvim = start_nvim()
    nvim.api.command("call timer_start(0, {-> execute('cquit 3')})")
    assert nvim.wait_exit() == 3
    assert nvim.home.is_dir()


def test_a_deadline_tells_what_was_seen() -> None:
    with pytest.raises(AssertionError, match=r"too slow within 0\.03 s \(last value: 0\)"):
        eventually(lambda: 0, timeout=0.03, message="too slow")
    with pytest.raises(AssertionError, match="last failure: still"):
        eventually(_fails, timeout=0.03)


def _fails() -> bool:
    raise AssertionError("still")
