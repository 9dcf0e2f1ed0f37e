"""The change a question is about, in windows beside each other: what is shown, of which text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.diff_kit import LEAP, NEW, OLD, PATH, Desk, desk, edit, question
from tests.plugin import StartScreen, eventually

MakeDesk = Any


@pytest.fixture
def make(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    def start(tool_call: Mapping[str, Any], **options: Any) -> Desk:
        return desk(start_screen, agent, question(tool_call), short_tmp, **options)

    return start


def asked(made: Desk) -> Desk:
    made.go()
    made.wait_diff()
    return made


def test_what_is_not_seen_is_made_visible(make: MakeDesk) -> None:
    """The texts stay as they are, to be compared with the user's own; marks tell what hides in them."""
    year = "ye\u00ad\U000e0041ar\u3164\u200b\u202e % \U0001f469\u200d\U0001f4bb"
    new = NEW.replace("if year %", f"if {year}")
    made = asked(make(edit(new=new)))
    _, (_, right_win) = made.windows()
    assert made.lines_of(right_win) == new.splitlines()
    row = next(row for row in made.screen.rows() if "if ye" in row.partition("│")[2])
    for shown in ("if ye<U+00AD>", "<U+E0041>", "ar<U+3164>", "<200b>", "<202e>"):
        assert shown in row, row
    assert "200D" not in row.upper()
    made.screen.lua("vim.api.nvim_win_call(..., function() vim.cmd('edit') end)", right_win)
    assert any("ye<U+00AD>" in row for row in made.screen.rows())


def test_an_edit(make: MakeDesk) -> None:
    made = make(edit())
    code = made.windows()[0][1]
    asked(made)
    (left, left_win), (right, right_win) = made.windows()
    assert left == str(made.cwd / PATH), "the user's own buffer"
    assert made.screen.api.win_get_buf(left_win) == made.screen.api.win_get_buf(code)
    assert right == f"acp://claude/1/diff/1/{PATH}"
    assert made.lines_of(right_win) == NEW.splitlines()
    added = [row for row, group in enumerate(made.diffs(right_win), 1) if group]
    assert added == [7, 8]
    assert made.bar(left_win) == f"now {PATH}"
    assert made.bar(right_win) == f"proposed {PATH} edit +2 (1)"
    options = made.screen.lua(
        "local b = vim.bo[...]"
        " return { b.modifiable, b.filetype, b.buftype, b.swapfile, b.modeline, b.buflisted }",
        made.screen.api.win_get_buf(right_win),
    )
    assert options == [False, "python", "nofile", False, False, False]
    # The change is in the upper third of both, at the same height.
    rows = made.screen.rows()
    row = next(at for at, text in enumerate(rows) if "if year % 100" in text)
    assert "def is_leap" in rows[row - 1][:60]
    assert "---" in rows[row][:60]
    assert row <= len(rows) / 3
    assert made.screen.api.win_get_cursor(right_win) == [7, 0]
    # The card is short: the change stands beside it.
    assert "claude wants to edit a file" in made.screen.text()
    assert "@@" not in made.screen.text()
    assert "1-3 · <C-w>w to the diff · q keeps open" in made.screen.text()
    made.screen.keys("1")
    made.wait_answer("ok")
    made.wait_closed()


