"""Halves of surrogate pairs: what JSON escapes can say and text cannot hold (design.md rule 6).

An agent that cuts its text by UTF-16 units may end one chunk with ``\\ud83d`` and begin the next one
with ``\\ude80``. Decoded text never contains such a half: it holds U+FFFD in its place. A chunk's text
with a half at an edge is a ``SplitText``, which remembers the half, so that a ``SurrogateJoiner`` can
put the character together again.
"""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HALF = re.compile("[\ud800-\udfff]")


class SplitText(str):
    """Text that begins with a low half or ends with a high half; as a string it has U+FFFD there."""

    __slots__ = ("head", "tail")

    head: str
    tail: str

    def __new__(cls, text: str, head: str, tail: str) -> SplitText:
        self = super().__new__(cls, text)
        self.head = head
        self.tail = tail
        return self


def clean(text: str) -> str:
    """Join the pairs that stand side by side, replace each half that is alone."""
    if _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_tree(value: Any) -> Any:
    """``clean`` for every string of a JSON value. The caller has bounded its depth."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_tree(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean_tree(item) for key, item in value.items()}
    return value


def split(text: str) -> str:
    """``clean``, but a half at an edge is remembered (``SplitText``)."""
    if _HALF.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    head = joined[0] if "\udc00" <= joined[0] <= "\udfff" else ""
    tail = joined[-1] if "\ud800" <= joined[-1] <= "\udbff" else ""
    cleaned = clean(joined)
    return SplitText(cleaned, head, tail) if head or tail else cleaned


class SurrogateJoiner:
    """Puts the text of one message together, chunk by chunk. One for each running message.

    ``feed`` holds a high half back until the next chunk shows whether its other half follows;
    ``flush`` at the end of the message (or before a block that is not text) gives what is left.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text that can be shown now; a plain ``str`` without halves."""
        if not text or (not self._held and type(text) is str):
            return text
        held, self._held = self._held, ""
        head, tail = (text.head, text.tail) if isinstance(text, SplitText) else ("", "")
        body = str(text)
        if held:
            body = clean(held + head) + body[1:] if head else REPLACEMENT + body
        if tail:
            self._held = tail
            body = body[:-1]
        return body

    def flush(self) -> str:
        """End the message: U+FFFD for a half that stayed alone, else nothing."""
        held, self._held = self._held, ""
        return REPLACEMENT if held else ""
