"""What of a program's output may go to a terminal buffer (design.md rule 7).

Text, line ends, tabs, backspaces, colours, moves of the cursor and erasing pass. Everything else is dropped:
what would ring, set the clipboard or a title, change modes or answer questions. Only whole sequences of the
list below are ever written, so it does not matter how a terminal would read a broken one.
"""

from __future__ import annotations

import codecs
import re

from .sanitise import clean

_LONGEST = 64
"""Characters of the longest sequence that passes; memory for one that never ends stays within that."""

_TOKEN = re.compile(
    "(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    "|(?P<control>[\n\r\t\b])"
    "|(?:\x1b\\[|\x9b)(?:(?P<open>[0-?]*[ -/]*)\\Z|(?P<csi>[0-?]*[ -/]*[@-~]?))"
    "|(?P<string>\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])"
    "|\x1b(?:(?P<half>[ -/]*)\\Z|(?P<escape>[ -/]*[0-~]?))"
    "|[\x00-\x1f\x7f-\x9f]"
)
_PASSES = re.compile("[0-9;:]*m|[0-9;]*[A-HKXdf]|[012]?J")
_LONG_NUMBER = re.compile("[0-9]{6}")
_ENDS = re.compile("[\x07\x18\x1a\x1b\x9c]")
_ENDS_OSC = re.compile("[\x07\n\x18\x1a\x1b\x9c]")  # no title goes over the end of a line


class TerminalFilter:
    """Filters output that comes in pieces, cut anywhere. The joints do not show in the result."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""  # a sequence whose end has not come
        self._string: re.Pattern[str] | None = None  # what ends the string that is being dropped
        self._before = ""  # the last character of text

    def feed(self, data: bytes) -> str:
        """Return what passes of the next bytes. Line ends become CR LF, as a terminal's line makes them."""
        text, self._held = self._held + self._decoder.decode(data), ""
        shown: list[str] = []
        at = 0
        while at < len(text):
            if self._string is not None:
                end = self._string.search(text, at)
                if end is None:
                    break
                self._string = None
                at = end.start() if end[0] in "\x1b\n" else end.end()
                continue
            token = _TOKEN.match(text, at)
            assert token is not None, "every character is a token"
            at = token.end()
            shown.append(self._pass(token))
        return "".join(shown)

    def _pass(self, token: re.Match[str]) -> str:
        kind = token.lastgroup
        match kind:
            case "text":
                safe = clean(token[0], self._before)
                self._before = token[0][-1]
                return safe
            case "control":
                self._before = token[0]
                return "\r\n" if token[0] == "\n" else token[0]
            case "csi":
                wanted = token["csi"]
                short = len(wanted) <= _LONGEST and not _LONG_NUMBER.search(wanted)
                return "\x1b[" + wanted if short and _PASSES.fullmatch(wanted) else ""
            case "open" | "half":
                self._held = _shortened(token[0], token[kind])
            case "string":
                self._string = _ENDS_OSC if token[0] in ("\x1b]", "\x9d") else _ENDS
            case "escape" if token["escape"] in ("7", "8"):  # the cursor's place is kept, or taken back
                return token[0]
        return ""


def _shortened(token: str, inside: str) -> str:
    """A sequence without its end; a long one as another that does not pass either, and goes on alike."""
    if len(inside) <= _LONGEST:
        return token
    start = token[: len(token) - len(inside)]
    return (
        start
        + "?" * (0 if start == "\x1b" else _LONGEST)
        + (" " if inside[-1] in " !\"#$%&'()*+,-./" else "")
    )
