"""Cases C30, C34 and C35: what the user keeps while chats come, work and go."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, ask, play, selected, update
from tests.plugin import Screen, StartScreen, eventually


def names(screen: Screen) -> list[str]:
    """The acp:// buffers there are."""
    found = screen.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())")
    return sorted(name for name in found if name.startswith("acp://"))


def test_c30_a_session_file_with_a_chat(start_screen: StartScreen, agent: MakeAgent) -> None:
    played = agent()
    first = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(first)
    stage.setup(x=played)
    stage.open(played).wait_state("idle")
    file = first.options.folder / "s.vim"
    first.command(f"mksession! {file}")
    first.keys("<Esc>:qa<CR>")
    assert first.wait_exit() == 0

    screen = start_screen(size=(150, 40), init=WATCH, cwd=first.cwd)
    stage = Stage(screen)
    stage.setup(x=played)
    screen.command(f"silent source {file}")
    assert played.events("start")[1:] == [], "a restored buffer starts nothing"
    for buffer in screen.api.list_bufs():
        if buffer.name.startswith("acp://"):
            assert "This chat ended with the Neovim it was in." in screen.lines(buffer.number)
    chat = stage.open(played)
    chat.wait_state("idle")
    assert chat.text().startswith("x in ")
    own = [f"acp://x/{chat.n}", f"acp://x/{chat.n}/prompt"]
    assert names(screen) == own, "no dead buffer is left"
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"
    assert "E95" not in screen.messages()


