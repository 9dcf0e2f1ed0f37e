"""Chats: how they begin and end, what removed buffers and session files do to them."""

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
    status,
)
from tests.plugin import StartNvim, StartScreen, eventually


def test_twice_is_one_chat(start_nvim: StartNvim) -> None:
    """C29."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.api.exec2("AcpChat\nwincmd t\nAcpChat\nAcpChat", {})
    assert len(events(nvim, "open")) == 1
    assert len(layout(nvim)) == 3
    assert focus(nvim) == PROMPT
    nvim.keys("typing")
    assert nvim.lines() == ["typing"]


def test_bang_is_a_new_session_and_a_name_that_agents_last(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.setup({"agents": {"a": {"command": ["sh"]}, "b": {"command": ["sh"]}}})
    for command in ("AcpChat a", "AcpChat! a", "AcpChat b", "AcpChat a"):
        nvim.command(command)
    assert [(e["agent"], e["chat"]) for e in events(nvim, "open")] == [("a", 1), ("a", 2), ("b", 3)]
    assert focus(nvim) == "acp://a/2/prompt"


def test_the_current_chat_is_that_of_the_buffer_then_of_the_tab(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.command("tabnew")
    nvim.command("AcpChat!")
    nvim.command("wincmd t")
    assert status(nvim)["agent"] == "claude"
    current = "return require('acp.chat').current().n"
    assert nvim.lua(current) == 2
    nvim.command("tabfirst | wincmd t")
    assert focus(nvim) == ""
    assert nvim.lua(current) == 1
    nvim.command("tabnew")
    assert nvim.lua(current) == 1


def test_buffers(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    for name, filetype in ((TRANSCRIPT, "acp-chat"), (PROMPT, "acp-prompt")):
        number = buffer(nvim, name)
        wanted = {
            "filetype": filetype,
            "buftype": "nofile",
            "bufhidden": "hide",
            "swapfile": False,
            "modeline": False,
            "buflisted": False,
        }
        assert {k: nvim.api.get_option_value(k, {"buf": number}) for k in wanted} == wanted
    nvim.lua("require('acp.status').update(1, { session = 's1' }, 0)")
    assert nvim.lua("return vim.b[...].acp_session", buffer(nvim, TRANSCRIPT)) == "s1"


@pytest.mark.parametrize(
    ("cwd", "expected"), [("'/'", "/"), ("function(b) return '/usr/' end", "/usr"), ("nil", "")]
)
def test_folder_of_the_session(start_nvim: StartNvim, cwd: str, expected: str) -> None:
    nvim = start_nvim(init=INIT)
    nvim.lua(f"require('acp').setup({{ agents = {{ a = {{ command = {{ 'sh' }}, cwd = {cwd} }} }} }})")
    nvim.command("AcpChat a")
    assert events(nvim, "open")[0]["cwd"] == (expected or str(nvim.cwd))


@pytest.mark.parametrize("cwd", ["'/nowhere'", "function() error('no') end", "function() return 3 end"])
def test_a_wrong_folder_is_one_message(start_nvim: StartNvim, cwd: str) -> None:
    nvim = start_nvim(init=INIT)
    nvim.lua(f"require('acp').setup({{ agents = {{ a = {{ command = {{ 'sh' }}, cwd = {cwd} }} }} }})")
    nvim.api.command("AcpChat a")
    assert nvim.messages().startswith("acp: agents.a.cwd")
    assert len(nvim.messages().splitlines()) == 1
    assert events(nvim, "open") == []


def test_with_autochdir_the_folder_of_the_calling_window(start_nvim: StartNvim, tmp_path: Path) -> None:
    file = tmp_path / "code.txt"
    nvim = start_nvim(init=INIT + AGENT + "vim.o.autochdir = true", files=(str(file),))
    nvim.command("AcpChat")
    nvim.command("AcpChat!")
    assert [e["cwd"] for e in events(nvim, "open")] == [str(tmp_path)] * 2


def test_local_cwd_of_the_window(start_nvim: StartNvim, tmp_path: Path) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command(f"lcd {tmp_path}")
    nvim.command("AcpChat")
    assert events(nvim, "open")[0]["cwd"] == str(tmp_path)


@pytest.mark.parametrize("which", [TRANSCRIPT, PROMPT])
def test_wiping_a_buffer_ends_the_chat(start_nvim: StartNvim, which: str) -> None:
    """C30."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.command(f"bwipeout! {buffer(nvim, which)}")
    eventually(lambda: events(nvim, "close") == [{"chat": 1}])
    assert [w[0] for w in layout(nvim)] == [""]
    assert status(nvim)["state"] == "none"
    nvim.command("AcpChat")
    assert [w[0] for w in layout(nvim)] == ["", "claude/2", "claude/2/prompt"]
    names = [nvim.api.buf_get_name(b) for b in nvim.api.list_bufs()]
    assert [n for n in names if "claude/1" in n] == []


