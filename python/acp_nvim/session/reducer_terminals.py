"""Terminals, and the tool calls that show them."""

from __future__ import annotations

from msgspec import UNSET

from .content import TerminalRef
from .entities import Session, ToolCall
from .events import TerminalBytes, TerminalPatch, TerminalSet
from .reducer_messages import patched
from .step import Step
from .terminals import Output, Owner, Terminal

ENDED_BYTES = 16 * 1024 * 1024
"""Bytes of output that a session keeps of all its commands that have ended, so that it stays bounded."""
SPARED_BYTES = 64 * 1024
"""What is left of the oldest of them when it is more."""


def patch(step: Step, event: TerminalPatch) -> None:
    """Create or patch a terminal."""
    session = step.session
    terminal = _terminal(step, event.id, event.owner)
    if event.command is not UNSET:
        terminal.command = event.command or ""
    if event.cwd is not UNSET:
        terminal.cwd = event.cwd
    if event.exit is not UNSET:
        terminal.exit = event.exit
        _spare(session)
    if event.size is not UNSET:
        terminal.size = event.size
    if event.can_cancel is not UNSET:
        terminal.can_cancel = bool(event.can_cancel)
    terminal.meta = patched(terminal.meta, event.meta)
    if event.stopped is not UNSET:
        terminal.stopped = event.stopped
    if event.released is not UNSET:
        terminal.released = event.released
    call = session.tool_calls.get(event.call) if event.call is not None else None
    if call is not None and event.id not in call.told_terminals:
        call.told_terminals.append(event.id)
        link(session, call)
    _touch(step, terminal)


def append(step: Step, event: TerminalBytes) -> None:
    """A command wrote something."""
    terminal = _terminal(step, event.id, "agent")
    terminal.output.append(event.data)
    _touch(step, terminal)


def set_(step: Step, event: TerminalSet) -> None:
    """The output is another one: who reads it begins again."""
    terminal = _terminal(step, event.id, "agent")
    terminal.output = Output()
    terminal.output.append(event.data)
    _touch(step, terminal)


def link(session: Session, call: ToolCall) -> None:
    """Find the terminals of a tool call: those its content names, else those told of apart from it."""
    named = [item.terminal_id for item in call.content if isinstance(item, TerminalRef)]
    found = (session.terminals.get(each) for each in dict.fromkeys(named or call.told_terminals))
    call.terminals = [terminal for terminal in found if terminal is not None]
    for terminal in call.terminals:
        if call.id not in terminal.calls:
            terminal.calls.append(call.id)


def _terminal(step: Step, terminal_id: str, owner: Owner) -> Terminal:
    session = step.session
    terminal = session.terminals.get(terminal_id)
    if terminal is None:
        terminal = Terminal(terminal_id, len(session.terminals) + 1, owner)
        session.terminals[terminal_id] = terminal
        ref = TerminalRef(terminal_id)
        for call in session.tool_calls.values():
            if ref in call.content:
                link(session, call)
    return terminal


def _touch(step: Step, terminal: Terminal) -> None:
    for call_id in terminal.calls:
        step.touch(step.session.tool_calls[call_id])


def _spare(session: Session) -> None:
    ended = [each for each in session.terminals.values() if each.exit is not None]
    size = sum(each.output.size for each in ended)
    for terminal in ended:  # oldest first
        if size <= ENDED_BYTES:
            return
        size -= terminal.output.size
        terminal.output.shrink(SPARED_BYTES)
        size += terminal.output.size
