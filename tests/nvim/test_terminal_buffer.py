"""Terminal buffers: all of a command's output with its colours, live, and nothing else."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import Chat
from tests.nvim.terminal_kit import ask, create, done, gate, play, sh, show
from tests.plugin import StartScreen, eventually

NAME = "acp://x/1/terminal/1"


def go_to_row(chat: Chat, wanted: str) -> None:
    """Put the cursor on a line of the transcript."""
    chat.screen.lua(
        "local chat = require('acp.chat').get(...)"
        " vim.api.nvim_set_current_win(require('acp.chat.windows').find(chat).transcript)",
        chat.n,
    )
    chat.screen.keys("<Esc>")
    row = next(n for n, line in enumerate(chat.text().split("\n"), 1) if wanted in line)
    chat.screen.lua("local row = ... vim.api.nvim_win_set_cursor(0, { row, 0 })", row)


def open_terminal(chat: Chat, wanted: str = "npm test", name: str = NAME) -> int:
    """``<CR>`` on a line of the transcript; the terminal's buffer."""
    go_to_row(chat, wanted)
    chat.screen.keys("<CR>")
    eventually(lambda: chat.screen.funcs.bufname() == name, message=lambda: chat.screen.text())
    return int(chat.screen.funcs.bufnr())


def content(chat: Chat, buf: int) -> str:
    return "\n".join(chat.screen.lines(buf)).rstrip("\n")


def wait_content(chat: Chat, buf: int, wanted: str) -> None:
    eventually(lambda: content(chat, buf) == wanted, message=lambda: repr(content(chat, buf)))


def bar(chat: Chat) -> str:
    code = "return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str"
    return " ".join(str(chat.screen.lua(code)).split())


@pytest.mark.req("V1-120", "V1-195")
def test_all_of_it_with_colours_and_live(start_screen: StartScreen, agent: MakeAgent) -> None:
    evil = r"\033]52;c;ZXZpbA==\007\033]0;evil\007\033[?1049h\033[6n\007"
    red, progress = r"\033[31mX%s\033[0m\n", r"1%%\r\033[K2%%\n"
    program = f"seq 1 100; printf '{evil}{red}' RED; {gate('one')}; printf '{progress}'; {gate('two')}"
    chat = play(start_screen, agent, [*sh("t", program), show("t"), *ask("wait_for_exit", "t", "w"), done()])
    screen = chat.screen
    title, before = screen.lua("return vim.o.titlestring"), len(screen.api.list_wins())
    chat.send()
    chat.wait("│ XRED")
    buf = open_terminal(chat)
    lines = [str(n) for n in range(1, 101)]
    wait_content(chat, buf, "\n".join([*lines, "XRED"]))
    assert len(screen.api.list_wins()) == before + 1
    assert "running" in bar(chat)
    eventually(lambda: colour(chat, "XRED") is not None)
    (screen.cwd / "one").touch()
    wait_content(chat, buf, "\n".join([*lines, "XRED", "2%"]))
    (screen.cwd / "two").touch()
    chat.wait_turn()
    eventually(lambda: bar(chat).endswith("exit 0 q closes"), message=lambda: bar(chat))
    options = (
        "return { vim.bo.filetype, vim.bo.buftype, vim.bo.buflisted, vim.bo.modifiable, vim.b.acp_chat }"
    )
    assert screen.lua(options) == ["acp-terminal", "terminal", False, False, 1]
    assert screen.lua("return vim.o.titlestring") == title
    assert screen.lua("return require('acp.chat').current().n") == chat.n


def colour(chat: Chat, text: str) -> Any:
    """The colour of a text in the current window, None for the default one."""
    top, left = chat.screen.funcs.win_screenpos(0)
    rows = chat.screen.pump().rows()
    row = next(n for n in range(top, len(rows)) if rows[n][left - 1 :].startswith(text))
    return chat.screen.attr_at(row, left - 1).get("foreground")


