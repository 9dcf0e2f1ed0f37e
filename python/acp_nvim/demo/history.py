"""What was said in a session of the demo, so that it can be shown again (``session/load``)."""

from __future__ import annotations

import json
from typing import Any

from .peer import Json

#: Characters of JSON that are kept of one session; the oldest go.
MOST = 400_000
CHUNKS = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
KEPT = (*CHUNKS, "tool_call", "tool_call_update", "plan")


class History:
    """The updates of a session that make its transcript; the chunks of a message are one."""

    def __init__(self, updates: list[Json] | None = None) -> None:
        self.updates: list[Json] = updates or []
        self._size = sum(map(_size, self.updates))

    def add(self, update: Json) -> None:
        """Keep an update, if it is part of the transcript."""
        kind = update["sessionUpdate"]
        if kind not in KEPT:
            return
        last = self.updates[-1] if self.updates else {}
        if kind in CHUNKS and _same_message(last, update):
            text = update["content"]["text"]
            last["content"]["text"] += text
            self._size += len(text)
        else:
            kept: Json = json.loads(json.dumps(update))  # a copy, which grows
            self.updates.append(kept)
            self._size += _size(kept)
        while self._size > MOST and len(self.updates) > 1:
            self._size -= _size(self.updates.pop(0))


def _same_message(last: Json, update: Json) -> bool:
    return (
        last.get("sessionUpdate") == update["sessionUpdate"]
        and last.get("messageId") == update.get("messageId")
        and last["content"].get("type") == update["content"].get("type") == "text"
    )


def _size(update: Any) -> int:
    return len(json.dumps(update))
