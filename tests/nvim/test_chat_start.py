"""The first chat: it needs little to be on the screen, and what the user's first key needs is there."""

from __future__ import annotations

from tests.nvim.stub import INIT
from tests.plugin import StartNvim, StartScreen

WINDOWS = {
    *(
        "acp.catalog",
        "acp.config",
        "acp.filetype",
        "acp.host",
        "acp.icons",
        "acp.message",
        "acp.name",
        "acp.spot",
    ),
    "acp.buffers.options",
    *(
        "acp.status",
        "acp.window",
        "acp.chat",
        "acp.chat.bars",
        "acp.cmdwin",
        "acp.chat.blocks",
        "acp.chat.draft",
    ),
    *("acp.chat.highlight", "acp.chat.keymaps", "acp.chat.keys", "acp.chat.prompt", "acp.chat.purposes"),
    *("acp.chat.size", "acp.chat.start", "acp.chat.transcript", "acp.chat.view", "acp.chat.watch"),
    *("acp.chat.winbar", "acp.chat.windows"),
}
"""What the windows of a chat need. One module more costs everybody 0.1 ms of ten (design.md section 6)."""

LOADED = """
local names = {}
for name in pairs(package.loaded) do
  names[#names + 1] = name:find('^acp') and name or nil
end
return names
"""


def test_the_first_chat_loads_what_its_windows_need(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT)
    loaded = screen.lua("vim.cmd('AcpChat demo | redraw')" + LOADED)
    assert set(loaded) <= WINDOWS


def test_the_first_chat_reads_one_file_of_the_catalog(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    read = nvim.lua(
        """
        local read, open = {}, io.open
        io.open = function(path, ...)
          read[#read + 1] = path:match('catalog/(.*)')
          return open(path, ...)
        end
        vim.cmd('AcpChat claude')
        vim.cmd('AcpChat! claude')
        return read
        """
    )
    assert read == ["claude.json"]


def test_naming_a_chats_buffers_is_no_event(start_nvim: StartNvim) -> None:
    """As what Neovim's editorconfig and other plugins do for a file that got another name."""
    nvim = start_nvim(init=INIT)
    named = nvim.lua(
        """
        local named = {}
        vim.api.nvim_create_autocmd({ 'BufFilePre', 'BufFilePost' }, {
          callback = function(args) table.insert(named, args.match) end,
        })
        vim.o.eventignore = 'CursorHold'
        vim.cmd('AcpChat demo')
        return { named, vim.o.eventignore }
        """
    )
    assert named == [[], "CursorHold"]


def test_keys_filetype_and_windows_are_there_with_the_command(start_nvim: StartNvim) -> None:
    """Before the main loop runs again: nothing of it may come later than the user's next key."""
    nvim = start_nvim(init=INIT)
    found = nvim.lua(
        """
        local seen = {}
        vim.api.nvim_create_autocmd('InsertEnter', {
          callback = function() seen.insert = vim.bo.filetype end,
        })
        vim.cmd('AcpChat demo')
        seen.windows = #vim.api.nvim_list_wins()
        seen.filetype = vim.bo.filetype
        seen.send = vim.fn.maparg('<C-s>', 'i', false, true).buffer
        seen.queue = vim.fn.maparg('<LocalLeader>q', 'n', false, true).buffer
        _G.seen = seen
        return seen
        """
    )
    assert found == {"windows": 3, "filetype": "acp-prompt", "send": 1, "queue": 1}
    nvim.keys("x")
    assert nvim.lua("return _G.seen.insert") == "acp-prompt"
    assert nvim.lines() == ["x"]