def test_nothing_can_be_typed_and_q_goes_back(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(start_screen, agent, [*sh("t", "echo out; sleep 600"), show("t"), done()])
    chat.screen.lua("vim.api.nvim_create_autocmd('TermOpen', { command = 'startinsert' })")
    chat.send()
    chat.wait_turn()
    chat.wait("│ out")
    buf = open_terminal(chat)
    wait_content(chat, buf, "out")
    transcript = chat.screen.lua(
        "return require('acp.chat.windows').find(require('acp.chat').get(1)).transcript"
    )
    assert chat.screen.api.get_mode()["mode"] in ("n", "nt")
    chat.screen.command("startinsert")
    chat.screen.keys("rm -rf x<CR>")
    chat.screen.keys("<Esc>")
    eventually(lambda: chat.screen.api.get_mode()["mode"] in ("n", "nt"))
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(buf))
    assert content(chat, buf) == "out"
    chat.screen.clear_messages()  # what was typed was refused
    chat.screen.keys("q")
    eventually(lambda: not chat.screen.api.buf_is_valid(buf))
    assert chat.screen.api.get_current_win().handle == transcript
    assert row_of(chat) == "✓ run    npm test  still running"
    again = open_terminal(chat)
    wait_content(chat, again, "out")  # closing it has lost nothing


def row_of(chat: Chat, name: str = "npm test") -> str:
    return next((line for line in chat.text().split("\n") if name in line and "│" not in line), "")


@pytest.mark.req("V1-188")
def test_of_a_released_terminal_and_of_the_agents_own(start_screen: StartScreen, agent: MakeAgent) -> None:
    own: dict[str, Any] = {
        "terminal_info": {"terminal_id": "c2"},
        "terminal_output": {"terminal_id": "c2", "data": "\x1b[1mtold\x1b[0m\n"},
        "terminal_exit": {"terminal_id": "c2", "exit_code": 2},
    }
    chat = play(
        start_screen,
        agent,
        [
            *sh("t", "seq 1 60"),
            show("t"),
            *ask("wait_for_exit", "t", "w"),
            *ask("release", "t", "r"),
            done(),
            show("c2", call="c2", title="npm run lint", content=[], _meta=own),
            done("c2", "failed"),
        ],
    )
    chat.send()
    chat.wait_turn()
    buf = open_terminal(chat)
    wait_content(chat, buf, "\n".join(str(n) for n in range(1, 61)))
    chat.screen.keys("q")
    buf = open_terminal(chat, "npm run lint", "acp://x/1/terminal/2")
    wait_content(chat, buf, "told")
    assert bar(chat) == "terminal npm run lint exit 2 q closes"


def test_the_body_opens_the_terminal_it_is_of(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [*sh("a", "echo first; sleep 600"), *sh("b", "echo second; sleep 600"), show("a", "b")],
    )
    chat.send()
    chat.wait_turn()
    chat.wait("│ second")
    chat.screen.lua(
        "vim.wo[require('acp.chat.windows').find(require('acp.chat').get(1)).transcript].foldenable = false"
    )
    buf = open_terminal(chat, "│ second", "acp://x/1/terminal/2")
    wait_content(chat, buf, "second")
    buf = open_terminal(chat, "│ first", "acp://x/1/terminal/1")
    wait_content(chat, buf, "first")
    open_terminal(chat, "npm test", "acp://x/1/terminal/1")  # the one that is open already
    assert [name for name in names(chat) if "terminal" in name] == [
        "acp://x/1/terminal/1",
        "acp://x/1/terminal/2",
    ]


def names(chat: Chat) -> list[str]:
    return sorted(chat.screen.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())"))


