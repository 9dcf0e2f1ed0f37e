"""``python -m acp_nvim.demo``: the demo agent on standard input and output, or over HTTP with ``--aap PORT``.

``$ACP_DEMO_SPEED`` is the default of ``--speed``, and ``$ACP_DEMO_LOGIN=1`` is ``--login``: agents.demo.env
can set them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from . import aap
from .agent import VERSION, Agent
from .login import ARGUMENT, Login
from .memory import Memory

DEFAULT_SPEED = 40.0  # chunks (words) a second: to read along
VERSIONS = {"1": (1,), "2": (2,), "auto": (1, 2)}


async def serve(speed: float, state: Path | None, login: Login, versions: tuple[int, ...]) -> None:
    """Connect the pipes and serve until the client closes standard input, or a TERM comes."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    agent = Agent(reader, writer, speed, Memory(state) if state else None, login, versions)
    serving = asyncio.create_task(agent.serve())
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
    parser.add_argument(
        "--login",
        action="store_true",
        default=os.environ.get("ACP_DEMO_LOGIN", "0") not in ("", "0"),
        help="want a log-in first: there are no accounts, it is only to see how that goes",
    )
    parser.add_argument(ARGUMENT, action="store_true", help="that log-in, in a terminal; needs --state")
    parser.add_argument(
        "--protocol",
        choices=VERSIONS,
        default="1",
        help="the version of ACP to speak; auto: 2 with a client that offers it, else 1",
    )
    parser.add_argument(
        "--aap",
        type=int,
        metavar="PORT",
        help="be an AAP server on this port of 127.0.0.1; 0: a free one",
    )
    parser.add_argument("--version", action="version", version=f"acp.nvim demo agent {VERSION}")
    options = parser.parse_args()
    if options.speed < 0:
        parser.error("--speed cannot be negative")
    if options.state is not None and not options.state.is_absolute():
        parser.error("--state must be an absolute folder")
    login = Login(options.login, options.state)
    if options.sign_in:
        if options.state is None:
            parser.error(f"{ARGUMENT} needs --state, to be remembered")
        return login.sign_in()
    if options.aap is not None:
        try:
            asyncio.run(aap.run(options.aap, options.speed))
        except (OSError, OverflowError) as error:
            parser.error(f"--aap {options.aap}: {error}")
        return 0
    if sys.stdin.isatty() or sys.stdout.isatty():
        sys.stderr.write(
            "This is an agent for the Agent Client Protocol. Start it from Neovim: :AcpChat demo\n"
        )
        return 2
    asyncio.run(serve(options.speed, options.state, login, VERSIONS[options.protocol]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
