"""What each session knows files to hold: the base when the user's text and the agent's have to be merged."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

#: Characters of texts kept for one session. What is older is only known by its digest.
MAX_CHARS = 16 * 1024 * 1024


class Known:
    """What was last read or written by a session, or shown to the user beside its proposal."""

    def __init__(self, limit: int = MAX_CHARS) -> None:
        self._limit = limit
        self._digests: dict[str, dict[str, bytes]] = {}
        self._texts: dict[str, OrderedDict[str, str]] = {}

    def learn(self, session: str, path: str, text: str) -> None:
        """The session knows that the file holds this text."""
        self._digests.setdefault(session, {})[path] = _digest(text)
        texts = self._texts.setdefault(session, OrderedDict())
        texts.pop(path, None)
        texts[path] = text
        while texts and sum(map(len, texts.values())) > self._limit:
            texts.popitem(last=False)

    def knows(self, session: str, path: str, text: str) -> bool:
        """Whether this is the text the session knows."""
        return self._digests.get(session, {}).get(path) == _digest(text)

    def text(self, session: str, path: str) -> str | None:
        """The text the session knows; None when it knows none, or too much since."""
        return self._texts.get(session, OrderedDict()).get(path)

    def forget(self, session: str) -> None:
        """The session is over."""
        self._digests.pop(session, None)
        self._texts.pop(session, None)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
