"""Whatever the user closes while a chat, a chooser and a diff are there: what is left is the user's."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.diff_kit import Desk, MakeDesk
from tests.plugin import eventually

# For each window without a buffer of ours: options that are not what a new window has.
STRANGE = """
local api, found = vim.api, {}
for _, win in ipairs(api.nvim_list_wins()) do
  local name = api.nvim_buf_get_name(api.nvim_win_get_buf(win))
  if api.nvim_win_get_config(win).relative == '' and not vim.startswith(name, 'acp://') then
    for option, info in pairs(api.nvim_get_all_options_info()) do
      if info.scope == 'win' and option ~= 'scroll' then
        local value = api.nvim_get_option_value(option, { win = win, scope = 'local' })
        local unset = info.global_local and (value == '' or value == -1)
        if not unset and value ~= api.nvim_get_option_value(option, { scope = 'global' }) then
          table.insert(found, { vim.fs.basename(name), option, value })
        end
      end
    end
  end
end
return found
"""
WINDOWS = {
    "chooser": "return require('acp.question.card').get().win",
    "proposal": "return require('acp.diff').here().sides[2].win",
    "prompt": "return require('acp.chat.windows').find(require('acp.chat').get(1), ...).prompt",
    "transcript": "return require('acp.chat.windows').find(require('acp.chat').get(1), ...).transcript",
}


def strange(made: Desk) -> list[list[Any]]:
    return list(made.screen.lua(STRANGE))


@pytest.mark.parametrize("layout", ["tab", "split"])
@pytest.mark.parametrize(
    ("where", "command"),
    [
        ("chooser", "%bdelete"),
        ("chooser", "bufdo bdelete"),
        ("chooser", "tabdo only"),
        ("proposal", "only"),
        ("prompt", "%bdelete"),
        ("transcript", "%bdelete!"),
        ("transcript", "tabonly"),
    ],
)
def test_nothing_is_left_behind(make_desk: MakeDesk, layout: str, where: str, command: str) -> None:
    made = make_desk(settings={"diff": {"layout": layout}})
    path = str(made.cwd / "src/date.py")
    made.go()
    made.wait_diff()
    home = made.screen.api.list_tabpages()[0]
    made.screen.api.set_current_win(made.screen.lua(WINDOWS[where], home.handle))
    made.screen.command(command)
    hidden = "return require('acp.question.card').get() == nil and require('acp.diff').here() == nil"
    made.screen.lua("require('acp.question').hide()")
    eventually(lambda: made.screen.lua(hidden), message=lambda: made.screen.text())
    eventually(lambda: strange(made) == [], message=lambda: f"{strange(made)}\n{made.screen.text()}")
    made.screen.command(f"tabnew {path}")
    assert strange(made) == []


def test_a_file_can_be_opened_where_the_chat_was(make_desk: MakeDesk) -> None:
    """'winfixbuf' belongs to the window: Neovim keeps it when the chat's buffer goes."""
    made = make_desk([])
    path = str(made.cwd / "src/date.py")
    made.chat.focus()
    made.screen.keys("<Esc>")
    made.screen.command("%bdelete")
    made.screen.command(f"edit {path}")
    assert made.screen.lua("return vim.api.nvim_buf_get_name(0)").endswith("src/date.py")
