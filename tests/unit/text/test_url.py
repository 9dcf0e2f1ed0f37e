"""Which addresses may be opened, and what is said about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.sanitise import clean
from acp_nvim.text.url import MOST_BYTES, BadUrlError, inspect


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com", "example.com"),
        ("HTTPS://Example.COM/a?b=c#d", "Example.COM"),
        ("https://login.example.co.uk:443/x", "login.example.co.uk"),
        ("https://example.com?next=https://other.example", "example.com"),
        ("https://example.com#@other.example", "example.com"),
        ("https://example.com/@other.example/", "example.com"),
        ("https://日本語.jp/ö", "日本語.jp"),
        ("https://a_b.example./", "a_b.example."),
    ],
)
@pytest.mark.req("V1-204")
def test_the_host_is_found(url: str, host: str) -> None:
    found = inspect(url)
    assert found.host == host
    assert found.text == url
    assert url[found.start : found.end] == host


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/login?a=b&c=%20d",
        "https://xn--.example.com".replace("xn--.", ""),
        "http://localhost:8123/callback",
        "http://127.0.0.1:8123/",
    ],
)
def test_what_is_ordinary_is_not_warned_of(url: str) -> None:
    assert not [each for each in inspect(url).warnings if "your own machine" not in each]


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://example.com/", "is not encrypted"),
        ("https://github.com@evil.example/", "before the @"),
        ("https://user:pass@evil.example/", "before the @"),
        ("https://example.com:8443/", "an unusual port: 8443"),
        ("https://203.0.113.7/", "a number, not a name"),
        ("https://[2001:db8::1]/", "a number, not a name"),
        ("https://3405803783/", "a number, not a name"),
        ("https://0xcb007107/", "a number, not a name"),
        ("https://0x7f.1/", "a number, not a name"),
        ("https://xn--80ak6aa92e.com/", "written in other letters: аррӏе"),
        ("https://xn--0.example/", "no name that can be read"),
        ("https://bücher.example/", "not Latin, or look like others"),
        ("https://gооgle.example/", "mixes letters of different scripts"),
        ("https://xn--ggle-55da.com/", "mixes letters of different scripts"),
        ("https://localhost/", "your own machine"),
        ("http://[::1]:80/", "your own machine"),
        ("http://app.localhost/", "your own machine"),
    ],
)
@pytest.mark.req("V1-206")
def test_what_is_odd_is_said(url: str, wanted: str) -> None:
    assert any(wanted in each for each in inspect(url).warnings), inspect(url).warnings


BAD = [
    "",
    "example.com",
    "//example.com",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "ftp://example.com/",
    "vscode://x",
    "data:text/html,x",
    " https://example.com",
    "https://example.com/ x",
    "https://example.com/\nx",
    "https://example.com\t/",
    "https://exa\x00mple.com/",
    "https://example.com/\u202egnp.exe",
    "https://example\u200b.com/",
    "https://example.com\\@evil.example/",
    "https:\\\\example.com",
    "https://",
    "https:///path",
    "https://?q",
    "https://@/",
    "https://ex%61mple.com/",
    "https://example..com/",
    "https://-a.example/",
    "https://a.example:99999/",
    "https://a.example:/",
    "https://a.example:0/",
    f"https://a.example:{'9' * 5000}/",  # more digits than Python reads
    "https://[::g]/",
    "https://[::1",
    "https://a:b:c/",
    'https://example.com/"x',
    "https://example.com/<x>",
    "https://example.com/`id`",
    "https://example.com/|id",
    f"https://example.com/{'x' * MOST_BYTES}",
    "https://example.com/\ud800",
]


@pytest.mark.parametrize("url", BAD)
@pytest.mark.req("V1-204")
def test_what_cannot_be_read_for_certain_is_refused(url: str) -> None:
    with pytest.raises(BadUrlError):
        inspect(url)


@given(st.text(st.characters(), max_size=40), st.sampled_from(["", "http://", "https://", "https://a@"]))
def test_whatever_is_taken_is_shown_as_it_is_opened(rest: str, start: str) -> None:
    try:
        found = inspect(start + rest)
    except BadUrlError:
        return
    assert clean(found.text) == found.text == start + rest
    assert found.text[found.start : found.end] == found.host
    assert not any(char.isspace() or char in "\\\"'"[:2] for char in found.text)
