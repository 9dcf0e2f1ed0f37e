"""ACP v1 (stable): the adapter between the wire and the session model."""

from .adapter import AcpV1

__all__ = ["AcpV1"]
