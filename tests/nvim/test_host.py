"""The host starts with the first event, without waiting, and events reach it in order."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim, StartScreen, eventually, kill, marked

RECORD = """
local sent, notify = {}, vim.rpcnotify
vim.rpcnotify = function(channel, method, ...)
  if method:match('^acp:') then table.insert(sent, { method, ... }) end
  return notify(channel, method, ...)
end
_G.blocking = 0
for _, name in ipairs({ 'rpcrequest', 'jobwait', 'system', 'systemlist' }) do
  local original = vim.fn[name]
  vim.fn[name] = function(...) _G.blocking = _G.blocking + 1 return original(...) end
end
local request, wait = vim.rpcrequest, vim.wait
vim.rpcrequest = function(...) _G.blocking = _G.blocking + 1 return request(...) end
vim.wait = function(...) _G.blocking = _G.blocking + 1 return wait(...) end
_G.sent = sent
"""
"""Lua: keep what is sent to the host, and count the calls that would wait."""


def event(nvim: Neovim, name: str, **payload: Any) -> None:
    nvim.lua("require('acp.host').event(...)", name, payload)


def sent(nvim: Neovim) -> list[list[Any]]:
    return list(nvim.lua("return sent"))


def names(nvim: Neovim) -> list[str]:
    return [message[1] for message in sent(nvim) if message[0] == "acp:event"]


@pytest.fixture
def recorded(nvim: Neovim) -> Neovim:
    nvim.lua(RECORD)
    return nvim


def test_loading_the_plugin_starts_nothing(nvim: Neovim) -> None:
    assert nvim.host()["state"] == "off"
    assert list(marked(nvim.marker)) == [nvim.pid]


def test_the_first_event_starts_the_host_and_waits_for_nothing(recorded: Neovim) -> None:
    event(recorded, "trace", agent="x", buf=1)
    assert recorded.host()["state"] == "starting"
    assert recorded.lua("return blocking") == 0
    pid = recorded.host_ready()
    assert pid in marked(recorded.marker)
    assert recorded.lua("return blocking") == 0


def test_hello_comes_first_and_says_what_the_host_must_know(recorded: Neovim) -> None:
    event(recorded, "trace", agent="x", buf=1)
    [hello] = sent(recorded)
    assert hello[0] == "acp:hello"
    assert set(hello[1]) == {"settings", "version", "icons", "cache", "state", "seq"}
    assert hello[1]["icons"] in {"unicode", "ascii"}
    assert hello[1]["seq"] == 1
    version = recorded.lua("local v = vim.version() return ('%d.%d.%d'):format(v.major, v.minor, v.patch)")
    assert hello[1]["version"] == version


def test_events_are_kept_until_the_host_is_ready_and_stay_in_order(recorded: Neovim) -> None:
    recorded.lua("for i = 1, 5 do require('acp.host').event('trace', { agent = tostring(i), buf = 1 }) end")
    assert names(recorded) == []
    recorded.host_ready()
    event(recorded, "trace", agent="6", buf=1)
    assert [message[2]["agent"] for message in sent(recorded)[1:]] == list("123456")


@pytest.mark.parametrize("name", ["settings", "close", "cancel", "answer", "shown"])
def test_events_that_need_no_host_start_none(recorded: Neovim, name: str) -> None:
    event(recorded, name, chat=1)
    assert recorded.host()["state"] == "off"
    assert sent(recorded) == []


def test_a_crash_is_told_once_and_the_next_command_starts_it_again(recorded: Neovim) -> None:
    event(recorded, "trace", agent="x", buf=1)
    first = recorded.host_ready()
    kill(first)
    eventually(lambda: recorded.host()["state"] == "off")
    eventually(lambda: "host ended" in recorded.messages())
    assert recorded.messages().count("acp:") == 1
    assert ":AcpInstall" in recorded.messages()
    event(recorded, "trace", agent="x", buf=1)
    assert recorded.host_ready() != first
    assert recorded.messages().count("acp:") == 1


def test_a_new_host_is_told_of_a_chat_before_anything_else(recorded: Neovim) -> None:
    recorded.lua("vim.api.nvim_exec2('silent! AcpChat demo', {})")
    kill(recorded.host_ready())
    eventually(lambda: recorded.host()["state"] == "off")
    before = len(names(recorded))
    event(recorded, "send", chat=1, text="x", seq=1)
    recorded.host_ready()
    assert names(recorded)[before:] == ["open", "send"]
    event(recorded, "cancel", chat=1)
    assert names(recorded)[before:] == ["open", "send", "cancel"]
    kill(recorded.host_ready())
    eventually(lambda: recorded.host()["state"] == "off")
    before = len(names(recorded))
    event(recorded, "restart", chat=1)  # opening a chat in a new host is a restart
    recorded.host_ready()
    assert names(recorded)[before:] == ["open"]


def test_stop_and_restart(recorded: Neovim) -> None:
    event(recorded, "trace", agent="x", buf=1)
    first = recorded.host_ready()
    recorded.lua("require('acp.host').stop()")
    assert recorded.host()["state"] == "off"
    eventually(lambda: first not in marked(recorded.marker))
    recorded.lua("require('acp.host').restart()")
    second = recorded.host_ready()
    recorded.lua("require('acp.host').restart()")
    assert recorded.host_ready() not in {first, second}
    assert recorded.messages() == ""


def test_a_late_answer_of_a_stopped_host_is_ignored(recorded: Neovim) -> None:
    recorded.lua("require('acp.host').start()")
    recorded.lua("require('acp.host').restart()")
    recorded.lua("require('acp.host').ready({ seq = 1, pid = 1, python = 'old', version = '3' })")
    assert recorded.host()["state"] == "starting"
    recorded.host_ready()
    assert recorded.lua("return sent[#sent][2].seq") >= 2


def test_an_error_in_the_host_is_one_message_with_details(recorded: Neovim) -> None:
    event(recorded, "no such event", x=1)
    recorded.host_ready()
    recorded.lua("require('acp.host').failed('part', 'Traceback\\nValueError: x')")
    recorded.lua("require('acp.host').failed('part', 'Traceback\\nValueError: x')")
    assert recorded.messages().count("error in the host (part)") == 1
    assert "ValueError: x" in recorded.host()["details"]
    recorded.clear_messages()


def test_update_remote_plugins_works_and_starts_nothing_twice(start_nvim: StartNvim) -> None:
    setup = "vim.g.python3_host_prog = vim.g.acp_python"
    nvim = start_nvim(init=setup)
    nvim.command("UpdateRemotePlugins")
    manifest = next(Path(nvim.home).rglob("rplugin.vim"))
    assert "acp_remote.py" in manifest.read_text()
    # A Neovim that reads this manifest: our commands are ours, and there is one host for us.
    again = start_nvim(init=setup, env={"NVIM_RPLUGIN_MANIFEST": str(manifest)})
    assert again.funcs.exists("#FuncUndefined#_AcpRemoteChannel") == 1
    assert list(marked(again.marker)) == [again.pid]
    event(again, "trace", agent="x", buf=1)
    pid = again.host_ready()
    assert set(marked(again.marker)) == {again.pid, pid}
    assert again.funcs._AcpRemoteChannel() > 0  # the provider's host loads the same file
    event(again, "trace", agent="x", buf=1)
    assert again.host()["pid"] == pid


def test_a_long_path_does_not_need_a_key_press(start_screen: StartScreen) -> None:
    screen = start_screen(python="/a/very/long/path/" + "x" * 100 + "/python")
    screen.lua("require('acp.host').event('trace', { agent = 'x', buf = 1 })")
    screen.wait(":AcpInstall")
    assert not screen.blocked()
    screen.clear_messages()


def test_nothing_is_said_when_neovim_ends(start_screen: StartScreen) -> None:
    screen = start_screen()
    screen.lua("require('acp.host').event('trace', { agent = 'x', buf = 1 })")
    screen.host_ready()
    kill(screen.pid, signal.SIGTERM)
    screen.wait_exit()
