"""The chooser: what it looks like, and which keys answer."""

from __future__ import annotations

import pytest
from tests.nvim.questions import FOOTER, OPTIONS, Desk, desk, rest
from tests.plugin import StartScreen, eventually


@pytest.fixture
def asked(start_screen: StartScreen) -> Desk:
    """A chat with the focus in its prompt, and one question, entered."""
    made = desk(start_screen)
    made.ask()
    made.wait_entered()
    return made


def test_it_looks_as_specified(asked: Desk) -> None:
    rows = asked.screen.wait(FOOTER).split("\n")
    first = next(n for n, row in enumerate(rows) if "claude wants to run a command (q1)" in row)
    left = rows[first].index("╭")
    assert left == asked.screen.api.win_get_position(asked.screen.lua("return vim.fn.win_getid(2)"))[1]
    assert [row[left:].rstrip() for row in rows[first : first + 9]] == [
        "╭ claude wants to run a command (q1) " + "─" * 22 + "╮",
        "│npm install left-pad@1.3.0 --save-exact \\" + " " * 17 + "│",
        "│  && npm test" + " " * 45 + "│",
        "│in ~/src/app" + " " * 46 + "│",
        "│" + " " * 58 + "│",
        "│ 1  Allow once" + " " * 44 + "│",
        "│ 2  Always allow npm" + " " * 38 + "│",
        "│ 3  Reject" + " " * 48 + "│",
        "╰" + "─" * 27 + f" {FOOTER} ╯",
    ]
    assert asked.screen.cursor == (first + 4, left + 1)
    assert "String" in asked.screen.groups_at(first + 1, left + 1)
    assert "Special" in asked.screen.groups_at(first + 5, left + 2)
    assert "Special" not in asked.screen.groups_at(first + 5, left + 5)


@pytest.mark.parametrize(("keys", "index"), [("1", 1), ("3", 3), ("j<CR>", 1), ("jj<CR>", 2), ("G<CR>", 3)])
def test_digits_and_enter_answer(asked: Desk, keys: str, index: int) -> None:
    asked.screen.keys(keys)
    asked.wait_answers(("q1", index))
    eventually(lambda: asked.carded() == "")
    assert asked.count() == 0


@pytest.mark.parametrize(
    "words",
    [
        "be there<CR>",
        "well, we will see<CR>",
        "www<CR>",
        "je<CR>",
        "e<Space><CR>",
        "use Python 3",
        "no 2",
        "a\\a",
    ],
)
def test_prose_answers_nothing(asked: Desk, words: str) -> None:
    """Words have keys in them that move the cursor, and a line of them ends with <CR>."""
    asked.screen.keys(words)
    asked.screen.pump()
    assert asked.answers() == []
    assert asked.carded() == "q1"
    asked.screen.keys("G<CR>")
    asked.wait_answers(("q1", 3))


def test_a_digit_counts_when_the_keyboard_has_rested(asked: Desk) -> None:
    asked.screen.keys("w", "1")
    asked.screen.pump()
    assert asked.answers() == []
    rest(asked)
    asked.screen.keys("2")
    asked.wait_answers(("q1", 2))


@pytest.mark.parametrize(
    ("leader", "keys", "index"), [("\\", "\\a", 1), (".", ".A", 2), (" ", "<Space>r", 3)]
)
def test_the_keys_of_the_chat_answer_here_too(
    start_screen: StartScreen, leader: str, keys: str, index: int
) -> None:
    made = desk(start_screen)
    made.screen.lua("vim.g.maplocalleader = ...", leader)
    made.ask()
    made.wait_entered()
    made.screen.keys(keys)
    made.wait_answers(("q1", index))


def test_no_key_of_the_chat_answers_with_what_is_not_offered(asked: Desk) -> None:
    asked.screen.keys("\\R")
    eventually(lambda: "no option is reject_always" in asked.screen.messages())
    assert asked.answers() == []


@pytest.mark.parametrize("keys", ["<CR>", "4", "9", "gg<CR>", "ihello", "d", "x", "p", "u"])
def test_other_keys_answer_nothing_and_say_nothing(asked: Desk, keys: str) -> None:
    asked.screen.keys(keys)
    assert asked.entered() == "q1"
    assert asked.answers() == []
    assert asked.screen.messages() == ""
    rest(asked)
    asked.screen.keys("2")
    asked.wait_answers(("q1", 2))


CLOSINGS = ["q", "<Esc>", ":q<CR>", ":q!<CR>", ":close<CR>", "<C-w>c", "<C-w>q", ":bwipeout<CR>", ":bd!<CR>"]


