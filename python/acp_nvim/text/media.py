"""What the binary content of an agent is: by the type it declares and by how the data begins.

The list is fixed. What is not on it, or is not what it says, is never given to another program: it might be a
web page or a script under the name of a picture.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Media:
    """``suffix`` is the file name's extension; ``starts`` matches the beginning of such data."""

    suffix: str
    starts: re.Pattern[bytes]


def _media(suffix: str, starts: bytes) -> Media:
    return Media(suffix, re.compile(starts, re.DOTALL))


_ISO = rb".{4}ftyp"  # MP4 and its relatives
_MP3 = rb"ID3|\xff[\xe2-\xff]"
_OGG = rb"OggS"
_WAVE = rb"RIFF.{4}WAVE"

#: By MIME type. No SVG and no HTML: programs that show them run the scripts in them.
_KNOWN = {
    "image/png": _media(".png", rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": _media(".jpg", rb"\xff\xd8\xff"),
    "image/gif": _media(".gif", rb"GIF8[79]a"),
    "image/webp": _media(".webp", rb"RIFF.{4}WEBP"),
    "image/bmp": _media(".bmp", rb"BM"),
    "image/tiff": _media(".tiff", rb"II\*\x00|MM\x00\*"),
    "image/avif": _media(".avif", _ISO),
    "image/heic": _media(".heic", _ISO),
    "audio/wav": _media(".wav", _WAVE),
    "audio/mpeg": _media(".mp3", _MP3),
    "audio/ogg": _media(".ogg", _OGG),
    "audio/opus": _media(".opus", _OGG),
    "audio/flac": _media(".flac", rb"fLaC"),
    "audio/aac": _media(".aac", rb"\xff[\xf0-\xff]"),
    "audio/mp4": _media(".m4a", _ISO),
    "audio/webm": _media(".weba", rb"\x1aE\xdf\xa3"),
    "video/mp4": _media(".mp4", _ISO),
    "video/webm": _media(".webm", rb"\x1aE\xdf\xa3"),
    "application/pdf": _media(".pdf", rb"%PDF-"),
}
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
}

_BLANKS = re.compile(r"\s+")


def media_of(mime: str | None) -> Media | None:
    """The entry of the list for a MIME type, whatever its case and parameters; None: not on the list."""
    name = (mime or "").partition(";")[0].strip().lower()
    return _KNOWN.get(_ALIASES.get(name, name))


def decoded(data: str) -> bytes:
    """The bytes behind base64, which may have line breaks in it and lack its padding. Raises ValueError."""
    text = _BLANKS.sub("", data).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
