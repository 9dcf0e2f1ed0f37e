"""The messages of AAP v3 (spec/aap-v3.md): JSON bodies over HTTP, and the data of server-sent events."""

from __future__ import annotations

VERSION = 3
