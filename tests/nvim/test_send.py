"""`:AcpSend`: what is sent, with which lines, and where the user sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import AGENT, INIT, events, status
from tests.plugin import StartNvim, StartScreen, eventually


def test_send_is_raw(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.lua("require('acp.status').update(1, { state = 'idle' }, 0)")
    nvim.command("""AcpSend  what is "%" | echo 'x' <C-x> \\n in # ~ """.rstrip())
    (sent,) = events(nvim, "send")
    assert sent["text"] == """what is "%" | echo 'x' <C-x> \\n in # ~"""
    assert (sent["seq"], sent["now"], sent["context"]) == (1, False, [])
    nvim.command("AcpSend! now")
    assert events(nvim, "send")[1]["now"] is True
    assert events(nvim, "send")[1]["seq"] == 2


def test_a_send_to_a_hidden_chat_says_where_it_went(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(80, 24))
    screen.command("AcpChat")
    screen.lua("require('acp.status').update(1, { state = 'idle', label = 'Claude' }, 0)")
    screen.keys("a draft<Esc>:AcpSend shown<CR>")
    eventually(lambda: len(events(screen, "send")) == 1)
    screen.wait(lambda text: "sent to" not in text)
    screen.keys(":q<CR>")
    eventually(lambda: len(screen.api.list_wins()) == 1)
    screen.lua("require('acp.status').update(1, { state = 'idle' }, 1)")
    screen.keys(":AcpSend one<CR>")
    screen.wait("acp: sent to Claude")
    screen.keys(":AcpSend two<CR>")
    screen.wait("acp: queued for Claude")
    screen.keys(":AcpSend<CR>")  # the draft
    eventually(lambda: len(events(screen, "send")) == 4)
    assert events(screen, "send")[3]["text"] == "a draft"
    screen.lua("require('acp.status').update(1, { state = 'failed' }, 4)")
    screen.keys(":AcpSend three<CR>")
    screen.wait("acp: not sent: Claude is not running; :AcpRestart")
    assert not screen.blocked()
    assert len(screen.api.list_wins()) == 1


@pytest.mark.parametrize(
    ("prepare", "source"),
    [
        ("help help.txt", "From the help file help.txt:"),
        ("terminal echo x", "From the terminal term://"),
        ("file notes | setlocal buftype=nofile", "From notes:"),
        ("setlocal buftype=nofile", ""),
    ],
)
def test_lines_of_other_buffers_name_their_source(start_nvim: StartNvim, prepare: str, source: str) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command(prepare)
    if prepare.startswith("terminal"):
        eventually(lambda: nvim.lines()[0] == "x")
    first = nvim.lines()[0]
    nvim.command("1AcpSend look")
    nvim.command("1AcpSend")
    expected = [f"```\n{first}\n```"]
    if source:
        expected.insert(0, "From ")
    text = events(nvim, "send")[0]["text"]
    for part in ("look\n\n", *expected, source):
        assert part in text
    assert "\n".join(nvim.lines()) == text.removeprefix("look\n\n") + "\n"


def test_a_fence_is_longer_than_those_in_the_text(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.api.buf_set_lines(0, 0, -1, False, ["```", "x", "````"])
    nvim.command("%AcpSend look")
    assert events(nvim, "send")[0]["text"] == "look\n\n`````\n```\nx\n````\n`````"


def test_send_without_a_chat_opens_one_and_leaves_the_focus(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120")
    window = nvim.api.get_current_win()
    nvim.command("AcpSend hello")
    assert [name for name, _ in events(nvim) if name != "settings"] == ["open", "send"]
    assert nvim.api.get_current_win() == window
    assert status(nvim)["queued"] == 1


def test_a_range_is_context(start_nvim: StartNvim, tmp_path: Path) -> None:
    path = tmp_path / "date.py"
    path.write_text("one\ntwo\nthree\n")
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120", cwd=tmp_path, files=(str(path),))
    nvim.command("2,3AcpSend explain this")
    (sent,) = events(nvim, "send")
    assert sent["text"] == "explain this"
    assert sent["context"] == [{"path": str(path), "first": 2, "last": 3, "text": "two\nthree"}]
    nvim.command("1AcpSend")
    assert nvim.lines() == ["@date.py:1 "]
    assert nvim.api.buf_get_name(0) == "acp://claude/1/prompt"
    nvim.keys("goes<Esc>")
    nvim.keys("<CR>")
    sent = events(nvim, "send")[1]
    assert (sent["text"], sent["context"]) == ("@date.py:1 goes", [])
    assert nvim.lines() == [""]


def test_lines_of_a_buffer_without_a_file_go_as_text(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.api.buf_set_lines(0, 0, -1, False, ["x", "y"])
    nvim.command("%AcpSend look")
    (sent,) = events(nvim, "send")
    assert (sent["text"], sent["context"]) == ("look\n\n```\nx\ny\n```", [])
