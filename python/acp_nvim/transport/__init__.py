"""Bytes to lines and back."""

from .errors import NOT_READING, LineTooLongError, TransportClosedError, TransportError
from .lines import LIMIT, LineDecoder
from .stdio import StdioTransport

__all__ = (
    "LIMIT",
    "NOT_READING",
    "LineDecoder",
    "LineTooLongError",
    "StdioTransport",
    "TransportClosedError",
    "TransportError",
)
