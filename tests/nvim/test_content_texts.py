"""Embedded texts, content of tool calls and questions, and files that were left: opened only by a key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Stage, ask, diff, update
from tests.nvim.content_kit import PNG, RECORD, embedded, image, link, message, play, press, wait_opened
from tests.plugin import StartScreen, eventually

# -- embedded texts


@pytest.mark.req("V1-97")
def test_an_embedded_text_opens_beside_the_code(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    (tmp_path / "code.py").write_text("mine\n")
    text = "def f():\n    return '\x1b]52;c;x\x07'\n# vim: set tw=33 nomodeline :\n"
    block = embedded(f"file://{tmp_path}/%25x.py", text=text, mimeType="text/x-python")
    chat = play(start_screen, agent, message(block), cwd=tmp_path, files=("code.py",))
    screen = chat.screen
    press(chat, "resource  text/x-python")
    eventually(lambda: "/content/" in screen.api.buf_get_name(0), message=screen.text)
    assert screen.lines() == ["def f():", "    return '^[]52;c;x^G'", "# vim: set tw=33 nomodeline :"]
    assert screen.api.buf_get_name(0) == "acp://x/1/content/1/_x.py"
    options = "local r = {} for _, o in ipairs({...}) do r[o] = vim.bo[o] end return r"
    assert screen.lua(options, "buftype", "modifiable", "textwidth", "swapfile", "filetype", "buflisted") == {
        "buftype": "nofile",
        "modifiable": False,
        "textwidth": 0,
        "swapfile": False,
        "filetype": "acp-content",
        "buflisted": False,
    }
    screen.wait("%x.py  sent by x")
    row, col = screen.find("def f")
    assert screen.groups_at(row, col), "it has the colours of its language"
    screen.keys("q")
    eventually(lambda: "/content/" not in screen.api.buf_get_name(0))
    assert screen.funcs.bufwinid("code.py") != -1


def test_the_file_key_goes_to_the_file_itself(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("on disk\n")
    chat = play(
        start_screen, agent, message(embedded((tmp_path / "a.py").as_uri(), text="sent")), cwd=tmp_path
    )
    press(chat, "resource", "gf")
    eventually(lambda: chat.screen.lines() == ["on disk"])


def test_a_large_embedded_text_comes_in_pieces(start_screen: StartScreen, agent: MakeAgent) -> None:
    text = "".join(f"line {n}\n" for n in range(30_000))
    chat = play(start_screen, agent, message(embedded("x:///big.lua", text=text)))
    press(chat, "resource")
    eventually(lambda: "/content/" in chat.screen.api.buf_get_name(0))
    assert len(chat.screen.lines()) == 30_000
    assert chat.screen.lines()[-1] == "line 29999"


def test_an_answer_that_comes_too_late_takes_no_focus(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(start_screen, agent, message(embedded("x:///a.lua", text="x"), link("https://x.example/")))
    screen = chat.screen
    screen.lua(
        "local c = require('acp.content') _G.answer = c.answer c.answer = function(...) _G.late = {...} end"
    )
    for line in ("  resource", "  link"):
        screen.lua("_G.late = nil")
        screen.api.set_current_win(screen.funcs.bufwinid(chat.buf))
        press(chat, line)
        eventually(lambda: screen.lua("return _G.late ~= nil"))
        screen.command("wincmd t")
        before = [w.handle for w in screen.api.list_wins()]
        screen.lua("_G.answer(unpack(_G.late))")
        assert [w.handle for w in screen.api.list_wins()] == before
        screen.api.set_current_win(screen.funcs.bufwinid(chat.buf))
        screen.keys("i")  # to the prompt
        eventually(lambda: screen.api.get_mode()["mode"] == "i")
        screen.lua("_G.answer(unpack(_G.late))")
        assert screen.api.get_mode()["mode"] == "i"
        screen.keys("<Esc>")


# -- tool calls


@pytest.mark.req("V1-98", "V1-118")
def test_content_of_a_tool_call_opens_and_a_diff_is_only_shown(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text("old\n")
    content = [diff(str(file), "old\n", "new\n"), {"type": "content", "content": image()}]
    actions = [
        update("tool_call", toolCallId="t", title="T", kind="edit", status="completed", content=content)
    ]
    chat = play(start_screen, agent, actions, cwd=tmp_path, files=("a.py",))
    assert file.read_text() == "old\n"
    chat.screen.keys("zR")
    press(chat, "image  image/png")
    (target,) = wait_opened(chat.screen)
    assert Path(target).read_bytes() == PNG
    assert file.read_text() == "old\n"
    assert chat.screen.lines(chat.screen.funcs.bufnr("a.py")) == ["old"]


def test_a_link_in_a_question_opens_and_answers_nothing(start_screen: StartScreen, agent: MakeAgent) -> None:
    call = {
        "toolCallId": "t",
        "title": "Fetch it",
        "kind": "fetch",
        "content": [{"type": "content", "content": link("https://x.example/")}],
    }
    played = agent(on={"session/prompt": [ask(9, call), {"await": 9}, END]})
    stage = Stage(start_screen(size=(120, 40), init=WATCH + RECORD), PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.send()
    chat.wait_pending(1)
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(chat.buf))
    chat.wait("link  here")
    press(chat, "link  here")
    chat.screen.wait("host  x.example")
    chat.screen.keys("q")
    assert played.responses(9) == []
    chat.permit("allow_once")
    chat.wait_turn()


# -- what others left


def test_files_of_a_killed_host_go_at_the_next_start(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    chat = play(start_screen, agent, message(image()))
    screen = chat.screen
    press(chat, "image  image/png")
    (target,) = wait_opened(screen)
    pid = screen.host_ready()
    os.kill(pid, 9)
    eventually(lambda: screen.host()["state"] == "off")
    assert Path(target).exists()
    screen.lua("require('acp.host').start()")
    screen.host_ready()
    eventually(lambda: not Path(target).parent.exists())
    screen.clear_messages()
