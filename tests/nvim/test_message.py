"""Texts of others in what Lua shows: no character gets through that the host would not let through."""

from __future__ import annotations

from tests.plugin import Neovim, Screen

from acp_nvim.editor import _TELL
from acp_nvim.text.sanitise import clean

PLAIN = """
return vim.tbl_map(require('acp.message').plain, ...)
"""


def test_plain_lets_nothing_through_that_the_host_makes_visible(nvim: Neovim) -> None:
    every = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))]
    bad = [char for char in every if clean(f"a{char}b") != f"a{char}b" and char not in "\n\t"]
    shown = nvim.lua(PLAIN, [f"a{char}b" for char in bad])
    left = [hex(ord(char)) for char, text in zip(bad, shown, strict=True) if text not in ("ab", "a b")]
    assert left == []
    good = ["日本語", "👩\u200d👩\u200d👧", "क्\u200dष", "é ß ñ", "葛\U000e0100", "a b-c_d.e", "\u2026\u2500"]
    assert nvim.lua(PLAIN, good) == good
    assert nvim.lua(PLAIN, ["a\r\n\tb", "rm\u200c -rf", "x\u202egpj.exe"]) == ["a b", "rm -rf", "xgpj.exe"]


def test_what_the_host_tells_in_vain_is_one_message_without_a_key(screen: Screen) -> None:
    screen.lua(_TELL, "acp.status", "no_such_function", 1, {"a": "b" * 300})
    assert not screen.blocked()
    shown = "acp: error in acp.status.no_such_function: :checkhealth acp has the details"
    assert screen.messages().strip().replace("\n", "") == shown
    (entry,) = screen.lua("return require('acp.message').log")
    assert "attempt to call" in entry["details"][0]
    assert any("traceback" in line for line in entry["details"])
    screen.lua(_TELL, "acp.status", "update", 99, {}, 0)
    screen.clear_messages()
