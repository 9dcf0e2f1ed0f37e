"""What every connection needs of the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_nvim.process.spawn import Spawner
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import ClientTools, Files, Questions, Sink, Terminals

from .secrets import Secrets

if TYPE_CHECKING:
    from .connection import Connection


@dataclass(slots=True)
class Services:
    """One for the host. ``spawn`` starts an owned task; ``asker`` finds the chat that waits for an agent.

    ``cache``: a folder for what may be lost.
    """

    sink: Sink
    files: Files
    questions: Questions
    terminals: Terminals
    tools: ClientTools
    spawner: Spawner
    secrets: Secrets
    clock: Callable[[], float]
    spawn: Callable[..., None]
    asker: Callable[[Connection], Session | None]
    cache: Path
