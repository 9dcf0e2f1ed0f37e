"""Completion in the prompt: mentions and commands, as one types and on request. The host is a recorder."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.stub import AGENT, INIT, events, update
from tests.plugin import Screen, StartScreen, eventually

COMMANDS = [{"name": "review", "hint": "PR number"}, {"name": "reset all", "description": "begin again"}]
PATHS = ["src/", "src/app.py", "my docs/", "docs/app.md"]


@pytest.fixture(params=[None, "menu,preview", "menuone,noinsert"])
def prompt(request: pytest.FixtureRequest, start_screen: StartScreen) -> Screen:
    """A prompt in Insert mode, with the defaults of a version, and with what users set."""
    screen = start_screen(init=INIT + AGENT, size=(120, 32))
    screen.command("AcpChat")
    update(screen, {"state": "idle"})
    if request.param is not None:
        screen.command(f"set completeopt={request.param}")
    screen.lua("require('acp.chat.complete').commands(...)", 1, COMMANDS)
    return screen


@pytest.fixture
def one(start_screen: StartScreen) -> Screen:
    screen = start_screen(init=INIT + AGENT, size=(120, 32))
    screen.command("AcpChat")
    update(screen, {"state": "idle"})
    screen.lua("require('acp.chat.complete').commands(...)", 1, COMMANDS)
    return screen


def asked(nvim: Screen) -> list[dict[str, Any]]:
    return events(nvim, "complete")


def type_and_ask(nvim: Screen, keys: str, typed: str) -> int:
    """Type, and wait until the host is asked for it. Returns the id of the question."""
    before = len(asked(nvim))
    nvim.keys(keys)
    eventually(lambda: len(asked(nvim)) > before and asked(nvim)[-1]["typed"] == typed)
    return int(asked(nvim)[-1]["id"])


def answer(nvim: Screen, number: int, *paths: str, ended: bool = True, **limits: Any) -> None:
    rows = [[f'@"{path}"' if " " in path else f"@{path}", path] for path in paths]
    nvim.lua("require('acp.chat.paths').answer(...)", number, rows, ended, limits)


def offered(nvim: Screen) -> list[str]:
    """The words that are offered besides the text itself, if any are."""
    info = nvim.funcs.complete_info(["items", "pum_visible"])
    items = info["items"] if info["pum_visible"] else []
    return [item["word"] for item in items if item["user_data"] == "acp"]


def next_item(nvim: Screen) -> str:
    """The key that goes from the text to the first item; with noinsert it is there already."""
    return "" if "noinsert" in nvim.lua("return vim.o.completeopt") else "<C-n>"


def test_a_mention_is_completed(prompt: Screen) -> None:
    number = type_and_ask(prompt, "see (@", "")
    answer(prompt, number, *PATHS)
    eventually(lambda: "@src/" in offered(prompt))
    words = ["@buffer", "@selection", "@diagnostics", "@diagnostics:all", "@quickfix", "@diff"]
    assert offered(prompt)[:6] == words
    assert offered(prompt)[6:] == ["@src/", "@src/app.py", '@"my docs/', "@docs/app.md"]
    assert prompt.lines() == ["see (@"]
    number = type_and_ask(prompt, "ap", "ap")
    assert asked(prompt)[-1].get("recent") is None, "the listing is looked after once a mention"
    answer(prompt, number, "src/app.py", "docs/app.md")
    eventually(lambda: offered(prompt) == ["@src/app.py", "@docs/app.md"])
    assert prompt.lines() == ["see (@ap"]
    prompt.keys(next_item(prompt) + "<C-y>")
    eventually(lambda: prompt.lines() == ["see (@src/app.py"])
    count = len(asked(prompt))
    prompt.keys(":7-13)")
    eventually(lambda: prompt.lines() == ["see (@src/app.py:7-13)"])
    assert offered(prompt) == []
    assert len(asked(prompt)) == count, "what was taken is not looked up again"


def test_folders_go_on_and_blanks_are_quoted(prompt: Screen) -> None:
    answer(prompt, type_and_ask(prompt, "@my", "my"), "my docs/")
    eventually(lambda: offered(prompt) == ['@"my docs/'])
    before = len(asked(prompt))
    prompt.keys(next_item(prompt) + "<C-y>")
    eventually(lambda: len(asked(prompt)) > before)
    assert prompt.lines() == ['@"my docs/']
    assert asked(prompt)[-1]["typed"] == "my docs/"
    answer(prompt, asked(prompt)[-1]["id"], "my docs/", "my docs/a b.md")
    eventually(lambda: offered(prompt) == ['@"my docs/"', '@"my docs/a b.md"'])
    answer(prompt, type_and_ask(prompt, "a ", "my docs/a "), "my docs/a b.md")
    eventually(lambda: offered(prompt) == ['@"my docs/a b.md"'])
    prompt.keys(next_item(prompt) + "<C-y>")
    eventually(lambda: prompt.lines() == ['@"my docs/a b.md"'])
    count = len(asked(prompt))
    prompt.keys(" and ")
    eventually(lambda: prompt.lines() == ['@"my docs/a b.md" and '])
    assert len(asked(prompt)) == count


def test_late_answers_are_dropped(one: Screen) -> None:
    first = type_and_ask(one, "@p", "p")  # no word begins with it, which would be offered after a while
    second = type_and_ask(one, "k", "pk")
    answer(one, first, "wrong.py")
    assert offered(one) == []
    answer(one, second, "pkg/", ended=False)
    eventually(lambda: offered(one) == ["@pkg/"])
    answer(one, second, "pkg/", "pkg/app.py")
    eventually(lambda: offered(one) == ["@pkg/", "@pkg/app.py"])
    answer(one, second, "wrong.py")
    assert offered(one) == ["@pkg/", "@pkg/app.py"], "that was over"
    third = type_and_ask(one, "g", "pkg")
    one.keys(" ")
    eventually(lambda: one.lines() == ["@pkg "])
    answer(one, third, "pkg/")
    assert offered(one) == [], "the text has moved on"
    fourth = type_and_ask(one, "@a", "a")
    one.keys("<Esc>")
    eventually(lambda: one.api.get_mode()["mode"] == "n")
    answer(one, fourth, "src/app.py")
    assert one.lines() == ["@pkg @a"]
    assert not one.funcs.pumvisible()
    one.keys("A")
    answer(one, type_and_ask(one, " @", ""), "src/")
    eventually(lambda: "@src/" in offered(one))
    last = type_and_ask(one, "x", "x")
    one.keys("<Esc><C-w>h")
    answer(one, last, "src/x.py")
    assert not one.funcs.pumvisible()
    assert one.messages().strip() == ""


def test_keys_in_the_menu_are_vims(one: Screen) -> None:
    answer(one, type_and_ask(one, "@a", "a"), "src/app.py", "docs/app.md")
    eventually(lambda: len(offered(one)) == 2)
    count = len(asked(one))
    one.keys("<C-n>")
    eventually(lambda: one.lines() == ["@src/app.py"])
    one.keys("<C-n>")
    eventually(lambda: one.lines() == ["@docs/app.md"])
    assert len(offered(one)) == 2, "going through them changes nothing"
    one.keys("<C-e>")
    eventually(lambda: one.lines() == ["@a"])
    assert offered(one) == []
    assert len(asked(one)) == count
    answer(one, type_and_ask(one, "p", "ap"), "src/app.py")  # typing on brings it back
    eventually(lambda: offered(one) == ["@src/app.py"])
    one.keys("<C-e><C-x><C-o>")
    eventually(lambda: len(asked(one)) == count + 2)
    answer(one, asked(one)[-1]["id"], "src/app.py")
    eventually(lambda: offered(one) == ["@src/app.py"])
    one.keys("<C-n>x")
    eventually(lambda: one.lines() == ["@src/app.pyx"])
    one.keys("<Esc>u")
    eventually(lambda: one.lines() == [""])


def test_what_is_shown_stays_until_there_is_better(one: Screen) -> None:
    """A key must not make the menu go and come: the host's answer takes a moment."""
    answer(one, type_and_ask(one, "@", ""), *PATHS)
    eventually(lambda: "@docs/app.md" in offered(one))
    type_and_ask(one, "d", "d")
    assert "@docs/app.md" in offered(one)
    number = type_and_ask(one, "ocs/", "docs/")
    eventually(lambda: offered(one) == ['@"my docs/', "@docs/app.md"])
    answer(one, number)
    eventually(lambda: offered(one) == [])
    assert one.lines() == ["@docs/"]
    number = type_and_ask(one, "<BS><BS><BS><BS>", "d")
    answer(one, number, "docs/", "docs/app.md")
    eventually(
        lambda: offered(one) == ["@diagnostics", "@diagnostics:all", "@diff", "@docs/", "@docs/app.md"]
    )


