"""What the real transcript makes of a chat's frames: just what the model of it in the unit tests does."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given
from tests.nvim.transcript_kit import CHAT, start_chat
from tests.plugin import Neovim, examples
from tests.unit.view.buffer import Block, Buffer
from tests.unit.view.helpers import Chat
from tests.unit.view.test_events import STREAMS, Make

PLAY = """
local chat, buf, win, frames = ...
local transcript, blocks = require('acp.chat.transcript'), require('acp.chat.blocks')
local fence = require('acp.chat.fence')
for _, ops in ipairs(frames) do
  assert(#transcript.frame({ { chat, ops } }).gone == 0)
end
vim.cmd('redraw')
local t, found = blocks.of_chat(chat), { lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true), blocks = {} }
vim.api.nvim_win_call(win, function()
  for _, id in ipairs(t.ids) do
    local block = t.blocks[id]
    local first = blocks.range(t, block)
    local rows, levels = {}, {}
    for row = 0, block.n - 1 do
      rows[row + 1] = fence.kind(block, row) or ''
      levels[row + 1] = vim.fn.foldlevel(first + row + 1)
    end
    table.insert(found.blocks, { id = id, first = first, n = block.n, rows = rows, levels = levels,
      body = block.deco.body or {} })
  end
end)
return found
"""

CLOSE = """
local win, buf = ...
vim.api.nvim_win_close(win, true)
vim.api.nvim_buf_delete(buf, { force = true })
"""


def kinds(block: Block) -> list[str]:
    """What each row is by the fences: code, a fence, or neither."""
    found, inside, at = [], False, {fence[0] for fence in block.fences}
    for row in range(len(block.lines)):
        found.append("fence" if row in at else "code" if inside else "")
        inside = inside != (row in at)
    return found


def expected(buffer: Buffer) -> list[dict[str, Any]]:
    found, first = [], 0
    for block in buffer.blocks.values():
        levels = [0] * len(block.lines)
        for top, bottom, *_ in block.deco.get("folds", ()):
            levels[top : bottom + 1] = [1] * (bottom + 1 - top)
        body = [list(each) for each in block.deco.get("body", ())]
        facts = {"id": block.id, "first": first, "n": len(block.lines), "levels": levels, "body": body}
        found.append({**facts, "rows": kinds(block)})
        first += len(block.lines)
    return found


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stream=STREAMS)
def test_lua_does_what_the_model_does(nvim: Neovim, stream: list[tuple[Make, list[tuple[int, int]]]]) -> None:
    chat = Chat()
    frames: list[list[Any]] = []

    def take(*room: int) -> None:
        ops, _ = chat.transcript.take(*room)
        frames.append(ops)
        chat.buffer.apply(ops)

    for make, rooms in stream:
        chat.apply(make())
        for room in rooms:
            take(*room)
    while chat.transcript.dirty:
        take()
    head = chat.buffer.blocks[0].lines
    pane = start_chat(nvim, tuple(head))
    found = nvim.lua(PLAY, CHAT, pane.buf, pane.win, frames)
    assert found["lines"] == chat.buffer.lines
    assert found["blocks"] == expected(chat.buffer)
    nvim.lua(CLOSE, pane.win, pane.buf)
