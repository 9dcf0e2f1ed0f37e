"""What the user does in a diff is what it would be anywhere, and leaves nothing behind."""

from __future__ import annotations

import pytest
from tests.nvim.diff_kit import (
    NEW,
    OLD,
    PATH,
    MakeDesk,
    restored,
    used,
)
from tests.plugin import eventually


def test_the_users_buffer_is_theirs(make_desk: MakeDesk) -> None:
    """:bd in the left half deletes it, as it would anywhere."""
    made = make_desk()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", ":bd<CR>")
    made.wait_closed()
    assert made.screen.funcs.buflisted(str(made.cwd / PATH)) == 0
    assert made.pending() == 1


def test_taking_a_change_over(make_desk: MakeDesk) -> None:
    """`do`, `dp` and `]c` are Neovim's; the proposal cannot be changed."""
    made = make_desk()
    made.go()
    made.wait_diff()
    (_, left), (_, right) = made.windows()
    made.screen.keys("<C-w>w", "gg", "]c")
    eventually(lambda: made.screen.api.win_get_cursor(left)[0] == 7)
    made.screen.keys("do")
    eventually(lambda: made.lines_of(left) == NEW.splitlines())
    assert made.bar(left) == f"now {PATH} unsaved edits"
    made.screen.keys("u")
    eventually(lambda: made.lines_of(left) == OLD.splitlines())
    made.screen.keys("dp")
    eventually(lambda: "E21" in made.screen.messages() or "E793" in made.screen.messages())
    made.screen.clear_messages()
    assert made.lines_of(right) == NEW.splitlines()
    made.screen.keys("<C-w>w", "]c", "dp")
    eventually(lambda: made.lines_of(left) == NEW.splitlines())
    made.screen.keys(":diffoff<CR>", "\\r")
    made.wait_answer("no")
    made.wait_closed()


def test_reading_it_again(make_desk: MakeDesk) -> None:
    """:edit in the proposal changes nothing."""
    made = make_desk()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "<C-w>w", ":edit<CR>")
    (_, left), (_, right) = made.windows()
    eventually(lambda: made.screen.api.get_current_win().handle == right)
    made.screen.command("redraw")
    assert made.lines_of(right) == NEW.splitlines()
    assert made.lines_of(left) == OLD.splitlines()
    assert not made.screen.lua("return vim.bo.modifiable")
    assert [row for row, group in enumerate(made.diffs(right), 1) if group] == [7, 8]


def test_only_its_tab_page_is_left(make_desk: MakeDesk) -> None:
    """The user has closed all else; when the question is answered their file stays."""
    made = make_desk()
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", ":tabonly<CR>")
    eventually(lambda: made.tabs() == 1)
    made.screen.lua("require('acp').permit(1)")
    made.wait_answer("ok")
    made.wait_closed()
    ((name, _),) = made.windows()
    assert name.endswith("/src/date.py")
    assert made.screen.lua("return #vim.fn.getbufinfo({ buflisted = 1 })") == 1, (
        "and no buffer without a name"
    )


def test_the_card_is_entered_by_hand(make_desk: MakeDesk) -> None:
    """Left open in its tab page, the diff comes back with the card that was gone to in the chat."""
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "gt")
    made.screen.wait("@@ -6,2 +6,4 @@")
    made.screen.wait("│ 1  Yes")
    card = made.screen.lua("return require('acp.question.card').get().win")
    made.screen.api.set_current_win(card)
    made.wait_diff()
    assert made.tabs() == 2, "not a second one"
    made.screen.keys("3")
    made.wait_answer("no")
    restored(made, before)


def test_windows_split_from_it_keep_nothing(make_desk: MakeDesk) -> None:
    made = make_desk()
    before = used(made)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "<C-w>s", "<C-w>v")
    eventually(lambda: len(made.windows()) == 4)
    made.screen.lua("require('acp').permit(1)")
    made.wait_answer("ok")
    eventually(lambda: not any("/diff/" in name for name, _ in made.windows()))
    tabs = made.screen.api.list_tabpages()
    assert len(tabs) == 2, "the user's own splits stay"
    for win in made.screen.api.tabpage_list_wins(tabs[1]):
        left = made.screen.lua(
            "local w = vim.wo[...]"
            " return { w.diff, w.scrollbind, w.cursorbind, w.winbar, w.foldmethod, w.winfixbuf }",
            win,
        )
        assert left == [False, False, False, "", "manual", False]
    made.screen.command("tabonly")
    restored(made, before, views=False)


