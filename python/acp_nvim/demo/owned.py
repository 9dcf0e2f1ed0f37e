"""Commands in terminals of the demo's own, whose output the client is told (version 2 of the protocol)."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from typing import Any

from . import shell
from .peer import Json
from .project import DemoError
from .shell import Ended
from .turn import Call, Turn, content


async def run(turn: Turn, call: Call, command: str) -> Ended:
    """Run it; the user can end it alone, in its row or in its terminal (V2-73, V2-97..103)."""
    session, ident = turn.session, turn.session.name("terminal")
    update: Json = {"sessionUpdate": "terminal_update", "terminalId": ident}

    output = shell.Output()

    async def progress(output: shell.Output) -> None:
        fresh, lost = output.take()
        data = b64encode(fresh).decode()
        if lost:
            await turn.send({**update, "output": {"data": data}})
        elif fresh:
            await turn.send({**update, "sessionUpdate": "terminal_output_chunk", "data": data})

    where = {"command": command, "cwd": str(turn.project.cwd)}
    await turn.send({**update, **where, "capabilities": {"cancel": {}}})
    shown = [{"type": "terminal", "terminalId": ident}]
    await call.update("in_progress", content=shown, capabilities={"cancel": {}})
    stop = session.stops[call.id] = session.stops[ident] = asyncio.Event()
    gone = {"capabilities": None}
    try:
        ended = await shell.run(command, turn.project.cwd, progress, output, stop)
        await progress(output)
    except OSError as error:
        await turn.send({**update, **gone, "exitStatus": {}})
        raise DemoError(f"The command cannot be started: {error.strerror}.") from None
    except asyncio.CancelledError:
        with contextlib.suppress(ConnectionError):  # the client is gone, and nobody has to know
            await turn.send({**update, **gone, "exitStatus": {"signal": "SIGTERM"}})
        raise
    finally:
        del session.stops[call.id], session.stops[ident]
    await turn.send({**update, **gone, "exitStatus": {"exitCode": ended.code, "signal": ended.signal}})
    if stop.is_set():
        await call.update("cancelled", capabilities=None)
    else:
        await finish(call, ended, capabilities=None)
    # Whoever resumes this session later has no such terminal any more.
    kept = {"toolCallId": call.id, "content": [content(ended.text)]}
    session.history.add({"sessionUpdate": "tool_call_update", **kept})
    return ended


async def finish(call: Call, ended: Ended, **fields: Any) -> None:
    """The command of a tool call has ended."""
    output = {"exitCode": ended.code, "signal": ended.signal}
    await call.update("completed" if ended.code == 0 else "failed", rawOutput=output, **fields)
