"""One queue: what answers which question, by command and by key."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.questions import OPTIONS, Desk, desk, open_file, rest
from tests.plugin import StartScreen, eventually


def wait_carded(made: Desk, name: str) -> None:
    eventually(lambda: made.carded() == name, message=lambda: f"not shown: {name}\n{made.screen.text()}")


def test_two_at_once_one_after_the_other(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask("q1")
    made.ask("q2")
    made.wait_entered("q1")
    made.screen.wait("1 of 2")
    made.screen.keys("1", "3<Esc>")
    made.wait_answers(("q1", 1))
    made.wait_entered("q2")
    assert "of 2" not in made.screen.text()
    assert made.answers() == [("q1", 1)], "the keys after the answer were not for the second"
    made.screen.keys("3")
    made.wait_answers(("q1", 1), ("q2", 3))


def test_fifty_are_answered_in_order_each_once(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    for n in range(50):
        made.ask(f"q{n}")
    for n in range(50):
        wait_carded(made, f"q{n}")
        assert made.permit(1 + n % 3)[0]
    assert made.answers() == [(f"q{n}", 1 + n % 3) for n in range(50)]
    assert made.count() == 0


def test_a_second_question_does_not_touch_the_first(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask("q1")
    made.wait_entered("q1")
    made.ask("q2")
    made.screen.wait("1 of 2")
    assert made.entered() == "q1"
    made.close("q2")
    made.screen.wait(lambda text: "1 of 2" not in text)
    made.screen.keys("2")
    made.wait_answers(("q1", 2))


def test_the_chat_with_the_cursor_goes_first(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    other = made.new_chat()
    made.ask("hidden", chat=other)
    made.screen.wait(f"? claude {other} wants to run a command (hidden)")
    made.ask("here")
    made.wait_entered("here")
    made.screen.keys("1")
    made.wait_answers(("here", 1))
    made.screen.wait(f"? claude {other} wants to run a command (hidden)")


def test_a_closed_chat_takes_its_questions_along(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask()
    made.wait_entered()
    made.screen.lua("local c = require('acp.chat') c.finish(c.get(...))", made.chat)
    eventually(lambda: made.carded() == "")
    assert (made.count(), made.answers()) == (0, [])


def test_reset_takes_all_down(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask("q1")
    made.ask("q2")
    made.wait_entered()
    made.screen.lua("require('acp.question').reset()")
    eventually(lambda: (made.carded(), made.count()) == ("", 0))
    assert made.answers() == []


def test_nothing_is_watched_when_nothing_waits(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    keys = "return vim.on_key()"
    autocmds = "return #vim.api.nvim_get_autocmds({ group = 'acp.question' })"
    before = made.screen.lua(keys)
    made.ask()
    assert made.screen.lua(keys) == before + 1
    made.wait_entered()
    made.screen.keys("q")
    eventually(lambda: made.screen.lua(keys) == before)
    assert made.screen.lua(autocmds) == 0
    assert made.permit("1")[0]
    eventually(lambda: made.screen.lua(keys) == before)


# -- :AcpPermit


def test_the_shown_question_is_answered_else_the_oldest_of_this_chat(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    other = made.new_chat()
    made.ask("other", chat=other)
    assert made.permit("allow_once") == (False, "no question is open in this chat")
    assert made.answers() == []
    made.ask("q1")
    made.ask("q2")
    assert made.permit("allow_once")[0]
    assert made.permit("reject_once")[0]
    assert made.answers() == [("q1", 1), ("q2", 3)]
    assert not made.permit("allow_once")[0]
    assert made.answers() == [("q1", 1), ("q2", 3)]


@pytest.mark.parametrize(
    ("choice", "index"),
    [("allow_once", 1), ("allow_always", 2), ("reject_once", 3), ("2", 2), (3, 3), ("cancel", 0)],
)
def test_answers_by_command(start_screen: StartScreen, choice: Any, index: int) -> None:
    made = desk(start_screen)
    open_file(made)
    made.ask()
    made.screen.command(f"AcpPermit {choice}")
    assert made.answers() == [("q1", index)]
    made.screen.wait(lambda text: "npm install" not in text)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("allow_once", "allowed: edit a.py +1 -1 (Allow once)"),
        ("3", "rejected: edit a.py +1 -1 (Reject)"),
        ("cancel", "cancelled: edit a.py +1 -1"),
    ],
)
def test_an_answer_to_a_hidden_question_says_what_it_was(
    start_screen: StartScreen, choice: str, said: str
) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"open": "never"}})
    made.ask("q0", what="see this")
    made.screen.command("AcpPermit 1")
    made.screen.lua("require('acp.chat.windows').close(require('acp.chat').get(...))", made.chat)
    made.ask(what="edit a.py +1 -1")
    made.screen.command(f"AcpPermit {choice}")
    assert said in made.screen.wait(said).split("\n")[-1]
    assert made.screen.lua("return #require('acp.message').log") <= 1, "nothing about what was in sight"


@pytest.mark.parametrize("choice", ["reject_always", "4", "0", "maybe", "allow", "1x", "-1"])
def test_wrong_arguments_list_the_options(start_screen: StartScreen, choice: str) -> None:
    made = desk(start_screen)
    open_file(made)
    made.ask()
    ok, reason = made.permit(choice)
    assert not ok
    assert "1 Allow once (allow_once), 2 Always allow npm (allow_always), 3 Reject (reject_once)" in reason
    assert made.answers() == []
    assert made.carded() == "q1"


def test_a_kind_that_two_options_have_answers_nothing(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    open_file(made)
    made.ask(options=[*OPTIONS, {"id": "x", "name": "Allow twice", "kind": "allow_once"}])
    made.screen.lua("require('acp.question').hide()")
    eventually(lambda: made.carded() == "")
    assert not made.permit("allow_once")[0]
    assert (made.answers(), made.carded()) == ([], "q1")


def test_hide_and_pick(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    open_file(made)
    made.ask()
    made.screen.command("AcpPermit hide")
    made.screen.wait(lambda text: "npm install" not in text)
    assert made.count() == 1
    made.screen.command("AcpPermit")
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))
    assert made.permit("hide") == (False, "no question is shown")
    assert made.permit() == (False, "no question is open")


def test_pick_one_of_several(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask("q1")
    made.ask("q2")
    made.wait_entered("q1")
    made.screen.keys("q")
    eventually(lambda: made.entered() != "q1")
    made.screen.lua("require('acp.question').pick('q2')")
    made.wait_entered("q2")
    made.screen.keys("2")
    made.wait_answers(("q2", 2))
    assert made.screen.lua("return require('acp.question').list()")[0]["id"] == "q1"
    assert made.screen.lua("return require('acp.question').count(...)", made.chat) == 1


def test_pick_out_of_insert_mode(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.keys("isome text")
    made.ask()
    made.screen.keys("<Cmd>AcpPermit<CR>")
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))
    eventually(lambda: made.mode() == "i")
    made.screen.keys("!")
    eventually(lambda: made.screen.lines() == ["some text!"] or made.screen.lines() == ["some tex!t"])


# -- keys


def test_a_key_on_a_question_that_was_never_on_the_screen_only_shows_it(start_screen: StartScreen) -> None:
    made = desk(start_screen, show=False)
    made.ask()
    made.permit("allow_once", key=True)
    assert (made.answers(), made.carded()) == ([], "q1")
    made.permit("allow_once", key=True)
    assert made.answers() == [], "a second press in the same moment was not meant for it either"
    made.screen.lua("vim.wait(300)")
    assert made.permit("allow_once", key=True) == (True, "")
    assert made.answers() == [("q1", 1)]


def test_a_key_does_not_answer_what_was_not_read_to_the_end(start_screen: StartScreen) -> None:
    made = desk(start_screen, focus=False)
    made.ask(lines=[f"line {n}" for n in range(80)])
    made.screen.wait("more lines · :AcpPermit answers")
    rest(made)
    assert not made.permit("allow_once", key=True)[0]
    assert made.answers() == []
    assert made.permit("allow_once")[0]


def test_a_key_meant_for_the_last_question_spares_the_next(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    open_file(made)
    made.ask("q1")
    made.ask("q2")
    rest(made)
    made.permit("allow_once", key=True)
    eventually(lambda: made.carded() == "q2")
    made.permit("allow_once", key=True)
    assert made.answers() == [("q1", 1)]


def test_the_local_leader_keys_of_the_chat(start_screen: StartScreen) -> None:
    made = desk(start_screen, init="vim.g.maplocalleader = ','")
    made.screen.setup({"permission": {"open": "never"}})
    made.screen.keys("<C-w>k")
    made.ask()
    made.screen.wait("npm install")
    rest(made)
    made.screen.keys(",r")
    made.wait_answers(("q1", 3))