def test_another_window_of_the_file_gets_nothing(make_desk: MakeDesk) -> None:
    """Neovim remembers options and cursor of a closed window for its buffer, and gives them to the next."""
    made = make_desk()
    used(made)
    look = (
        "vim.cmd('tabnew') vim.cmd('buffer date.py')"
        " local w = vim.wo"
        " local found = { w.diff, w.scrollbind, w.cursorbind, w.winbar, w.foldmethod, w.winfixbuf, w.wrap,"
        " w.number, w.relativenumber, w.foldcolumn, w.foldlevel, vim.fn.line('.'), vim.fn.line('\\'\"') }"
        " vim.cmd('tabclose') return found"
    )
    code = made.windows()[0][1]
    made.screen.api.set_current_win(code)
    made.screen.command("hide enew")
    made.screen.command("AcpChat")
    made.screen.lua("vim.o.hidden = true")
    wanted = made.screen.lua(look)
    made.go()
    made.wait_diff()
    made.screen.keys("<C-w>w", "gg", "<C-w>w", "\\r")
    made.wait_answer("no")
    made.wait_closed()
    assert made.screen.lua(look) == wanted


@pytest.mark.parametrize("opened", [(PATH,), ()])
def test_a_proposal_has_the_colours_of_the_file_and_nothing_to_edit_with(
    make_desk: MakeDesk, opened: tuple[str, ...]
) -> None:
    """No file type plugin: that of Python looks for an interpreter first, which may take a second."""
    made = make_desk(opened=opened)
    if opened:
        made.screen.lua("vim.bo[vim.fn.bufnr('src/date.py')].tabstop = 3")
    made.go()
    made.wait_diff()
    _, (_, right) = made.windows()
    code = "return vim.api.nvim_buf_call(vim.api.nvim_win_get_buf(...), function() return {"
    code += " vim.bo.filetype, vim.b.undo_ftplugin or '', vim.bo.tabstop,"
    code += " vim.fn.synIDattr(vim.fn.synID(6, 1, 1), 'name') ~= ''"
    code += " or vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil } end)"
    eventually(lambda: made.screen.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].filetype", right))
    assert made.screen.lua(code, right) == ["python", "", 3 if opened else 8, True]
    assert made.screen.lua("return vim.g.diff_translations") is None


def test_colours_come_after_the_windows_and_take_nothing_of_the_diff_away(make_desk: MakeDesk) -> None:
    made = make_desk()
    made.screen.lua(
        """
        local diff, window = require('acp.diff'), require('acp.diff.window')
        local open, set = diff.open, window.set_filetype
        _G.seen, _G.calls = nil, 0
        window.set_filetype = function(...) _G.calls = _G.calls + 1 return set(...) end
        diff.open = function(...)
          local view = open(...)
          _G.seen = _G.calls
          return view
        end
        vim.api.nvim_create_autocmd('FileType', { pattern = 'python', command =
          'setlocal nodiff noscrollbind foldmethod=manual nofoldenable wrap tabstop=3 relativenumber' })
        """
    )
    made.go()
    made.wait_diff()
    wins = [win for _, win in made.windows()]
    code = "local o = vim.wo[...] return { o.diff, o.scrollbind, o.foldmethod, o.foldenable, o.wrap }"
    eventually(lambda: made.screen.lua("return _G.calls") == 2)
    assert made.screen.lua("return _G.seen") == 0, "nothing of that was waited for"
    for win in wins:
        assert made.screen.lua(code, win) == [True, True, "diff", True, False]
    assert made.screen.lua("return vim.wo[...].relativenumber", wins[-1]), "the rest is the user's"
    assert made.screen.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].filetype", wins[-1]) == "python"


def test_a_plugin_that_puts_winbars_on_all_windows(make_desk: MakeDesk) -> None:
    """As lualine does, with the call it uses: the two halves go on saying which is which."""
    every = """
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative == '' then
        vim.api.nvim_win_set_option(win, 'winbar', 'theirs')
      end
    end
    """
    made = make_desk()
    made.go()
    made.wait_diff()
    made.screen.lua(every)
    (_, now), (_, proposed) = made.windows()
    assert made.bar(now).startswith(f"now {PATH}")
    assert made.bar(proposed).startswith(f"proposed {PATH}")
    made.screen.keys("1")
    made.wait_closed()
    code = made.windows()[0][1]
    assert made.bar(code) == "theirs"
    made.screen.command(f"tabnew {made.cwd / PATH}")
    assert made.bar(made.windows()[0][1]) != f"now {PATH}"
