"""What is shown on request: the details of a row."""

from __future__ import annotations

from acp_nvim.editor import Editor

from . import payloads
from .registry import Registry
from .secrets import Secrets


class Shown:
    """Answers the message ``details`` of Lua."""

    def __init__(self, editor: Editor, registry: Registry, secrets: Secrets) -> None:
        self._editor = editor
        self._registry = registry
        self._secrets = secrets

    def details(self, request: payloads.Details) -> None:
        """Show all that is known of a row."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        lines = [self._secrets.mask(line) for line in chat.transcript.details(request.block, request.row)]
        self._editor.notify("acp.chat.show", "details", chat.n, lines)
