"""What is measured: a prompt for bench/agent.py, and the state of the chat before it."""

from __future__ import annotations

from dataclasses import dataclass

DESIGNS = {
    "host": "acp.nvim",
    "chunk": "Lua, each message drawn",
    "batched": "Lua, drawn every 33 ms",
}


@dataclass(frozen=True)
class Workload:
    """``prompt``: what the agent does while it is measured; "": the replay of a session of ``load`` messages.

    ``chunks``: so many are prepared by the agent at its start. ``before``: prompts whose turns are over when
    the clock begins. ``agents``: so many at once, each in a chat. ``hidden``: no window shows the chat.
    ``quick``: part of the short form. ``designs``: with which it makes sense.
    """

    title: str
    prompt: str
    chunks: int = 0
    before: tuple[str, ...] = ()
    agents: int = 1
    load: int = 0
    hidden: bool = False
    quick: bool = False
    designs: tuple[str, ...] = tuple(DESIGNS)


LONG = "go 130000"  # a chat of about 200,000 lines
WORKLOADS = {
    "quick-flood": Workload("20,000 chunks at once", "go 20000", 20_000, quick=True),
    "quick-pace": Workload("200 chunks a second, 5 s", "go 1000 200", 1000, quick=True),
    "quick-tools": Workload("200 tool calls, 4 updates and a diff each", "tools 200", quick=True),
    "quick-diff": Workload("one diff of 2 MB", "diff 2000000", quick=True),
    "flood": Workload("100,000 chunks at once", "go 100000", 100_000),
    "thoughts": Workload("100,000 chunks of a thought", "think 100000", 100_000),
    "pace": Workload("200 chunks a second, 15 s", "go 3000 200", 3000),
    "tools": Workload("500 tool calls: 4 updates, growing content, a diff each", "tools 500"),
    "diff": Workload("one diff of 10 MB", "diff 10000000"),
    "line": Workload("one chunk of 5 MB without an end of line", "line 5000000"),
    "noise": Workload("a terminal that writes 50 MB", "noise 50000000"),
    "colours": Workload("the same with escape sequences cut anywhere", "noise 50000000 1"),
    "load": Workload("session/load of 5,000 messages", "", load=5000),
    "four": Workload("four agents at once, 25,000 chunks each", "go 25000", 25_000, agents=4),
    "short": Workload("20,000 chunks, the chat short before", "go 20000", 20_000, designs=("host", "chunk")),
    "long": Workload(
        "20,000 chunks, 200,000 lines before", "go 20000", 130_000, (LONG,), designs=("host", "chunk")
    ),
    "hidden": Workload(
        "the same, the chat hidden", "go 20000", 130_000, (LONG,), hidden=True, designs=("host",)
    ),
}
