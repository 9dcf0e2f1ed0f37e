"""Terminals: what a command was, what it wrote, how it ended (spec/mapping.md, Terminal)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

Owner: TypeAlias = Literal["client", "agent"]
"""Whose process it is: ours, started for the agent; or the agent's own, which tells us what it writes."""

KEEP = 1024 * 1024
"""Bytes of a terminal's output that are kept to be shown."""


class Output:
    """The end of what a command wrote. Positions count bytes from its very beginning.

    Appending is cheap however much comes: what is too much goes in large pieces.
    """

    __slots__ = ("_data", "_keep", "total")

    def __init__(self, keep: int = KEEP) -> None:
        self.total = 0
        """Bytes that came in all."""
        self._keep = keep
        self._data = bytearray()

    @property
    def first(self) -> int:
        """The position of the oldest byte that is kept."""
        return self.total - self.size

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return min(len(self._data), self._keep)

    def append(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.total += len(data)
        if len(data) >= self._keep:
            self._data = bytearray(data[len(data) - self._keep :])
            return
        self._data += data
        if len(self._data) > 2 * self._keep:
            del self._data[: len(self._data) - self._keep]

    def since(self, position: int, most: int | None = None) -> tuple[int, bytes]:
        """Return at most ``most`` bytes from a position on, and the position of the first of them.

        It is a later one than was asked for when what was there is not kept any more.
        """
        at = min(max(position, self.first), self.total)
        start = len(self._data) - (self.total - at)
        stop = len(self._data) if most is None else min(start + most, len(self._data))
        return at, bytes(self._data[start:stop])

    def tail(self, size: int) -> bytes:
        """Return the last ``size`` bytes, or what is kept of them."""
        return self.since(self.total - size)[1]

    def shrink(self, keep: int) -> None:
        """Keep no more than so many bytes from now on."""
        data = self.tail(keep)
        self._keep, self._data = keep, bytearray(data)


class Exit(Struct, frozen=True):
    """How a command ended: its exit code, or the name of the signal that ended it (V1-185).

    Neither, if nobody knows.
    """

    code: int | None = None
    signal: str | None = None


class Terminal(Struct, eq=False):
    """A command and its output. ``number`` counts the session's terminals from 1.

    ``command`` is all of it, as a shell would take it. ``stopped``: its end was asked for. It outlives its
    release: ``released`` only says that the agent has done with it (V1-188).
    """

    id: str
    number: int
    owner: Owner = "client"
    command: str = ""
    cwd: str | None = None
    output: Output = field(default_factory=Output)
    exit: Exit | None = None
    stopped: bool = False
    released: bool = False
    size: tuple[int, int] | None = None  # columns and rows, as the agent says
    can_cancel: bool = False
    meta: dict[str, Any] = {}
    calls: list[str] = []  # ids of the tool calls that show it
