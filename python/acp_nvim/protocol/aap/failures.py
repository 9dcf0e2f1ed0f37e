"""What went wrong between us and a server, said for people (spec section 11)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

from msgspec import structs

from acp_nvim.session.entities import Failure
from acp_nvim.transport.errors import HttpFailedError
from acp_nvim.transport.http import Answer
from acp_nvim.wire.aap import codecs
from acp_nvim.wire.tolerant import WireError

#: Characters of an error's text that are shown; the trace has all of it.
SAID_CHARS = 400
#: Statuses of a server that may do better later, or of what stands before it.
LATER = frozenset((429, 500, 502, 503, 504))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server is: ``label`` is the agent's name in the settings, ``key`` the name of a variable."""

    label: str
    url: str
    key: str | None = None

    @property
    def setting(self) -> str:
        return f"agents.{self.label}"

    @property
    def host(self) -> str:
        """Of the server, with its port if it is a special one."""
        return urlsplit(self.url).netloc


def transport_failure(error: HttpFailedError, place: Place, again: str) -> Failure:
    """``again`` is what the user does when it is mended, as ``send again``."""
    remedies = {
        "refused": f"start the server, or correct {place.setting}.url; then {again}",
        "name": f"correct {place.setting}.url, then {again}",
        "connect": f"check the network and {place.setting}.url, then {again}",
        "timeout": f"check the network and {place.setting}.url, then {again}",
        "tls": f"have this machine trust its certificate ($SSL_CERT_FILE), then {again}",
        "cut": f"see whether the server runs, then {again}",
    }
    remedy = remedies.get(error.cause, f":AcpTrace has more; then {again}")
    return Failure(f"{place.url}: {error}", kind="transport", remedy=remedy)


def http_failure(answer: Answer, place: Place, again: str, *, about: str = "") -> Failure:
    """An answer that is no success. ``about``: ``session`` or ``turn``, or empty (AAP-75..77)."""
    status, said = answer.status, said_by(answer)
    name = _name(status)
    more = bool(said) and said.lower() not in (name.lower(), f"{status} {name}".lower())
    told = f"{status} {name}: {said}" if more else f"{status} {name}"
    if status in (401, 403):
        if place.key is None:
            return _failure(status, f"the server wants a key ({told})", "auth", _no_key(place, again))
        remedy = f"put a valid key into ${place.key} (:help acp-aap-key), then :AcpRestart"
        return _failure(status, f"the server does not accept the key ({told})", "auth", remedy)
    if status == 404 and about:
        gone = f"the server does not know this session any more ({told})"
        return _failure(status, gone, "not_found", ":AcpChat! begins a new one")
    if status == 404:
        remedy = f"correct {place.setting}.url, then {again}"
        return _failure(status, f"there is no AAP server at {place.url} ({told})", "generic", remedy)
    if status == 413:
        return _failure(status, f"this is too much for the server ({told})", "invalid", "send less context")
    if status in (429, 503):
        seconds = retry_after(answer)
        when = f"in {seconds:.0f} s" if seconds is not None else "in a while"
        return _failure(status, f"the server is busy ({told})", "generic", f"{again} {when}")
    if 300 <= status < 400:
        to = _origin(answer.headers.get("location", ""))
        remedy = f"set {place.setting}.url to where it is, then {again}"
        return _failure(status, f"{place.url} sends us away{to} ({told})", "generic", remedy)
    whose = "the server failed" if status >= 500 else "the server refused"
    remedy = f"{again}; :AcpTrace has the full answer"
    return _failure(status, f"{whose} ({told})", "generic", remedy)


def passing(failure: Failure) -> Failure:
    """A failure that may be over soon is one of the connection, not of what was asked for."""
    return structs.replace(failure, kind="transport") if failure.code in LATER else failure


def said_by(answer: Answer) -> str:
    """The words of an error's body: JSON or text; a page of HTML has none that help (AAP-75)."""
    if answer.content_type == "text/html":
        return ""
    return said(answer.body)


def said(body: bytes) -> str:
    """The words of an error, in JSON or as text."""
    body = body.strip()
    if body.startswith((b"{", b"[", b'"')):
        try:
            error = codecs.ERROR.decode(body)
        except WireError:
            return ""
        for each in (error.error, error.message, error.detail):
            if isinstance(each, dict):
                each = each.get("message")
            if isinstance(each, str) and each.strip():
                return each.strip()[:SAID_CHARS]
        return ""
    if body.startswith(b"<"):
        return ""
    return body.decode("utf-8", "replace")[:SAID_CHARS]


def retry_after(answer: Answer) -> float | None:
    """Seconds the server wants us to wait; None: it does not say (AAP-77)."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdecimal():  # "²" is a digit that no number is made of
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the second: of a time zone far out
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def _failure(status: int, message: str, kind: str, remedy: str) -> Failure:
    return Failure(message, status, kind=kind, remedy=remedy)


def _no_key(place: Place, again: str) -> str:
    return f"name the variable that holds the key in {place.setting}.api_key_env, then {again}"


def _name(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "error"


def _origin(location: str) -> str:
    """Without path and query: they may hold what others should not read."""
    try:
        parts = urlsplit(location)
    except ValueError:
        return ""
    return f" to {parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
