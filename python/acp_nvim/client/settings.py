"""The user's settings as Lua told them last, and what the host reads of them itself."""

from __future__ import annotations

from typing import Any

from acp_nvim.service.files import PROTECTED

from . import payloads


class Settings:
    """``now`` is the whole table, checked by Lua."""

    def __init__(self, now: dict[str, Any]) -> None:
        self.now = now

    def renew(self, request: payloads.Settings) -> None:
        """``setup()`` was called again, or a rule revoked."""
        self.now = request.settings

    def protected(self) -> list[str]:
        """The globs of ``files.protected``."""
        files = self.now.get("files")
        protected = files.get("protected") if isinstance(files, dict) else None
        return [str(each) for each in protected] if isinstance(protected, list) else list(PROTECTED)

    def asks_about_commands(self) -> bool:
        """Whether each command of an agent is asked about (``permission.terminal``)."""
        permission = self.now.get("permission")
        return isinstance(permission, dict) and permission.get("terminal") == "ask"
