"""The user's own ``vim.ui.select``, well-behaved or not: each question is answered once, none is lost."""

from __future__ import annotations

import pytest
from tests.nvim.questions import Desk, desk
from tests.plugin import StartScreen, eventually

KEEP = """
  _G.calls = {}
  vim.ui.select = function(items, opts, on_choice)
    local names = vim.tbl_map(opts.format_item or tostring, items)
    local call = { names = names, prompt = opts.prompt, kind = opts.kind, items = items, cb = on_choice }
    table.insert(_G.calls, call)
  end
"""


def calls(made: Desk) -> int:
    return int(made.screen.lua("return #_G.calls"))


def wait_calls(made: Desk, count: int) -> None:
    eventually(lambda: calls(made) == count, message=lambda: f"calls: {calls(made)}")


def choose(made: Desk, call: int, index: int | None) -> None:
    made.screen.lua(
        "local c, i = _G.calls[...], select(2, ...)"
        " if i == vim.NIL then c.cb(nil, nil) else c.cb(c.items[i], i) end",
        call,
        index,
    )


@pytest.fixture
def made(start_screen: StartScreen) -> Desk:
    """A chat with the cursor in its prompt, and a picker that only notes what it was asked."""
    return desk(start_screen, init=KEEP)


def test_it_is_asked_in_the_agents_words(made: Desk) -> None:
    made.ask()
    wait_calls(made, 1)
    call = made.screen.lua("local c = _G.calls[1] return { c.names, c.prompt, c.kind, #c.items }")
    names = ["Allow once", "Always allow npm", "Reject"]
    assert call == [names, "claude wants to run: npm test (q1)", "acp_permission", 3]
    assert "npm install left-pad@1.3.0" in made.screen.text(), (
        "the full question stands in the card beside it"
    )
    assert made.entered() == ""
    choose(made, 1, 2)
    assert made.answers() == [("q1", 2)]
    made.screen.wait(lambda text: "npm install" not in text)


@pytest.mark.parametrize(
    ("how", "index"),
    [
        ("c.cb(c.items[3], 3)", 3),
        ("c.cb(c.items[3])", 3),
        ("c.cb(vim.deepcopy(c.items[2]))", 2),
        ("c.cb(vim.deepcopy(c.items[2]), 2)", 2),
        ("c.cb('Always allow npm', 2)", 2),
    ],
)
def test_ways_pickers_say_what_was_chosen(made: Desk, how: str, index: int) -> None:
    made.ask()
    wait_calls(made, 1)
    made.screen.lua(f"local c = _G.calls[1] {how}")
    assert made.answers() == [("q1", index)]


def test_dismissed_it_stays_open(made: Desk) -> None:
    made.ask()
    wait_calls(made, 1)
    choose(made, 1, None)
    eventually(lambda: made.carded() == "")
    assert (made.count(), made.answers()) == (1, [])
    choose(made, 1, 1)
    assert made.answers() == [], "only its first word counts"
    made.screen.command("AcpPermit")
    wait_calls(made, 2)
    choose(made, 2, 1)
    assert made.answers() == [("q1", 1)]


def test_calling_back_twice_and_later(start_screen: StartScreen) -> None:
    made = desk(
        start_screen,
        init="""vim.ui.select = function(i, o, cb)
          cb(i[1], 1) cb(nil) vim.defer_fn(function() cb(i[2], 2) _G.late = true end, 500)
        end""",
    )
    made.ask()
    made.wait_answers(("q1", 1))
    eventually(lambda: made.screen.lua("return _G.late"))
    assert made.answers() == [("q1", 1)]
    assert made.count() == 0


def test_a_picker_that_never_calls_back(made: Desk) -> None:
    made.ask("q1")
    wait_calls(made, 1)
    made.ask("q2")
    made.screen.command("AcpPermit")
    wait_calls(made, 2)
    choose(made, 1, 3)
    assert made.answers() == [], "the picker that was opened again has the word"
    choose(made, 2, 1)
    assert made.answers() == [("q1", 1)]
    wait_calls(made, 3)
    choose(made, 2, 2)
    choose(made, 3, 2)
    assert made.answers() == [("q1", 1), ("q2", 2)]


def test_a_picker_that_was_left_without_a_word_does_not_keep_the_others(made: Desk) -> None:
    made.ask("q1")
    made.ask("q2")
    wait_calls(made, 1)
    made.open_float()
    made.close_float()
    wait_calls(made, 2)
    assert made.screen.lua("return _G.calls[2].prompt").endswith("(q2)")
    assert made.answers() == []
    choose(made, 1, 3)
    choose(made, 2, 1)
    assert made.answers() == [("q1", 3), ("q2", 1)], "its first word counts, late as it is"


def test_withdrawn_while_the_picker_is_open(made: Desk) -> None:
    made.ask("q1")
    made.ask("q2")
    wait_calls(made, 1)
    made.close("q1")
    wait_calls(made, 2)
    choose(made, 1, 1)
    assert made.answers() == []
    choose(made, 2, 2)
    assert made.answers() == [("q2", 2)]


def test_a_choice_for_one_question_never_answers_another(made: Desk) -> None:
    made.ask("q1")
    wait_calls(made, 1)
    made.screen.command("AcpPermit reject_once")
    made.ask("q2")
    wait_calls(made, 2)
    choose(made, 1, 1)
    assert made.answers() == [("q1", 3)]


def test_a_picker_that_fails_gives_way_to_the_chooser(start_screen: StartScreen) -> None:
    made = desk(start_screen, init="vim.ui.select = function() error('broken picker') end")
    made.ask()
    made.wait_entered()
    assert "vim.ui.select failed" in made.screen.messages()
    made.screen.clear_messages()
    made.screen.keys("2")
    made.wait_answers(("q1", 2))


def test_fifty_through_a_picker_that_takes_two_milliseconds(start_screen: StartScreen) -> None:
    made = desk(
        start_screen,
        init="""
        _G.open, _G.most = 0, 0
        vim.ui.select = function(items, _, cb)
          _G.open = _G.open + 1
          _G.most = math.max(_G.most, _G.open)
          vim.defer_fn(function()
            _G.open = _G.open - 1
            cb(items[2], 2)
          end, 2)
        end""",
    )
    for n in range(50):
        made.ask(f"q{n}")
    eventually(lambda: len(made.answers()) == 50)
    assert made.answers() == [(f"q{n}", 2) for n in range(50)]
    assert made.screen.lua("return _G.most") == 1


def test_back_to_insert_mode(made: Desk) -> None:
    made.screen.keys("i")
    made.ask()
    wait_calls(made, 1)
    assert made.mode() == "n"
    choose(made, 1, 1)
    eventually(lambda: made.mode() == "i")


@pytest.mark.parametrize(("ui", "own"), [("float", True), ("float", False), ("auto", False)])
def test_when_ours_is_used(start_screen: StartScreen, ui: str, own: bool) -> None:
    made = desk(start_screen, init=KEEP if own else "")
    made.screen.setup({"permission": {"ui": ui}})
    made.ask()
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


def test_the_builtin_one_on_wish(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"ui": "select"}})
    made.ask()
    made.screen.wait("claude wants to run: npm test")
    made.screen.wait("2: Always allow npm")
    made.screen.keys("2<CR>")
    made.wait_answers(("q1", 2))
