"""Bytes to lines and back."""

from .errors import LineTooLongError, TransportClosedError, TransportError
from .lines import LIMIT, LineDecoder
from .stdio import StdioTransport

__all__ = (
    "LIMIT",
    "LineDecoder",
    "LineTooLongError",
    "StdioTransport",
    "TransportClosedError",
    "TransportError",
)
