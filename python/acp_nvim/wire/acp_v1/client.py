"""What the agent asks of us: files and terminals (sections 16 and 17)."""

from __future__ import annotations

from msgspec import field

from ..base import U32, U64, Lax, NullList, Wire
from .session import EnvVariable


class ReadTextFileRequest(Wire, frozen=True):
    """``line`` counts from 1 (0 is 1); ``limit`` is a number of lines (V1-161, V1-164)."""

    session_id: str
    path: str
    line: U32 | None = None
    limit: U32 | None = None


class ReadTextFileResponse(Wire, frozen=True):
    content: str


class WriteTextFileRequest(Wire, frozen=True):
    session_id: str
    path: str
    content: str


class CreateTerminalRequest(Wire, frozen=True):
    """``output_byte_limit`` in bytes; ``cwd`` absolute, None: the session's (V1-177)."""

    session_id: str
    command: str
    args: NullList[str] = field(default_factory=list)
    env: NullList[EnvVariable] = field(default_factory=list)
    cwd: str | None = None
    output_byte_limit: U64 | None = None


class CreateTerminalResponse(Wire, frozen=True):
    terminal_id: str


class TerminalRequest(Wire, frozen=True):
    """The parameters of terminal/output, wait_for_exit, kill and release."""

    session_id: str
    terminal_id: str


class TerminalExitStatus(Wire, frozen=True):
    """Also the result of terminal/wait_for_exit. A signal's end has no ``exit_code`` (V1-185)."""

    exit_code: Lax[U32 | None] = None
    signal: Lax[str | None] = None


class TerminalOutputResponse(Wire, frozen=True):
    """``exit_status`` only after the exit (V1-182)."""

    output: str
    truncated: bool
    exit_status: Lax[TerminalExitStatus | None] = None
