"""The prompt: sending, placeholder, queue, size, older prompts, completion."""

from __future__ import annotations

import pytest
from tests.nvim.stub import AGENT, INIT, buffer, events, frame, status, update
from tests.plugin import Neovim, Screen, StartNvim, StartScreen, eventually


def chat(start: StartNvim, **options: object) -> Neovim:
    nvim = start(init=INIT + AGENT, **options)
    nvim.command("AcpChat")
    return nvim


@pytest.fixture
def wide(start_screen: StartScreen) -> Screen:
    screen = start_screen(init=INIT + AGENT, size=(120, 32))
    screen.command("AcpChat")
    update(screen, {"state": "idle"})
    return screen


@pytest.mark.parametrize("keys", ["<C-s>", "<Esc><C-s>", "<Esc><CR>"])
def test_text_is_sent_whole_and_comes_back_with_u(start_nvim: StartNvim, keys: str) -> None:
    nvim = chat(start_nvim)
    update(nvim, {"state": "idle"})
    nvim.keys("one<CR><CR>two % \\ ~<C-v><Tab>" + keys)
    eventually(lambda: events(nvim, "send"))
    (sent,) = events(nvim, "send")
    assert sent == {
        "chat": 1,
        "text": "one\n\ntwo % \\ ~\t",
        "context": [],
        "now": False,
        "seq": 1,
    }
    assert nvim.lines() == [""]
    assert nvim.api.get_mode()["mode"] == ("i" if keys == "<C-s>" else "n")
    nvim.keys("<Esc>u")
    assert nvim.lines() == ["one", "", "two % \\ ~\t"]


