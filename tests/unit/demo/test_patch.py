"""The demo's patches: a client reads what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.demo.patch import diff, git, quoted
from acp_nvim.text.git_patch import sections, unquoted
from acp_nvim.text.patch import fragments

LINES = st.lists(st.sampled_from(["a", "b", "", " c", "-d", "+e", "\\f"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@pytest.mark.req("V2-112")
@pytest.mark.parametrize("path", ["/a/b.txt", "/my project/b.txt", '/a/"q"\\.txt', "/a/ä\t.txt", "/a/\nb"])
def test_a_name_is_read_as_it_was_meant(path: str) -> None:
    assert unquoted(quoted(path)) == path
    (section,) = sections(git(path, "a\n", "b\n"))
    assert section.about(path)


@pytest.mark.req("V2-109", "V2-112")
@given(old=st.none() | TEXTS, new=TEXTS)
def test_a_change_is_read_as_it_was_meant(old: str | None, new: str) -> None:
    """All that a patch has, put into the old text at its place, is the new text."""
    made = diff({"path": "/a/b.txt", "oldText": old, "newText": new})
    assert made["changes"][0]["operation"] == ("add" if old is None else "modify")
    text, shift = old or "", 0
    for part in fragments(made["patch"]["text"], "/a/b.txt"):
        before = "".join(text.splitlines(keepends=True)[: part.near - 1 + shift])
        assert text[len(before) :].startswith(part.old)
        text = before + part.new + text[len(before) + len(part.old) :]
        shift += part.new.count("\n") - part.old.count("\n")
    assert text == new
