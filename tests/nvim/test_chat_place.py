"""Which chat stands in the chat's windows, and how large they are on a screen that changes its size."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import AGENT, INIT, PROMPT, TRANSCRIPT, events, focus, frame, go_to_transcript, layout
from tests.plugin import Screen, StartNvim, StartScreen, eventually


def columns(screen: Screen) -> int:
    return layout(screen)[1][1]


@pytest.mark.parametrize("other", [True, False], ids=["hidden", "shown"])
def test_a_new_session_takes_the_place_of_the_one_that_is_shown(
    start_screen: StartScreen, other: bool
) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.setup({"agents": {"claude": {"command": ["sh"]}, "b": {"command": ["sh"]}}})
    screen.command("AcpChat claude")
    frame(screen, 1, [f"line {i}" for i in range(200)])
    windows = [int(w.handle) for w in screen.api.list_wins()]
    screen.keys("first draft<Esc>")
    screen.command("wincmd k")
    screen.keys("50Gzt5j")
    eventually(lambda: screen.funcs.line("w0") == 50)
    if other:
        screen.command("AcpChat b")
    else:
        screen.command("AcpChat! claude")
    name = "b/2" if other else "claude/2"
    assert [w[0] for w in layout(screen)] == ["", name, f"{name}/prompt"]
    assert [int(w.handle) for w in screen.api.list_wins()] == windows
    assert focus(screen) == f"acp://{name}/prompt"
    assert screen.lines() == [""]
    screen.wait(f" {name.replace('/', ' ')}  ● starting")
    screen.command("1AcpChat")
    assert [int(w.handle) for w in screen.api.list_wins()] == windows
    assert focus(screen) == PROMPT
    screen.wait("first draft")
    go_to_transcript(screen)
    assert screen.funcs.line("w0") == 50
    screen.command("quit")
    eventually(lambda: [w[0] for w in layout(screen)] == [""])


def test_another_tab_page_has_a_view_of_its_own(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat\ntabnew\nAcpChat!")
    assert [w[0] for w in layout(nvim)] == ["", "claude/2", "claude/2/prompt"]
    nvim.command("tabfirst")
    assert [w[0] for w in layout(nvim)] == ["", "claude/1", "claude/1/prompt"]


def test_the_number_of_a_chat(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120")
    nvim.api.command("3AcpChat")
    assert nvim.messages() == "acp: there is no chat 3; :AcpChat opens one"
    nvim.clear_messages()
    nvim.command("AcpChat\nAcpChat!")
    nvim.command("1AcpChat")
    assert focus(nvim) == PROMPT
    nvim.api.command("7AcpChat")
    assert nvim.messages() == "acp: there is no chat 7; there are 1 claude, 2 claude"
    assert len(events(nvim, "open")) == 2


@pytest.mark.parametrize("shown", ["nothing", "this chat", "another chat"])
@pytest.mark.parametrize("which", [TRANSCRIPT, PROMPT])
def test_the_buffer_of_a_chat_is_shown_where_chats_are(
    start_screen: StartScreen, tmp_path: Path, which: str, shown: str
) -> None:
    path = tmp_path / "code.txt"
    path.write_text("code\n")
    screen = start_screen(init=INIT + AGENT, size=(120, 30), files=(str(path),))
    screen.command("AcpChat")
    if shown == "nothing":
        screen.command("quit")
        eventually(lambda: len(layout(screen)) == 1)
    if shown == "another chat":
        screen.command("AcpChat!")
    screen.leave_insert()
    screen.command("1wincmd w")
    screen.command(f"buffer {which}")
    wanted = [str(path), "claude/1", "claude/1/prompt"]
    eventually(lambda: [w[0] for w in layout(screen)] == wanted, message=lambda: str(layout(screen)))
    assert focus(screen) == which
    assert screen.api.get_option_value("number", {"win": screen.api.list_wins()[0]}) is False
    assert screen.api.get_option_value("winfixbuf", {"win": 0}) is True


@pytest.mark.parametrize("command", ["sbuffer", "vert sbuffer", "tab sbuffer", "buffer!"])
def test_it_takes_no_window_of_its_own(start_screen: StartScreen, command: str) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.command("AcpChat\nAcpChat!")
    screen.command(f"{command} {TRANSCRIPT}")
    wanted = ["claude/1", "claude/1/prompt"]
    if not command.startswith("tab"):
        wanted.insert(0, "")
    eventually(lambda: [w[0] for w in layout(screen)] == wanted, message=lambda: str(layout(screen)))
    assert focus(screen) == TRANSCRIPT


@pytest.mark.parametrize(
    ("size", "small", "while_small"),
    [((120, 30), (30, 10), None), ((120, 30), (90, 30), 45), ((80, 30), (40, 12), None)],
)
def test_the_chat_is_resized_with_the_screen(
    start_screen: StartScreen, size: tuple[int, int], small: tuple[int, int], while_small: int | None
) -> None:
    screen = start_screen(init=INIT + AGENT, size=size)
    screen.command("AcpChat")
    before = layout(screen)
    screen.resize(*small)
    if while_small:
        eventually(lambda: columns(screen) == while_small, message=lambda: str(layout(screen)))
    screen.resize(*size)
    eventually(lambda: layout(screen) == before, message=lambda: str(layout(screen)))


def test_a_larger_screen_has_a_larger_chat(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(120, 30))
    screen.command("AcpChat")
    screen.resize(200, 40)
    eventually(lambda: layout(screen) == [("", 119, 38), ("claude/1", 80, 34), ("claude/1/prompt", 80, 3)])
    screen.command("tabnew")
    screen.resize(300, 40)
    screen.command("tabprevious")
    eventually(lambda: columns(screen) == 100)


def test_a_width_of_the_users_own_stays(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(200, 30))
    screen.command("AcpChat\nvertical resize 50")
    screen.leave_insert()
    screen.wait(lambda _: columns(screen) == 50)
    screen.resize(220, 30)
    screen.keys("<Esc>")
    screen.resize(240, 30)
    assert columns(screen) == 50