CASES = [
    pytest.param(
        edit(None, "def test():\n    assert True\n", "tests/test_leap.py"),
        {},
        [("def test():\n    assert True", "proposed tests/test_leap.py new file, 2 lines (1)")],
        id="new",
    ),
    pytest.param(
        edit("", "a\n", "b.txt"),
        {},
        [("a", "proposed b.txt new file, 1 line (1)")],
        id="new, as gemini and opencode say it",
    ),
    pytest.param(
        edit(LEAP, "    return True\n"),
        {},
        [
            (OLD[:-1], f"now {PATH}"),
            (OLD.replace(LEAP, "    return True\n")[:-1], f"proposed {PATH} edit +1 -1 (1)"),
        ],
        id="fragment, found",
    ),
    pytest.param(
        edit("    return nothing\n", "    return something\n"),
        {},
        [
            ("    return nothing", f"before {PATH} fragment, not found in the file"),
            ("    return something", f"proposed {PATH} edit +1 -1 (1)"),
        ],
        id="fragment, not found",
    ),
    pytest.param(
        edit("a\n", "b\n", "two.txt"),
        {"two.txt": "a\nx\na\n"},
        [
            ("a", "before two.txt fragment, found 2 times in the file"),
            ("b", "proposed two.txt edit +1 -1 (1)"),
        ],
        id="fragment, in two places",
    ),
    pytest.param(
        edit("a\n", "b\n", "two.txt", locations=[{"path": "$cwd/two.txt", "line": 3}]),
        {"two.txt": "a\nx\na\n"},
        [("a\nx\na", "now two.txt"), ("a\nx\nb", "proposed two.txt edit +1 -1 1 of 2 places (1)")],
        id="fragment, in two places, with a line",
    ),
    pytest.param(
        edit("a\n", "b\n", "two.txt", rawInput={"replace_all": True}),
        {"two.txt": "a\nx\na\n"},
        [("a\nx\na", "now two.txt"), ("b\nx\nb", "proposed two.txt edit +2 -2 in 2 places (1)")],
        id="fragment, in all places",
    ),
    pytest.param(
        edit(OLD, "", kind="delete"),
        {},
        [(OLD[:-1], f"proposed {PATH} delete, 20 lines (1)")],
        id="delete",
    ),
    pytest.param(
        {
            "toolCallId": "t1",
            "title": "rm two.txt",
            "kind": "delete",
            "locations": [{"path": "$cwd/two.txt"}],
        },
        {"two.txt": "a\nb\n"},
        [("a\nb", "proposed two.txt delete, 2 lines (1)")],
        id="delete, told by its path only",
    ),
    pytest.param(
        edit("a\0b", "a\0bc", "x.bin"),
        {"x.bin": b"a\0b"},
        [
            (
                "type      binary file\nnow       3 bytes\nproposed  4 bytes\n\nA binary file has no diff.",
                "proposed x.bin binary (1)",
            )
        ],
        id="binary",
    ),
    pytest.param(
        edit("a\nb\n", "a\nc\n", "crlf.txt"),
        {"crlf.txt": "x\r\na\r\nb\r\n"},
        [("x\na\nb", "now crlf.txt"), ("x\na\nc", "proposed crlf.txt edit +1 -1 (1)")],
        id="CRLF, of which the agent knows nothing",
    ),
    pytest.param(
        edit("a\r\nb\r\n", "a\nb\n", "crlf.txt"),
        {"crlf.txt": "a\r\nb\r\n"},
        [("a\nb", "now crlf.txt"), ("a\nb", "proposed crlf.txt edit +2 -2 line ends CRLF to LF (1)")],
        id="CRLF becomes LF",
    ),
    pytest.param(
        edit("a\nb", "a\nb\n", "n.txt"),
        {"n.txt": "a\nb"},
        [("a\nb", "now n.txt"), ("a\nb", "proposed n.txt edit +1 -1 adds the final newline (1)")],
        id="no final newline",
    ),
    pytest.param(
        edit("\tif x {\n", "\tif  y {\n", "t.go"),
        {"t.go": "func a() {\n\tif x {\n\t}\n}\n"},
        [
            ("func a() {\n\tif x {\n\t}\n}", "now t.go"),
            ("func a() {\n\tif  y {\n\t}\n}", "proposed t.go edit +1 -1 (1)"),
        ],
        id="tabs",
    ),
    pytest.param(
        edit("a\tb\x1b[0m\u202e\n", "a\tc\x1b[0m\u202e\n", "odd.txt"),
        {"odd.txt": "a\tb\x1b[0m\u202e\n"},
        [
            ("a\tb\x1b[0m\u202e", "now odd.txt"),
            ("a\tc\x1b[0m\u202e", "proposed odd.txt edit +1 -1 (1)"),
        ],
        id="what a terminal must not get is text",
    ),
]


@pytest.mark.parametrize(("tool_call", "files", "wanted"), CASES)
def test_operations(
    make: MakeDesk, tool_call: dict[str, Any], files: Any, wanted: list[tuple[str, str]]
) -> None:
    made = asked(make(tool_call, files=files))
    shown = [("\n".join(made.lines_of(win)), made.bar(win)) for _, win in made.windows()]
    assert shown == wanted
    modes = [made.screen.lua("return vim.wo[...].diff", win) for _, win in made.windows()]
    assert modes == [len(wanted) == 2] * len(wanted)


def test_a_file_that_is_not_loaded_stays_so(make: MakeDesk) -> None:
    made = asked(make(edit(), opened=()))
    (left, left_win), _ = made.windows()
    assert left == f"acp://claude/1/diff/1/now/{PATH}"
    assert made.lines_of(left_win) == OLD.splitlines()
    assert not made.screen.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].modifiable", left_win)
    assert made.screen.funcs.bufloaded(str(made.cwd / PATH)) == 0


