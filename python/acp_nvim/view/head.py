"""The head of a transcript, block 0: who works where, and what to do when nobody does (ui.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from acp_nvim.text.sanitise import one_line

from .block import Drawn, Lines, Segment
from .ends import put_remedy
from .look import Look, plural

DEMO = "The built-in demo, for when no coding agent is found. It has no language model and needs no account."
DEMO_HINTS = (
    ("try it", "show me everything", ""),
    ("get one", ":checkhealth acp", "lists agents, how to install them, and where it looked"),
    ("have one?", ":help acp-settings-agents", "names any agent that speaks ACP"),
)
STARTING = "Starting. You can type already; the prompt is sent when the agent is ready."


class Head(Struct):
    """What the client knows. ``commands`` counts slash commands, ``ready_s`` is in seconds.

    ``failure`` and ``lines`` (with the remedies) are for the states ``failed`` and ``slow``: it takes long.
    ``note`` is what the user should know of this agent, as that it does not ask before it acts.
    """

    agent: str
    cwd: str
    state: Literal["starting", "slow", "ready", "failed"] | str = "starting"
    demo: bool = False
    title: str | None = None
    version: str | None = None
    speaks: str | None = None  # the protocol
    commands: int = 0
    ready_s: float | None = None
    failure: str | None = None
    lines: Sequence[str] = ()
    note: str | None = None
    earlier: int = 0  # sessions of this folder that are not open
    hints: Sequence[tuple[str, str, str]] = DEMO_HINTS


def draw_head(head: Head, look: Look) -> Drawn:
    """The lines of the head."""
    drawn = Drawn(kind="head", tail=1)
    drawn.put((f"{one_line(head.agent)} in ", ""), (look.folder(head.cwd), "AcpPath"))
    if head.state in ("failed", "slow"):
        said = one_line(head.failure or "the agent is not running")
        if head.state == "failed":
            drawn.put((f"{look.icons.failed} {said}", "AcpError"))
        else:
            drawn.put((said, "AcpWarn"))
        body = Lines()
        for line in head.lines:
            put_remedy(body, line)
        drawn.put_body(body, "output", look.icons)
    elif head.demo:
        drawn.put((DEMO, "AcpNote"))
        drawn.put()
        for label, command, says in head.hints:
            hint: list[Segment] = [(f"  {label:<11}", "AcpNote"), (command, "AcpKey")]
            drawn.put(*hint, (f"  {says}" if says else "", "AcpNote"))
    elif head.state == "starting":
        drawn.put((STARTING, "AcpNote"))
    else:
        drawn.put((_ready(head, look), "AcpNote"))
        if head.note:
            drawn.put((one_line(head.note), "AcpWarn"))
    if head.earlier and head.state not in ("failed", "slow"):
        put_remedy(drawn, f"{plural(head.earlier, 'earlier session')} here: :AcpSessions")
    return drawn


def _ready(head: Head, look: Look) -> str:
    name = " ".join(one_line(part) for part in (head.title, head.version) if part)
    parts = [name, head.speaks or ""]
    if head.commands:
        parts.append(plural(head.commands, "command"))
    parts.append(f"ready in {head.ready_s:.1f} s" if head.ready_s is not None else "ready")
    return f" {look.icons.dot} ".join(part for part in parts if part)
