"""``:AcpDiff``, its function, its keys and maps: the proposed or last change of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pynvim.api import NvimError
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, ask, diff, update
from tests.nvim.diff_kit import NEW, OLD, OPTIONS, PATH, Desk, desk, edit, question
from tests.plugin import Screen, StartScreen, eventually

MakeDesk = Callable[..., Desk]

OTHER = "src/日本 語.py"


def did(path: str, old: str | None, new: str, call: str) -> list[dict[str, Any]]:
    """An agent that changes a file by itself and says so."""
    return [
        update("tool_call", toolCallId=call, title=f"Edit {path}", kind="edit", status="in_progress"),
        {"write": f"$cwd/{path}", "text": new},
        update(
            "tool_call_update",
            toolCallId=call,
            status="completed",
            content=[diff(f"$cwd/{path}", old, new)],
        ),
    ]


WORK = [*did(PATH, OLD, NEW, "t1"), *did(OTHER, None, "x = 1\n", "t2"), END]


@pytest.fixture
def make(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    def start(actions: Any = WORK, **options: Any) -> Desk:
        return desk(start_screen, agent, actions, short_tmp, **options)

    return start


@pytest.fixture
def done(make: MakeDesk) -> Desk:
    """A turn is over that has changed a file and made another."""
    made = make()
    made.go()
    made.chat.wait("── done")
    return made


def said(screen: Screen, wanted: str) -> bool:
    """Whether the user was told so."""
    log = screen.lua("return vim.tbl_map(function(each) return each.text end, require('acp.message').log)")
    return any(wanted in text for text in log)


def bars(made: Desk, count: int) -> list[str]:
    """Wait until a diff of so many windows is in its tab page; return the winbars."""

    def there() -> bool:
        return made.tabs() == 2 and len(made.windows()) == count

    eventually(there, message=lambda: f"no diff\n{made.screen.text()}\n{made.screen.messages()}")
    return [made.bar(win) for _, win in made.windows()]


def test_the_last_change(done: Desk) -> None:
    done.screen.command("AcpDiff")
    assert bars(done, 1) == [f"now {OTHER} new file, 1 line"]
    done.screen.keys("q")
    done.wait_closed()


def test_of_a_path(done: Desk) -> None:
    before = done.snapshot()
    done.screen.command(f"AcpDiff {PATH}")
    assert bars(done, 2) == [f"before {PATH}", f"now {PATH} edit +2"]
    (left, left_win), (right, right_win) = done.windows()
    assert left == f"acp://claude/1/diff/1/before/{PATH}"
    assert right == str(done.cwd / PATH), "the user's buffer, as the agent has left it"
    assert (done.lines_of(left_win), done.lines_of(right_win)) == (OLD.splitlines(), NEW.splitlines())
    assert done.screen.api.get_current_win().handle == left_win, "where our keys are"
    done.screen.keys("q")
    done.wait_closed()
    assert done.snapshot() == before


def test_what_the_user_has_changed_since(done: Desk) -> None:
    done.screen.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/date.py'), 6, 7, false, { '    # mine' })")
    done.screen.command(f"AcpDiff {PATH}")
    assert bars(done, 2) == [f"before {PATH}", f"after {PATH} edit +2 the file has changed since"]


def test_completion_and_paths(done: Desk) -> None:
    found = done.screen.funcs.getcompletion("AcpDiff ", "cmdline")
    assert found == [OTHER, PATH]
    assert done.screen.funcs.getcompletion("AcpDiff src/d", "cmdline") == [PATH]
    done.screen.command(f"AcpDiff {OTHER}")
    assert bars(done, 1) == [f"now {OTHER} new file, 1 line"]
    done.screen.keys("q")
    done.wait_closed()
    done.screen.command(f"AcpDiff {done.cwd}/{PATH}")
    bars(done, 2)


def test_what_was_not_changed(done: Desk) -> None:
    done.screen.command("AcpDiff nothing.py")
    eventually(lambda: said(done.screen, "claude has changed nothing in nothing.py"))
    assert done.tabs() == 1


def test_without_a_chat(start_screen: StartScreen) -> None:
    screen = start_screen()
    screen.command("AcpDiff")
    assert said(screen, "there is no chat")
    assert screen.funcs.getcompletion("AcpDiff ", "cmdline") == []


def test_before_anything_was_changed(make: MakeDesk) -> None:
    made = make()
    made.screen.command("AcpDiff")
    eventually(lambda: said(made.screen, "claude has changed no file in this chat"))


def test_from_lua_and_by_map(done: Desk) -> None:
    assert done.screen.lua("return { require('acp').diff('src/date.py') }") == [True]
    bars(done, 2)
    done.screen.keys("q")
    done.wait_closed()
    done.screen.command("nmap gd <Plug>(acp-diff)")
    done.screen.keys("gd")
    bars(done, 1)


@pytest.mark.parametrize("key", ["<CR>", "\\d"])
def test_on_a_row_of_the_transcript(done: Desk, key: str) -> None:
    done.screen.keys("<C-w>k", "gg", "/edit   src.date<CR>")
    row = done.screen.api.win_get_cursor(0)[0]
    done.screen.keys(key)
    assert bars(done, 2)[1] == f"now {PATH} edit +2"
    done.screen.keys("q")
    done.wait_closed()
    assert done.screen.api.buf_get_name(0) == "acp://claude/1"
    assert done.screen.api.win_get_cursor(0)[0] == row
    # In the body of the row too.
    done.screen.keys("zo", "j", key)
    assert bars(done, 2)[1] == f"now {PATH} edit +2"


def test_gf_on_the_row_still_opens_the_file(done: Desk) -> None:
    done.screen.keys("<C-w>k", "gg", "/edit   src.date<CR>", "gf")
    eventually(lambda: done.screen.api.buf_get_name(0) == str(done.cwd / PATH))
    assert done.tabs() == 1


def test_keys_of_the_proposal(done: Desk) -> None:
    maps = "return vim.api.nvim_buf_get_keymap(vim.fn.bufnr('src/date.py'), 'n')"
    before = done.screen.lua(maps)
    done.screen.command(f"AcpDiff {PATH}")
    bars(done, 2)
    assert len(done.screen.lua(maps)) == len(before), "no key in the user's buffer"
    done.screen.keys("g?")
    done.screen.wait("close the diff")
    done.screen.wait("reject always")


def test_of_an_open_question_it_stands_for_it(make: MakeDesk) -> None:
    """Asked for while the question is put off: its diff, and the keys there answer it and no other."""
    second = edit("    return MONTHS[month - 1]\n", "    return 30\n", call="t2")
    made = make([ask(2, second, OPTIONS), ask(1, edit(), OPTIONS), {"await": 1}, {"await": 2}, END])
    made.go()
    made.wait_diff()
    made.screen.keys("q")
    made.wait_diff()
    made.screen.keys("q")
    made.wait_closed()
    made.chat.wait_pending(2)
    made.screen.keys("<C-w>k", "gg", "/if year % 100<CR>", "\\d")
    assert bars(made, 2) == [f"now {PATH}", f"proposed {PATH} edit +2 (2)"]
    made.screen.keys("\\a")
    made.wait_answer("ok")
    made.wait_closed()
    assert made.agent.responses(2) == []
    made.chat.wait_pending(1)


def test_it_is_not_shown_twice(make: MakeDesk) -> None:
    made = make(question(edit()))
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w")
    made.screen.command(f"AcpDiff {PATH}")
    eventually(lambda: "/diff/" in made.screen.api.buf_get_name(0))
    assert (made.tabs(), len(made.windows())) == (2, 2)
    made.screen.command("tabprevious")
    made.screen.command("AcpDiff")
    eventually(lambda: "/diff/" in made.screen.api.buf_get_name(0))
    assert made.tabs() == 2


def test_none_is_only_about_questions(make: MakeDesk) -> None:
    made = make(settings={"diff": {"layout": "none"}})
    made.go()
    made.chat.wait("── done")
    made.screen.command(f"AcpDiff {PATH}")
    bars(made, 2)


def test_while_the_user_types_it_does_not_open(done: Desk) -> None:
    """The answer of a slow host finds the user at something else."""
    done.screen.lua(
        "local request = require('acp.diff.request')"
        " local answer = request.answer"
        " request.answer = function(...) _G.late = { ... } end"
        " _G.go_on = function() answer(unpack(_G.late)) end"
    )
    done.screen.command(f"AcpDiff {PATH}")
    eventually(lambda: done.screen.lua("return _G.late ~= nil"))
    done.screen.keys("ihello")
    done.screen.lua("_G.go_on()")
    assert done.tabs() == 1
    assert said(done.screen, "the diff is ready")


def test_a_wrong_setting_is_named(start_screen: StartScreen) -> None:
    screen = start_screen(size=(120, 20))
    screen.setup({"diff": {"layout": "float"}})
    assert "diff.layout must be 'auto', 'tab', 'split', 'none', not 'float'" in screen.messages()
    assert screen.lua("return require('acp.config').get().diff.layout") == "auto"


THREE = {
    "toolCallId": "t1",
    "title": "Rename it",
    "kind": "edit",
    "content": [
        diff(f"$cwd/{PATH}", OLD, NEW),
        diff(f"$cwd/{OTHER}", None, "x = 1\n"),
        diff("$cwd/c.txt", "c\n", "d\n"),
    ],
}
SHOWN = [
    [f"now {PATH}", f"proposed {PATH} edit +2 file 1 of 3, :AcpDiff (1)"],
    [f"proposed {OTHER} new file, 1 line file 2 of 3, :AcpDiff (1)"],
    ["now c.txt", "proposed c.txt edit +1 -1 file 3 of 3, :AcpDiff (1)"],
]


def wait_bars(made: Desk, wanted: list[str]) -> None:
    def there() -> bool:
        try:
            return made.tabs() == 2 and [made.bar(win) for _, win in made.windows()] == wanted
        except NvimError:  # a window has gone meanwhile
            return False

    eventually(there, message=lambda: f"{made.screen.text()}\n{made.screen.messages()}")


@pytest.mark.parametrize("way", [":AcpDiff<CR>", "\\d", "by path"])
def test_a_question_about_several_files(make: MakeDesk, way: str) -> None:
    """The diff shows one of them; the others are walked to, and the question stays where it is."""
    made = make([ask(1, THREE, OPTIONS), {"await": 1}, END], files={"c.txt": "c\n"})
    before = made.snapshot()
    made.go()
    made.wait_diff()
    wait_bars(made, SHOWN[0])
    assert made.screen.funcs.getcompletion("AcpDiff ", "cmdline") == ["c.txt", OTHER, PATH]
    if way == "\\d":
        made.screen.keys("<C-w>w", "<C-w>w")  # from the chooser to the proposal, where our keys are
    for path, wanted in zip([OTHER, "c.txt", PATH, OTHER], [*SHOWN[1:], *SHOWN[:2]], strict=True):
        made.screen.keys(f":AcpDiff {path}<CR>" if way == "by path" else way)
        wait_bars(made, wanted)
        assert "/diff/" in made.screen.api.buf_get_name(0)
        made.screen.wait("claude wants to edit a file")
    assert (made.pending(), made.answers()) == (1, [])
    made.screen.keys("\\a")
    made.wait_answer("ok")
    made.wait_closed()
    made.chat.wait_state("idle")
    after = made.snapshot()
    assert {key: after[key] for key in ("win", "tabs", "mode", "buffers")} == {
        key: before[key] for key in ("win", "tabs", "mode", "buffers")
    }


def test_a_change_of_several_files_that_is_done(make: MakeDesk) -> None:
    call = {**THREE, "status": "completed"}
    made = make([update("tool_call", **call), END], files={"c.txt": "d\n", PATH: NEW, OTHER: "x = 1\n"})
    before = made.snapshot()
    made.go()
    made.chat.wait("── done")
    made.screen.keys(":AcpDiff<CR>")
    wait_bars(made, [f"before {PATH}", f"now {PATH} edit +2 file 1 of 3, :AcpDiff"])
    made.screen.keys("\\d")
    wait_bars(made, [f"now {OTHER} new file, 1 line file 2 of 3, :AcpDiff"])
    made.screen.keys("q")
    made.wait_closed()
    after = made.snapshot()
    assert {key: after[key] for key in ("win", "tabs", "mode", "buffers")} == {
        key: before[key] for key in ("win", "tabs", "mode", "buffers")
    }
