"""Unsaved edits in the way of a write: what the user has, what the disk has, what the agent writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, ask, diff
from tests.nvim.diff_kit import LEAP, LIVED_IN, NEW, OLD, OPTIONS, PATH, Desk, desk, edit, restored, used
from tests.plugin import StartScreen, eventually

MINE = OLD.replace("calendar has them", "user has them")
DISK = OLD.replace('    return "-".join(map(str, date))', '    return "/".join(map(str, date))')
WIDE = (160, 40)

MakeDesk = Callable[..., Desk]


def request(ident: int, method: str, **fields: Any) -> Json:
    params = {"sessionId": "$session", "path": f"$cwd/{PATH}", **fields}
    return {"request": f"fs/{method}", "id": ident, "params": params}


READ = [request(7, "read_text_file"), {"await": 7}, END]
WRITE = [request(1, "write_text_file", content=NEW), {"await": 1}, END]


@pytest.fixture
def make(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    def start(
        mine: str = MINE,
        on_disk: str | bytes | None = DISK,
        *,
        reads: bool = True,
        play: Any = WRITE,
        **options: Any,
    ) -> Desk:
        """A desk whose agent has read the file; then the user has edited it, and somebody the disk."""
        options = {"size": WIDE, "init": LIVED_IN, **options}
        on = {"session/prompt": [READ, play] if reads else [play]}
        made = desk(start_screen, agent, [], short_tmp, on=on, **options)
        if reads:
            made.go()
            made.chat.wait("── done")
            made.chat.wait_state("idle")
        code = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/date.py'), 0, -1, false, ...)"
        made.screen.lua(code, mine.splitlines())
        if on_disk is None:
            (made.cwd / PATH).unlink()
        else:
            (made.cwd / PATH).write_bytes(on_disk.encode() if isinstance(on_disk, str) else on_disk)
        return made

    return start


def asked(made: Desk) -> Desk:
    made.go()
    made.wait_diff()
    return made


def answer(made: Desk, key: str) -> None:
    made.screen.keys(key)
    made.wait_closed()
    made.chat.wait_state("idle")


def wait_error(made: Desk, wanted: str) -> None:
    eventually(lambda: wanted in made.screen.messages(), message=made.screen.messages)
    made.screen.clear_messages()


def test_three_windows(make: MakeDesk) -> None:
    made = make()
    before = used(made)
    asked(made)
    assert made.screen.funcs.winlayout()[0] == "row"
    (left, left_win), (middle, middle_win), (right, right_win) = made.windows()
    assert left == str(made.cwd / PATH), "the user's own buffer"
    assert middle == f"acp://claude/1/diff/1/on-disk/{PATH}"
    assert right == f"acp://claude/1/diff/1/{PATH}"
    assert [made.lines_of(win) for _, win in made.windows()] == [
        text.splitlines() for text in (MINE, DISK, NEW)
    ]
    assert made.bar(left_win) == f"now {PATH} unsaved edits"
    assert made.bar(middle_win) == f"on disk {PATH} changed since claude saw it"
    assert made.bar(right_win) == f"proposed {PATH} conflict +3 -1 (1)"
    assert [bool(made.screen.lua("return vim.wo[...].diff", win)) for _, win in made.windows()] == [True] * 3
    # The same line in the same row of the screen, the first change in the upper third.
    tops = [made.screen.lua("return vim.fn.line('w0', ...)", win) for _, win in made.windows()]
    assert tops == [1, 1, 1]
    assert made.screen.api.get_current_win().handle != left_win, "the chooser, or a window of ours"
    answer(made, "2")
    assert "error" in made.agent.response(1)
    assert (made.cwd / PATH).read_text() == DISK
    restored(made, before)


@pytest.mark.req("V1-170")
@pytest.mark.parametrize(("key", "mine", "disk"), [("1", NEW, NEW), ("3", None, NEW)])
def test_answers(make: MakeDesk, key: str, mine: str | None, disk: str) -> None:
    made = asked(make())
    answer(made, key)
    assert "error" not in made.agent.response(1)
    merged = NEW.replace("calendar has them", "user has them")
    (code, *_) = made.windows()
    assert made.lines_of(code[1]) == (merged if mine is None else mine).splitlines()
    assert (made.cwd / PATH).read_text() == disk


TWO = [
    pytest.param(
        {"on_disk": MINE},
        [f"now {PATH}", f"proposed {PATH} edit +3 -1 (1)"],
        id="the disk has what the user has",
    ),
    pytest.param(
        {"on_disk": NEW},
        [f"now {PATH} unsaved edits", f"on disk {PATH} written already +3 -1 (1)"],
        id="the agent has written it itself",
    ),
    pytest.param(
        {"on_disk": None},
        [f"now {PATH} unsaved edits", f"proposed {PATH} edit +3 -1 not on disk (1)"],
        id="deleted",
    ),
    pytest.param(
        {"on_disk": b"\xff\xfe\x00x"},
        [f"now {PATH} unsaved edits", f"proposed {PATH} edit +3 -1 on disk: not a text file (UTF-8) (1)"],
        id="no text",
    ),
]


@pytest.mark.parametrize(("how", "bars"), TWO)
def test_two_windows_are_enough(make: MakeDesk, how: dict[str, Any], bars: list[str]) -> None:
    made = make(**how)
    before = used(made)
    asked(made)
    assert [made.bar(win) for _, win in made.windows()] == bars
    answer(made, "2")
    # Unsaved edits that the disk has too are none any more.
    before["buffers"][0][2] = how["on_disk"] != MINE
    restored(made, before)
    assert made.lines_of(made.windows()[0][1]) == MINE.splitlines()


def test_too_large_for_windows(make: MakeDesk) -> None:
    lines = [f"line {n}" for n in range(21_000)]
    long = "\n".join([*lines, ""])
    made = make(long, long + "more\n", play=[request(1, "write_text_file", content="new\n" + long), END])
    asked(made)
    ((_, win),) = made.windows()
    wanted = f"proposed {PATH} conflict +1 hunks only, 21,001 lines the disk has another text (1)"
    assert made.bar(win) == wanted
    assert made.lines_of(win) == ["@@ -1,3 +1,4 @@", "+new", " line 0", " line 1", " line 2"]
    answer(made, "2")


@pytest.mark.parametrize("size", [(149, 40), (110, 30), (80, 24)])
def test_stacked_below_150_columns(make: MakeDesk, size: tuple[int, int]) -> None:
    made = make(size=size)
    before = used(made)
    asked(made)
    kind, parts = made.screen.funcs.winlayout()
    assert (kind, len(parts)) == ("col", 3)
    heights = [made.screen.api.win_get_height(win) for _, win in made.windows()]
    heights[-1] -= made.covered()
    assert max(heights) - min(heights) <= 1
    answer(made, "2")
    restored(made, before)


def test_beside_each_other_from_150_columns(make: MakeDesk) -> None:
    made = asked(make(size=(150, 40)))
    assert made.screen.funcs.winlayout()[0] == "row"
    widths = [made.screen.api.win_get_width(win) for _, win in made.windows()]
    assert sum(widths) == 148
    assert max(widths) - min(widths) <= 1


def test_in_a_split(make: MakeDesk) -> None:
    made = make(size=(200, 50), settings={"diff": {"layout": "split"}})
    before = made.windows()
    asked(made)
    assert made.tabs() == 1
    assert len(made.windows()) == len(before) + 3
    made.screen.keys("2")
    made.wait_closed()
    made.chat.wait_state("idle")
    assert made.windows() == before


WAYS = [
    ("q",),
    ("<C-w>w", "<C-w>w", ":q<CR>"),
    ("<C-w>w", "<C-w>o"),
    (":tabclose<CR>",),
    ("<C-w>w", ":bd!<CR>"),
]


@pytest.mark.parametrize("keys", WAYS[:-1])
def test_closed_by_the_user_the_question_stays(make: MakeDesk, keys: tuple[str, ...]) -> None:
    made = make()
    before = used(made)
    asked(made)
    made.screen.keys(*keys)
    restored(made, before)
    assert (made.pending(), made.agent.responses(1)) == (1, [])
    made.screen.command("AcpPermit")
    made.wait_diff()
    assert len(made.windows()) == 3
    answer(made, "2")
    restored(made, before)


def test_the_chat_is_not_left_by_work_elsewhere(make: MakeDesk) -> None:
    """Not in the chat: nothing opens; asked for, it does."""
    made = make()
    made.screen.api.set_current_win(made.windows()[0][1])
    before = used(made)
    made.go()
    made.chat.wait_pending(1)
    made.screen.wait("has unsaved edits")
    assert made.snapshot()["tabs"] == 1
    made.screen.command("AcpDiff")
    eventually(lambda: made.tabs() == 2, message=made.screen.text)
    assert len(made.windows()) == 3
    made.screen.wait("claude wants to edit a file")
    made.screen.command("AcpPermit reject_once")
    made.wait_closed()
    made.chat.wait_state("idle")
    assert "error" in made.agent.response(1)
    restored(made, before)


def test_taking_changes_over(make: MakeDesk) -> None:
    """`dp` in the others brings a change over: only the user's buffer can be changed. `do` needs a number."""
    made = make()
    asked(made)
    (_, left), (_, middle), (_, right) = made.windows()
    made.screen.api.set_current_win(right)
    made.screen.keys("7Gdp")
    eventually(lambda: LEAP in "\n".join(made.lines_of(left)) and "% 100" in "\n".join(made.lines_of(left)))
    made.screen.api.set_current_win(middle)
    made.screen.keys("Gdp")
    eventually(lambda: made.lines_of(left)[-1] == DISK.splitlines()[-1])
    made.screen.api.set_current_win(left)
    made.screen.keys("ggdo")
    wait_error(made, "E101")
    made.screen.keys("dp")
    wait_error(made, "E793")
    for win, wanted in ((right, NEW), (middle, DISK)):
        made.screen.keys(f"gg{made.screen.api.win_get_buf(win).number}do")
        eventually(lambda wanted=wanted: made.lines_of(left)[0] == wanted.splitlines()[0])  # type: ignore[misc]
        made.screen.keys("u")
        eventually(lambda: made.lines_of(left)[0] == MINE.splitlines()[0])
    assert [made.lines_of(win) for win in (middle, right)] == [DISK.splitlines(), NEW.splitlines()]
    made.screen.keys("\\r")


