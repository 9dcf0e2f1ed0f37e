"""The output of a program that answers at once: git, a clipboard. Bounded in bytes and in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio

from .command import start_command
from .spawn import Spawner


@dataclass(frozen=True, slots=True)
class Captured:
    """``code``: the exit code; None: it had to be ended, by time, or because it said too much (``cut``)."""

    code: int | None
    output: bytes
    cut: bool = False

    @property
    def late(self) -> bool:
        """It took too long."""
        return self.code is None and not self.cut


async def capture(
    spawner: Spawner,
    argv: Sequence[str],
    *,
    cwd: str,
    limit: int,
    seconds: float,
    env: Mapping[str, str] | None = None,
    errors: bool = False,
) -> Captured:
    """Run ``argv`` in ``cwd`` (absolute) without input; at most ``limit`` bytes, for at most ``seconds``.

    What it says on stderr is nobody's, or with ``errors`` among the rest. All it has started is gone
    afterwards. Raises LaunchError when it cannot be run. No shell is involved.
    """
    child = await start_command(spawner, argv, cwd=cwd, env=env or {}, errors=errors)
    pieces: list[bytes] = []
    size, code = 0, None
    try:
        with anyio.move_on_after(seconds):
            while size <= limit:
                await child.readable()
                piece = child.read()
                if piece is None:
                    continue
                if not piece:
                    code = await child.wait()
                    break
                pieces.append(piece)
                size += len(piece)
    finally:
        child.close()
        await child.stop()
    return Captured(code, b"".join(pieces)[:limit], size > limit)