@pytest.mark.parametrize("how", ["bwipeout!", "file renamed", "bwipeout! acp://x/1/prompt"])
def test_c30_again_after_the_buffer_was_taken_away(
    how: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    played = agent()
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    old = stage.open(played)
    old.wait_state("idle")
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", old.buf)
    screen.command(how)
    chat = stage.open(played, new=how.startswith("file"))
    chat.wait_state("idle")
    assert chat.n != old.n
    if not how.startswith("file"):
        played.wait("session/close")
        assert names(screen) == [f"acp://x/{chat.n}", f"acp://x/{chat.n}/prompt"]
    chat.send("hello")
    chat.wait_turn()
    assert "hello" in chat.text()
    assert "E95" not in screen.messages()


@pytest.mark.parametrize("how", ["bdelete!", "bdelete! acp://x/1/prompt", "bunload!"])
def test_c30_closed_by_bdelete_the_session_goes_on(
    how: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    played = agent()
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send("hello")
    chat.wait_turn()
    before = chat.text()
    prompt = screen.funcs.bufnr("^acp://x/1/prompt$")
    screen.command(f"bdelete! {prompt}" if "prompt" in how else f"{how} {chat.buf}")
    chat.send("while it is closed")
    chat.wait_turn(2)
    assert stage.open(played).n == chat.n
    assert chat.text().startswith(before)
    assert "while it is closed" in screen.wait("while it is closed")
    assert not [m for m in played.log() if m.get("method") == "session/close"]


READ = update("tool_call", toolCallId="t{i}", title="read {i}", kind="read", status="completed")
LONG: list[Json] = [{"loop": 150, "do": [{"say": "answer {i}\n"}, READ]}]
RM = ask(191, {"toolCallId": "rm", "title": "rm tmp", "kind": "delete"})


def in_closed_fold(chat: Chat, wanted: str) -> bool:
    """Whether the transcript's line with this text is hidden by a fold, in a window that shows it."""
    row = next(n for n, line in enumerate(chat.text().split("\n"), 1) if wanted in line)
    win = chat.screen.funcs.win_findbuf(chat.buf)[0]
    closed = chat.screen.lua(
        "local win, row = ..."
        " return vim.api.nvim_win_call(win, function() return vim.fn.foldclosed(row) end)",
        win,
        row,
    )
    return closed not in (-1, row)


GROUP = [
    update("tool_call", toolCallId=f"g{n}", title=f"Look at {n}", kind="read", status="completed")
    for n in range(5)
]
IN_GROUP = ask(191, {"toolCallId": "g2", "status": "pending"})


@pytest.mark.parametrize(("question", "row"), [(RM, "rm tmp"), (IN_GROUP, "Look at 2")])
def test_c34_a_question_is_never_in_a_fold(
    question: Json, row: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    played = agent(on={"session/prompt": [[*LONG, *GROUP, END], [question, {"await": 191}, END]]})
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.send()
    chat.wait_turn()
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    screen.keys("zMgg")
    eventually(lambda: in_closed_fold(chat, "Look at 2"), message="the group is closed")
    chat.send("again")
    waiting = f"{row}  waiting for you"
    chat.wait(waiting)
    assert not in_closed_fold(chat, waiting)
    chat.wait_winbar("? waiting for you")
    screen.wait("wants to")
    screen.wait("waiting for you")
    assert screen.lua("return vim.fn.line('w0')") == 1, "the view stays"
    chat.permit("1")
    assert played.response(191)["result"] == selected("ok")
    chat.wait_turn(2)


def test_c34_a_question_in_a_chat_nobody_looks_at(start_screen: StartScreen, agent: MakeAgent) -> None:
    played = agent(on={"session/prompt": [[*LONG, END], [RM, {"await": 191}, END]]})
    init = WATCH + "vim.o.statusline = \"%{%v:lua.require'acp'.statusline()%}\""
    screen = start_screen(size=(150, 40), init=init)
    stage = Stage(screen, {})
    stage.setup(x=played)
    chat = stage.open(played)
    chat.send()
    chat.wait_turn()
    chat.wait("answer 150")
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    screen.keys("zMgg")
    chat.hide()
    screen.command("tabnew")
    screen.keys("ihere I work")
    chat.send("again")
    # Said on the screen, without the focus: in the statusline and in a line of its own.
    screen.wait("x wants to delete a file")
    screen.wait("x ? 1")
    assert "Allow" not in screen.text()
    screen.keys(" on")
    screen.wait("here I work on")
    screen.keys("<Esc>:AcpPermit<CR>")
    screen.wait("1  Allow")
    for wanted in ("rm tmp", "2  Reject"):
        assert wanted in screen.text()
    screen.keys("q")
    chat.focus()
    chat.wait("rm tmp  waiting for you")
    assert not in_closed_fold(chat, "rm tmp")
    screen.keys("<Esc>")
    chat.permit("1")
    assert played.response(191)["result"] == selected("ok")
    chat.wait_turn(2)


PACE: list[Json] = [
    {"loop": 200, "do": [{"loop": 10, "do": [{"say": "word "}]}, {"say": "\n"}, {"sleep": 6}]},
    END,
]


def test_c35_reading_while_text_arrives(start_screen: StartScreen, agent: MakeAgent) -> None:
    (chat,) = play("whole", start_screen, agent, PACE)
    screen = chat.screen
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    chat.send()
    eventually(lambda: chat.text().count("\n") > 60)
    screen.keys("gg3jVjj")
    view = "return { vim.fn.line('w0'), vim.fn.line('.'), vim.fn.line('v'), vim.fn.mode() }"
    wanted = [1, 6, 4, "V"]
    eventually(lambda: screen.lua(view) == wanted)
    before = chat.text().count("\n")
    eventually(lambda: chat.text().count("\n") > before + 30)
    assert screen.lua(view) == wanted, "neither view nor selection moved"
    screen.keys("y")
    assert screen.funcs.getreg('"').split("\n")[:3] == chat.text().split("\n")[3:6]
    assert "more below (G)" in screen.text()
    assert chat.status()["state"] == "running", "all of it happened while text arrived"
    screen.keys("G")
    eventually(lambda: screen.lua("return vim.fn.line('.')") == chat.text().count("\n") + 1)
    chat.wait_turn()
    eventually(lambda: screen.lua("return vim.fn.line('.') == vim.fn.line('$')"), message=screen.text)
    screen.wait("── done")
    assert chat.text().count("word ") == 2000


def test_c35_keys_keep_their_meaning_while_a_question_is_open(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    (chat,) = play("whole", start_screen, agent, [{"say": "one two\n"}, RM, {"await": 191}, END])
    screen = chat.screen
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    chat.send()
    chat.wait("rm tmp  waiting for you")
    screen.wait("wants to delete a file")
    screen.keys("gg/one two<CR>yiw")
    eventually(lambda: screen.funcs.getreg('"') == "one")
    screen.keys("12ry", "jk", "3G")
    assert chat.status()["pending"] == 1
    assert chat.agent.responses(191) == []
    screen.keys("itext of mine", "<Esc>")
    eventually(lambda: chat.prompt() == "text of mine")
    screen.keys(":AcpPermit reject_once<CR>")
    assert chat.agent.response(191)["result"] == selected("no")
    chat.wait_turn()
