"""A form and the rest of Neovim: leaving it and coming back, other questions, other windows, the focus."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import ask
from tests.nvim.elicit_kit import asked, form, send, type_in
from tests.plugin import StartScreen, eventually

NAME = {"name": {"type": "string", "title": "Your name"}}
ACCEPT, CANCEL = {"action": "accept"}, {"action": "cancel"}


LEAVE = ["<Esc><Esc>", "<Esc>q", "<Esc>:q<CR>", "<Esc>:bwipeout!<CR>", "<Esc><C-w>p<C-w>o"]


@pytest.mark.parametrize("keys", LEAVE)
def test_left_in_any_way_it_stays_open_with_its_values(
    start_screen: StartScreen, agent: MakeAgent, keys: str
) -> None:
    made = asked(start_screen, agent, form())
    made.begin()
    type_in(made, "Ann<CR>", "<C-u>99", keys)
    eventually(lambda: not made.shown())
    assert made.agent.responses("f1") == []
    assert made.chat.status()["pending"] == 1
    eventually(lambda: made.mode() == "n")
    made.chat.focus()
    made.screen.keys("<Esc>")
    assert made.screen.lua("return require('acp').permit()")
    made.screen.wait("1  Answer (goes on)")
    made.screen.wait("1-2 answers")
    eventually(lambda: made.screen.funcs.maparg("?", "n", False, True).get("desc"))
    made.screen.keys("1")
    screen = made.screen.wait("2 of 6")
    assert "99" in screen
    type_in(made, "<S-Tab>")
    made.screen.wait("Ann")


def test_the_focus_comes_home(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties=NAME))
    made.ready()
    made.screen.wait("AcpPermit answers")
    made.screen.keys("<C-w>t")
    code = made.screen.api.get_current_win()
    made.screen.lua("assert(require('acp').permit('1'))")
    eventually(lambda: made.mode() == "i" and made.focused())
    type_in(made, "Ann<CR>")
    send(made)
    made.answer()
    eventually(lambda: made.screen.api.get_current_win() == code)
    eventually(lambda: made.mode() == "n")


@pytest.mark.req("V1-208")
def test_a_cancelled_turn_takes_the_form_away(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(
        start_screen,
        agent,
        form(),
        on={"session/cancel": []},
    )
    made.begin()
    type_in(made, "Ann", "<Esc>")
    made.chat.screen.lua("assert(require('acp').cancel())")
    assert made.answer() == CANCEL
    eventually(lambda: not made.shown())
    made.chat.wait("cancelled")


@pytest.mark.req("V1-85", "V1-208")
def test_withdrawn_while_the_user_types_the_keys_go_nowhere_else(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "f1"}}
    made = asked(start_screen, agent, form(), {"wait": "_go"}, {"send": cancel}, on={"_go": []})
    made.begin()
    type_in(made, "Ann")
    made.screen.lua("require('acp.question').close('q1', 'withdrawn')")
    made.screen.wait("x has taken the question back")
    type_in(made, "dd", "1")
    assert made.mode() == "i"
    made.screen.wait("Anndd1")
    type_in(made, "<Esc>", "<Esc>")
    eventually(lambda: not made.shown())
    eventually(lambda: made.mode() == "n")
    assert made.screen.lua("return vim.api.nvim_buf_get_name(0)").endswith("/prompt")
    assert made.chat.prompt() == ""


def test_two_forms_and_a_permission(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(
        start_screen,
        agent,
        form("f1", NAME),
        ask("p1", {"toolCallId": "t1", "title": "npm test", "kind": "execute"}),
        form("f2", NAME, message="Another"),
        {"await": "f1"},
        {"await": "p1"},
        ident="f2",
    )
    made.ready(3)
    made.screen.wait("AcpPermit answers")
    made.chat.permit("1")
    eventually(made.focused)
    type_in(made, "Ann<CR>")
    send(made)
    assert made.answer("f1") == {**ACCEPT, "content": {"name": "Ann"}}
    made.screen.wait("x wants to run a command")
    assert made.agent.responses("f2") == made.agent.responses("p1") == []
    made.screen.lua("assert(require('acp').permit('allow_once'))")
    made.agent.response("p1")
    made.screen.wait("Another")
    made.screen.lua("assert(require('acp').permit('1'))")
    eventually(made.focused)
    type_in(made, "Bob<CR>")
    send(made)
    assert made.answer("f2") == {**ACCEPT, "content": {"name": "Bob"}}
    made.chat.wait_turn()


def test_a_question_that_comes_meanwhile_waits(start_screen: StartScreen, agent: MakeAgent) -> None:
    late = [{"sleep": 700}, ask("p1", {"toolCallId": "t1", "title": "npm test", "kind": "execute"})]
    settings = {"permission": {"open": "always"}}
    made = asked(start_screen, agent, form(properties=NAME), *late, settings=settings, ident="p1")
    made.screen.wait("1-2 answers")
    eventually(lambda: made.screen.funcs.maparg("?", "n", False, True).get("desc"))
    made.screen.keys("1")
    eventually(made.focused)
    type_in(made, "Ann")
    made.ready(2)
    made.screen.lua("vim.wait(600)")
    assert made.focused()
    type_in(made, "1<CR>")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann1"}}
    made.screen.wait("x wants to run a command")
    assert made.agent.responses("p1") == []


def test_keys_in_quick_succession_do_not_send(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties=NAME))
    made.begin()
    made.screen.keys("A<CR>1122" + "<CR>" * 8)
    made.screen.wait("1 sends")
    made.screen.lua("vim.wait(300)")
    assert made.agent.responses("f1") == []
    made.screen.keys("1")
    assert made.answer() == {**ACCEPT, "content": {"name": "A"}}


def test_nothing_opens_while_the_user_works_elsewhere(start_screen: StartScreen, agent: MakeAgent) -> None:
    settings = {"permission": {"open": "always"}}
    actions = [{"sleep": 300}, form(properties=NAME)]
    made = asked(start_screen, agent, *actions, settings=settings)
    made.screen.keys("<C-w>ti")
    for char in "some text 1 2":
        made.screen.keys(char if char != " " else "<Space>")
        made.screen.lua("vim.wait(60)")
    made.ready()
    assert made.screen.lua("return vim.api.nvim_get_current_line()") == "some text 1 2"
    made.screen.lua("vim.wait(500)")
    assert made.mode() == "i"
    assert made.agent.responses("f1") == []


PICKERS = {
    "first": "vim.ui.select = function(items, _, done) vim.schedule(function() done(items[1], 1) end) end",
    "never": "vim.ui.select = function() _G.picked = (_G.picked or 0) + 1 end",
    "throws": "vim.ui.select = function() error('no') end",
}
INPUT = "vim.ui.input = function() error('not to be used') end"


@pytest.mark.parametrize("picker", ["first", "never"])
def test_the_users_own_picker(start_screen: StartScreen, agent: MakeAgent, picker: str) -> None:
    """It is asked what to do; the form itself is ours, so that nothing typed can be lost in it."""
    made = asked(start_screen, agent, form(properties=NAME), init=f"{PICKERS[picker]}\n{INPUT}")
    made.ready()
    made.chat.go()
    made.screen.keys("<Esc>")
    made.screen.lua("assert(require('acp').permit())")
    if picker == "never":
        eventually(lambda: made.screen.lua("return _G.picked") == 1)
        assert not made.focused()
        made.screen.lua("assert(require('acp').permit('1'))")
    eventually(made.focused, message=made.screen.text)
    type_in(made, "Ann<CR>")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann"}}


def test_left_for_the_code_and_entered_again(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties=NAME))
    made.begin()
    type_in(made, "An<Esc>", "<C-w>t")
    assert not made.focused()
    made.screen.wait("An")
    type_in(made, "ihello<Esc>")
    assert made.screen.lua("return vim.api.nvim_get_current_line()") == "hello"
    made.screen.lua("assert(require('acp').permit())")
    eventually(lambda: made.focused() and made.mode() == "i")
    type_in(made, "n<CR>")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann"}}


def test_another_tab_page(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties=NAME))
    made.begin()
    type_in(made, "An<Esc>", ":tabnew<CR>")
    eventually(lambda: not made.shown())
    made.screen.wait("1  Answer (goes on)")  # asked for, so shown where the user is
    made.screen.keys("gt")
    made.screen.wait("1  Answer (goes on)")
    made.chat.permit("1")
    eventually(made.focused)
    type_in(made, "n<CR>")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann"}}


@pytest.mark.parametrize("options", [{"size": (60, 14)}, {"size": (200, 50)}])
def test_small_and_large_screens(start_screen: StartScreen, agent: MakeAgent, options: Json) -> None:
    made = asked(start_screen, agent, form(), **options)
    made.ready()
    made.chat.permit("1")
    eventually(made.focused)
    type_in(made, "Ann", "<CR>", "<CR>", "<CR>", "<CR>", "<CR>", "<CR>")
    send(made)
    assert made.answer()["content"]["name"] == "Ann"
