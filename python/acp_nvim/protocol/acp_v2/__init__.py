"""ACP v2 (preview): the adapter between the wire and the session model."""

from .adapter import AcpV2

__all__ = ["AcpV2"]
