"""A chat the user opens takes what they type at once; nobody is thrown out of what they are doing."""

from __future__ import annotations

from functools import partial

import pytest
from tests.nvim.stub import AGENT, INIT
from tests.plugin import Neovim, StartNvim, eventually


def ends(nvim: Neovim, text: str) -> bool:
    return nvim.lines()[-1].endswith(text)


@pytest.mark.parametrize("how", [":AcpChat<CR>", "ZC", ":lua require('acp').chat()<CR>", ":1AcpSend<CR>"])
def test_a_chat_is_opened_for_typing(start_nvim: StartNvim, how: str) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.keymap.set('n', 'ZC', '<Plug>(acp-chat)')")
    for text in ("one", " two"):
        nvim.keys(how, text, "<Esc>")
        eventually(partial(ends, nvim, text), message=lambda: str(nvim.lines()))
        nvim.command("wincmd t")
    nvim.command("AcpChat")
    assert nvim.lines()[-1].endswith("one two") or how == ":1AcpSend<CR>"


def test_where_the_cursor_was_typing_goes_on(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.keys("abc def<Esc>2b")
    nvim.command("wincmd t")
    nvim.keys(":AcpChat<CR>X<Esc>")
    eventually(lambda: nvim.lines() == ["Xabc def"])


@pytest.mark.parametrize(
    ("keys", "mode"), [("v", "v"), ("V", "V"), ("d", "no"), (":echo", "c"), ("R", "R"), ("gh", "s")]
)
def test_nobody_is_thrown_into_insert_mode(start_nvim: StartNvim, keys: str, mode: str) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.keys("<Esc>")
    nvim.command("wincmd t")
    nvim.keys(keys)
    assert nvim.api.get_mode()["mode"].startswith(mode)
    nvim.lua("require('acp').chat()")
    assert nvim.api.get_mode()["mode"] not in ("i", "ic", "ix")
    nvim.keys("<Esc><Esc>")
    assert nvim.api.get_mode()["mode"] == "n"


def test_in_the_background_nothing_is_begun(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.lua("require('acp').chat({ focus = false })")
    nvim.command("AcpSend text")
    assert nvim.api.get_mode()["mode"] == "n"
    assert nvim.api.buf_get_name(0) == ""