@pytest.mark.parametrize("old", [None, ""])
def test_an_overwrite_is_shown_against_what_the_user_has(make: MakeDesk, old: str | None) -> None:
    """C19: no old text for a file that exists, and is open with a change that was not saved."""
    made = make(edit(old, NEW))
    made.screen.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/date.py'), 0, 1, false, { '# mine' })")
    asked(made)
    (_, left), (_, right) = made.windows()
    assert made.lines_of(left)[0] == "# mine"
    assert made.bar(left) == f"now {PATH} unsaved edits"
    assert made.bar(right) == f"proposed {PATH} overwrite +3 -1 (1)"
    assert "claude wants to overwrite a file" in made.screen.text()
    row, col = made.screen.find("unsaved edits")
    assert "DiagnosticWarn" in made.screen.groups_at(row, col)


def test_unsaved_edits_and_an_agent_that_knows_the_disk(make: MakeDesk) -> None:
    made = make(edit())
    made.screen.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/date.py'), 0, 1, false, { '# mine' })")
    asked(made)
    (_, left), (_, right) = made.windows()
    assert made.lines_of(right) == NEW.splitlines(), "what the agent would write, the edit gone"
    assert made.bar(left) == f"now {PATH} unsaved edits"
    changed = [row for row, group in enumerate(made.diffs(right), 1) if group]
    assert changed == [1, 7, 8]


def test_wide_characters(make: MakeDesk) -> None:
    """C20: columns are bytes; Neovim marks the parts itself."""
    old, new = 's = "naïve 🎸 日本"\n', 's = "naive 🎸 日本語"\n'
    made = asked(make(edit(old, new, "i18n.py"), files={"i18n.py": old}, opened=("i18n.py",)))
    (_, left), (_, right) = made.windows()
    assert (made.lines_of(left), made.lines_of(right)) == ([old[:-1]], [new[:-1]])
    row, col = made.screen.find("naive")
    groups = [made.screen.groups_at(row, col + at)[-1:] for at in range(5)]
    assert groups[0] == groups[1] == ["DiffChange"]
    assert groups[2][0].startswith("DiffText")
    wide = made.screen.find("語")
    assert any(name.startswith("DiffText") for name in made.screen.groups_at(*wide))
    if made.screen.funcs.has("nvim-0.12"):
        assert groups[3] == ["DiffChange"], "only the letter"
        assert made.screen.groups_at(wide[0], wide[1] - 2)[-1] == "DiffChange"


@pytest.mark.parametrize(
    ("name", "old", "new", "bar"),
    [
        (
            "big.json",
            "".join(f"line {n}\n" for n in range(50_000)),
            "".join(f"line {n}{'x' if n % 2 else ''}\n" for n in range(50_000)),
            "proposed big.json edit +25000 -25000 hunks only, 50,000 lines (1)",
        ),
        (
            "one.json",
            "a" * 5_000_000 + "\n",
            "b" * 5_000_000 + "\n",
            "proposed one.json edit +1 -1 hunks only, 1 line (1)",
        ),
    ],
)
def test_what_is_too_large_is_shown_as_hunks(make: MakeDesk, name: str, old: str, new: str, bar: str) -> None:
    """C36: a great many lines, and one very long one."""
    made = asked(make(edit(old, new, name), files={name: old}))
    ((_, win),) = made.windows()
    assert made.bar(win) == bar
    lines = made.lines_of(win)
    assert lines[0].startswith("@@ -1")
    assert len(lines) <= 20_001
    assert max(map(len, lines)) < 10_000
    filetype = "return vim.bo[vim.api.nvim_win_get_buf(...)].filetype"
    eventually(lambda: made.screen.lua(filetype, win) == "diff")
    made.screen.keys("3")
    made.wait_answer("no")
    made.wait_closed()


def test_one_above_the_other_on_a_narrow_screen(make: MakeDesk) -> None:
    made = asked(make(edit(), size=(90, 30)))
    layout, _ = made.screen.funcs.winlayout()
    assert layout == "col"
    upper, lower = (made.screen.api.win_get_height(win) for _, win in made.windows())
    assert abs(lower - made.covered() - upper) <= 1, "both are seen above the card"