# An agent that never reads through us: it says in its question what it has read.
ITSELF = [
    ask(2, {**edit(), "content": [diff(f"$cwd/{PATH}", OLD, NEW)]}, OPTIONS),
    {"await": 2},
    {"write": f"$cwd/{PATH}", "text": NEW},
    *WRITE,
]


@pytest.mark.req("V1-170")
@pytest.mark.parametrize("key", ["1", "2", "3"])
def test_an_agent_that_has_written_the_file_itself(make: MakeDesk, key: str) -> None:
    """It is said that the file is there already, and that it is about the buffer; both can be kept."""
    made = make(on_disk=OLD, reads=False, play=ITSELF)
    asked(made)
    made.screen.keys("1")
    eventually(lambda: (made.cwd / PATH).read_text() == NEW)
    made.wait_diff()
    text = made.screen.wait("claude has changed a file on disk")
    assert "on disk already; Yes takes it into the buffer too" in text
    assert "Keep both" in text
    bars = [made.bar(win) for _, win in made.windows()]
    assert bars == [f"now {PATH} unsaved edits", f"on disk {PATH} written already +3 -1 (1)"]
    answer(made, key)
    merged = NEW.replace("calendar has them", "user has them")
    wanted = {"1": NEW, "2": MINE, "3": merged}[key].splitlines()
    assert made.lines_of(made.windows()[0][1]) == wanted
    assert (made.cwd / PATH).read_text() == NEW
    response = made.agent.response(1)
    assert ("error" in response) == (key == "2")
    if key == "2":
        assert "the file has this text" in response["error"]["message"]
