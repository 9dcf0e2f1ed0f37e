"""Make what an agent sent fit to be shown (design.md rule 7).

Controls become caret notation (``^[`` for escape, ``^M`` for a carriage return in a diff); C1 controls,
bidirectional overrides and isolates and other invisible characters become ``<U+202E>``; lone surrogates
become U+FFFD. Both notations are ASCII, so they also show on a console without fonts. Newlines and tabs of a
text stay; in one line they become a blank. Joiners and variation selectors stay behind a character that is
not ASCII, where emoji and several scripts need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .width import cells_of, cut_to

#: Bytes of the longest line that goes into a buffer (highlighting.md: an uncut 1.2 MB line costs 40 ms).
LINE_BYTES = 8192

_JOINERS = "\u200c\u200d\U000e0100-\U000e01ef"
_BAD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINER = re.compile(f"[{_JOINERS}]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
#: White space as a whole: else a long run of blanks would be looked at from each of them on.
_BLANKS = re.compile(r"\s+")
_BREAK = re.compile("[\r\n\u2028\u2029]")


def visible(char: str, before: str = "") -> str:
    """Return what stands for one character that must not be shown; ``before`` is the one before it."""
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if code < 0x20 or code == 0x7F:
        return "^" + chr(code ^ 0x40)
    if before > "\x7f" and _JOINER.match(char) and not _JOINER.match(before):
        return char
    return f"<U+{code:04X}>"


def clean(text: str, before: str = "") -> str:
    """Make a piece of text safe; newlines and tabs stay. ``before`` is the character before the piece."""
    if _BAD.search(text) is None:
        return text
    text = _join_pairs(text)

    def show(match: re.Match[str]) -> str:
        at = match.start()
        return visible(match[0], text[at - 1] if at else before)

    return _BAD.sub(show, text)


def hidden(line: str) -> Iterator[tuple[int, str]]:
    """What is not seen in a line, or turns the direction of writing: where, and what stands for it.

    Without controls: for texts that must stay as they are, in a buffer, where Neovim makes those visible.
    """
    for match in _BAD.finditer(line):
        at = match.start()
        if match[0] > "\x9f":
            shown = visible(match[0], line[at - 1] if at else "")
            if shown != match[0]:
                yield at, shown


def lines(text: str) -> list[str]:
    """Split a whole text into safe lines. CRLF and a lone CR end a line too; a last newline adds none."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.endswith("\n"):
        text = text[:-1]
    return clean(text).split("\n")


def one_line(text: str, cells: int | None = None, cut: str = "…") -> str:
    """Make one safe line. Line breaks and the blanks around them become one blank, a tab too.

    With ``cells``: at most that many display cells, cut between words where that loses little.
    """
    if cells is not None and len(text) > 8 * cells + 64:
        text = text[: 8 * cells + 64]  # more cannot be shown; a joined emoji has up to 8 characters
    text = clean(_BLANKS.sub(_unbroken, text.strip()).replace("\t", " "))
    if cells is None or cells_of(text) <= cells:
        return text
    room = cells - cells_of(cut)
    words = cut_to(text, room - 1)
    end = len(words) if text[len(words) : len(words) + 1] == " " else words.rfind(" ")
    if end >= len(words) // 2 > 0:
        return f"{words[:end].rstrip()} {cut}"
    return cut_to(text, room).rstrip() + cut


def split_long(line: str, limit: int = LINE_BYTES) -> list[str]:
    """Cut a line into pieces of at most ``limit`` bytes, between characters. One piece at least."""
    if len(line) * 4 <= limit or len(line.encode()) <= limit:
        return [line]
    pieces = []
    while line:
        size = fitting(line, limit)
        pieces.append(line[:size])
        line = line[size:]
    return pieces


def fitting(text: str, limit: int) -> int:
    """Return how many characters of the text take at most ``limit`` bytes."""
    head = text[:limit]
    if head.isascii():
        return len(head)
    raw = head.encode()
    return len(head) if len(raw) <= limit else len(raw[:limit].decode(errors="ignore"))


def byte_length(text: str) -> int:
    """Return the length in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


class Cleaner:
    """Cleans text that comes in pieces; the pieces' joints do not show in the result."""

    def __init__(self) -> None:
        self._before = ""  # the last character, as it was sent
        self._half = ""  # the first half of a surrogate pair whose second half may come
        self._return = False  # the last character was a CR, which has ended its line

    def feed(self, text: str) -> str:
        """Return the safe form of a piece. CRLF and CR come out as newlines."""
        if not text:
            return ""
        if self._half:
            text, self._half = self._half + text, ""
        if self._return and text[0] == "\n":
            text = text[1:]
            self._return = False
            if not text:
                return ""
        self._return = text[-1] == "\r"
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
            if not text:
                return ""
        safe = clean(text, self._before)
        self._before = text[-1]
        return safe

    def end(self) -> str:
        """Return what was held back: half a pair that stayed alone."""
        half, self._half = self._half, ""
        return "\ufffd" if half else ""


def _unbroken(match: re.Match[str]) -> str:
    """White space without its line breaks: one blank from the blanks before the first one on."""
    found = match[0]
    at = _BREAK.search(found)
    return found if at is None else found[: at.start()].rstrip(" \t") + " "


def _join_pairs(text: str) -> str:
    def join(match: re.Match[str]) -> str:
        high, low = match[0][0], match[0][1]
        return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))

    return _PAIR.sub(join, text)
