"""Terminals of the agent's own, told in ``_meta`` of tool calls: the adapters of Claude Code and Codex.

``terminal_info {terminal_id, cwd?}`` announces one, ``terminal_output`` and ``terminal_output_delta``
``{terminal_id, data}`` tell what the command wrote, ``terminal_exit {terminal_id, exit_code?, signal?}`` how
it ended. None of that is in the protocol, so nothing is taken for granted: what does not fit is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, TerminalBytes, TerminalPatch
from acp_nvim.session.terminals import Exit

KEYS = ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit")
U32 = 2**32


def terminal_events(meta: Mapping[str, Any] | None, call_id: str, session: Session) -> Iterator[Event]:
    """The events a tool call's ``_meta`` stands for, in the order in which such things happen.

    A terminal without an id is the call's. One that is ours is not the agent's to write to.
    """
    for key in KEYS if meta else ():
        said = meta.get(key) if meta else None
        if not isinstance(said, dict):
            continue
        terminal_id = _text(said, "terminal_id", "terminalId") or call_id
        known = session.terminals.get(terminal_id)
        if known is not None and known.owner == "client":
            continue
        yield from _EVENTS[key](terminal_id, call_id, said)


def _info(terminal_id: str, call_id: str, said: dict[str, Any]) -> Iterator[Event]:
    cwd = _text(said, "cwd")
    yield TerminalPatch(
        terminal_id,
        owner="agent",
        command=_text(said, "command") or UNSET,
        cwd=cwd if cwd and cwd.startswith("/") else UNSET,
        call=call_id,
    )


def _output(terminal_id: str, call_id: str, said: dict[str, Any]) -> Iterator[Event]:
    data = said.get("data")
    if isinstance(data, str):
        yield TerminalPatch(terminal_id, owner="agent", call=call_id)
        yield TerminalBytes(terminal_id, _bytes(data))


def _exit(terminal_id: str, call_id: str, said: dict[str, Any]) -> Iterator[Event]:
    code, signal = said.get("exit_code", said.get("exitCode")), _text(said, "signal")
    known = isinstance(code, int) and not isinstance(code, bool) and 0 <= code < U32
    ended = Exit(code if known else None, signal)
    yield TerminalPatch(terminal_id, owner="agent", exit=ended, call=call_id)


_EVENTS = {
    "terminal_info": _info,
    "terminal_output": _output,
    "terminal_output_delta": _output,
    "terminal_exit": _exit,
}


def _bytes(data: str) -> bytes:
    """Halves of characters, which JSON can carry, become whole ones where they meet, else U+FFFD."""
    try:
        return data.encode()
    except UnicodeEncodeError:
        return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _text(said: dict[str, Any], *names: str) -> str | None:
    return next((said[name] for name in names if isinstance(said.get(name), str) and said[name]), None)