@pytest.mark.parametrize("keys", CLOSINGS)
def test_closed_in_any_way_it_stays_open(asked: Desk, keys: str) -> None:
    asked.screen.keys(keys)
    eventually(lambda: asked.carded() == "")
    assert asked.answers() == []
    assert asked.count() == 1
    name = asked.screen.lua("return vim.api.nvim_buf_get_name(0)")
    assert name.endswith("/prompt")
    assert asked.permit()[0]
    asked.wait_entered()
    asked.screen.keys("1")
    asked.wait_answers(("q1", 1))


def test_left_and_entered_again(asked: Desk) -> None:
    asked.screen.keys("<C-w>p")
    asked.screen.wait("\\a allows · \\r rejects")
    asked.screen.keys("1<Esc>")
    assert (asked.carded(), asked.answers()) == ("q1", [])
    asked.screen.lua("vim.api.nvim_set_current_win(require('acp.question.card').get().win)")
    asked.wait_entered()
    asked.screen.keys("3")
    asked.wait_answers(("q1", 3))


def test_only_from_another_window_keeps_it_open(start_screen: StartScreen) -> None:
    made = desk(start_screen, focus=False)
    made.ask()
    made.screen.wait(":AcpPermit answers")
    made.screen.keys("<C-w>o")
    eventually(lambda: made.carded() == "")
    assert (made.count(), made.answers()) == (1, [])