def test_what_is_typed_after_a_send_is_undone_apart(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    nvim.keys("first<C-s>second<Esc>u")
    assert nvim.lines() == [""]
    nvim.keys("u")
    assert nvim.lines() == ["first"]


@pytest.mark.parametrize("text", ["", "  ", "<CR><CR>"])
def test_nothing_is_not_sent(start_nvim: StartNvim, text: str) -> None:
    nvim = chat(start_nvim)
    nvim.keys(text + "<C-s>")
    assert events(nvim, "send") == []


def test_while_the_agent_starts_a_prompt_is_queued(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    nvim.keys("hello<C-s>")
    eventually(lambda: events(nvim, "send"))
    assert (status(nvim)["state"], status(nvim)["queued"]) == ("starting", 1)


def test_text_that_could_not_be_sent_goes_on_top(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    nvim.keys("later<Esc>")
    nvim.lua("require('acp.chat.prompt').restore(1, 'first\\nlines')")
    assert nvim.lines() == ["first", "lines", "later"]
    nvim.api.buf_set_lines(0, 0, -1, False, [])
    nvim.lua("require('acp.chat.prompt').restore(1, 'again')")
    assert nvim.lines() == ["again"]


def test_a_host_that_dies_gives_everything_back(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    update(nvim, {"state": "idle"})
    nvim.keys("two<C-s>three<C-s>draft<Esc>")
    nvim.lua("require('acp.chat.prompt').queue(1, { { id = 1, text = 'two' } }, 1)")
    update(nvim, {"state": "running"}, seen=1)
    nvim.lua("require('acp.status').host_lost('the host ended')")
    assert nvim.lines() == ["two", "three", "draft"]
    assert (status(nvim)["state"], status(nvim)["error"]) == ("failed", "the host ended")
    assert status(nvim)["queued"] == 0


def test_placeholders(wide: Screen) -> None:
    wide.wait("Ask claude…   @ adds a file   / lists commands")
    update(wide, {"state": "running", "label": "Claude 50%"})
    wide.wait("Claude 50% is working. What you send now is queued.")
    update(wide, {"can_steer": True})
    whole = "Claude 50% is working. What you send now is queued; :AcpSend! steers."
    short = "Claude 50% is working. Sending queues, :AcpSend! steers."
    assert wide.funcs.winwidth(0) < len(whole)  # the end would be cut off
    wide.wait(short)
    update(wide, {"state": "waiting", "pending": 1})
    wide.wait("Answer above: <Esc>, then :AcpPermit")
    wide.keys("x")
    wide.wait(lambda text: "Answer above" not in text)
    wide.keys("<BS>")
    wide.wait("Answer above")


@pytest.mark.parametrize(
    ("host", "patch", "remedy"),
    [
        ("ready", {}, ":AcpRestart"),
        ("off", {}, ":AcpRestart"),
        ("ready", {"login": True}, ":AcpLogin"),
        ("failed", {}, ":AcpInstall"),
    ],
)
def test_the_placeholder_of_an_agent_that_does_not_run(
    wide: Screen, host: str, patch: dict[str, bool], remedy: str
) -> None:
    wide.lua("_G.host_state = ...", host)
    update(wide, {"state": "failed", "error": "gone", **patch})
    wide.wait(f"The agent is not running: {remedy}")


@pytest.mark.parametrize("how", ["<C-s>", "<Esc><C-w>t:AcpSend again<CR>"])
def test_sending_goes_to_the_end_and_follows(wide: Screen, how: str) -> None:
    frame(wide, 1, [f"line {i}" for i in range(100)], kind="answer")
    window = wide.funcs.bufwinid(buffer(wide, "acp://claude/1"))
    wide.api.win_set_cursor(window, [20, 0])
    wide.command("redraw")
    wide.wait(lambda text: "line 99" not in text)
    wide.keys("hello" + how)
    eventually(lambda: events(wide, "send"))
    wide.wait("line 99")
    frame(wide, 2, ["what came after"], kind="answer")
    wide.wait("what came after")


def waiting(nvim: Neovim, *texts: str, seen: int = 0) -> None:
    """Tell which prompts wait, as the host does; their ids count from 1."""
    rows = [{"id": i, "text": text} for i, text in enumerate(texts, 1)]
    nvim.lua("require('acp.chat.prompt').queue(...)", 1, rows, seen)


def prompt_size(nvim: Neovim) -> int:
    return int(nvim.api.win_get_height(nvim.funcs.bufwinid(buffer(nvim, "acp://claude/1/prompt"))))


def test_the_window_grows_with_text_and_queue(wide: Screen) -> None:
    code = wide.api.win_get_height(wide.api.list_wins()[0])
    assert prompt_size(wide) == 3
    wide.keys("one<CR>two<CR>three<CR>four")
    eventually(lambda: prompt_size(wide) == 4)
    waiting(wide, "run the whole suite at the end", "then\ncommit")
    assert prompt_size(wide) == 6
    rows = [row[60:] for row in wide.wait("queued 2").splitlines()]
    at = rows.index("one")
    assert rows[at : at + 6] == [
        "one",
        "two",
        "three",
        "four",
        "⋯ queued 1  run the whole suite at the end",
        "⋯ queued 2  then commit",
    ]
    wide.keys("<CR>" * 20)
    eventually(lambda: prompt_size(wide) == 9)  # a third of the chat's 29 rows
    wide.api.buf_set_lines(0, 0, -1, False, ["word " * 40])
    waiting(wide)
    eventually(lambda: prompt_size(wide) == 4)  # wrapped
    wide.keys("<C-u><Esc>ddi<C-s>")
    eventually(lambda: prompt_size(wide) == 3)
    assert wide.api.win_get_height(wide.api.list_wins()[0]) == code


def test_below_the_code_the_transcript_gives_the_room(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(80, 40))
    screen.command("AcpChat")
    first = screen.api.list_wins()[0]
    code = screen.api.win_get_height(first)
    screen.keys("a<CR>" * 5)
    eventually(lambda: prompt_size(screen) == 6)
    assert screen.api.win_get_height(first) == code
    screen.keys("<Esc>ggdG")
    eventually(lambda: prompt_size(screen) == 3)
    assert screen.api.win_get_height(first) == code


def test_older_prompts(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    nvim.keys("one<C-s>two<CR>lines<C-s>", "draft<Esc>")
    for key, lines in (
        ("[[", ["two", "lines"]),
        ("[[", ["one"]),
        ("[[", ["one"]),
        ("]]", ["two", "lines"]),
        ("]]", ["draft"]),
        ("]]", ["draft"]),
    ):
        nvim.keys(key)
        assert nvim.lines() == lines
    nvim.keys("2[[")
    assert nvim.lines() == ["one"]
    nvim.keys("9]]")
    assert nvim.lines() == ["draft"]
    nvim.keys("[[<CR>")
    eventually(lambda: len(events(nvim, "send")) == 3)
    assert events(nvim, "send")[2]["text"] == "two\nlines"


COMMANDS = [
    {"name": "review", "description": "look at a pull\x1b request", "hint": "PR number"},
    {"name": "reset all", "description": "begin again"},
    {"name": "web"},
]


def pum(nvim: Neovim) -> list[str]:
    info = nvim.funcs.complete_info(["items", "pum_visible"])
    if not info["pum_visible"]:
        return []
    return [f"{item['word']}|{item['menu']}" for item in info["items"] if item["word"] != nvim.lines()[0]]


@pytest.mark.parametrize("completeopt", [None, "menu,preview", "menu", "menuone,noinsert"])
def test_commands_are_completed_at_the_start(wide: Screen, completeopt: str | None) -> None:
    if completeopt is not None:
        wide.command(f"set completeopt={completeopt}")
    wide.lua("require('acp.chat.complete').commands(...)", 1, COMMANDS)
    wide.keys("/")
    eventually(lambda: pum(wide))
    assert pum(wide) == ["/review|[PR number]  look at a pull  request", "/reset all|begin again", "/web|"]
    assert wide.lines() == ["/"]
    wide.keys("res")
    wide.wait(lambda text: "/reset all" in text and "/review" not in text)
    assert wide.lines() == ["/res"]
    wide.keys("<C-y>" if completeopt == "menuone,noinsert" else "<C-n><C-y>")
    eventually(lambda: wide.lines() == ["/reset all"])
    wide.keys("<Esc>")
    assert not wide.funcs.pumvisible()


@pytest.mark.parametrize("completeopt", [None, "menu", "menuone,noinsert"])
@pytest.mark.req("V1-154")
def test_commands_may_change_while_they_are_offered(wide: Screen, completeopt: str | None) -> None:
    if completeopt is not None:
        wide.command(f"set completeopt={completeopt}")

    def commands(*names: str) -> None:
        wide.lua("require('acp.chat.complete').commands(...)", 1, [{"name": name} for name in names])

    wide.keys("/")
    eventually(lambda: wide.lines() == ["/"])
    commands("one", "two")  # they come late
    eventually(lambda: pum(wide) == ["/one|", "/two|"], message=lambda: str(pum(wide)))
    commands("three")
    eventually(lambda: pum(wide) == ["/three|"])
    wide.keys("t")
    wide.wait("/three")
    assert wide.lines() == ["/t"]
    commands()
    eventually(lambda: pum(wide) == [])
    assert wide.lines() == ["/t"]
    assert wide.api.get_mode()["mode"].startswith("i")
    commands("tea", "tee")
    eventually(lambda: len(pum(wide)) == 2)
    if completeopt is None:
        wide.keys("<C-n>")
        eventually(lambda: wide.lines() == ["/tea"])
        commands("toe")  # what the user has gone to is not taken away
        assert wide.lines() == ["/tea"]
    wide.keys("<Esc>")
    eventually(lambda: wide.api.get_mode()["mode"] == "n")
    commands("x")
    assert not wide.funcs.pumvisible()


@pytest.mark.parametrize("typed", ["x/", "a<CR>/", "/nothing", "/web"])
def test_elsewhere_nothing_is_completed(start_nvim: StartNvim, typed: str) -> None:
    nvim = chat(start_nvim)
    nvim.lua("require('acp.chat.complete').commands(...)", 1, COMMANDS)
    nvim.keys(typed)
    nvim.command("redraw")
    assert pum(nvim) == []


@pytest.mark.parametrize(("key", "expected"), [("i", "xdraft"), ("a", "draftx"), ("o", "draft|x")])
def test_from_the_transcript_into_the_prompt(start_nvim: StartNvim, key: str, expected: str) -> None:
    nvim = chat(start_nvim)
    nvim.keys("draft<Esc>0")
    nvim.api.set_current_win(nvim.funcs.bufwinid(buffer(nvim, "acp://claude/1")))
    nvim.keys(key)
    eventually(lambda: nvim.api.get_mode()["mode"] == "i")
    nvim.keys("x<Esc>")
    assert nvim.lines() == expected.split("|")


def test_a_question_key_in_the_prompt(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    nvim.keys("<Esc>", "\\a", "\\R", "\\c")
    eventually(lambda: events(nvim, "cancel"))
    assert nvim.lua("return _G.permits") == [["allow_once", {"key": True}], ["reject_always", {"key": True}]]


def test_text_of_the_agent_in_the_queue_is_one_row(wide: Screen) -> None:
    waiting(wide, "x" * 300, "a\x07b\nc")
    rows = [row[60:] for row in wide.wait("queued 2").splitlines()]
    assert [row for row in rows if row.startswith("⋯")] == [
        "⋯ queued 1  " + "x" * 47 + "…",
        "⋯ queued 2  a b c",
    ]
    frame(wide, 1, ["x"])


COUNT_READ = """
local get, height = vim.api.nvim_buf_get_lines, vim.api.nvim_win_text_height
_G.read, _G.measured = 0, 0
vim.api.nvim_buf_get_lines = function(...)
  local lines = get(...)
  _G.read = _G.read + #lines
  return lines
end
vim.api.nvim_win_text_height = function(win, options)
  _G.measured = math.max(_G.measured, (options.end_row or 1e9) - (options.start_row or 0) + 1)
  return height(win, options)
end
"""


def test_a_key_costs_the_same_in_a_long_prompt(start_nvim: StartNvim) -> None:
    nvim = chat(start_nvim)
    update(nvim, {"state": "idle"})
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn['repeat']({ ('a line'):rep(9) }, 20000))")
    nvim.keys("<Esc>ggA @x.py ")
    eventually(lambda: events(nvim, "mentions"))
    nvim.lua(COUNT_READ)
    nvim.keys("word<Esc>10000GA x<CR>new<Esc>")
    eventually(lambda: len(nvim.lines()) == 20_001 and nvim.api.get_mode()["mode"] == "n")
    assert nvim.lua("return _G.measured") <= 10
    assert nvim.lua("return _G.read") < 7000, "most of them a moment after the last key, for mentions"
