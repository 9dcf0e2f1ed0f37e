"""``python -m acp_nvim.replay FILE``: see in a Neovim of its own what whoever wrote the trace has seen.

Nothing of yours is read or changed: the session works in a scratch folder that is removed at the end, and no
recorded command is run. ``:qa`` ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from .acts import Acts
from .agent import first_session
from .neovim import StageError, find_neovim
from .recording import Recording, RecordingError, read
from .room import Room, safe_name
from .server import Server
from .stage import Stage

#: Seconds that a replay without a person may take longer than its recording.
EXTRA = 60.0
#: Characters of the folder for temporary ones: below it are sockets, whose paths are short (104 on macOS).
LONGEST_BASE = 55


async def replay(recording: Recording, given: argparse.Namespace, room: Room, result: Path) -> int:
    """Run Neovim until it ends. Without a screen the transcript's text is then in ``result``.

    Returns the exit code of Neovim.
    """
    folder = room.folder
    stage = Stage(folder, room.project)
    out: Path | None = given.headless
    for life in recording.lives():
        room.furnish(life)
    speed = 0.0 if given.no_delay else given.speed
    settings: dict[str, Any]
    server: asyncio.Server | None = None
    playing: asyncio.Task[None] | None = None
    if recording.protocol == "aap":
        remote = Server(recording, Acts(stage.socket), speed, auto=out is not None)
        server, address = await remote.listen()
        settings = {"protocol": "aap", "url": address, **({"agent": remote.agent} if remote.agent else {})}
    else:
        arguments = [str(given.file.absolute()), "--speed", str(speed)]
        arguments += ["--connection", str(recording.entries[0].connection)]
        arguments += ["--auto"] if out is not None else []
        settings = {"protocol": recording.protocol, "command": stage.agent(*arguments)}
    options = {
        "name": safe_name(recording.agent, "agent"),
        "agent": settings,
        "socket": str(stage.socket),
        "old": first_session(recording) if recording.protocol != "aap" else None,
        "title": f"replay of {given.file.name}",
        "out": str(result) if out is not None else None,
        "facts": _facts(recording),
    }
    command = stage.command(options, find_neovim(given.nvim), headless=out is not None)
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=room.project,
        env=stage.environment,
        stdin=asyncio.subprocess.DEVNULL if out is not None else None,
        stdout=asyncio.subprocess.DEVNULL if out is not None else None,
        stderr=asyncio.subprocess.DEVNULL if out is not None else None,
    )
    try:
        if server is not None:
            playing = asyncio.create_task(remote.play())
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(name, process.terminate)
        limit = recording.seconds / speed + EXTRA if speed else EXTRA
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), limit if out is not None else None)
    finally:
        await _end(process)
        if playing is not None:
            playing.cancel()
        if server is not None:
            server.close()
    return process.returncode or 0


def run(given: argparse.Namespace, folder: Path) -> int:
    """Replay a file in a scratch folder. Returns the exit code. Raises what ``main`` tells of."""
    recording = read(given.file, given.connection)
    room = Room.named(folder, recording.cwd)
    result = folder / "transcript.txt"
    code = asyncio.run(replay(recording, given, room, result))
    if given.headless is None:
        return code
    if not result.exists():
        sys.stderr.write("replay: the replay did not come to its end\n")
        return 1
    text = room.out_of(result.read_text(encoding="utf-8"))
    if str(given.headless) == "-":
        sys.stdout.write(text)
    else:
        given.headless.write_text(text, encoding="utf-8")
    return 0


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), 5)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _facts(recording: Recording) -> list[str]:
    """What there is to know of it, for people."""
    facts = [
        f"recorded with {name} {recording.facts[name]}" for name in ("neovim",) if recording.facts.get(name)
    ]
    if recording.cut:
        facts.append(f"{recording.cut} messages that were not kept whole are left out")
    if recording.others:
        facts.append(f"{recording.others} more connections are in the file: --connection N")
    return facts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m acp_nvim.replay", description=__doc__)
    parser.add_argument("file", type=Path, help="what :w file.jsonl wrote in :AcpTrace")
    parser.add_argument("--speed", type=float, default=1.0, help="so many times as fast as it was")
    parser.add_argument("--no-delay", action="store_true", help="as fast as it goes")
    parser.add_argument(
        "--headless",
        type=Path,
        metavar="OUT",
        help="no screen: write the transcript's text there (-: stdout)",
    )
    parser.add_argument("--connection", type=int, help="which one, if the trace has several")
    parser.add_argument("--nvim", help="the Neovim to use; default: that on PATH")
    given = parser.parse_args()
    if given.speed <= 0:
        parser.error("--speed must be above 0; --no-delay is as fast as it goes")
    if given.headless is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("there is no terminal: --headless OUT writes the transcript's text")
    if given.headless is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is a key in Neovim
    base = tempfile.gettempdir()
    base = base if len(base) <= LONGEST_BASE else "/tmp"  # noqa: S108 (mkdtemp makes a folder of its own)
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="acp-replay-", dir=base)))
    try:
        return run(given, folder)
    except (RecordingError, StageError, OSError) as error:
        sys.stderr.write(f"replay: {error}\n")
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
