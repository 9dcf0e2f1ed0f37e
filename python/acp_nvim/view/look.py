"""What drawing needs to know besides the item itself."""

from __future__ import annotations

from msgspec import Struct

from acp_nvim.session.entities import Session
from acp_nvim.text import paths
from acp_nvim.text.sanitise import one_line

from .block import Segment
from .icons import UNICODE, Icons


class Look(Struct):
    """``label`` is what the agent is called in front of people."""

    session: Session
    icons: Icons = UNICODE
    label: str = ""
    home: str | None = None

    @property
    def agent(self) -> str:
        return one_line(self.label or self.session.agent)

    def path(self, path: str) -> str:
        """The path in full, relative to the session's folder or to home."""
        return paths.relative(path, self.session.cwd, self.home)

    def short(self, path: str) -> str:
        """The path without its middle folders when it is long."""
        return paths.shorten(self.path(path), cut=self.icons.cut)

    def folder(self, path: str) -> str:
        """A folder in full, never relative."""
        return paths.absolute(path, self.home)


def plural(count: int, word: str) -> str:
    """``1 file``, ``3 files``, ``2 searches``, ``1,240 more lines``."""
    many = word + ("es" if word.endswith("h") else "s")
    return f"{count:,} {word if count == 1 else many}"


def duration(seconds: float) -> str:
    """``42 s``, ``2 min 5 s``, ``1 h 3 min``; ``0 s`` when the clock was set back meanwhile."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counts_segments(added: int, removed: int, *, large: bool = False) -> list[Segment]:
    """``  +2 -1``, zeros left out; ``  too large`` when nothing was counted."""
    segments: list[Segment] = []
    if added:
        segments += [("  ", ""), (f"+{added}", "AcpAdd")]
    if removed:
        segments += [(" " if added else "  ", ""), (f"-{removed}", "AcpDelete")]
    if large:
        segments += [("  ", ""), ("too large", "AcpNote")]
    return segments
