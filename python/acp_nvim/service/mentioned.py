"""What a path that the user mentions leads to. Everything here touches the disk: run it in a thread."""

from __future__ import annotations

import codecs
import fnmatch
import mimetypes
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from acp_nvim.text.media import media_of

from .disk import without_waiting
from .roots import inside

#: Bytes at the beginning of a file that tell what it is.
PROBE_BYTES = 8192
#: Of a larger file the lines are not counted.
COUNT_BYTES = 16 * 1024 * 1024

#: The pictures that models take; told by what the file says, not by its name.
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_SOUNDS = frozenset({".wav", ".mp3", ".ogg", ".flac", ".aac", ".m4a", ".weba", ".opus"})
_BOMS_WITH_NULS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

#: Names of files that usually hold secrets, and of those among them that do not.
_SECRET = (
    *(".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "*.jks"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk", ".netrc", "_netrc", ".pgpass", ".npmrc"),
    *(".pypirc", ".git-credentials", ".htpasswd", "credentials", "credentials.json", "secrets.*", "*.gpg"),
)
_NO_SECRET = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")

Kind = Literal["missing", "folder", "text", "binary", "image", "audio", "other"]


@dataclass(frozen=True, slots=True)
class Looked:
    """``path``: absolute, as it was named; ``real``: without links. ``size`` in bytes.

    ``mime`` only of images, sounds, and text that is not UTF-8. ``why``: what to be warned of, in words.
    """

    path: str
    real: str
    kind: Kind
    size: int = 0
    mime: str | None = None
    why: str = ""


def look(path: str, roots: Sequence[str], own: str) -> Looked:
    """Look at an absolute path. ``own``: a folder of ours, whose files are the user's as well."""
    try:
        os.fsencode(path)
        real = os.path.realpath(path)
        info = Path(real).stat()
    except (OSError, ValueError):  # not there, not to be seen, or no path at all
        return Looked(path, path, "missing")
    why = warning(path, real, roots, own)
    if stat.S_ISDIR(info.st_mode):
        return Looked(path, real, "folder", why=why)
    if not stat.S_ISREG(info.st_mode):
        return Looked(path, real, "other", why=why)
    kind, mime = _kind(real)
    return Looked(path, real, kind, info.st_size, mime, why)


def warning(path: str, real: str, roots: Sequence[str], own: str) -> str:
    """What the user may not have thought of, in words."""
    parts = []
    if not any(inside(real, os.path.realpath(root)) for root in (*roots, own)):
        parts.append("outside the project")
    if secret(path) or secret(real):
        parts.append("may hold secrets")
    return ", ".join(parts)


def secret(path: str) -> bool:
    """Whether a file of this name usually holds secrets."""
    name = os.path.basename(path.rstrip("/")).lower()  # noqa: PTH119 (Path would not take every text)
    return any(fnmatch.fnmatchcase(name, each) for each in _SECRET) and not any(
        fnmatch.fnmatchcase(name, each) for each in _NO_SECRET
    )


def count_lines(real: str) -> int | None:
    """The lines of a file, as an editor counts them; None: it is too large, or cannot be read."""
    count, last, left = 0, b"\n", COUNT_BYTES
    try:
        with open(real, "rb", opener=without_waiting) as file:
            while piece := file.read(1 << 16):
                count += piece.count(b"\n")
                last, left = piece[-1:], left - len(piece)
                if left < 0:
                    return None
    except OSError:
        return None
    return count + (last != b"\n")


def _kind(real: str) -> tuple[Kind, str | None]:
    try:
        with open(real, "rb", opener=without_waiting) as file:
            head = file.read(PROBE_BYTES)
    except OSError:
        return "other", None
    for mime in PICTURES:
        media = media_of(mime)
        if media is not None and media.starts.match(head):
            return "image", mime
    if Path(real).suffix.lower() in _SOUNDS:
        # A sound begins in ways that other files may, too: its name has to say the same.
        mime = mimetypes.guess_type(real)[0] or ""
        media = media_of(mime)
        if media is not None and media.starts.match(head):
            return "audio", mime
    if b"\0" in head and not head.startswith(_BOMS_WITH_NULS):
        return "binary", None
    try:
        # The last character may not be whole.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < PROBE_BYTES)
    except UnicodeDecodeError:
        return "binary", "text/plain"
    return "text", None
