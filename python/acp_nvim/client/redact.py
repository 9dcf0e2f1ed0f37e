"""Takes secrets out of recorded messages before they are written to a file (C41, :help acp-report).

More than ``Secrets.mask`` does for a line on the screen: members that hold secrets by their name or place,
secrets that came in pieces, and the user's home folder. What people and agents wrote to each other stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from .secrets import MASK, Secrets

#: Members whose values are never shown, whatever they are.
_CLOSED = frozenset({"env", "environment", "headers"})
_NAMED = re.compile(
    r"(?i)(?:(?:api|access|private|secret|signing|encryption)[-_]?key|token|secret|passw(?:or)?d|passphrase"
    r"|credential|authorization|cookie)s?$"
)
#: Requests whose parameters log in: only which way it is stays.
_LOGIN = re.compile(r"^(?:_?auth|login)")
_LOGIN_KEPT = frozenset({"methodId", "sessionId"})
#: In text: a header with its value; a name and password in an address; a secret of a query.
_HEADER = re.compile(
    r"(?i)\b(?:proxy-)?(?:authorization|(?:set-)?cookie|x-api-key|api-key)\b[\"']?\s*[:=]\s*[\"']?([^\s\"'][^\r\n\"']*)"
)
_USER = re.compile(r"://([^/\s:@]*:[^/\s@]+)@")
_QUERY = re.compile(r"(?i)[?&][\w.-]*(?:key|token|secret|passw(?:or)?d|signature)=([^&\s\"'#]+)")
#: In the text of a message that is not whole.
_TEXT_MEMBER = re.compile(
    r'"((?:[^"\\]|\\.){1,80})"(\s*:\s*)("(?:[^"\\]|\\.)*(?:"|$)|-?\d[\d.eE+-]*)', re.DOTALL
)
_TEXT_PAIR = re.compile(r'("value"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
_TEXT_CLOSED = re.compile(
    r'("(?:env|environment|headers)"\s*:\s*\{)[^{}]*(?=\}|$)', re.IGNORECASE | re.DOTALL
)

Span = tuple[int, int, str]


class Redact:
    """``home``: the user's home folder, shown as ``~``. All results are free of what it knows."""

    def __init__(self, secrets: Secrets, home: str) -> None:
        self._secrets = secrets
        self._longest = secrets.longest
        self._names: dict[str, str] = {}  # of members, without secrets: there are few, and they come again
        self._home: re.Pattern[str] | None = None
        home = home.rstrip("/")
        if home.count("/") and len(home) > 2:
            written = "|".join(re.escape(each) for each in (home, home.replace("/", "\\/")))
            self._home = re.compile(rf"(?:{written})(?![\w.-])")

    def text(self, text: str) -> str:
        """A text of any kind."""
        return self.pieces([text])[0]

    def cut(self, text: str) -> str:
        """The beginning of a message, as JSON. It may end within a secret: so much of its end is left out."""
        return self.raw(text[: max(0, len(text) - self._longest)])

    def raw(self, text: str) -> str:
        """What may be JSON, or a part of it, and cannot be read as such."""
        text = _TEXT_PAIR.sub(rf'\1"{MASK}"', text)
        text = _TEXT_CLOSED.sub(r"\1", text)

        def member(match: re.Match[str]) -> str:
            secret = _NAMED.search(match[1]) is not None and match[3].startswith('"')
            return f'"{match[1]}"{match[2]}"{MASK}"' if secret else match[0]

        return self.text(self._secrets.mask(_TEXT_MEMBER.sub(member, text)))

    def message(self, message: Any) -> Any:
        """A message as JSON, without what its members' names and places say is secret."""
        if isinstance(message, dict) and _LOGIN.match(str(message.get("method", ""))):
            message = {**message, "params": _without_login(message.get("params"))}
        return self._members(message)

    def pieces(self, texts: Sequence[str]) -> list[str]:
        """Texts that follow each other: a secret may begin in one and end in another."""
        whole = "".join(texts)
        spans = self._spans(whole)
        if not spans:
            return list(texts)
        out: list[str] = []
        at = first = 0
        for text in texts:
            end = at + len(text)
            while first < len(spans) and spans[first][1] <= at:  # they are in order, and none overlap
                first += 1
            last = first
            while last < len(spans) and spans[last][0] < end:
                last += 1
            out.append(_replaced(text, at, spans[first:last]))
            at = end
        return out

    def messages(self, messages: Sequence[Any], streams: Sequence[Hashable | None]) -> list[Any]:
        """Messages in their order. Of those of the same stream (not None) the texts follow each other."""
        made = [self.message(message) for message in messages]
        runs: dict[Hashable, list[tuple[Any, Any]]] = defaultdict(list)
        for n, (message, stream) in enumerate(zip(made, streams, strict=True)):
            holder = [message]
            made[n] = holder
            for path, where, key in _texts(holder, ()):
                runs[(stream, path) if stream is not None else (n, id(where), key)].append((where, key))
        for run in runs.values():
            for (where, key), text in zip(run, self.pieces([where[key] for where, key in run]), strict=True):
                where[key] = text
        return [self._keys(holder[0]) for holder in made]

    def _members(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._members(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value.get("type")
        out: dict[str, Any] = {}
        for name, item in value.items():
            named = _NAMED.search(name) is not None or (kind == "secret" and name in ("value", "default"))
            if name.lower() in _CLOSED:
                out[name] = _closed(item)
            elif self._secrets.hides(name, item) or (named and isinstance(item, str) and item):
                out[name] = MASK
            else:
                out[name] = self._members(item)
        return out

    def _keys(self, value: Any) -> Any:
        """Names of members are text, too."""
        if isinstance(value, list):
            return [self._keys(item) for item in value]
        if isinstance(value, dict):
            return {self._name(name): self._keys(item) for name, item in value.items()}
        return value

    def _name(self, name: str) -> str:
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self.text(name)
        return known

    def _spans(self, text: str) -> list[Span]:
        spans = self._secrets.spans(text)
        for pattern in (_HEADER, _USER, _QUERY):
            spans += [(match.start(1), match.end(1), MASK) for match in pattern.finditer(text)]
        if self._home is not None:
            spans += [(match.start(), match.end(), "~") for match in self._home.finditer(text)]
        if len(spans) < 2:
            return spans
        spans.sort(key=lambda span: (span[0], -span[1]))
        merged = [spans[0]]
        for start, end, instead in spans[1:]:
            if start >= merged[-1][1]:
                merged.append((start, end, instead))
            elif end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end, MASK)
        return merged


def _replaced(text: str, at: int, spans: Sequence[Span]) -> str:
    """``text`` stands at ``at`` of the whole that the spans are of."""
    out: list[str] = []
    done, end = at, at + len(text)
    for start, stop, instead in spans:
        if stop <= done or start >= end:
            continue
        out.append(text[done - at : max(start, done) - at])
        if start >= at:
            out.append(instead)
        done = min(stop, end)
    out.append(text[done - at :])
    return "".join(out)


def _texts(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """All texts in a value: (the names on the way, what holds it, where in that)."""
    items: Sequence[tuple[Any, Any]]
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return
    for key, item in items:
        here = (*path, key)
        if isinstance(item, str):
            yield here, value, key
        else:
            yield from _texts(item, here)


def _closed(value: Any) -> Any:
    """The same shape and names, without any value."""
    if isinstance(value, dict):
        if set(value) >= {"name", "value"}:
            return {**value, "value": MASK}
        return dict.fromkeys(value, MASK)
    if isinstance(value, list):
        return [_closed(item) for item in value]
    if isinstance(value, str):
        name, equals, _ = value.partition("=")
        return f"{name}={MASK}" if equals else MASK
    return value if value is None else MASK


def _without_login(params: Any) -> Any:
    return _masked(params, lambda name: name in _LOGIN_KEPT)


def _masked(value: Any, kept: Callable[[str], bool]) -> Any:
    if isinstance(value, dict):
        return {name: item if kept(name) else _masked(item, kept) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, kept) for item in value]
    return value if value is None or isinstance(value, bool) else MASK
