"""``python -m acp_nvim.demo``: the demo agent on standard input and output.

``$ACP_DEMO_SPEED`` is the default of ``--speed``: agents.demo.env can set it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from .agent import VERSION, Agent
from .memory import Memory

DEFAULT_SPEED = 40.0  # chunks (words) a second: to read along


async def serve(speed: float, state: Path | None) -> None:
    """Connect the pipes and serve until the client closes standard input, or a TERM comes."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    serving = asyncio.create_task(Agent(reader, writer, speed, Memory(state) if state else None).serve())
    loop.add_signal_handler(signal.SIGTERM, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    transport.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m acp_nvim.demo", description=__doc__)
    speed = os.environ.get("ACP_DEMO_SPEED", str(DEFAULT_SPEED))
    parser.add_argument("--speed", type=float, default=speed, help="chunks a second, 0: no pauses")
    parser.add_argument(
        "--state", type=Path, help="absolute folder for what it remembers of its sessions; none: it forgets"
    )
    parser.add_argument("--version", action="version", version=f"acp.nvim demo agent {VERSION}")
    options = parser.parse_args()
    if options.speed < 0:
        parser.error("--speed cannot be negative")
    if options.state is not None and not options.state.is_absolute():
        parser.error("--state must be an absolute folder")
    if sys.stdin.isatty() or sys.stdout.isatty():
        sys.stderr.write(
            "This is an agent for the Agent Client Protocol. Start it from Neovim: :AcpChat demo\n"
        )
        return 2
    asyncio.run(serve(options.speed, options.state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
