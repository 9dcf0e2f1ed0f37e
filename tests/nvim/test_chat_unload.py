"""`:bdelete` and `:bunload` of a chat's buffer close the chat: all of it is there again when it is shown."""

from __future__ import annotations

import pytest
from tests.nvim.stub import AGENT, INIT, PROMPT, TRANSCRIPT, buffer, events, focus, frame, layout, update
from tests.plugin import Screen, StartNvim, StartScreen, eventually

FENCED = ["Hi.", "```lua", "local x = 1", "```", ""]


@pytest.fixture
def screen(start_screen: StartScreen) -> Screen:
    """A chat with a closed and an open fold, code, and a draft; the cursor is on the first line."""
    screen = start_screen(init=INIT + AGENT, size=(120, 40))
    screen.command("AcpChat")
    update(screen, {"state": "idle", "session": "s1"})
    frame(screen, 1, ["❯ hello", ""], kind="user", tail=1)
    frame(screen, 2, ["✓ run    one", "  │ out of one"], folds=[[0, 1, True]])
    frame(screen, 3, ["✓ run    two", "  │ out of two"], folds=[[0, 1, True]])
    frame(screen, 4, FENCED, kind="answer", tail=1, fences=[[1, "lua"], [3]])
    screen.keys("a draft<CR>of two lines<Esc>")
    screen.command("wincmd k")
    screen.keys("gg", "/two<CR>zogg")
    screen.wait("out of two")
    return screen


def chat_rows(screen: Screen) -> list[str]:
    """What the transcript shows, without its statusline."""
    return [row[60:] for row in screen.rows()[:20]]


@pytest.mark.parametrize("command", ["bdelete", "bunload", "bdelete!"])
@pytest.mark.parametrize("which", [TRANSCRIPT, PROMPT])
@pytest.mark.parametrize("inside", [True, False], ids=["typed in it", "typed elsewhere"])
def test_the_chat_comes_back_as_it_was(screen: Screen, command: str, which: str, inside: bool) -> None:
    number = buffer(screen, which)
    before = chat_rows(screen)
    lines = {name: screen.lines(buffer(screen, name)) for name in (TRANSCRIPT, PROMPT)}
    eventually(lambda: screen.groups_at(before.index("local x = 1"), 60), message=screen.text)
    screen.api.set_current_win(screen.funcs.bufwinid(number) if inside else screen.api.list_wins()[0])
    screen.command(command if inside else f"{command} {number}")
    eventually(lambda: [w[0] for w in layout(screen)] == [""])
    eventually(lambda: screen.api.buf_is_loaded(number))
    assert {name: screen.lines(buffer(screen, name)) for name in (TRANSCRIPT, PROMPT)} == lines
    screen.command("AcpChat")
    assert focus(screen) == PROMPT
    eventually(lambda: chat_rows(screen) == before, message=screen.text)
    eventually(lambda: screen.groups_at(before.index("local x = 1"), 60))
    for name, filetype, key in ((TRANSCRIPT, "acp-chat", "K"), (PROMPT, "acp-prompt", "<C-s>")):
        wanted = {"buftype": "nofile", "bufhidden": "hide", "swapfile": False, "filetype": filetype}
        buf = buffer(screen, name)
        assert {option: screen.api.get_option_value(option, {"buf": buf}) for option in wanted} == wanted
        window = screen.funcs.bufwinid(buf)
        assert screen.funcs.win_execute(window, f"echo maparg('{key}', 'n')").strip()
    assert screen.lua("return vim.b[...].acp_session", buffer(screen, TRANSCRIPT)) == "s1"
    assert events(screen, "close") == []
    assert len(events(screen, "open")) == 1


def test_what_arrives_meanwhile_is_there(screen: Screen) -> None:
    screen.command("bdelete")
    frame(screen, 5, ["while it was away"])
    frame(screen, 3, ["✗ run    two  failed", "  │ out of two"], folds=[[0, 1, True]])
    screen.command("AcpChat")
    screen.wait("while it was away")
    screen.wait("✗ run    two  failed ▸")


def test_a_frame_in_the_same_breath_is_not_lost(screen: Screen) -> None:
    gone = screen.lua(
        "vim.cmd('bdelete') return require('acp.chat.transcript').frame(...).gone",
        [[1, [["set", 5, ["in the same breath"], {"kind": "row"}]]]],
    )
    assert gone == []
    screen.command("AcpChat")
    screen.wait("in the same breath")


def test_the_draft_can_be_undone_no_further_than_it_was(screen: Screen) -> None:
    screen.command(f"bdelete {buffer(screen, PROMPT)}")
    screen.command("AcpChat")
    screen.keys("<Esc>u")
    assert screen.lines() == ["a draft", "of two lines"]


def test_all_buffers_at_once(screen: Screen) -> None:
    text = screen.lines(buffer(screen, TRANSCRIPT))
    screen.command("%bdelete!")
    screen.command("AcpChat")
    eventually(lambda: "".join(chat_rows(screen)).count("out of two") == 1, message=screen.text)
    assert screen.lines(buffer(screen, TRANSCRIPT)) == text
    assert screen.lines(buffer(screen, PROMPT)) == ["a draft", "of two lines"]


def test_the_users_own_keys_survive_an_unload(start_nvim: StartNvim) -> None:
    nvim = start_nvim(
        init=INIT
        + AGENT
        + """
vim.api.nvim_create_autocmd('FileType', { pattern = { 'acp-chat', 'acp-prompt' }, callback = function()
  vim.keymap.set('n', 'g?', 'gg', { buffer = true })
end })"""
    )
    nvim.command("AcpChat")
    for command in ("bunload", "bdelete"):
        nvim.command(f"{command} {buffer(nvim, PROMPT)}")
        nvim.command("AcpChat")
        assert nvim.funcs.maparg("g?", "n") == "gg"


def test_a_renamed_transcript(screen: Screen) -> None:
    lines = screen.lines(buffer(screen, TRANSCRIPT))
    screen.command("file renamed | bdelete")
    screen.command("AcpChat")
    eventually(lambda: layout(screen)[1][0] == "claude/1")
    assert screen.lines(screen.funcs.winbufnr(2)) == lines
