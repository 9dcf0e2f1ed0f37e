"""status(), the winbar, the statusline component, events."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.stub import AGENT, INIT, events, frame, status, update
from tests.plugin import Neovim, Screen, StartNvim, StartScreen, eventually

KEYS = {
    "host",
    "agent",
    "title",
    "session",
    "state",
    "stop_reason",
    "pending",
    "pending_all",
    "queued",
    "follow",
    "mode",
    "model",
    "usage",
    "error",
}


@pytest.fixture
def chat(start_nvim: StartNvim) -> Neovim:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    return nvim


def test_without_a_chat(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + "_G.host_state = 'off'")
    assert status(nvim) == {
        "host": "off",
        "state": "none",
        "pending": 0,
        "pending_all": 0,
        "queued": 0,
        "follow": False,
    }
    assert nvim.lua("return require('acp').statusline()") == ""
    assert nvim.lua("return require('acp').winbar()") == ""
    assert events(nvim) == []


def test_all_that_is_known(chat: Neovim) -> None:
    patch = {
        "title": "T",
        "session": "s",
        "state": "waiting",
        "stop_reason": "end_turn",
        "pending": 2,
        "queued": 1,
        "follow": True,
        "mode": "plan",
        "model": "opus",
        "usage": {"used": 5, "size": 10, "cost": "$1"},
        "error": "e",
        "plan": {"done": 1, "total": 2},
        "label": "Claude",
    }
    update(chat, patch)
    expected = {key: value for key, value in patch.items() if key in KEYS}
    assert status(chat) == {**expected, "host": "ready", "agent": "claude", "pending_all": 2}
    chat.lua("require('acp.status').update(1, { title = vim.NIL, error = vim.NIL, usage = vim.NIL }, 0)")
    assert {"title", "error", "usage"} & status(chat).keys() == set()


def test_of_a_buffer(chat: Neovim) -> None:
    chat.command("AcpChat!")
    update(chat, {"state": "idle", "pending": 1}, chat=1)
    update(chat, {"pending": 2}, chat=2)
    first = chat.funcs.bufnr("acp://claude/1/prompt")
    assert (status(chat, first)["state"], status(chat)["state"]) == ("idle", "starting")
    assert status(chat, first)["pending"] == 1
    assert status(chat, first)["pending_all"] == 3
    assert status(chat, 1)["state"] == "none"
    assert status(chat, 0)["pending"] == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("idle", ("running", 0)),
        ("running", ("running", 1)),
        ("waiting", ("waiting", 1)),
        ("starting", ("starting", 1)),
    ],
)
def test_a_send_shows_at_once(chat: Neovim, before: str, after: tuple[str, int]) -> None:
    update(chat, {"state": before})
    chat.lua("_G.taken = require('acp').send('x')")
    assert (status(chat)["state"], status(chat)["queued"]) == after
    assert chat.lua("return _G.taken") is True


def test_news_from_before_a_send_does_not_undo_it(chat: Neovim) -> None:
    """The seq rule: no moment between a send and its turn looks idle."""
    update(chat, {"state": "idle"})
    seen = []

    def look(patch: dict[str, Any], number: int) -> None:
        update(chat, patch, number)
        seen.append((status(chat)["state"], status(chat)["queued"]))

    chat.lua("require('acp').send('one')")
    look({"state": "idle", "queued": 0}, 0)
    look({"queued": 1}, 1)
    look({"state": "running", "queued": 0}, 1)
    chat.lua("require('acp').send('two')")
    look({"mode": "plan"}, 1)
    look({"state": "idle"}, 1)
    look({"queued": 1}, 2)
    look({"state": "running", "queued": 0}, 2)
    look({"state": "idle", "stop_reason": "end_turn"}, 2)
    running = ("running", 0)
    assert seen == [running, running, running, ("running", 1), ("running", 1), running, running, ("idle", 0)]


def test_a_failure_is_news_whatever_was_sent(chat: Neovim) -> None:
    update(chat, {"state": "idle"})
    chat.lua("require('acp').send('one')")
    update(chat, {"state": "failed", "error": "gone"}, 0)
    assert status(chat)["state"] == "failed"
    chat.lua("require('acp').send('two')")
    assert (status(chat)["state"], status(chat)["queued"]) == ("failed", 0)


@pytest.mark.parametrize("text", ["", " \n", None, 3])
def test_nothing_is_refused(chat: Neovim, text: Any) -> None:
    assert chat.lua("return { require('acp').send(...) }", text) == [None, "nothing to send"]
    assert events(chat, "send") == []


def test_events_have_data_and_come_after_the_status(chat: Neovim) -> None:
    chat.lua("""
      _G.seen = {}
      vim.api.nvim_create_autocmd('User', { pattern = 'Acp*', callback = function(a)
        table.insert(_G.seen, { a.match, a.data, require('acp').status().state })
      end })""")
    update(chat, {"state": "idle", "session": "s1"})
    chat.lua("require('acp.events').fire(1, 'AcpTurnEnd', { stop_reason = 'end_turn' })")
    base = {"agent": "claude", "session": "s1", "bufnr": chat.funcs.bufnr("^acp://claude/1$")}
    wanted = [
        ["AcpTurnEnd", {**base, "stop_reason": "end_turn"}, "idle"],
        ["AcpStatus", base, "idle"],
    ]
    eventually(lambda: len(chat.lua("return _G.seen")) == 2)
    assert sorted(chat.lua("return _G.seen"), key=lambda row: str(row[0])) == sorted(
        wanted, key=lambda row: str(row[0])
    )


def test_a_failing_handler_does_not_stop_us(chat: Neovim) -> None:
    handler = "{ pattern = 'AcpReady', callback = function() error('oops') end }"
    chat.lua(f"vim.api.nvim_create_autocmd('User', {handler})")
    chat.lua("require('acp.events').fire(1, 'AcpReady', {}) _G.reached = true")
    assert chat.lua("return _G.reached") is True
    assert "oops" in chat.messages()
    chat.clear_messages()


def test_an_event_of_a_chat_that_is_gone_is_dropped(chat: Neovim) -> None:
    chat.lua("require('acp.events').fire(9, 'AcpReady', {})")
    update(chat, {"state": "idle"}, chat=9)
    assert status(chat)["state"] == "starting"


WINBAR = [
    ({"state": "starting"}, " claude  ● starting"),
    ({"state": "idle"}, " claude  ready"),
    ({"state": "running"}, " claude  ⠋ running 0:42"),
    ({"state": "running", "plan": {"done": 2, "total": 5}}, " claude  ⠋ running 0:42  plan 2/5"),
    ({"state": "running", "pending": 1}, " claude  ⠋ running 0:42  ? 1 question"),
    ({"state": "waiting", "working": True, "pending": 2}, " claude  ⠋ running 0:42  ? 2 questions"),
    ({"state": "waiting", "pending": 2}, " claude  ? waiting for you (2)"),
    ({"state": "waiting", "pending": 1}, " claude  ? waiting for you"),
    ({"state": "running", "silent": 75}, " claude  silent 75 s, :AcpCancel"),
    ({"state": "running", "cancelling": True}, " claude  cancelling"),
    ({"state": "failed", "error": "x"}, " claude  ✗ failed, :AcpRestart"),
    ({"state": "idle", "label": "My 100% %{bad}\x1b[2J"}, " My 100% %{bad} [2J  ready"),
]


@pytest.mark.parametrize(("patch", "shown"), WINBAR)
def test_winbar(start_screen: StartScreen, patch: dict[str, Any], shown: str) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 20))
    screen.command("AcpChat")
    patch = {"started_ms": screen.lua("return os.time() * 1000") - 42_500 + 1000, **patch}
    update(screen, patch)

    def bar() -> str:
        text = screen.rows()[0][60:]
        return "".join("⠋" if "\u2800" <= char <= "\u28ff" else char for char in text)

    def same() -> bool:
        return bar().replace("0:41", "0:42").replace("0:43", "0:42") == shown

    eventually(same, message=bar)


RIGHT = {
    "state": "idle",
    "mode": "plan",
    "model": "opus",
    "usage": {"used": 53_200, "size": 200_000, "cost": "$0.42"},
}


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, " claude  ready          plan mode · opus · 53k/200k · $0.42"),
        (50, " claude  ready        plan mode · opus · 53k/200k"),
        (40, " claude  ready     plan mode · 53k/200k"),
        (30, " claude  ready       53k/200k"),
        (20, " claude  ready"),
    ],
)
def test_the_right_side_is_dropped_by_rank(chat: Neovim, width: int, shown: str) -> None:
    update(chat, RIGHT)
    text = chat.lua(
        "local bar = require('acp.chat.winbar').render(1, ...)"
        "return vim.api.nvim_eval_statusline(bar, { maxwidth = ... }).str",
        width,
    )
    assert text.rstrip() == shown
    assert len(text) == width or width == 20


@pytest.mark.parametrize(
    ("used", "size", "shown"),
    [
        (0, 0, ""),
        (0, 8000, "0/8k"),
        (999, 1000, "999/1k"),
        (1234, 128_000, "1.2k/128k"),
        (9_999, 8192, "10k/8k"),
        (999_960, 1_000_000, "1M/1M"),
        (1_540_000, 2_000_000, "1.5M/2M"),
        (12_345, 0, "12k tokens"),
        (2_000_000_000, 999_960_000_000, "2G/1T"),
        (2**53, 2**53, "9007T/9007T"),
    ],
)
@pytest.mark.req("V1-157")
def test_usage(chat: Neovim, used: int, size: int, shown: str) -> None:
    update(chat, {"state": "idle", "usage": {"used": used, "size": size}})
    text = chat.lua("return vim.api.nvim_eval_statusline(require('acp.chat.winbar').render(1, 60), {}).str")
    assert text.split("ready")[1].strip() == shown


@pytest.mark.parametrize(("used", "group"), [(84, None), (85, "AcpWarn")])
def test_usage_turns_amber(chat: Neovim, used: int, group: str | None) -> None:
    update(chat, {"state": "idle", "usage": {"used": used, "size": 100}})
    text = chat.lua("return require('acp.chat.winbar').render(1, 60)")
    assert ("AcpWarn" in text) == (group is not None)


@pytest.mark.parametrize(
    ("patches", "shown"),
    [
        ([{"state": "idle"}], "claude"),
        ([{"state": "running"}], "claude ●"),
        ([{"state": "waiting", "pending": 2}], "claude ? 2"),
        ([{"state": "failed"}], "claude ✗"),
        ([{"state": "idle"}, {"state": "waiting", "pending": 1}, {"state": "running"}], "claude ? 1 +2"),
    ],
)
def test_statusline(chat: Neovim, patches: list[dict[str, Any]], shown: str) -> None:
    for number, patch in enumerate(patches, 1):
        if number > 1:
            chat.command("AcpChat!")
        update(chat, patch, chat=number)
    assert chat.lua("return require('acp').statusline()") == shown


def test_title_and_more_below(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 20))
    screen.command("AcpChat")
    update(screen, {"state": "idle", "title": "Fix %{leap}\x07 years"})
    row = screen.wait("Fix %{leap}  years").splitlines()[14][60:]
    assert row.startswith(" Fix %{leap}  years   ")
    assert row.endswith("   g? keys")
    screen.command("wincmd k | normal! gg")
    screen.wait("more below (G)  g? keys")
    screen.keys("G")
    screen.wait(lambda text: "more below" not in text)


def test_the_spinner_turns_only_when_ticked(start_screen: StartScreen) -> None:
    screen: Screen = start_screen(init=INIT + AGENT, size=(120, 20))
    screen.command("AcpChat")
    update(screen, {"state": "running"})
    screen.wait("running")
    screen.lua("vim.uv.now = function() return 0 end require('acp.chat.winbar').tick(1)")
    screen.wait("⠋ running")
    screen.lua("vim.uv.now = function() return 250 end require('acp.chat.winbar').tick(1)")
    screen.wait("⠹ running")


def test_cancel_is_seen_at_once_and_ends(chat: Neovim) -> None:
    update(chat, {"state": "running"})
    assert chat.lua("return require('acp').cancel()") is True
    bar = "return vim.api.nvim_eval_statusline(require('acp.chat.winbar').render(1, 60), {}).str"
    assert "cancelling" in chat.lua(bar)
    update(chat, {"state": "idle", "stop_reason": "cancelled"})
    assert "ready" in chat.lua(bar)
    update(chat, {"state": "running"})
    assert "running" in chat.lua(bar)


def test_restart_is_seen_at_once(chat: Neovim) -> None:
    update(chat, {"state": "failed", "error": "x"})
    chat.command("AcpRestart")
    assert (status(chat)["state"], status(chat).get("error")) == ("starting", None)


def test_a_row_that_still_runs_keeps_the_state_running(start_screen: StartScreen) -> None:
    """ui.md section 7: with questions open during other work."""
    screen = start_screen(init=INIT + AGENT, size=(120, 20))
    screen.command("AcpChat")
    update(screen, {"state": "waiting", "pending": 1})
    screen.wait("? waiting for you")
    frame(screen, 1, ["● run    pytest"], spin=[0])
    update(screen, {"mode": "plan"})
    screen.wait(lambda text: "running  ? 1 question" in text and "waiting for you" not in text)