@pytest.mark.parametrize("size", [(40, 10), (80, 16), (60, 14), (120, 12)])
def test_no_diff_that_its_card_would_hide(make: MakeDesk, size: tuple[int, int]) -> None:
    made = make(edit(), size=size)
    made.go()
    made.wait_listening()
    assert made.tabs() == 1
    assert any(line.startswith("@@ -6") for line in made.card_lines()), "the card has the change"
    made.screen.keys(*["<C-f>"] * 20, "3")  # it may be longer than the screen
    made.wait_answer("no")
    made.chat.wait_state("idle")


@pytest.mark.parametrize("size", [(80, 20), (80, 24), (120, 16)])
def test_the_change_is_seen_beside_the_card(make: MakeDesk, size: tuple[int, int]) -> None:
    made = asked(make(edit(), size=size))
    assert "year % 100 == 0:" in made.screen.text()
    upper, lower = (made.screen.api.win_get_height(win) for _, win in made.windows())
    assert min(upper, lower - made.covered()) >= 3


def test_beside_each_other_from_fifty_columns_each(make: MakeDesk) -> None:
    made = asked(make(edit(), size=(101, 30)))
    assert made.screen.funcs.winlayout()[0] == "row"
    widths = [made.screen.api.win_get_width(win) for _, win in made.windows()]
    assert widths == [50, 50]


def test_none(make: MakeDesk) -> None:
    made = make(edit(), settings={"diff": {"layout": "none"}})
    made.go()
    made.screen.wait("q keeps it open")
    assert made.tabs() == 1
    assert "@@ -6" in made.screen.text(), "the card has the change"


def test_split_stands_beside_the_chat(make: MakeDesk) -> None:
    made = make(edit(), settings={"diff": {"layout": "split"}}, size=(200, 40))
    before = made.snapshot()
    made.go()
    made.wait_diff()
    assert made.tabs() == 1
    names = [name for name, _ in made.windows()]
    assert names == [
        str(made.cwd / PATH),
        f"acp://claude/1/diff/1/{PATH}",
        str(made.cwd / PATH),
        "acp://claude/1",
        "acp://claude/1/prompt",
    ]
    made.screen.keys("1")
    made.wait_answer("ok")
    made.wait_closed()
    made.chat.wait_state("idle")
    after = made.snapshot()
    assert {k: v for k, v in after["wins"].items() if PATH in v["buf"]} == {
        k: v for k, v in before["wins"].items() if PATH in v["buf"]
    }
    assert (after["win"], after["mode"], after["globals"]) == (
        before["win"],
        before["mode"],
        before["globals"],
    )


def test_the_users_picker_opens_over_it(make: MakeDesk) -> None:
    picker = "vim.ui.select = function(items, _, cb) _G.pick = function(i) cb(items[i], i) end end"
    made = make(edit(), init=picker)
    made.go()
    made.screen.wait(f"proposed  {PATH}")
    made.screen.wait("claude wants to edit a file")
    assert made.screen.lua("return _G.pick ~= nil")
    made.screen.lua("_G.pick(3)")
    made.wait_answer("no")
    made.wait_closed()


def test_a_rejected_one_from_insert_mode(make: MakeDesk) -> None:
    made = make(edit())
    made.screen.keys("i")
    asked(made)
    made.screen.keys("3")
    made.wait_answer("no")
    made.wait_closed()
    made.screen.wait("rejected by you")
    assert made.screen.api.get_mode()["mode"] == "i"
    assert made.screen.api.buf_get_name(0).endswith("/prompt")


SERVER = """
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'python',
  callback = function(args)
    vim.lsp.start({
      name = 'server',
      cmd = function()
        return {
          request = function(method, _, done)
            done(nil, method == 'initialize' and { capabilities = {} } or nil)
            return true, 1
          end,
          notify = function() return true end,
          is_closing = function() return false end,
          terminate = function() end,
        }
      end,
    }, { bufnr = args.buf })
    _G.started = (_G.started or 0) + 1
  end,
})
vim.o.modeline = true
vim.o.modelines = 5
"""


def test_a_proposal_is_no_file(make: MakeDesk) -> None:
    """A language server that attaches to all of a file type leaves it, and a modeline in it does nothing."""
    made = asked(make(edit(OLD, NEW + "# vim: set shiftwidth=7 nowrap:\n"), init=SERVER))
    (_, left), (_, right) = made.windows()
    code = "return #vim.lsp.get_clients({ bufnr = vim.api.nvim_win_get_buf(...) })"
    eventually(lambda: made.screen.lua("return _G.started") == 2)
    eventually(lambda: made.screen.lua(code, right) == 0)
    assert made.screen.lua(code, left) == 1, "the user's buffer keeps its own"
    assert made.screen.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].shiftwidth", right) != 7
