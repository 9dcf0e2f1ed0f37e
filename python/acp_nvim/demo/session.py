"""One chat with the demo, for as long as its process lives."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .history import History
from .offered import Offered
from .project import Project
from .settings import Settings
from .speech import First, Speech


@dataclass(slots=True)
class Session:
    """``always`` holds what the user has allowed for its whole length.

    ``life`` counts the processes that have had it: ids of messages and tool calls are never used twice.
    ``line``: who works in it, one at a time; ``held``: answers to prompts that wait for it. ``jobs``: what
    goes on in the background, by tool call. ``stops``: what can be ended alone, by ids of call and terminal.
    """

    id: str
    project: Project
    client: Offered = field(default_factory=Offered)
    speech: Speech = field(default_factory=First)
    settings: Settings = field(default_factory=Settings)
    always: set[str] = field(default_factory=set)
    titled: bool = False
    title: str = ""
    updated: str = ""  # ISO 8601, of the last prompt
    history: History = field(default_factory=History)
    characters: int = 0
    parts: list[str] = field(default_factory=list)  # what the last prompt was made of, for people
    warned: bool = False  # the user knows that the window is nearly full
    turn: asyncio.Task[None] | None = None
    added: list[tuple[str, list[Path]]] | None = None  # said during the turn, while it takes that
    cancelled: bool = False
    forgotten: bool = False  # deleted: nothing of it is written any more
    closed: bool = False
    state: str = "idle"
    line: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: set[asyncio.Task[Any]] = field(default_factory=set)
    jobs: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    stops: dict[str, asyncio.Event] = field(default_factory=dict)
    life: int = 1
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def name(self, kind: str) -> str:
        """A new id."""
        return f"{kind}-{self.life}-{next(self.ids)}"

    def entitle(self, text: str) -> None:
        """Give it a title of one line."""
        title = " ".join(text.split())
        self.titled = True
        self.title = title if len(title) <= 60 else title[:59] + "…"
