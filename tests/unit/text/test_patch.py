"""Patches as fragments: what a hunk replaces, and near which line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.plugin import examples

from acp_nvim.text.diff import count_patch, diff
from acp_nvim.text.git_patch import sections
from acp_nvim.text.patch import Fragment, fragments
from acp_nvim.text.place import Placed, place

PATCH = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -2,2 +2,3 @@ def a():
 b
-c
+C
+d
@@ -9 +10,0 @@
-gone
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
"""


def test_hunks_of_a_file() -> None:
    assert fragments(PATCH, "/ws/src/a.py") == [Fragment("b\nc\n", "b\nC\nd\n", 2), Fragment("gone\n", "", 9)]
    assert fragments(PATCH, "/ws/new.txt") == [Fragment("", "one\ntwo", 1)]
    assert fragments(PATCH, "/ws/other.py") == []


def test_a_patch_of_one_file_need_not_name_it() -> None:
    assert fragments("@@ -1 +1 @@\n-a\n+b\n", "/ws/x") == [Fragment("a\n", "b\n", 1)]
    assert fragments("--- x\n+++ y\n@@ -1,2 +1 @@\n-a\n--- b\n+b\n", "/z") == [
        Fragment("a\n-- b\n", "b\n", 1)
    ]


def test_what_is_no_patch() -> None:
    assert fragments("", "/ws/x") == []
    assert fragments("just text\n+with signs\n", "/ws/x") == []
    assert fragments("@@ -1,9 +1,9 @@\n a\n", "/ws/x") == [Fragment("a\n\n", "a\n\n", 1)]


LINES = st.lists(st.sampled_from(["a", "b", "", "-x", "+y", "@@ -1 +1 @@"]), max_size=12)


@given(old=LINES, new=LINES, context=st.integers(1, 3))
@examples(200)
def test_a_patch_makes_the_new_text(old: list[str], new: list[str], context: int) -> None:
    """Hunk by hunk from below; where lines repeat, its line number decides."""
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    compared = diff(before, after)
    assert compared is not None
    rows = ["--- a/x", "+++ b/x"]
    for hunk in compared.hunks(context):
        rows += compared.unified(hunk)
    text = before
    for fragment in reversed(fragments("\n".join(rows) + "\n", "/x")):
        placed = place(text, fragment.old, fragment.new, fragment.near)
        if not isinstance(placed, Placed):
            return  # said so
        text = placed.text
    assert text == after


def test_a_number_nobody_counts_to_makes_no_hunk() -> None:
    """Python does not read one of more than 4300 digits."""
    for header in ("@@ -{} +1 @@", "@@ -1,{} +1 @@", "@@ -1 +{} @@", "@@ -1 +1,{} @@"):
        patch = f"{header.format('9' * 5000)}\n-a\n+b\n"
        assert fragments(patch, "a") == []
        assert count_patch(patch) == (0, 0)


@given(
    st.text('@-+, 19ab\\"\n\t\r/é', max_size=80), st.lists(st.sampled_from(PATCH.split("\n")), max_size=20)
)
def test_any_patch_is_read_or_refused(text: str, lines: list[str]) -> None:
    """The old and new parts are lines of the patch, whatever its headers say."""
    patch = "\n".join([*lines, text, *lines])
    size = len(patch)
    assert all(len(each.old) + len(each.new) <= 2 * size + 2 for each in fragments(patch, "src/a.py"))
    added, removed = count_patch(patch)
    assert added + removed <= patch.count("\n") + 1
    kept = "".join(section.text for section in sections(patch))
    assert sum(map(len, kept.split("\n"))) <= size
