"""Terminals in the body of a tool call: the command, and the end of what it wrote (ui.md section 3)."""

from __future__ import annotations

import codecs
import contextlib
import re
import shlex

from acp_nvim.session.content import TerminalRef
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.session.terminals import Terminal
from acp_nvim.text import screen
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long
from acp_nvim.text.width import cells_of, cut_to

from . import facts
from .block import Lines
from .look import Look, plural

#: Lines of a command that are shown; ``K`` shows all of it.
COMMAND_LINES = 40
#: Bytes of the output that are looked at for each line that is shown: what a line may hold, and more.
LINE_BYTES = 2000
#: Cells of a command in the bar of its window.
CAPTION_CELLS = 200
_SHELL = re.compile(r"(?:/\S*/)?(?:sh|bash|dash|zsh) -l?c ")
#: Cells of a line of output.
OUTPUT_CELLS = 400


def text_of(terminal: Terminal, size: int) -> str:
    """The last ``size`` bytes of the output as text, in whole lines if there are several.

    While it runs, without half a character at its end.
    """
    data = terminal.output.tail(size)
    if len(data) < terminal.output.total:
        data = data.partition(b"\n")[2] or data
    start = 0
    while start < min(len(data), 3) and data[start] & 0xC0 == 0x80:  # the beginning of a character is missing
        start += 1
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(data[start:], final=terminal.exit is not None)


def put_output(body: Lines, text: str, last: int, look: Look) -> None:
    """Add the last lines of an output, none too long."""
    for line in screen.output(text, last):
        if cells_of(line) > OUTPUT_CELLS:
            line = cut_to(line, OUTPUT_CELLS) + look.icons.cut
        body.put((line, ""))


def put_terminals(
    body: Lines, call: ToolCall, target: str, said: str | None, last: int, look: Look
) -> list[tuple[int, int, int]]:
    """Add the terminals of a call; returns the first and last row of each, and its number.

    ``target`` is what the row says of the command, ``said`` what the agent told of it.
    """
    places = []
    for terminal in call.terminals:
        first = len(body.lines)
        put_command(body, terminal.command or said or "", target, look)
        if terminal.cwd is not None and terminal.cwd != look.session.cwd:
            body.put(("in ", "AcpNote"), (look.folder(terminal.cwd), "AcpPath"))
        put_output(body, text_of(terminal, LINE_BYTES * last), last, look)
        if len(call.terminals) > 1 and (ending := ending_of(terminal)):
            body.put((ending, "AcpNote"))
        if len(body.lines) > first:
            places.append((first, len(body.lines) - 1, terminal.number))
    return places


def put_unknown(body: Lines, call: ToolCall) -> None:
    """Name the terminals that nobody has told us of (V1-121)."""
    known = {terminal.id for terminal in call.terminals}
    for item in call.content:
        if isinstance(item, TerminalRef) and item.terminal_id not in known:
            body.put((f"terminal {one_line(item.terminal_id, 60)}: nothing is known about it", "AcpNote"))


def ending_of(terminal: Terminal) -> str:
    """How it ended: ``exit 1``, ``SIGTERM``; "" while it runs, and when nobody knows."""
    if terminal.exit is None:
        return ""
    if terminal.exit.signal:
        return one_line(terminal.exit.signal, 20)
    return "" if terminal.exit.code is None else f"exit {terminal.exit.code}"


def caption(terminal: Terminal, session: Session) -> dict[str, str]:
    """For the window of the whole output: the command in one line, how it stands, and the group of that."""
    calls = [session.tool_calls[each] for each in terminal.calls]
    said = next((words for call in calls if (words := facts.command(call)[0] or call.title)), "")
    ending = ending_of(terminal)
    if terminal.exit is None:
        state, group = "running", "AcpRunning"
    elif terminal.exit.code == 0:
        state, group = ending, "AcpDone"
    else:
        failed = bool(ending) and not terminal.stopped
        state, group = ending or "ended", "AcpFailed" if failed else "AcpNote"
    return {
        "command": one_line(script(terminal.command or said), CAPTION_CELLS),
        "state": state,
        "group": group,
    }


def script(command: str) -> str:
    """What a shell was started for: ``sh -c 'make test'`` reads as ``make test``."""
    if _SHELL.match(command):
        with contextlib.suppress(ValueError):
            words = shlex.split(command)
            if len(words) == 3:
                return words[2]
    return command


def put_command(body: Lines, command: str, target: str, look: Look) -> None:
    """Add the whole command if ``target``, which the row says of it, is not all of it."""
    command = script(command)
    if not command.strip() or one_line(command) == target:
        return
    shown = [piece for line in safe_lines(command.strip("\r\n")) for piece in split_long(line)]
    for line in shown[:COMMAND_LINES]:
        body.put((line, "AcpCommand"))
    if (more := len(shown) - COMMAND_LINES) > 0:
        body.put((f"{look.icons.cut} {plural(more, 'more line')}, K shows all", "AcpNote"))
