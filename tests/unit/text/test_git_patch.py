"""Patches of several files."""

from __future__ import annotations

import pytest

from acp_nvim.text.git_patch import sections, unquoted

EDIT = "diff --git /ws/a /ws/a\n--- /ws/a\n+++ /ws/a\n@@ -1 +1 @@\n-x\n+y\n"


@pytest.mark.req("V2-112", "V2-114")
@pytest.mark.parametrize(
    ("patch", "names"),
    [
        (EDIT, [{"/ws/a"}]),
        ("noise\n" + EDIT + EDIT.replace("/ws/a", "/ws/b c"), [{"/ws/a"}, {"/ws/b c"}]),
        ("diff --git /n /n\nnew file mode 100644\n--- /dev/null\n+++ /n\n@@ -0,0 +1 @@\n+x\n", [{"/n"}]),
        ("diff --git /n /n\nnew file mode 100644\nindex 0..1\n", [{"/n"}]),
        ("diff --git /a b /a b\nold mode 100644\nnew mode 100755\n", [{"/a b"}]),
        ("diff --git /p /q\nsimilarity index 90%\nrename from /p\nrename to /q\n", [{"/p", "/q"}]),
        ("diff --git /p /q\ncopy from /p\ncopy to /q\n", [{"/p", "/q"}]),
        ("diff --git /b /b\nindex 1..2\nGIT binary patch\n--- not a name\n", [{"/b"}]),
        (
            'diff --git "/\\303\\244" "/\\303\\244"\n--- "/\\303\\244"\n+++ "/\\303\\244"\n@@ -1 +1 @@\n',
            [{"/ä"}],
        ),
        ('diff --git "/t\\tb" "/t\\tb"\nold mode 1\n', [{"/t\tb"}]),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n", [{"a/x", "b/x", "x"}]),
        ("--- /a\n+++ /a\n", []),
        ("", []),
    ],
)
def test_sections(patch: str, names: list[set[str]]) -> None:
    found = sections(patch)
    assert [each.names for each in found] == names
    assert all(each.text in patch + "\n" for each in found)


def test_a_line_of_a_hunk_names_nothing() -> None:
    (found,) = sections(EDIT + "@@ -9 +9 @@\n--- /other\n+++ /other\n")
    assert found.names == {"/ws/a"}
    assert found.about("/ws/a", None)
    assert not found.about("/other")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("plain", "plain"),
        ('"', '"'),
        ('"a\\"b\\\\c"', 'a"b\\c'),
        ('"\\n\\r\\a"', "\n\r\a"),
        ('"\\377"', "\ufffd"),
        ('"ü\\303\\274"', "üü"),
    ],
)
def test_unquoted(written: str, name: str) -> None:
    assert unquoted(written) == name
