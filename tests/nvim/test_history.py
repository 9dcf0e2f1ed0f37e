"""The history of prompts in a Neovim: walked through, searched, kept for the next one, forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.stub import AGENT, INIT, events, status
from tests.nvim.trouble import Chat, kill_host, ready_chat
from tests.plugin import Neovim, StartNvim, StartScreen, eventually

DONE = {"reply": {"stopReason": "end_turn"}}


def lua_loaded(nvim: Neovim, *texts: str) -> None:
    """Tell what stands in the file of the chat's folder, as the host does."""
    cwd = nvim.lua("return require('acp.chat').get(1).cwd")
    nvim.lua("require('acp.chat.history').loaded(...)", cwd, list(texts))


@pytest.fixture
def nvim(start_nvim: StartNvim) -> Neovim:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    lua_loaded(nvim, "older", "old\nlines")
    return nvim


def test_the_draft_stays_while_walking_and_is_sent_on_its_own(nvim: Neovim) -> None:
    nvim.keys("draft<Esc>[[")
    assert nvim.lines() == ["old", "lines"]
    nvim.keys("[[[[")
    assert nvim.lines() == ["older"]
    nvim.keys("A and changed<Esc>]]")
    assert nvim.lines() == ["old", "lines"]
    nvim.keys("[[")
    assert nvim.lines() == ["older and changed"]
    nvim.keys("<CR>")
    (sent,) = events(nvim, "send")
    assert sent["text"] == "older and changed"
    assert nvim.lines() == ["draft"]
    nvim.keys("[[")
    assert nvim.lines() == ["older and changed"]
    nvim.keys("[[[[")
    assert nvim.lines() == ["older"]  # unchanged in the history
    nvim.keys("9]]u")
    assert nvim.lines() == ["older"]


def test_what_comes_back_from_a_failure_does_not_mix_with_what_is_looked_at(nvim: Neovim) -> None:
    nvim.keys("draft<Esc>[[")
    nvim.lua("require('acp.chat.prompt').restore(1, 'unsent')")
    assert nvim.lines() == ["unsent", "draft"]
    nvim.keys("[[A!<Esc>")
    assert nvim.lines() == ["old", "lines!"]
    nvim.lua("require('acp.chat.prompt').restore(1, 'again')")
    assert nvim.lines() == ["again", "old", "lines!", "unsent", "draft"]


def test_it_is_searched_by_the_users_own_select(nvim: Neovim) -> None:
    nvim.lua("""
        vim.ui.select = function(items, opts, done)
          _G.asked = { kind = opts.kind, items = vim.tbl_map(opts.format_item, items) }
          done(items[1])
        end
    """)
    lua_loaded(nvim, "Fix the parser", "other", "the parser\nagain, \x1b[2J please")
    nvim.keys("draft<Esc>:AcpHistory PARSER the<CR>")
    asked: dict[str, Any] = nvim.lua("return _G.asked")
    assert asked["kind"] == "acp_history"
    assert [item.split()[:2] for item in asked["items"]] == [["the", "parser"], ["Fix", "the"]]
    assert "\x1b" not in asked["items"][0] and "\n" not in asked["items"][0]
    assert nvim.lines() == ["the parser", "again, \x1b[2J please"]
    nvim.keys("9]]")
    assert nvim.lines() == ["draft"]
    nvim.keys(":AcpHistory nowhere to be found<CR>")
    assert "no prompt with these words was sent in" in nvim.messages().replace("\n", "")
    assert nvim.lines() == ["draft"]
    assert {each["cwd"] for each in events(nvim, "history")} == {events(nvim, "open")[0]["cwd"]}


def test_without_a_chat_there_is_none(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    for command in ("AcpHistory", "AcpHistory!", "AcpQueue"):
        nvim.keys(f":{command}<CR>")
    assert nvim.messages().count("there is no chat") == 3
    assert status(nvim)["state"] == "none"


def test_the_next_neovim_has_it_until_it_is_forgotten(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()

    settings = {**agent({"session/prompt": [[DONE]]}).settings, "env": {"API_TOKEN": "hunter2hunter2"}}

    def begin() -> Chat:
        env = {"XDG_STATE_HOME": str(tmp_path / "state")}
        return ready_chat(start_screen, settings, cwd=folder, env=env)

    first = begin()
    first.submit("mention hunter2hunter2 once")
    first.until("── done")
    first.submit("two")
    eventually(lambda: first.text.count("── done") == 2)
    files = tmp_path / "state" / "nvim" / "acp.nvim"
    eventually(lambda: any(b"two" in path.read_bytes() for path in files.glob("prompts-*.json")))
    assert not any(b"hunter2" in path.read_bytes() for path in files.iterdir())
    second = begin()
    screen = second.screen
    loaded = "return #require('acp.chat.history').list(require('acp.chat').get(1).cwd)"
    eventually(lambda: screen.lua(loaded) == 2)
    screen.api.set_current_win(screen.funcs.bufwinid(second._prompt))
    screen.keys("[[")
    second.until_prompt("two")
    screen.keys("[[")
    second.until_prompt("mention ••• once")
    screen.keys("9]]")
    kill_host(screen)
    second.until("host ended")
    screen.keys("[[")  # also without a host
    second.until_prompt("two")
    screen.keys("9]]:AcpHistory!<CR>")
    screen.wait("sent in this folder are forgotten")
    eventually(lambda: not list(files.glob("prompts-*.json")))
    screen.keys("[[")
    assert second.prompt == ""
