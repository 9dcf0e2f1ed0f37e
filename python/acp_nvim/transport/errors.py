"""What a transport raises.

TransportError
  LineTooLongError      a line exceeds the bound: the connection is failed (V1-06)
  TransportClosedError  the other side does not take anything any more
  HttpFailedError       a request over HTTP got no answer, or not all of it
"""

from __future__ import annotations

from typing import Literal, TypeAlias


class TransportError(Exception):
    """The connection cannot go on. The message says why, for people."""


class LineTooLongError(TransportError):
    """``limit`` in bytes; ``lines`` are the complete lines that came before the long one."""

    def __init__(self, limit: int, lines: list[bytes]) -> None:
        super().__init__(f"the agent sent a line longer than {limit:,} bytes")
        self.limit = limit
        self.lines = lines


NOT_READING = "the agent does not read its input any more"


class TransportClosedError(TransportError):
    """The agent does not read any more: nothing can be sent."""

    def __init__(self, message: str = NOT_READING) -> None:
        super().__init__(message)


#: refused (nobody listens), name (no such host), connect (any other way), tls, timeout, cut, other.
Cause: TypeAlias = Literal["refused", "name", "connect", "tls", "timeout", "cut", "other"]


class HttpFailedError(TransportError):
    """``cause`` says what to look at."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause: Cause = cause
