"""Addresses in the text of a transcript."""

from __future__ import annotations

import pytest
from tests.plugin import Neovim


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