def test_deaf_at_first(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.lua("require('acp.question.chooser').DEAF_MS = 60000")
    made.ask()
    eventually(lambda: made.entered() == "q1")
    made.screen.keys("1", "j", "<CR>", "3", "q", "<Esc>", ":", "d", "\\r")
    assert (made.entered(), made.answers(), made.mode()) == ("q1", [], "n")


def test_keys_that_wait_in_the_queue_do_not_answer(start_screen: StartScreen) -> None:
    """Neovim is busy as the deafness ends: keys typed meanwhile were typed while deaf."""
    made = desk(start_screen)
    made.ask()
    eventually(lambda: made.entered() == "q1")
    made.screen.lua("vim.schedule(function() vim.uv.sleep(600) end)")
    made.screen.keys("1")
    made.wait_listening()
    assert made.answers() == []


LONG = [f"line {n} of the command" for n in range(1, 61)]


def test_a_long_text_is_answered_only_after_its_end_was_seen(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask(lines=LONG)
    made.wait_entered()
    screen = made.screen.wait("more lines · q keeps it open")
    assert "line 1 of" in screen
    assert "line 60 of" not in screen
    shown = max(n for n in range(1, 61) if f"line {n} of" in screen)
    assert f" {60 - shown} more lines " in screen
    made.screen.keys("1", "3", "\\a")
    made.screen.keys("<C-d>")
    made.screen.wait(lambda text: f"{60 - shown} more" not in text)
    made.screen.keys("2")
    assert made.answers() == []
    made.screen.keys("G")
    made.screen.wait(FOOTER)
    made.screen.keys("gg")
    rest(made)
    made.screen.keys("2")
    made.wait_answers(("q1", 2))


def test_one_line_taller_than_the_window(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask(lines=["x" * 6000 + " END"])
    made.wait_entered()
    made.screen.wait("more lines")
    made.screen.keys("1")
    assert made.answers() == []
    made.screen.keys("j" * 30)
    made.screen.wait(lambda text: "more lines" in text and " 83 more" not in text)
    made.screen.keys("2")
    assert made.answers() == []
    made.screen.keys("G")
    made.screen.wait(lambda text: " END" in text and FOOTER in text)
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


def test_more_than_nine_options(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask(options=[{"id": f"o{n}", "name": f"Option {n}", "kind": "other"} for n in range(1, 13)])
    made.wait_entered()
    screen = made.screen.wait("1-9 answers")
    assert " 12  Option 12" in screen
    assert "  1  Option 1" in screen
    made.screen.keys("j" * 11 + "<CR>")
    made.wait_answers(("q1", 11))


def test_an_answer_for_always_stands_out(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    always = {"id": "a", "name": "Allow for this session", "kind": "allow_always", "note": " (always)"}
    made.ask(options=[always, OPTIONS[0]])
    made.wait_entered()
    made.screen.wait(" 1  Allow for this session (always)")
    row, col = made.screen.find("Allow for this session")
    assert made.screen.groups_at(row, col) == made.screen.groups_at(row, col + 29)
    assert made.screen.groups_at(row, col) != made.screen.groups_at(row + 1, col)
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


def test_no_options_can_still_be_refused(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask(options=[])
    made.wait_entered()
    made.screen.wait(":AcpPermit cancel refuses")
    made.screen.keys("1", "j", "<CR>")
    assert made.answers() == []
    made.screen.keys(":AcpPermit cancel<CR>")
    made.wait_answers(("q1", 0))


def test_wide_characters_and_text_of_the_agent(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    options = [{"id": "a", "name": "許可する\nevil\x1b[31m", "kind": "allow_once"}]
    made.ask(lines=["日本語のコマンド" * 8], title="claude が実行したい\n", options=options)
    made.wait_entered()
    screen = made.screen.wait("1 answers")
    assert "日本語" in screen
    assert "許可する evil [31m" in screen
    rows = [row for row in screen.split("\n") if row.rstrip().endswith("│")]
    assert len(rows) >= 4


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (60, 12), (40, 10)])
def test_sizes_of_the_editor(start_screen: StartScreen, size: tuple[int, int]) -> None:
    made = desk(start_screen)
    made.ask()
    made.wait_entered()
    made.screen.resize(*size)
    eventually(lambda: _inside(made), message=lambda: made.screen.text())
    made.screen.keys("G2")
    made.wait_answers(("q1", 2))


def test_a_title_that_is_too_long_keeps_its_beginning(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask(title="claude wants to " + "x" * 200)
    made.wait_entered()
    made.screen.wait("╭ claude wants to xxx")
    made.screen.wait("xxx… ╮")
    made.screen.resize(60, 30)
    made.screen.wait("╭ claude wants to xxx")


def _inside(made: Desk) -> bool:
    """The whole float, borders too, is on the screen."""
    win = made.screen.lua("return require('acp.question.card').get().win")
    row, col = made.screen.api.win_get_position(win)
    height, width = made.screen.api.win_get_height(win), made.screen.api.win_get_width(win)
    fits = row + height + 2 <= made.screen.height and col + width + 2 <= made.screen.width
    return fits and "╭ claude wants" in made.screen.text()


def test_ascii(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.setup({"icons": "ascii"})
    made.ask()
    made.wait_entered()
    screen = made.screen.wait("1-3 answers - q keeps it open")
    assert "+ claude wants to run a command (q1) ---" in screen


@pytest.mark.parametrize(
    ("border", "corner"), [("double", "╔"), ("none", " "), ("shadow", " "), ("single", "┌"), ("bold", "┏")]
)
def test_winborder(start_screen: StartScreen, border: str, corner: str) -> None:
    made = desk(start_screen)
    if not made.screen.funcs.exists("+winborder"):
        pytest.skip("0.10 has no winborder")
    made.screen.command(f"set winborder={border}")
    made.ask()
    made.wait_entered()
    made.screen.wait(f"{corner} claude wants to run a command")
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


def test_help(asked: Desk) -> None:
    asked.screen.keys("?")
    asked.screen.wait("keep the question open")
    rest(asked)
    asked.screen.keys("1")
    asked.wait_answers(("q1", 1))


@pytest.mark.parametrize(("rule", "index"), [("cancel", 0), ("reject", 3)])
def test_dismissing_may_be_an_answer(start_screen: StartScreen, rule: str, index: int) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"dismiss": rule}})
    made.ask()
    made.wait_entered()
    made.screen.keys("q")
    made.wait_answers(("q1", index))


def test_dismissing_rejects_by_cancelling_where_no_option_rejects(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"dismiss": "reject"}})
    made.ask(options=OPTIONS[:2])
    made.wait_entered()
    made.screen.keys("q")
    made.wait_answers(("q1", 0))


def test_options_of_the_user_do_not_disturb_it(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    options = (
        "foldmethod=indent foldlevel=0 foldenable nowrap scrolloff=99 list number relativenumber cursorline"
    )
    made.screen.command(f"set {options} signcolumn=yes smartcase virtualedit=all")
    made.ask()
    made.wait_entered()
    screen = made.screen.wait(FOOTER)
    assert "│  && npm test" in screen
    made.screen.keys("2")
    made.wait_answers(("q1", 2))


def test_withdrawn_while_entered(asked: Desk) -> None:
    asked.close("q1")
    eventually(lambda: asked.carded() == "")
    asked.screen.keys("1<Esc>")
    assert asked.answers() == []
    assert asked.screen.lua("return vim.api.nvim_buf_get_name(0)").endswith("/prompt")
