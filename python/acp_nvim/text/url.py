"""Is this an address that may be opened in a browser, and what should the user know of it before?

Strict on purpose: where two programs could read an address differently, it is refused.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass

from .sanitise import clean

#: Bytes of the longest address that is shown in full.
MOST_BYTES = 8000

_PARTS = re.compile(r"(?i)(https?)://([^/?#]*)(.*)\Z", re.DOTALL)
_AUTHORITY = re.compile(r"(?:(.*)@)?(\[[0-9A-Fa-f:.]+\]|[^:@\[\]]+)(?::([0-9]*))?\Z", re.DOTALL)
#: Digits of a port, with zeros before it.
_PORT_DIGITS = 10
#: What no address has, or what shells and browsers read in their own ways.
_FORBIDDEN = re.compile(r"""[\s\x00-\x20\x7f\\"<>`{}|^]""")
_LABEL = re.compile(r"(?!-)[\w-]{1,63}(?<!-)\Z")
_NUMBERS = re.compile(r"(?i)(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}\.?\Z")
_USUAL = {"http": 80, "https": 443}
#: Scripts that are written together.
_TOGETHER = (
    {"CJK", "HIRAGANA", "KATAKANA", "LATIN"},
    {"CJK", "HANGUL", "LATIN"},
    {"CJK", "BOPOMOFO", "LATIN"},
)


class BadUrlError(ValueError):
    """Its text says why, for people: ``it is …``."""


@dataclass(frozen=True, slots=True)
class Url:
    """``host`` as it is written, from character ``start`` to ``end`` of ``text``. ``warnings`` for people."""

    text: str
    host: str
    start: int
    end: int
    warnings: tuple[str, ...] = ()


def inspect(text: str) -> Url:
    """Take an address apart. Raises BadUrlError unless it is one of http or https that is safe to hand on."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise BadUrlError("it is too long to be shown in full")
    if _FORBIDDEN.search(text) or clean(text) != text:
        raise BadUrlError("it has blanks, invisible characters or others that no address has")
    parts = _PARTS.match(text)
    if parts is None:
        raise BadUrlError("it is no http or https address")
    authority = _AUTHORITY.match(parts[2])
    if authority is None:
        raise BadUrlError("its host cannot be read for certain")
    user, host, port = authority.groups()
    scheme = parts[1].lower()
    start = parts.start(2) + authority.start(2)
    warnings = []
    if user is not None:
        warnings.append("what stands before the @ is not the host")
    warnings += _of_host(host)
    local = _is_local(host)
    if scheme == "http" and not local:
        warnings.append("http is not encrypted: it can be read on the way")
    if port is not None:
        if not port or len(port) > _PORT_DIGITS or not 0 < int(port) < 65536:
            raise BadUrlError("its port is no port")
        if int(port) != _USUAL[scheme] and not local:
            warnings.append(f"an unusual port: {int(port)}")
    return Url(text, host, start, start + len(host), tuple(warnings))


def _of_host(host: str) -> list[str]:
    """What is odd about a host. Raises BadUrlError."""
    if _is_local(host):
        return ["this is a page of your own machine"]
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError as error:
            raise BadUrlError("its host is no address of the network") from error
        return ["the host is a number, not a name"]
    if _NUMBERS.match(host):
        return ["the host is a number, not a name"]
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(_LABEL.match(label) for label in labels):
        raise BadUrlError("its host is no name of the network")
    found: list[str] = []
    for label in labels:
        plain = _decoded(label)
        if plain is None:
            found.append(f"{label} is no name that can be read")
        elif label.lower().startswith("xn--"):
            found.append(f"{label} is written in other letters: {clean(plain)}")
        elif not label.isascii():
            found.append(f"{label} has letters that are not Latin, or look like others")
        if plain is not None and _mixed(plain):
            found.append(f"{clean(plain)} mixes letters of different scripts: one may pass for another")
    return found


def _is_local(host: str) -> bool:
    name = host.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _decoded(label: str) -> str | None:
    """A label as people write it; None when its punycode is broken."""
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return None


def _mixed(label: str) -> bool:
    """Whether it has letters of scripts that are not written together."""
    scripts = {_script(char) for char in label if char.isalpha()}
    return len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER)


def _script(char: str) -> str:
    """The first word of a letter's name tells its script well enough: LATIN, CYRILLIC, GREEK, CJK."""
    return unicodedata.name(char, "UNKNOWN").split(" ")[0].split("-")[0]