def test_a_renamed_transcript_is_still_its_chat(start_nvim: StartNvim) -> None:
    """C30."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    go_to_transcript(nvim)
    nvim.command("file renamed")
    nvim.command("wincmd t | AcpChat")
    assert len(events(nvim, "open")) == 1
    nvim.command("AcpChat!")
    assert focus(nvim) == "acp://claude/2/prompt"


def test_a_session_file_brings_no_dead_chat(start_nvim: StartNvim, tmp_path: Path) -> None:
    """C30: mksession, start again, open a chat."""
    script = tmp_path / "s.vim"
    first = start_nvim(init=INIT + AGENT)
    first.command("AcpChat")
    first.command(f"mksession! {script}")
    second = start_nvim(init=INIT + AGENT)
    second.command(f"source {script}")
    texts = [second.lines(buffer(second, name)) for name in (TRANSCRIPT, PROMPT)]
    for text in texts:
        assert text == [
            "This chat ended with the Neovim it was in.",
            "",
            ":AcpChat claude  opens a new one here",
            ":AcpSessions  lists those that agents remember",
        ]
    assert events(second, "open") == []
    second.command("AcpChat")
    assert len(events(second, "open")) == 1
    names = [w[0] for w in layout(second)]
    assert names[-2:] == ["claude/1", "claude/1/prompt"]
    assert names[:-2] == [""]


@pytest.mark.parametrize("shortmess", ["", "filnxtToOCF"])
def test_a_session_file_asks_for_no_key(start_screen: StartScreen, tmp_path: Path, shortmess: str) -> None:
    script = tmp_path / "s.vim"
    (tmp_path / "code.txt").write_text("code")
    first = start_screen(init=INIT + AGENT, files=(str(tmp_path / "code.txt"),))
    first.command("AcpChat")
    first.command(f"mksession! {script}")
    second = start_screen(init=INIT + AGENT + f"vim.o.shortmess = '{shortmess}'", size=(180, 24))
    second.keys(f":source {script}<CR>")
    second.wait("This chat ended with the Neovim it was in.")
    assert not second.blocked(), second.text()
    assert second.api.get_option_value("shortmess", {}) == shortmess


def test_a_typed_name_says_that_there_is_no_chat(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("edit acp://nobody/7")
    assert nvim.lines()[0] == "This chat ended with the Neovim it was in."
    assert nvim.lines()[2] == ":AcpChat  opens a new one here"
    assert nvim.api.get_option_value("filetype", {}) == ""


def test_edit_again_keeps_the_transcript(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    frame(nvim, 1, ["✓ run    x", "  │ out"], folds=[[0, 1, True]])
    go_to_transcript(nvim)
    before = nvim.lines()
    nvim.command("edit")
    assert nvim.lines() == before
    frame(nvim, 2, ["after"])
    assert nvim.lines() == [*before, "after"]
    assert events(nvim, "close") == []


def test_the_users_filetype_plugin_wins(start_nvim: StartNvim) -> None:
    nvim = start_nvim(
        init=INIT
        + AGENT
        + """
vim.api.nvim_create_autocmd('FileType', { pattern = { 'acp-chat', 'acp-prompt' }, callback = function()
  vim.keymap.set('n', 'K', 'gg', { buffer = true })
  vim.opt_local.cursorline, vim.opt_local.wrap = true, false
end })"""
    )
    nvim.command("AcpChat")
    go_to_transcript(nvim)
    assert nvim.funcs.maparg("K", "n") == "gg"
    assert nvim.api.get_option_value("cursorline", {}) is True
    assert nvim.api.get_option_value("wrap", {}) is False


def test_the_first_command_does_only_what_its_screen_needs(start_nvim: StartNvim) -> None:
    """What may take long comes once the windows are drawn, or not at all.

    But the filetype of the prompt: Insert mode begins there at once, and completion plugins look for it then.
    """
    nvim = start_nvim(init=INIT + AGENT)
    hashed, version, filetypes = nvim.lua("""
        local hashed, sha256 = 0, vim.fn.sha256
        vim.fn.sha256 = function(...) hashed = hashed + 1 return sha256(...) end
        vim.cmd.AcpChat()
        return { hashed, package.loaded['vim.version'] ~= nil, vim.tbl_map(function(win)
          return vim.bo[vim.api.nvim_win_get_buf(win)].filetype
        end, vim.api.nvim_list_wins()) }
    """)
    assert (hashed, version, filetypes) == (0, False, ["", "", "acp-prompt"])
    transcript = buffer(nvim, TRANSCRIPT)
    eventually(lambda: nvim.api.get_option_value("filetype", {"buf": transcript}) == "acp-chat")


def test_keymaps_can_be_changed_and_left_out(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.setup(
        {
            "agents": {"claude": {"command": ["sh"]}},
            "keymaps": {
                "transcript": {"close": False, "help": ["g?", "<F1>"]},
                "prompt": {"send": "<C-Return>"},
                "both": False,
            },
        }
    )
    nvim.command("AcpChat claude")
    assert nvim.funcs.maparg("<C-s>", "i", False, True).get("buffer", 0) == 0
    assert nvim.funcs.maparg("<C-Return>", "i") != ""
    actions = nvim.lua("return #require('acp.chat.purposes').prompt")
    assert nvim.lua("return #vim.api.nvim_buf_get_keymap(0, 'n')") == actions
    go_to_transcript(nvim)
    assert nvim.funcs.maparg("q", "n") == ""
    assert nvim.funcs.maparg("<F1>", "n", False, True)["desc"] == "acp: these keys"


def test_all_maps_are_described(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    for name in (TRANSCRIPT, PROMPT):
        for mode in "nix":
            for entry in nvim.api.buf_get_keymap(buffer(nvim, name), mode):
                assert entry["desc"].startswith("acp: "), entry


def test_a_normal_turn_writes_no_message(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.api.command("AcpChat")
    nvim.keys("hello<C-s><Esc>")
    frame(nvim, 1, ["❯ hello", ""], kind="user", tail=1)
    nvim.lua("require('acp.status').update(1, { state = 'running' }, 1)")
    frame(nvim, 2, ["Hi.", ""], kind="answer", tail=1)
    nvim.lua("require('acp.status').update(1, { state = 'idle' }, 1)")
    nvim.lua("require('acp.events').fire(1, 'AcpTurnEnd', { stop_reason = 'end_turn' })")
    nvim.command("redraw")
    assert nvim.messages() == ""