@pytest.mark.parametrize(
    "before", ["me@", "`@", "a/@", "@a @b:3", "@a:7-", '@"a b" ', "x @a:", "@" + "y" * 2000]
)
def test_elsewhere_nothing_is_looked_up(one: Screen, before: str) -> None:
    one.keys("i<C-u>")
    count = len([each for each in asked(one) if each["typed"]])
    one.lua("vim.api.nvim_put({ ... }, 'c', true, true)", before)
    one.keys("<C-x><C-o>x<BS>")
    eventually(lambda: one.lines() == ["i" * 0 + before] or one.lines()[0].endswith(before))
    assert len([each for each in asked(one) if each["typed"]]) == count


@pytest.mark.parametrize("before", ["", "(", "[", "x {", "<lt>", '"', "'", "“", "‘", "«", "one<CR>"])
def test_where_a_mention_may_begin(one: Screen, before: str) -> None:
    answer(one, type_and_ask(one, before.replace("<CR>", "\r") + "@q", "q"), "queue.py")
    eventually(lambda: offered(one) == ["@quickfix", "@queue.py"])


def test_the_menu_does_not_flicker(prompt: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """No frame of the screen is without it, whatever is typed and however late the answers are."""
    frames: list[str] = []
    answer(prompt, type_and_ask(prompt, "@", ""), "src/", "src/app.py", "src/x-y app.py")
    prompt.wait("x-y app.py")

    def flush() -> None:
        frames.append("\n".join("".join(text for text, _ in row) for row in prompt.cells))

    monkeypatch.setattr(prompt, "_on_flush", flush)
    for end in range(1, len("src/app") + 1):
        typed = "src/app"[:end]
        number = type_and_ask(prompt, typed[-1], typed)
        prompt.wait("@" + typed)
        answer(prompt, number, "src/app.py", "src/x-y app.py")
        eventually(lambda: offered(prompt)[-2:] == ["@src/app.py", '@"src/x-y app.py"'])
        prompt.pump()
    assert len(frames) > len("src/app")
    assert [frame for frame in frames if "x-y app.py" not in frame] == []


def test_neovims_own_autocompletion_stays_away(one: Screen) -> None:
    if not one.funcs.exists("+autocomplete"):
        pytest.skip("Neovim 0.12 has it")
    one.keys("<Esc><C-w>h")
    one.command("set autocomplete")
    one.keys("ihello hell")
    eventually(lambda: one.funcs.pumvisible())
    one.keys("<C-e><Esc><C-w>bAhello hell @hel")
    eventually(lambda: one.lines() == ["hello hell @hel"])
    assert not one.funcs.pumvisible()
    answer(one, asked(one)[-1]["id"], "help.txt")
    eventually(lambda: offered(one) == ["@help.txt"])


def test_in_the_middle_of_a_line(one: Screen) -> None:
    one.keys("see  please<Esc>04li")
    answer(one, type_and_ask(one, "@ap", "ap"), "src/app.py")
    eventually(lambda: offered(one) == ["@src/app.py"])
    one.keys("<C-n><C-y>")
    eventually(lambda: one.lines() == ["see @src/app.py please"])


def test_the_setting_and_a_plugin_switch_it_off_but_not_the_key(one: Screen) -> None:
    one.lua("require('acp').setup({ chat = { complete = 'never' } })")
    one.keys("@a")
    eventually(lambda: one.lines() == ["@a"])
    assert asked(one) == []
    one.keys("<C-x><C-o>")
    eventually(lambda: len(asked(one)) == 1)
    answer(one, asked(one)[0]["id"], "a.py")
    eventually(lambda: offered(one) == ["@a.py"])
    one.keys("<C-e><C-u>/re")
    eventually(lambda: one.lines() == ["/re"])
    assert offered(one) == []
    one.keys("<C-x><C-o>")
    eventually(lambda: offered(one) == ["/review", "/reset all"])
    one.keys("<C-e><C-u>")
    one.lua("require('acp').setup({})")
    one.lua("require('acp.chat.watch').hand_over('a plugin')")
    one.keys("/re")
    eventually(lambda: one.lines() == ["/re"])
    assert offered(one) == []
    one.lua("require('acp').setup({ chat = { complete = 'always' } })")
    one.keys("s")
    eventually(lambda: offered(one) == ["/reset all"])


def test_without_a_host_the_words_are_offered(one: Screen) -> None:
    one.lua("_G.host_state = 'failed'")
    one.keys("@di")
    eventually(lambda: offered(one) == ["@diagnostics", "@diagnostics:all", "@diff"])
    assert asked(one) == []


def test_a_slow_host_does_not_keep_the_words_back(one: Screen) -> None:
    type_and_ask(one, "@di", "di")
    eventually(lambda: offered(one) == ["@diagnostics", "@diagnostics:all", "@diff"])
    answer(one, asked(one)[-1]["id"], "dist.py")
    eventually(lambda: offered(one) == ["@diagnostics", "@diagnostics:all", "@diff", "@dist.py"])


def test_a_project_that_is_too_large_is_named_once(one: Screen) -> None:
    for _ in range(2):
        answer(one, type_and_ask(one, " @a", "a"), "a.py", most=200000, cut="/big")
    assert one.lua("return #require('acp.message').log") == 1
    said = one.lua("return require('acp.message').log[1].text")
    assert said == "not all files of /big are offered after @ (200000 at most); others can be typed"


def test_where_the_user_was_is_told(one: Screen) -> None:
    for name in ("one.py", "two.py"):
        (one.cwd / name).write_text("x")
    one.keys("<Esc><C-w>h")
    one.command("edit one.py")
    one.command("edit two.py")
    one.lua("vim.v.oldfiles = { '/elsewhere/three.py' }")
    one.command("AcpChat")
    type_and_ask(one, "@", "")
    recent = asked(one)[-1]["recent"]
    cwd = one.funcs.resolve(str(one.cwd))
    assert [path.replace(str(one.cwd), cwd) for path in recent] == [
        f"{cwd}/two.py", f"{cwd}/one.py", "/elsewhere/three.py",
    ]  # fmt: skip


def test_what_a_command_takes_stands_behind_it(one: Screen) -> None:
    one.keys("/review")
    eventually(lambda: one.lines() == ["/review"])
    assert "[PR number]" not in one.text()
    one.keys("<C-e> ")
    one.wait("/review [PR number]")
    one.keys("7")
    one.wait("/review 7")
    one.wait(lambda text: "[PR number]" not in text)
    one.keys("<BS>")
    one.wait("/review [PR number]")
    one.keys("<CR>more")
    one.wait(lambda text: "more" in text and "[PR number]" not in text)


def test_long_paths_keep_their_end_at_the_edge_of_the_screen(one: Screen) -> None:
    path = "packages/some/where/deep/in/there/parser.test.ts"
    answer(one, type_and_ask(one, "x" * 30 + " @pa", "pa"), path)
    text = one.wait("parser.test.ts")
    assert "packages/some" not in text
    assert offered(one) == ["@" + path]


def test_a_pasted_line_of_a_megabyte_costs_nothing(one: Screen) -> None:
    """Only its end is looked at: each of its `@` would be looked at to the end of the line."""
    one.lua("vim.api.nvim_put({ ('(@'):rep(500000) .. ' ' }, 'c', true, true)")
    one.lua(
        """
        _G.finds = 0
        local find = string.find
        string.find = function(...) _G.finds = _G.finds + 1; return find(...) end
        require('acp.chat.token').at(1, vim.api.nvim_get_current_line(), 1000001)
        string.find = find
        """
    )
    assert one.lua("return _G.finds") < 2000
