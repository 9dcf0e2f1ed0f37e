"""The ``User`` events: which come, in which order, and that the status is new before each."""

from __future__ import annotations

from pathlib import Path

from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import PASSIVE, Stage
from tests.plugin import StartScreen, eventually

LISTEN = """
_G.seen = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'Acp*',
  callback = function(args)
    if args.match ~= 'AcpStatus' then
      table.insert(_G.seen, { args.match, args.data, require('acp').status().state })
    end
  end,
})
"""


def test_events_of_a_chat_and_of_a_turn(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    turn = [{"say": "hello"}, {"reply": {"stopReason": "end_turn"}}]
    scripted = agent(on={"session/prompt": turn})
    screen = start_screen(size=(120, 40), init=LISTEN, cwd=tmp_path)
    screen.setup({**PASSIVE, "agents": {"x": scripted.settings}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    eventually(lambda: screen.lua("return #_G.seen") >= 2)
    chat.send()
    wanted = [
        ("AcpReady", "idle"),
        ("AcpSession", "idle"),
        ("AcpTurnStart", "running"),
        ("AcpTurnEnd", "idle"),
    ]
    eventually(lambda: screen.lua("return #_G.seen") >= len(wanted))
    seen = screen.lua("return _G.seen")
    assert [(name, state) for name, _, state in seen] == wanted
    buffer = int(screen.funcs.bufnr("acp://x/1"))
    for _, data, _ in seen:
        assert data.items() >= {"agent": "x", "session": "s1", "bufnr": buffer}.items()
    assert seen[1][1]["how"] == "new"
    assert seen[3][1]["stop_reason"] == "end_turn"
