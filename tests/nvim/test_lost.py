"""What a transcript shows when the host is gone: nothing in it goes on looking alive."""

from __future__ import annotations

import pytest
from tests.nvim.stub import AGENT, INIT, TRANSCRIPT, buffer, events, frame, update
from tests.plugin import Neovim, Screen, StartNvim, StartScreen


def lose(nvim: Neovim, reason: str = "host ended (signal 9)", host: str = "off") -> None:
    nvim.lua("_G.host_state = ...", host)
    nvim.lua("require('acp.status').host_lost(...)", reason)


def text(nvim: Neovim) -> list[str]:
    return nvim.lines(buffer(nvim, TRANSCRIPT))


@pytest.fixture
def chat(start_nvim: StartNvim) -> Neovim:
    nvim = start_nvim(init=INIT + AGENT, python=None)
    nvim.command("AcpChat")
    return nvim


@pytest.mark.parametrize(
    ("row", "settled"),
    [
        ("● run    make  12 s", "✗ run    make  12 s  no answer"),
        ("○ edit   a.txt", "✗ edit   a.txt  no answer"),
        ("○ run    make  paused", "✗ run    make  no answer"),
        ("? run    make  waiting for you", "✗ run    make  no answer"),
        ("? run    make  waiting for you (12)", "✗ run    make  no answer"),
        (
            "? run    echo '  waiting for you' now  waiting for you",
            "✗ run    echo '  waiting for you' now  no answer",
        ),
        ("● run    echo '  paused' && ls", "✗ run    echo '  paused' && ls  no answer"),
        ("✓ run    make", "✓ run    make"),
        ("✗ run    make  failed, exit 1", "✗ run    make  failed, exit 1"),
    ],
)
def test_only_what_was_not_over_is_settled(chat: Neovim, row: str, settled: str) -> None:
    frame(chat, 1, [row, "  │ ● of its output  waiting for you"])
    lose(chat)
    lines = text(chat)
    assert lines[3:5] == [settled, "  │ ● of its output  waiting for you"]


def test_colours_tell_the_same_as_the_words(start_screen: StartScreen) -> None:
    screen: Screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.command("AcpChat")
    row = "? run    make  waiting for you"
    end = len(row)
    marks = [[0, 0, 1, "AcpWaiting"], [0, 9, 13, "AcpCommand"], [0, end - 15, end, "AcpWaiting"]]
    frame(screen, 1, [row, "  │ out"], marks=marks, folds=[[0, 1, True, [[row, "AcpWaiting"]]]])
    lose(screen)
    screen.wait("✗ run    make  no answer ▸")
    at, col = screen.find("✗ run    make  no answer")
    for offset, group in ((0, "DiagnosticError"), (9, "String"), (16, "DiagnosticError")):
        assert screen.groups_at(at, col + offset)[-1] == group


def test_before_anything_was_said_the_head_tells(chat: Neovim) -> None:
    first = text(chat)[0]
    chat.keys("hello<C-s>")
    for _ in range(2):
        lose(chat, "python3 has no package 'anyio'", "failed")
        assert text(chat) == [
            first,
            "✗ python3 has no package 'anyio'",
            "  │ Your text is back in the prompt.",
            "  │ :AcpInstall makes an environment; this chat goes on",
            "",
        ]
        assert chat.lines() == ["hello"]
        chat.keys("<C-s>")


def test_later_a_note_tells_once(chat: Neovim) -> None:
    frame(chat, 1, ["✓ run    make"])
    for _ in range(2):
        lose(chat)
    assert text(chat)[3:] == [
        "✓ run    make",
        "",
        "✗ host ended (signal 9)",
        "  │ :AcpRestart starts it again",
        "",
    ]


def test_a_python_the_user_has_named(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.g.acp_python = '/no/such'")
    nvim.command("AcpChat")
    lose(nvim, "cannot run /no/such", "failed")
    assert text(nvim)[2:4] == [
        "  │ It was named by g:acp_python, or by the setting. Without them",
        "  │ :AcpInstall makes an environment; this chat goes on",
    ]
    update(nvim, {"state": "starting"})


@pytest.mark.parametrize("open_it", ["normal g?", "lua require('acp.install').run()"])
def test_a_float_has_a_name_in_a_statusline_for_all(start_screen: StartScreen, open_it: str) -> None:
    screen = start_screen(init=INIT + AGENT + "vim.o.laststatus = 3", size=(100, 50))
    screen.lua("require('acp.install').start = function() end")
    screen.command("AcpChat")
    screen.leave_insert()
    screen.command(open_it)
    screen.lua(
        "for _, win in ipairs(vim.api.nvim_list_wins()) do"
        " if vim.api.nvim_win_get_config(win).relative ~= '' then vim.api.nvim_set_current_win(win) end end"
    )
    screen.wait(" acp: ")
    assert "Scratch" not in screen.text()


QUEUE = "require('acp.chat.prompt').queue(1, ...)"


def test_a_prompt_that_the_host_had_taken_and_not_shown_comes_back(chat: Neovim) -> None:
    update(chat, {"state": "idle"})
    chat.keys("one<C-s>two<C-s>three<C-s>")
    chat.lua(QUEUE, [{"id": 2, "text": "two"}, {"id": 3, "text": "three"}], 3)
    update(chat, {"state": "running", "queued": 2}, seen=3)
    chat.keys("draft")
    lose(chat)
    assert chat.lines() == ["one", "two", "three", "draft"]


def test_a_prompt_that_stands_in_the_transcript_does_not(chat: Neovim) -> None:
    update(chat, {"state": "idle"})
    chat.keys("one<C-s>two<C-s>three<C-s>")
    chat.lua(QUEUE, [{"id": 2, "text": "two"}, {"id": 3, "text": "three"}], 3)
    update(chat, {"state": "running", "queued": 2}, seen=3)
    frame(chat, 1, ["❯ one", ""], kind="user")
    chat.lua(QUEUE, [{"id": 3, "text": "three"}], 3)
    lose(chat)
    assert chat.lines() == ["two", "three"], "which is on its way"


def test_a_prompt_that_came_back_or_was_dropped_comes_back_once(chat: Neovim) -> None:
    update(chat, {"state": "running"})
    chat.keys("one<C-s>two<C-s>three<C-s>")
    rows = [{"id": 1, "text": "one"}, {"id": 2, "text": "two"}, {"id": 3, "text": "three"}]
    chat.lua(QUEUE, rows, 3)
    chat.keys("<Esc>2[[S<Esc><CR>")
    assert events(chat, "queued")[-1]["text"] == "", "two is dropped"
    chat.lua(QUEUE, [rows[0], rows[2]], 4)
    chat.lua(QUEUE, [rows[2]], 4)
    chat.lua("require('acp.chat.prompt').restore(1, 'one', { 1 })")
    assert chat.lines() == ["one"]
    lose(chat)
    assert chat.lines() == ["three", "one"]


def test_a_queue_the_user_has_emptied_does_not_come_back(chat: Neovim) -> None:
    update(chat, {"state": "running"})
    chat.keys("one<C-s>two<C-s>draft")
    chat.lua(QUEUE, [{"id": 1, "text": "one"}, {"id": 2, "text": "two"}], 2)
    update(chat, {"queued": 2}, seen=2)
    chat.leave_insert()
    chat.command("AcpCancel!")
    chat.lua(QUEUE, [], 2)
    lose(chat)
    assert chat.lines() == ["draft"]
