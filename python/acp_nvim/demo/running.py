"""Commands: in a terminal of the client where it offers that, else by a shell of our own.

In version 2 of the protocol terminals are always ours, and the client is told what they show.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from . import modes, owned, shell
from .owned import finish
from .peer import RpcError
from .project import DemoError
from .shell import Ended
from .skills import count
from .turn import Call, Turn, content

PATIENCE_S = 3.0  # for the client to end a command that is cancelled


async def run(turn: Turn, command: str) -> bool:
    """Ask, then run a command with live output. Whether it succeeded; a refusal is answered here."""
    async with asked(turn, command) as call:
        if call is None:
            return False
        if turn.session.speech.own_terminals:
            ended = await owned.run(turn, call, command)
        elif turn.session.client.terminal:
            ended = await _in_terminal(turn, call, command)
        else:
            ended = await _by_shell(turn, call, command)
        turn.session.characters += len(ended.text)
    await turn.say(told(command, ended))
    return ended.code == 0


@asynccontextmanager
async def asked(turn: Turn, command: str) -> AsyncIterator[Call | None]:
    """The tool call of a command that the user allows; None: not allowed, which is answered here."""
    await modes.may_change(turn, f"Run `{command}`")
    fields = {
        "title": command,
        "kind": "execute",
        "rawInput": {"command": command, "cwd": str(turn.project.cwd)},
    }
    async with turn.call("execute", command, "pending", rawInput=fields["rawInput"]) as call:
        answer = await turn.ask(call, f"run {command}", "Always allow this command", **fields)
        if answer == "allowed":
            yield call
            return
        await call.update("failed")
        await turn.say("All right, I do not run it. Tell me what to do instead.")
        yield None


def told(command: str, ended: Ended) -> str:
    """How a command ended, in words."""
    lines = ("at least " if ended.cut else "") + count(len(ended.text.splitlines()), "line")
    if ended.signal:
        how = f"was ended by {ended.signal}"
    else:
        how = "ran without errors" if ended.code == 0 else f"ended with exit code {ended.code}"
    return f"`{command}` {how}. It wrote {lines}."


async def _by_shell(turn: Turn, call: Call, command: str) -> Ended:
    await call.update("in_progress")

    async def progress(output: shell.Output) -> None:
        await call.update(content=[content(output.text)])

    try:
        ended = await shell.run(command, turn.project.cwd, progress)
    except OSError as error:
        raise DemoError(f"The command cannot be started: {error.strerror}.") from None
    await finish(call, ended, content=[content(ended.text)])
    return ended


async def _in_terminal(turn: Turn, call: Call, command: str) -> Ended:
    """The client runs it and shows its output; we are told how it ended. A cancel ends it."""
    terminal = _Terminal(turn)
    try:
        await terminal.create(command)
        await call.update("in_progress", content=[{"type": "terminal", "terminalId": terminal.id}])
        ended = await terminal.wait()
        await finish(call, ended)
    except RpcError as error:
        raise DemoError(f"The editor does not run `{command}`: {error.message}") from None
    finally:
        await asyncio.shield(terminal.release())
    # Whoever loads this session later has no such terminal any more.
    kept = {"toolCallId": call.id, "content": [content(ended.text)]}
    turn.session.history.add({"sessionUpdate": "tool_call_update", **kept})
    return ended


class _Terminal:
    """A terminal of the client, from its creation to its release."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._creating: asyncio.Task[Any] | None = None
        self.id = ""

    async def create(self, command: str) -> None:
        """Start a command. A cancel meanwhile does not lose the terminal: ``release`` waits for its id."""
        self._creating = asyncio.create_task(
            self._turn.peer.request(
                "terminal/create",
                {
                    "sessionId": self._turn.session.id,
                    "command": "/bin/sh",
                    "args": ["-c", command],
                    "cwd": str(self._turn.project.cwd),
                    "outputByteLimit": shell.KEPT,
                },
            )
        )
        result = await asyncio.shield(self._creating)
        self.id = str(result.get("terminalId") if isinstance(result, dict) else "")

    async def wait(self) -> Ended:
        """Wait for its end. Raises RpcError."""
        status = await self._ask("terminal/wait_for_exit")
        output = await self._ask("terminal/output")
        code, name = status.get("exitCode"), status.get("signal")
        return Ended(
            str(output.get("output", "")),
            output.get("truncated") is True,
            code if isinstance(code, int) else None,
            name if isinstance(name, str) else None,
        )

    async def release(self) -> None:
        """Give it back, which ends what still runs. A client that does not answer is not waited for."""
        if self._creating is None:
            return
        with contextlib.suppress(RpcError, TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                result = await self._creating
                self.id = str(result.get("terminalId") if isinstance(result, dict) else "")
                await self._ask("terminal/release")

    async def _ask(self, method: str) -> Any:
        params = {"sessionId": self._turn.session.id, "terminalId": self.id}
        result = await self._turn.peer.request(method, params)
        return result if isinstance(result, dict) else {}
