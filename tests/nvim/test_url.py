"""Addresses that an agent names: what a user should know of them, and what is never opened."""

from __future__ import annotations

from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim, eventually


def check(nvim: Neovim, url: str) -> Any:
    return nvim.lua("local found, reason = require('acp.url').check(...) return found or reason", url)


def test_what_is_said_of_an_address(nvim: Neovim) -> None:
    punycode = "the host is written in other letters (punycode)"
    number = "the host is a number, not a name"
    user = '"{}" is a user name, not the host'.format
    cases: list[tuple[str, str, list[str]]] = [
        ("https://x.org", "x.org", []),
        ("https://x.org:443/a?b#c", "x.org", []),
        ("HTTPS://X.org/", "X.org", []),
        ("http://x.org/", "x.org", ["not encrypted"]),
        ("http://x.org:80/", "x.org", ["not encrypted"]),
        ("https://x.org:8443/", "x.org", ["port 8443"]),
        ("https://good.org@evil.org/", "evil.org", [user("good.org")]),
        ("https://a:b@c@evil.org/", "evil.org", [user("a:b@c")]),
        ("https://x.org/@good.org", "x.org", []),
        ("https://x.org?@good.org", "x.org", []),
        ("https://x.org#@good.org", "x.org", []),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", [punycode]),
        ("https://аpple.com/", "аpple.com", ["the host has letters that may look like others"]),
        ("https://127.0.0.1/", "127.0.0.1", [number]),
        ("https://2130706433/", "2130706433", [number]),
        ("https://0x7f.1/", "0x7f.1", [number]),
        ("https://[::1]:8080/", "[::1]", [number, "port 8080"]),
    ]
    for url, host, warnings in cases:
        found = check(nvim, url)
        assert isinstance(found, dict), (url, found)
        assert (found["url"], found["host"], list(found["warnings"])) == (url, host, warnings)


def test_what_is_never_opened(nvim: Neovim) -> None:
    cases = {
        "javascript:alert(1)": "only addresses",
        "file:///etc/passwd": "only addresses",
        "mailto:a@b": "only addresses",
        "https:x.org": "only addresses",
        "": "only addresses",
        "https://": "no host",
        "https://@/": "no host",
        "https://:80/": "no host",
        "https://x.org:8o/": "no host",
        "https://x%2eorg/": "no host",
        "https://[::1/": "no host",
        "https://x.org\\@good.org/": "a backslash",
        "https://x.org/a b": "blanks or control characters",
        "https://x.org/\n": "blanks or control characters",
        "https://x.org/\x1b]": "blanks or control characters",
        "https://x.org/\u202egpj": "invisible characters",
        "https://x\u200b.org/": "invisible characters",
        "https://x.org/\u00a0": "invisible characters",
        "https://x.org/\ufeff": "invisible characters",
        "https://x.org/" + "x" * 9000: "9014 bytes",
    }
    for url, said in cases.items():
        found = check(nvim, url)
        assert isinstance(found, str), url
        assert said in found, (url, found)


@pytest.mark.parametrize(
    ("line", "under", "url"),
    [
        ("see https://x.org/a.", "x.org", "https://x.org/a"),
        ("(https://x.org/a_(b))", "x.org", "https://x.org/a_(b)"),
        ("(see http://x.org/a)", "http", "http://x.org/a"),
        ("**https://x.org/a**", "x.org", "https://x.org/a"),
        ("<https://x.org/a>", "https", "https://x.org/a"),
        ("`https://x.org/a`", "x.org", "https://x.org/a"),
        ("[the text](https://x.org/a) and", "text", "https://x.org/a"),
        ("[a](https://x.org) [b](https://y.org)", "[b", "https://y.org"),
        ("https://x.org https://y.org", "y.org", "https://y.org"),
        ("see https://x.org/", "see", None),
        ("file:///etc/passwd javascript:x", "etc", None),
    ],
)
def test_the_address_under_the_cursor(nvim: Neovim, line: str, under: str, url: str | None) -> None:
    column = line.encode().index(under.encode()) + 1
    assert nvim.lua("return require('acp.url').at(...)", line, column) == url


@pytest.mark.parametrize(
    ("replacement", "said"),
    [
        ("return nil, 'no handler found'", "cannot open it: no handler found"),
        ("error('broken')", "cannot open it:"),
        ("return vim.system({ 'sh', '-c', 'echo no display >&2; exit 3' }, { text = true })", "no display"),
    ],
)
def test_a_program_that_fails_is_told(start_nvim: StartNvim, replacement: str, said: str) -> None:
    nvim = start_nvim(init=f"vim.ui.open = function() {replacement} end")
    nvim.lua("require('acp.url').launch('https://x.org')")

    def log() -> str:
        entries = nvim.lua("return vim.tbl_map(function(m) return m.text end, require('acp.message').log)")
        return "\n".join(entries)

    eventually(lambda: said in log(), message=log)


def test_a_program_of_the_users_that_gives_nothing_back(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init="vim.ui.open = function(target) _G.target = target end")
    nvim.lua("require('acp.url').launch('https://x.org')")
    assert nvim.lua("return _G.target") == "https://x.org"
    assert nvim.messages() == ""