def test_in_a_tab_page_of_its_own(start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [*sh("t", "echo out"), show("t"), *ask("wait_for_exit", "t", "w"), done()]
    chat = play(start_screen, agent, actions, settings={"terminal": {"layout": "tab"}})
    chat.send()
    chat.wait_turn()
    before = chat.screen.api.list_wins()
    buf = open_terminal(chat)
    wait_content(chat, buf, "out")
    assert len(chat.screen.api.list_tabpages()) == 2
    chat.screen.keys("q")
    eventually(lambda: len(chat.screen.api.list_tabpages()) == 1)
    assert chat.screen.api.list_wins() == before


def test_the_view_follows_only_from_the_end(start_screen: StartScreen, agent: MakeAgent) -> None:
    program = f"seq 1 200; {gate('one')}; seq 201 300; {gate('two')}; seq 301 400"
    chat = play(start_screen, agent, [*sh("t", program), show("t"), *ask("wait_for_exit", "t", "w"), done()])
    chat.send()
    chat.wait("│ 200")
    buf = open_terminal(chat)
    eventually(lambda: "200" in chat.screen.lines(buf))
    eventually(lambda: chat.screen.funcs.line("w$") >= 200)
    chat.screen.keys("gg")
    eventually(lambda: chat.screen.funcs.line(".") == 1)
    (chat.screen.cwd / "one").touch()
    eventually(lambda: "300" in chat.screen.lines(buf))
    assert (chat.screen.funcs.line("."), chat.screen.funcs.line("w0")) == (1, 1)
    chat.screen.keys("G")
    (chat.screen.cwd / "two").touch()
    eventually(lambda: "400" in chat.screen.lines(buf))
    eventually(lambda: chat.screen.funcs.line("w$") >= 400)


def test_a_flood_is_bounded_and_the_user_goes_on_working(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *create("t", "yes", "an endless line of output"),
            show("t"),
            {"wait": "session/cancel"},
            *ask("kill", "t", "k"),
            done(),
        ],
    )
    chat.send()
    chat.wait("│ an endless")
    chat.screen.lua("""
      local terminal = require('acp.terminal')
      local feed = terminal.feed
      _G.sizes = {}
      terminal.feed = function(id, data, info)
        table.insert(_G.sizes, #data)
        return feed(id, data, info)
      end
    """)
    buf = open_terminal(chat)
    eventually(lambda: chat.screen.lua("return #sizes") > 30)
    assert max(chat.screen.lua("return sizes")) < 70_000
    assert chat.screen.api.buf_line_count(buf) <= 10_100
    chat.cancel()
    chat.wait_turn()
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(buf))
    eventually(lambda: "SIGTERM" in bar(chat), message=lambda: bar(chat))
    assert "left out]" in content(chat, buf)
    assert set(content(chat, buf).split("\n")[-100:-1]) == {"an endless line of output"}


@pytest.mark.parametrize("command", ["edit", "edit!", "bunload", "only | vertical resize 20"])
def test_what_the_user_does_to_the_window(command: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [*sh("t", "echo out"), show("t"), *ask("wait_for_exit", "t", "w"), done()]
    chat = play(start_screen, agent, actions)
    chat.send()
    chat.wait_turn()
    buf = open_terminal(chat)
    wait_content(chat, buf, "out")
    chat.screen.command(f"silent! {command}")
    assert "This chat ended" not in content(chat, int(chat.screen.funcs.bufnr()))
    chat.focus()
    again = open_terminal(chat)
    wait_content(chat, again, "out")


def test_of_a_host_that_was_lost(start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [*sh("t", "echo out"), show("t"), *ask("wait_for_exit", "t", "w"), done()]
    chat = play(start_screen, agent, actions)
    chat.send()
    chat.wait_turn()
    os.kill(chat.screen.host()["pid"], 9)
    eventually(lambda: chat.screen.host()["state"] != "ready")
    chat.screen.clear_messages()
    before = len(chat.screen.api.list_wins())
    go_to_row(chat, "npm test")
    chat.screen.keys("<CR>")
    eventually(lambda: "nothing to show" in chat.screen.messages() or "lost" in chat.screen.messages())
    assert len(chat.screen.api.list_wins()) == before
    chat.screen.clear_messages()
