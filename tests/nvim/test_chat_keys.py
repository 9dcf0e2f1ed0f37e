"""The keys of the transcript: what they open, where they go."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import AGENT, INIT, events, frame, go_to_transcript
from tests.plugin import Screen, StartNvim, StartScreen, eventually


@pytest.fixture
def screen(start_screen: StartScreen, tmp_path: Path) -> Screen:
    """A chat with two prompts, a link, a question and a folded body; the cursor is in the transcript."""
    (tmp_path / "code.py").write_text("".join(f"line {i}\n" for i in range(1, 41)))
    (tmp_path / "other.py").write_text("other\n")
    screen = start_screen(init=INIT + AGENT, size=(120, 30), cwd=tmp_path, files=("other.py",))
    screen.command("AcpChat")
    code = str(tmp_path / "code.py")
    frame(screen, 1, ["❯ first prompt", "  second line", ""], kind="user", tail=1)
    frame(screen, 2, ["✓ read   code.py:20"], links=[[0, code, 20]])
    frame(screen, 3, ["? run    npm test  waiting for you", "  │ npm test"], question="q7")
    frame(screen, 4, ["✓ run    pytest", "  │ ok"], folds=[[0, 1, True]])
    frame(screen, 5, ["see other.py", ""], kind="answer", tail=1)
    frame(screen, 6, ["❯ second prompt", ""], kind="user", tail=1)
    go_to_transcript(screen)
    assert screen.api.buf_get_name(0) == "acp://claude/1"
    return screen


def on(screen: Screen, text: str) -> None:
    screen.funcs.search(text, "cw")


def here(screen: Screen) -> tuple[str, int]:
    return Path(screen.api.buf_get_name(0)).name, screen.api.win_get_cursor(0)[0]


@pytest.mark.parametrize("key", ["<CR>", "gf"])
def test_a_link_opens_in_the_code_window(screen: Screen, key: str) -> None:
    on(screen, "✓ read")
    screen.keys(key)
    eventually(lambda: here(screen) == ("code.py", 20))
    assert len(screen.api.list_wins()) == 3
    assert screen.api.get_option_value("buflisted", {"buf": 0})


def test_a_file_that_is_shown_is_gone_to(screen: Screen) -> None:
    screen.command("wincmd t | split code.py | wincmd t | wincmd l")
    screen.command("wincmd k")
    on(screen, "✓ read")
    count = len(screen.api.list_wins())
    screen.keys("<CR>")
    eventually(lambda: here(screen) == ("code.py", 20))
    assert len(screen.api.list_wins()) == count


@pytest.mark.parametrize(
    "prepare", ["set winfixbuf", "setlocal nohidden | set nohidden | call setline(1, 'unsaved')"]
)
def test_a_window_that_cannot_change_its_buffer_is_left_alone(screen: Screen, prepare: str) -> None:
    screen.command("wincmd t | " + prepare)
    screen.command("wincmd l | wincmd k")
    on(screen, "✓ read")
    screen.keys("<CR>")
    eventually(lambda: here(screen) == ("code.py", 20))
    assert len(screen.api.list_wins()) == 4
    assert not screen.api.get_option_value("winfixbuf", {})
    assert screen.funcs.bufwinid("other.py") != -1


def test_without_a_code_window_one_is_made(screen: Screen) -> None:
    screen.command("1close")
    on(screen, "✓ read")
    screen.keys("<CR>")
    eventually(lambda: here(screen) == ("code.py", 20))
    assert len(screen.api.list_wins()) == 3
    assert screen.api.get_option_value("winbar", {}) == ""
    assert screen.api.get_option_value("statusline", {"win": 0, "scope": "local"}) == ""


def test_gf_takes_the_name_under_the_cursor(screen: Screen) -> None:
    on(screen, "other.py")
    screen.keys("gf")
    eventually(lambda: here(screen) == ("other.py", 1))


def test_gf_on_nothing_says_so(screen: Screen) -> None:
    on(screen, "first prompt")
    screen.keys("gf")
    screen.wait("acp: no file here")


def test_enter_on_a_question_opens_it(screen: Screen) -> None:
    on(screen, "│ npm test")
    screen.keys("<CR>")
    eventually(lambda: screen.lua("return _G.permits") == [["pick", "q7"]])


def test_enter_on_a_fold_opens_it_then_asks_for_details(screen: Screen) -> None:
    on(screen, "✓ run")
    screen.keys("<CR>")
    screen.wait("│ ok")
    assert events(screen, "details") == []
    screen.keys("j<CR>")
    eventually(lambda: events(screen, "details") == [{"chat": 1, "block": 4, "row": 1}])


def details(screen: Screen, *lines: str) -> None:
    """Ask for details and answer as the host does."""
    count = len(events(screen, "details"))
    screen.keys("K")
    eventually(lambda: len(events(screen, "details")) > count)
    screen.lua("require('acp.chat.show').details(1, { ... })", *lines)
    screen.wait(lines[0])


@pytest.mark.parametrize("key", ["q", "<Esc>", "K"])
def test_details_in_a_float(screen: Screen, key: str) -> None:
    on(screen, "✓ run")
    maps = screen.api.buf_get_keymap(0, "n")
    window = screen.api.get_current_win()
    details(screen, "title  pytest", "id     t1")
    assert screen.api.get_current_win() == window
    assert "q closes" in screen.text()
    screen.keys(key)
    screen.wait(lambda text: "title  pytest" not in text)
    assert screen.api.get_current_win() == window
    assert len(screen.api.list_wins()) == 3  # the chat is still there
    assert len(screen.api.buf_get_keymap(0, "n")) == len(maps)
    screen.keys("q")
    eventually(lambda: len(screen.api.list_wins()) == 1)


@pytest.mark.parametrize("key", ["q", "<Esc>", "K"])
def test_long_details_are_entered_to_be_read(screen: Screen, key: str) -> None:
    on(screen, "✓ run")
    window = screen.api.get_current_win()
    details(screen, *(f"line {i} of many" for i in range(99)))
    screen.wait("K reads on, q closes")
    screen.keys("K")
    eventually(lambda: screen.api.get_current_win() != window)
    screen.keys("G")
    screen.wait("line 98 of many")
    screen.keys(key)
    screen.wait(lambda text: "of many" not in text)
    assert screen.api.get_current_win() == window
    assert len(screen.api.list_wins()) == 3


def test_details_go_when_the_cursor_moves_and_do_not_come_late(screen: Screen) -> None:
    on(screen, "✓ run")
    screen.keys("K")
    eventually(lambda: events(screen, "details"))
    screen.lua("require('acp.chat.show').details(1, { 'title  pytest' })")
    screen.wait("title  pytest")
    screen.keys("k")
    screen.wait(lambda text: "title  pytest" not in text)
    screen.keys("K")
    eventually(lambda: len(events(screen, "details")) == 2)
    screen.keys("gg")
    eventually(lambda: screen.api.win_get_cursor(0)[0] == 1)
    screen.lua("require('acp.chat.show').details(1, { 'too late' })")
    screen.command("redraw")
    assert "too late" not in screen.text()


def test_from_prompt_to_prompt(screen: Screen) -> None:
    rows = {text: screen.funcs.search(text, "cnw") for text in ("first prompt", "second prompt")}
    screen.keys("G")
    for key, expected in (
        ("[[", rows["second prompt"]),
        ("[[", rows["first prompt"]),
        ("[[", rows["first prompt"]),
        ("]]", rows["second prompt"]),
        ("]]", rows["second prompt"]),
        ("<C-o>", rows["first prompt"]),
    ):
        screen.keys(key)
        assert screen.api.win_get_cursor(0)[0] == expected


def test_list_of_prompts(screen: Screen) -> None:
    screen.keys("gO")
    screen.wait("[Location List]")
    items = screen.funcs.getloclist(0)
    assert [item["text"] for item in items] == ["❯ first prompt", "❯ second prompt"]
    screen.keys("2G<CR>")
    eventually(lambda: here(screen)[0] == "1")
    assert screen.api.get_current_line() == "❯ second prompt"
    screen.keys("q")
    eventually(lambda: len(screen.api.list_wins()) == 1)


def test_the_keys(screen: Screen) -> None:
    screen.keys("gg", "g?")
    text = screen.wait("these keys")
    for row in (
        "<CR>  open what is here: question, file, details",
        "za    open or close a fold",
        "\\R    reject always",
    ):
        assert row in text
    screen.keys("j")
    screen.wait(lambda shown: "these keys" not in shown)


@pytest.mark.parametrize("key", ["q", "<Esc>", "g?"])
@pytest.mark.parametrize("where", ["transcript", "prompt"])
def test_the_keys_are_closed_by_a_key(screen: Screen, key: str, where: str) -> None:
    if where == "prompt":
        screen.command("wincmd j")
    screen.command("nnoremap <buffer> <Esc> <Cmd>let g:escaped = 1<CR>")
    screen.keys("g?")
    screen.wait("these keys")
    screen.wait("q closes")
    screen.keys(key)
    screen.wait(lambda shown: "these keys" not in shown)
    assert len(screen.api.list_wins()) == 3
    assert screen.funcs.reg_recording() == ""
    screen.keys("<Esc>")
    eventually(lambda: screen.funcs.exists("g:escaped") == 1)  # the user's own map is back


@pytest.mark.parametrize(("leader", "shown"), [(",", ",a"), (" ", "<Space>a"), (None, "\\a"), ("%", "%a")])
def test_the_keys_of_the_prompt_as_they_are_typed(
    start_screen: StartScreen, leader: str | None, shown: str
) -> None:
    init = f"vim.g.maplocalleader = '{leader}'" if leader else ""
    screen = start_screen(init=INIT + AGENT + init, size=(100, 30))
    screen.command("AcpChat")
    screen.keys("<Esc>g?")
    text = screen.wait("these keys")
    rows = [" ".join(row.split("│")[1].split()) for row in text.splitlines() if row.count("│") > 1]
    assert f"{shown} allow once" in rows
    assert "/ in column 1: the agent's commands" in rows


def test_a_count_goes_further(screen: Screen) -> None:
    first = screen.funcs.search("first prompt", "cnw")
    screen.keys("G", "2[[")
    eventually(lambda: screen.api.win_get_cursor(0)[0] == first)
    screen.keys("G", "9[[")
    eventually(lambda: screen.api.win_get_cursor(0)[0] == first)


def test_normal_keys_keep_their_meaning(screen: Screen) -> None:
    """C35: nothing pins the cursor while text comes and a question is open."""
    screen.keys("gg", "Vj")
    frame(screen, 7, [f"text {i}" for i in range(100)], kind="answer")
    assert screen.api.get_mode()["mode"] == "V"
    assert screen.funcs.line("w0") == 1
    screen.keys("y")
    assert screen.funcs.getreg('"').splitlines()[0].startswith("claude in ")
    screen.keys("/pytest<CR>")
    assert "pytest" in screen.api.get_current_line()
    frame(screen, 8, ["more"])
    assert "pytest" in screen.api.get_current_line()
    screen.keys("G")
    frame(screen, 9, ["the end"])
    eventually(lambda: screen.funcs.line(".") == screen.funcs.line("$"))


def test_no_keys_outside(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    before = [len(nvim.api.get_keymap(mode)) for mode in "nivxc"]
    nvim.command("AcpChat")
    assert [len(nvim.api.get_keymap(mode)) for mode in "nivxc"] == before
    assert nvim.lua("return #vim.api.nvim_buf_get_keymap(1, 'n')") == 0
