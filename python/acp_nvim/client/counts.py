"""How much of everything the host holds: what a soak, and a test after it, must find as small as before."""

from __future__ import annotations

import asyncio
import gc

from acp_nvim.editor import Editor
from acp_nvim.service.questions import QuestionService
from acp_nvim.session.store import Store

from .payloads import Nothing
from .registry import Registry


class Counts:
    """Answers to ``acp.counts`` in Lua."""

    def __init__(self, editor: Editor, registry: Registry, store: Store, questions: QuestionService) -> None:
        self._editor = editor
        self._registry = registry
        self._store = store
        self._questions = questions

    def tell(self, _request: Nothing) -> None:
        """Count now. A stopped connection stays known, for its trace; it counts while it has a process."""
        gc.collect()
        running = [
            each for each in self._registry.connections.values() if each.state in ("starting", "ready")
        ]
        self._editor.notify(
            "acp.counts",
            "told",
            {
                "tasks": len(asyncio.all_tasks()),
                "chats": len(self._registry.chats),
                "connections": len(running),
                "sessions": len(self._store.sessions),
                "questions": len(self._questions.open()),
            },
        )
