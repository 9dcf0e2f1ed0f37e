"""Random edits, sent whole or as a part: what the diff shows, taken over, is the agent's result."""

from __future__ import annotations

import random
from pathlib import Path

from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, ask
from tests.nvim.diff_kit import OPTIONS, PATH, Desk, desk, edit
from tests.plugin import StartScreen

WORDS = ["", "a", "  a", "\tb", "日本 語", "é", "end", "}", "if x:", "x" * 200]
EDITS = 12


def lines(chance: random.Random, most: int) -> list[str]:
    return [chance.choice(WORDS) for _ in range(chance.randrange(most))]


def made_up(chance: random.Random) -> tuple[str, str, str, str]:
    """A file, what an agent makes of it, and the two texts it sends."""
    end = chance.choice(["\n", "\r\n"])
    above, old, new, below = (lines(chance, most) for most in (30, 5, 5, 30))
    # A line of its own on each side: Neovim's diff mode knows no empty file.
    above, below = ["first", *above], [*below, "last"]
    file, result = (end.join([*above, *part, *below]) + end for part in (old, new))
    if chance.random() < 0.3:
        return file, result, file, result
    some = chance.randrange(1, 4)
    theirs = chance.choice(["\n", end])
    sent = [theirs.join([*above[-some:], *part, *below[:some]]) + theirs for part in (old, new)]
    return file, result, sent[0], sent[1]


def take_all(made: Desk, text: str) -> tuple[str, str]:
    """Take over all of the diff on the screen; return the winbar and the file's text in the buffer then."""
    (_, left), (_, right) = made.windows()
    bar = f"{made.bar(left)} | {made.bar(right)}"
    if "fragment" in bar:
        return bar, text
    made.screen.lua("vim.api.nvim_win_call(..., function() vim.cmd('%diffget') end)", left)
    now = made.screen.lua("return require('acp.buffers').read(...).text", str(made.cwd / PATH))
    return bar, str(now)


def test_the_agents_result(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> None:
    chance = random.Random(20)
    cases = [made_up(chance) for _ in range(EDITS)]
    plays = [
        [ask(n, edit(old, new, call=f"t{n}"), OPTIONS), {"await": n}, END]
        for n, (_, _, old, new) in enumerate(cases, 1)
    ]
    made = desk(start_screen, agent, plays, short_tmp)
    placed = 0
    for n, (file, result, old, new) in enumerate(cases, 1):
        (made.cwd / PATH).write_bytes(file.encode())
        made.screen.lua(
            "local buf = vim.fn.bufnr('src/date.py')"
            " vim.api.nvim_buf_call(buf, function() vim.cmd('silent edit!') end)"
        )
        made.go()
        made.wait_diff()
        bar, text = take_all(made, file)
        if "fragment" not in bar and "places" not in bar:
            assert text == result, f"edit {n}: {bar}\n{old!r}\n{new!r}"
            placed += 1
        made.screen.lua("require('acp').permit(...)", "reject_once")
        made.agent.response(n)
        made.wait_closed()
        made.chat.wait_state("idle")
    assert placed > EDITS / 2
