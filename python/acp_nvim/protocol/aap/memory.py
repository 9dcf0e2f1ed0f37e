"""What the server does not know of its sessions, and we do (AAP-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from acp_nvim.session.content import Block
from acp_nvim.text.sanitise import one_line

#: Cells of a title made from a prompt.
TITLE_CELLS = 80


@dataclass(frozen=True, slots=True)
class Known:
    """``cwd``: the folder it was used in. ``updated_at``: when it was last used, in ISO 8601."""

    title: str
    cwd: str
    updated_at: str


class Memory(Protocol):
    """Of the sessions of one server. Nothing it cannot do is an error."""

    async def recall(self) -> Mapping[str, Known]:
        """By the server's id."""

    async def keep(self, remote_id: str, known: Known) -> None: ...

    async def forget(self, remote_id: str) -> None: ...


class Picks(Protocol):
    """Which of a server's agents the user has picked. Nothing it cannot do is an error."""

    async def recall(self) -> str | None: ...

    async def keep(self, name: str) -> None: ...


def title_of(blocks: Sequence[Block]) -> str:
    """The first line that was said, without what was attached to it."""
    said = [str(each.text) for each in blocks if each.type == "text" and each.text is not None]
    lines = [line.strip() for line in (said[-1] if said else "").splitlines()]
    return one_line(next((line for line in lines if line), ""), TITLE_CELLS)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
